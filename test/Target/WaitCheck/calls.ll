; RUN: lodestone-check --chip=gfx950 %s | FileCheck %s
; RUN: lodestone-check --chip=gfx942 %s | FileCheck %s

; A callee waits for everything when it starts and before it returns, so after a
; call nothing is outstanding.

; CHECK: ok: 1 LDS accesses and 2 LDS-DMAs in 2 functions

@lds = external addrspace(3) global [0 x i8], align 16

declare void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8), ptr addrspace(3), i32, i32, i32, i32, i32)

define void @callee(ptr addrspace(8) inreg %r) {
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) @lds, i32 4, i32 0, i32 0, i32 0, i32 0), !alias.scope !3, !noalias !4
  ret void
}

define amdgpu_kernel void @caller(ptr addrspace(8) inreg %r, ptr addrspace(1) %out) #0 {
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @lds, i32 4096), i32 4, i32 0, i32 0, i32 0, i32 0), !alias.scope !4, !noalias !3
  call void @callee(ptr addrspace(8) inreg %r)
  %v = load i32, ptr addrspace(3) @lds, align 4, !alias.scope !4, !noalias !3
  store i32 %v, ptr addrspace(1) %out
  ret void
}

attributes #0 = { "amdgpu-flat-work-group-size"="64,64" }

!0 = distinct !{!0, !"lds"}
!1 = distinct !{!1, !0, !"a"}
!2 = distinct !{!2, !0, !"b"}
!3 = !{!1}
!4 = !{!2}
