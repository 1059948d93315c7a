; RUN: not lodestone-check --chip=gfx950 %s | FileCheck %s
; RUN: not lodestone-check --chip=gfx942 %s | FileCheck %s

; D4: the list of tracked DMAs is not merged where paths join. With another DMA
; before the branch the one inside is forgotten; issued on both paths in one
; order it is not.

; CHECK: naive, bb.{{[0-9]+}}: error: {{.*}} on dynamic LDS + [4096, 4352) {{.*}}; overlap certain; needs vmcnt(0), has no wait
; CHECK-NOT: error

@lds = external addrspace(3) global [0 x i8], align 16

declare void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8), ptr addrspace(3), i32, i32, i32, i32, i32)
declare i32 @llvm.amdgcn.workitem.id.x()

define amdgpu_kernel void @naive(ptr addrspace(8) inreg %r, ptr addrspace(1) %out, i32 %c) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %t4 = shl i32 %t, 2
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) @lds, i32 4, i32 0, i32 0, i32 0, i32 0), !alias.scope !3, !noalias !4
  %cc = icmp eq i32 %c, 0
  br i1 %cc, label %then, label %join
then:
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @lds, i32 4096), i32 4, i32 0, i32 0, i32 0, i32 0), !alias.scope !4, !noalias !3
  br label %join
join:
  %p = getelementptr i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @lds, i32 4096), i32 %t4
  %v = load i32, ptr addrspace(3) %p, align 4, !alias.scope !4, !noalias !3
  store i32 %v, ptr addrspace(1) %out
  ret void
}

define amdgpu_kernel void @sound(ptr addrspace(8) inreg %r, ptr addrspace(1) %out, i32 %c) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %t4 = shl i32 %t, 2
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) @lds, i32 4, i32 0, i32 0, i32 0, i32 0), !alias.scope !3, !noalias !4
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @lds, i32 4096), i32 4, i32 0, i32 0, i32 0, i32 0), !alias.scope !4, !noalias !3
  %cc = icmp eq i32 %c, 0
  br i1 %cc, label %then, label %join
then:
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @lds, i32 4096), i32 4, i32 0, i32 0, i32 0, i32 0), !alias.scope !4, !noalias !3
  br label %join
join:
  %p = getelementptr i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @lds, i32 4096), i32 %t4
  %v = load i32, ptr addrspace(3) %p, align 4, !alias.scope !4, !noalias !3
  store i32 %v, ptr addrspace(1) %out
  ret void
}

attributes #0 = { "amdgpu-flat-work-group-size"="64,64" }

!0 = distinct !{!0, !"lds"}
!1 = distinct !{!1, !0, !"a"}
!2 = distinct !{!2, !0, !"b"}
!3 = !{!1}
!4 = !{!2}
