; No tags at all: LLVM waits for the LDS-DMA.
@lds = external addrspace(3) global [0 x i8], align 16

declare void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8), ptr addrspace(3), i32, i32, i32, i32, i32)
declare i32 @llvm.amdgcn.workitem.id.x()

define amdgpu_kernel void @naive(ptr addrspace(8) inreg %r, ptr addrspace(1) %out) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %t4 = shl i32 %t, 2
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) @lds, i32 4, i32 0, i32 0, i32 0, i32 0)
  %p = getelementptr i8, ptr addrspace(3) @lds, i32 %t4
  %v = load i32, ptr addrspace(3) %p, align 4
  store i32 %v, ptr addrspace(1) %out
  ret void
}

attributes #0 = { "amdgpu-flat-work-group-size"="64,64" "target-cpu"="gfx950" }

!0 = distinct !{!0, !"lds"}
!1 = distinct !{!1, !0, !"a"}
!2 = !{!1}
