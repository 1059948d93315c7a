; RUN: not lodestone-check --chip=gfx950 %s | FileCheck %s
; RUN: not lodestone-check --chip=gfx942 %s | FileCheck %s

; D5b: no tags of ours at all; the DMA's address goes through an integer, the
; read's through a GEP.

; CHECK: naive, bb.0: error: {{.*}} on @llvm.amdgcn.kernel.naive.lds + [{{.*}}; overlap certain; needs
; CHECK-NOT: sound

@a = internal addrspace(3) global [256 x i8] poison, align 16
@b = internal addrspace(3) global [256 x i8] poison, align 16

declare void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8), ptr addrspace(3), i32, i32, i32, i32, i32)
declare i32 @llvm.amdgcn.workitem.id.x()

define amdgpu_kernel void @naive(ptr addrspace(8) inreg %r, ptr addrspace(1) %out) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %t4 = shl i32 %t, 2
  %n = ptrtoint ptr addrspace(3) @a to i32
  %m = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %n)
  %d = inttoptr i32 %m to ptr addrspace(3)
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) %d, i32 4, i32 0, i32 0, i32 0, i32 0)
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) @b, i32 4, i32 0, i32 0, i32 0, i32 0)
  %p = getelementptr i8, ptr addrspace(3) @a, i32 %t4
  %v = load i32, ptr addrspace(3) %p, align 4
  store i32 %v, ptr addrspace(1) %out
  ret void
}

define amdgpu_kernel void @sound(ptr addrspace(8) inreg %r, ptr addrspace(1) %out) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %t4 = shl i32 %t, 2
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) @a, i32 4, i32 0, i32 0, i32 0, i32 0)
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) @b, i32 4, i32 0, i32 0, i32 0, i32 0)
  %p = getelementptr i8, ptr addrspace(3) @a, i32 %t4
  %v = load i32, ptr addrspace(3) %p, align 4
  store i32 %v, ptr addrspace(1) %out
  ret void
}

declare i32 @llvm.amdgcn.readfirstlane.i32(i32)

attributes #0 = { "amdgpu-flat-work-group-size"="64,64" }

!0 = distinct !{!0, !"lds"}
!1 = distinct !{!1, !0, !"a"}
!2 = distinct !{!2, !0, !"b"}
!3 = !{!1}
!4 = !{!2}
