; RUN: not lodestone-check --chip=gfx950 %s | FileCheck %s
; RUN: not lodestone-check --chip=gfx942 %s | FileCheck %s

; D1: a tagged read does not wait for a DMA without tags, not even of its own
; bytes. With the DMA tagged, or nothing, it waits.

; CHECK: naive, bb.0: error: '{{.*}}DS_READ{{.*}}' on dynamic LDS + [0, 256) may run before LDS-DMA 'BUFFER_LOAD_DWORD_LDS{{.*}}' on dynamic LDS + [0, 256) is done; overlap certain; needs vmcnt(0), has no wait [missing-wait]
; CHECK-NEXT: naive, bb.0: note: the LDS-DMA is here
; CHECK-NOT: error

@lds = external addrspace(3) global [0 x i8], align 16

declare void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8), ptr addrspace(3), i32, i32, i32, i32, i32)
declare i32 @llvm.amdgcn.workitem.id.x()

define amdgpu_kernel void @naive(ptr addrspace(8) inreg %r, ptr addrspace(1) %out) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %t4 = shl i32 %t, 2
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) @lds, i32 4, i32 0, i32 0, i32 0, i32 0)
  %p = getelementptr i8, ptr addrspace(3) @lds, i32 %t4
  %v = load i32, ptr addrspace(3) %p, align 4, !alias.scope !3, !noalias !4
  store i32 %v, ptr addrspace(1) %out
  ret void
}

define amdgpu_kernel void @sound(ptr addrspace(8) inreg %r, ptr addrspace(1) %out) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %t4 = shl i32 %t, 2
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) @lds, i32 4, i32 0, i32 0, i32 0, i32 0), !alias.scope !3, !noalias !4
  %p = getelementptr i8, ptr addrspace(3) @lds, i32 %t4
  %v = load i32, ptr addrspace(3) %p, align 4, !alias.scope !3, !noalias !4
  store i32 %v, ptr addrspace(1) %out
  ret void
}

define amdgpu_kernel void @plain(ptr addrspace(8) inreg %r, ptr addrspace(1) %out) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %t4 = shl i32 %t, 2
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) @lds, i32 4, i32 0, i32 0, i32 0, i32 0)
  %p = getelementptr i8, ptr addrspace(3) @lds, i32 %t4
  %v = load i32, ptr addrspace(3) %p, align 4
  store i32 %v, ptr addrspace(1) %out
  ret void
}

attributes #0 = { "amdgpu-flat-work-group-size"="64,64" }

!0 = distinct !{!0, !"lds"}
!1 = distinct !{!1, !0, !"a"}
!2 = distinct !{!2, !0, !"b"}
!3 = !{!1}
!4 = !{!2}
