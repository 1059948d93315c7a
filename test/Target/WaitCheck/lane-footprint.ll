; RUN: not lodestone-check --chip=gfx950 %s | FileCheck %s
; RUN: not lodestone-check --chip=gfx942 %s | FileCheck %s

; D3: the memory operand of a DMA has the bytes of lane 0. A read of what another
; lane wrote looks disjoint to LLVM.

; CHECK: naive, bb.0: error: {{.*}} on dynamic LDS + [128, 132) {{.*}} LDS-DMA {{.*}} on dynamic LDS + [0, 256)
; CHECK-NOT: error

@lds = external addrspace(3) global [0 x i8], align 16

declare void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8), ptr addrspace(3), i32, i32, i32, i32, i32)

define amdgpu_kernel void @naive(ptr addrspace(8) inreg %r, ptr addrspace(1) %out) #0 {
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) @lds, i32 4, i32 0, i32 0, i32 0, i32 0), !alias.scope !3, !noalias !4
  %v = load i32, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @lds, i32 128), align 4, !alias.scope !3, !noalias !4
  store i32 %v, ptr addrspace(1) %out
  ret void
}

; Bytes that no lane writes.
define amdgpu_kernel void @sound(ptr addrspace(8) inreg %r, ptr addrspace(1) %out) #0 {
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) @lds, i32 4, i32 0, i32 0, i32 0, i32 0), !alias.scope !3, !noalias !4
  %v = load i32, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @lds, i32 256), align 4, !alias.scope !3, !noalias !4
  store i32 %v, ptr addrspace(1) %out
  ret void
}

attributes #0 = { "amdgpu-flat-work-group-size"="64,64" }

!0 = distinct !{!0, !"lds"}
!1 = distinct !{!1, !0, !"a"}
!2 = distinct !{!2, !0, !"b"}
!3 = !{!1}
!4 = !{!2}
