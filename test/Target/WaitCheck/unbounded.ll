; RUN: not lodestone-check --chip=gfx950 %s | FileCheck %s
; RUN: not lodestone-check --chip=gfx942 %s | FileCheck %s

; An address that cannot be bounded may be anywhere; the finding says so.

; CHECK: loaded, bb.0: error: {{.*}} on dynamic LDS + [unbounded] may run before {{.*}}; overlap unknown
; CHECK: number, bb.0: error: {{.*}} on LDS address + [unbounded] may run before {{.*}}; overlap unknown

@lds = external addrspace(3) global [0 x i8], align 16

declare void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8), ptr addrspace(3), i32, i32, i32, i32, i32)
declare i32 @llvm.amdgcn.workitem.id.x()

define amdgpu_kernel void @loaded(ptr addrspace(8) inreg %r, ptr addrspace(1) %out, i32 %c) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %t4 = shl i32 %t, 2
  %n = ptrtoint ptr addrspace(3) @lds to i32
  %o = load i32, ptr addrspace(1) %out
  %p = getelementptr i8, ptr addrspace(3) @lds, i32 %o
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) @lds, i32 4, i32 0, i32 0, i32 0, i32 0), !alias.scope !3, !noalias !4
  %v = load i32, ptr addrspace(3) %p, align 4, !alias.scope !4, !noalias !3
  store i32 %v, ptr addrspace(1) %out
  ret void
}

define amdgpu_kernel void @number(ptr addrspace(8) inreg %r, ptr addrspace(1) %out, i32 %c) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %t4 = shl i32 %t, 2
  %n = ptrtoint ptr addrspace(3) @lds to i32
  %p = inttoptr i32 %c to ptr addrspace(3)
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) @lds, i32 4, i32 0, i32 0, i32 0, i32 0), !alias.scope !3, !noalias !4
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
