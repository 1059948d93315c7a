; RUN: not lodestone-check --chip=gfx950 %s | FileCheck %s
; RUN: not lodestone-check --chip=gfx942 %s | FileCheck %s

; Waits and LDS accesses in inline assembly, which the backend does not look into.

; CHECK-NOT: by_hand
; CHECK: too_weak, bb.0: error: {{.*}}; needs vmcnt(0), has vmcnt(1)
; CHECK: asm_read, bb.0: error: {{.*}} on anywhere in LDS may run before {{.*}}; overlap unknown; needs vmcnt(0), has no wait

@lds = external addrspace(3) global [0 x i8], align 16

declare void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8), ptr addrspace(3), i32, i32, i32, i32, i32)
declare i32 @llvm.amdgcn.workitem.id.x()

define amdgpu_kernel void @by_hand(ptr addrspace(8) inreg %r, ptr addrspace(1) %out) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %t4 = shl i32 %t, 2
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) @lds, i32 4, i32 0, i32 0, i32 0, i32 0)
  call void asm sideeffect "s_waitcnt vmcnt(0)", ""()
  %p = getelementptr i8, ptr addrspace(3) @lds, i32 %t4
  %v = load i32, ptr addrspace(3) %p, align 4, !alias.scope !3, !noalias !4
  store i32 %v, ptr addrspace(1) %out
  ret void
}

define amdgpu_kernel void @too_weak(ptr addrspace(8) inreg %r, ptr addrspace(1) %out) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %t4 = shl i32 %t, 2
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) @lds, i32 4, i32 0, i32 0, i32 0, i32 0)
  call void asm sideeffect "s_waitcnt vmcnt(1)", ""()
  %p = getelementptr i8, ptr addrspace(3) @lds, i32 %t4
  %v = load i32, ptr addrspace(3) %p, align 4, !alias.scope !3, !noalias !4
  store i32 %v, ptr addrspace(1) %out
  ret void
}

define amdgpu_kernel void @asm_read(ptr addrspace(8) inreg %r, ptr addrspace(1) %out) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %t4 = shl i32 %t, 2
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) @lds, i32 4, i32 0, i32 0, i32 0, i32 0)
  %v = call i32 asm sideeffect "ds_read_b32 $0, $1 ; read\0As_waitcnt lgkmcnt(0)", "=v,v"(i32 %t4)
  store i32 %v, ptr addrspace(1) %out
  ret void
}

attributes #0 = { "amdgpu-flat-work-group-size"="64,64" }

!0 = distinct !{!0, !"lds"}
!1 = distinct !{!1, !0, !"a"}
!2 = distinct !{!2, !0, !"b"}
!3 = !{!1}
!4 = !{!2}
