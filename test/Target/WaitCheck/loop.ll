; RUN: not lodestone-check --chip=gfx950 %s | FileCheck %s
; RUN: not lodestone-check --chip=gfx942 %s | FileCheck %s

; D4: a DMA that is not issued before the loop. The loop's own entry decides which
; DMAs are tracked in it.

; CHECK: naive, bb.{{[0-9]+}}: error: {{.*}} on dynamic LDS + [4096, 4352) {{.*}}; overlap certain; needs vmcnt({{[0-9]}}), has
; CHECK-NOT: sound

@lds = external addrspace(3) global [0 x i8], align 16

declare void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8), ptr addrspace(3), i32, i32, i32, i32, i32)
declare i32 @llvm.amdgcn.workitem.id.x()

define amdgpu_kernel void @naive(ptr addrspace(8) inreg %r, ptr addrspace(1) %out, i32 %c) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %t4 = shl i32 %t, 2
  %p = getelementptr i8, ptr addrspace(3) @lds, i32 %t4
  %q = getelementptr i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @lds, i32 4096), i32 %t4
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) @lds, i32 4, i32 0, i32 0, i32 0, i32 0), !alias.scope !3, !noalias !4
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  %w = load i32, ptr addrspace(3) %q, align 4, !alias.scope !4, !noalias !3
  store i32 %w, ptr addrspace(1) %out
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @lds, i32 4096), i32 4, i32 0, i32 0, i32 0, i32 0), !alias.scope !4, !noalias !3
  %next = add i32 %i, 1
  %again = icmp ult i32 %next, %c
  br i1 %again, label %loop, label %exit
exit:
  ret void
}

define amdgpu_kernel void @sound(ptr addrspace(8) inreg %r, ptr addrspace(1) %out, i32 %c) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %t4 = shl i32 %t, 2
  %p = getelementptr i8, ptr addrspace(3) @lds, i32 %t4
  %q = getelementptr i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @lds, i32 4096), i32 %t4
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) @lds, i32 4, i32 0, i32 0, i32 0, i32 0), !alias.scope !3, !noalias !4
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @lds, i32 4096), i32 4, i32 0, i32 0, i32 0, i32 0), !alias.scope !4, !noalias !3
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  %w = load i32, ptr addrspace(3) %q, align 4, !alias.scope !4, !noalias !3
  store i32 %w, ptr addrspace(1) %out
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @lds, i32 4096), i32 4, i32 0, i32 0, i32 0, i32 0), !alias.scope !4, !noalias !3
  %next = add i32 %i, 1
  %again = icmp ult i32 %next, %c
  br i1 %again, label %loop, label %exit
exit:
  ret void
}

attributes #0 = { "amdgpu-flat-work-group-size"="64,64" }

!0 = distinct !{!0, !"lds"}
!1 = distinct !{!1, !0, !"a"}
!2 = distinct !{!2, !0, !"b"}
!3 = !{!1}
!4 = !{!2}
