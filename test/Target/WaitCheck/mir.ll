; RUN: llc -mtriple=amdgcn-amd-amdhsa -mcpu=gfx950 -stop-after=si-insert-waitcnts %s -o %t.mir
; RUN: not lodestone-check %t.mir | FileCheck %s
; RUN: not lodestone-check --json - < %t.mir | FileCheck %s --check-prefix=JSON
; RUN: llc -mtriple=amdgcn-amd-amdhsa -mcpu=gfx950 -stop-after=finalize-isel %s -o %t.isel.mir
; RUN: not lodestone-check %t.isel.mir | FileCheck %s
; RUN: llc -mtriple=amdgcn-amd-amdhsa -mcpu=gfx950 -stop-after=machine-scheduler %s -o %t.sched.mir
; RUN: not lodestone-check %t.sched.mir 2>&1 | FileCheck %s --check-prefix=BETWEEN
; RUN: not lodestone-check --chip=gfx942 %t.mir 2>&1 | FileCheck %s --check-prefix=OTHER

; MIR can be checked after the waits are inserted or right after instruction
; selection, and nowhere between.

; CHECK: naive, bb.0: error: {{.*}}; overlap certain; needs vmcnt(0), has no wait
; JSON: "clean": false
; JSON: "kind": "missing-wait"
; JSON-NEXT: "overlap": "certain"
; JSON-NEXT: "function": "naive"
; JSON: "neededWait": 0
; BETWEEN: error: function 'naive' is neither right after instruction selection nor past the insertion of waits
; OTHER: error: function 'naive' is for gfx950, not for gfx942

@lds = external addrspace(3) global [0 x i8], align 16

declare void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8), ptr addrspace(3), i32, i32, i32, i32, i32)

define amdgpu_kernel void @naive(ptr addrspace(8) inreg %r, ptr addrspace(1) %out) {
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) @lds, i32 4, i32 0, i32 0, i32 0, i32 0)
  %v = load i32, ptr addrspace(3) @lds, align 4, !alias.scope !3
  store i32 %v, ptr addrspace(1) %out
  ret void
}

!0 = distinct !{!0, !"lds"}
!1 = distinct !{!1, !0, !"a"}
!3 = !{!1}
