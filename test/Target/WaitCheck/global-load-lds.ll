; RUN: not lodestone-check --chip=gfx950 %s | FileCheck %s
; RUN: not lodestone-check --chip=gfx942 %s | FileCheck %s

; D7: LLVM counts global_load_lds in lgkmcnt, which the hardware does not, and so
; waits for too little before it uses what an earlier ds_read loads. The buffer
; form is right.

; CHECK: naive, bb.{{[0-9]+}}: error: 'GLOBAL_STORE{{.*}}' uses a register before '{{.*}}DS_READ{{.*}}' has loaded it: {{.*}}; needs lgkmcnt(0), has lgkmcnt(1) [stale-register]
; CHECK-NEXT: note: the LDS read is here
; CHECK-NOT: error

@lds = external addrspace(3) global [0 x i8], align 16

declare void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8), ptr addrspace(3), i32, i32, i32, i32, i32)
declare void @llvm.amdgcn.global.load.lds(ptr addrspace(1), ptr addrspace(3), i32, i32, i32)
declare i32 @llvm.amdgcn.workitem.id.x()

define amdgpu_kernel void @naive(ptr addrspace(8) inreg %r, ptr addrspace(1) %out) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %t4 = shl i32 %t, 2
  store i32 0, ptr addrspace(1) %out
  call void @llvm.amdgcn.sched.barrier(i32 0)
  %p = getelementptr i8, ptr addrspace(3) @lds, i32 %t4
  %v = load i32, ptr addrspace(3) %p, align 4
  call void @llvm.amdgcn.sched.barrier(i32 0)
  call void @llvm.amdgcn.global.load.lds(ptr addrspace(1) %out, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @lds, i32 4096), i32 4, i32 0, i32 0)
  call void @llvm.amdgcn.sched.barrier(i32 0)
  store i32 %v, ptr addrspace(1) %out
  ret void
}

define amdgpu_kernel void @sound(ptr addrspace(8) inreg %r, ptr addrspace(1) %out) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %t4 = shl i32 %t, 2
  store i32 0, ptr addrspace(1) %out
  call void @llvm.amdgcn.sched.barrier(i32 0)
  %p = getelementptr i8, ptr addrspace(3) @lds, i32 %t4
  %v = load i32, ptr addrspace(3) %p, align 4
  call void @llvm.amdgcn.sched.barrier(i32 0)
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @lds, i32 4096), i32 4, i32 0, i32 0, i32 0, i32 0)
  call void @llvm.amdgcn.sched.barrier(i32 0)
  store i32 %v, ptr addrspace(1) %out
  ret void
}

declare void @llvm.amdgcn.sched.barrier(i32)

attributes #0 = { "amdgpu-flat-work-group-size"="64,64" }

!0 = distinct !{!0, !"lds"}
!1 = distinct !{!1, !0, !"a"}
!2 = distinct !{!2, !0, !"b"}
!3 = !{!1}
!4 = !{!2}
