; RUN: lodestone-check --chip=gfx950 %s | FileCheck %s
; RUN: lodestone-check --chip=gfx942 %s | FileCheck %s
; RUN: llc -mtriple=amdgcn-amd-amdhsa -mcpu=gfx950 %s -o - | FileCheck %s --check-prefix=ISA
; ISA-NOT: vmcnt

; Reads whose address can be told from that of the DMA (bytes 0 to 255), however
; it is computed: what the backend leaves out is right to leave out.

; CHECK: ok: 10 LDS accesses and 10 LDS-DMAs in 10 functions

@lds = external addrspace(3) global [0 x i8], align 16

declare void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8), ptr addrspace(3), i32, i32, i32, i32, i32)
declare i32 @llvm.amdgcn.workitem.id.x()
declare i64 @llvm.amdgcn.mul.u24.i64(i32, i32)

define amdgpu_kernel void @or_disjoint(ptr addrspace(8) inreg %r, ptr addrspace(1) %out, i32 %c) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %t4 = shl i32 %t, 2
  %n = ptrtoint ptr addrspace(3) @lds to i32
  %o = or disjoint i32 %t4, 256
  %p = getelementptr i8, ptr addrspace(3) @lds, i32 %o
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) @lds, i32 4, i32 0, i32 0, i32 0, i32 0), !alias.scope !3, !noalias !4
  %v = load i32, ptr addrspace(3) %p, align 4, !alias.scope !4, !noalias !3
  store i32 %v, ptr addrspace(1) %out
  ret void
}

define amdgpu_kernel void @product_of_24_bits(ptr addrspace(8) inreg %r, ptr addrspace(1) %out, i32 %c) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %o = call i64 @llvm.amdgcn.mul.u24.i64(i32 %t, i32 12)
  %h = lshr i64 %o, 1
  %i = trunc i64 %h to i32
  %b = getelementptr i8, ptr addrspace(3) @lds, i32 256
  %p = getelementptr i16, ptr addrspace(3) %b, i32 %i
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) @lds, i32 4, i32 0, i32 0, i32 0, i32 0), !alias.scope !3, !noalias !4
  %v = load i32, ptr addrspace(3) %p, align 4, !alias.scope !4, !noalias !3
  store i32 %v, ptr addrspace(1) %out
  ret void
}

define amdgpu_kernel void @through_integers(ptr addrspace(8) inreg %r, ptr addrspace(1) %out, i32 %c) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %t4 = shl i32 %t, 2
  %n = ptrtoint ptr addrspace(3) @lds to i32
  %m = add i32 %n, 256
  %l = add i32 %m, %t4
  %p = inttoptr i32 %l to ptr addrspace(3)
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) @lds, i32 4, i32 0, i32 0, i32 0, i32 0), !alias.scope !3, !noalias !4
  %v = load i32, ptr addrspace(3) %p, align 4, !alias.scope !4, !noalias !3
  store i32 %v, ptr addrspace(1) %out
  ret void
}

define amdgpu_kernel void @launder(ptr addrspace(8) inreg %r, ptr addrspace(1) %out, i32 %c) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %t4 = shl i32 %t, 2
  %n = ptrtoint ptr addrspace(3) @lds to i32
  %m = call i32 asm "", "=s,0"(i32 %n)
  %l = add i32 %m, 512
  %f = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %l)
  %p = inttoptr i32 %f to ptr addrspace(3)
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) @lds, i32 4, i32 0, i32 0, i32 0, i32 0), !alias.scope !3, !noalias !4
  %v = load i32, ptr addrspace(3) %p, align 4, !alias.scope !4, !noalias !3
  store i32 %v, ptr addrspace(1) %out
  ret void
}

define amdgpu_kernel void @choice(ptr addrspace(8) inreg %r, ptr addrspace(1) %out, i32 %c) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %t4 = shl i32 %t, 2
  %n = ptrtoint ptr addrspace(3) @lds to i32
  %b = icmp eq i32 %c, 0
  %o = select i1 %b, i32 256, i32 4096
  %p = getelementptr i8, ptr addrspace(3) @lds, i32 %o
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) @lds, i32 4, i32 0, i32 0, i32 0, i32 0), !alias.scope !3, !noalias !4
  %v = load i32, ptr addrspace(3) %p, align 4, !alias.scope !4, !noalias !3
  store i32 %v, ptr addrspace(1) %out
  ret void
}

define amdgpu_kernel void @swizzle(ptr addrspace(8) inreg %r, ptr addrspace(1) %out, i32 %c) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %t4 = shl i32 %t, 2
  %n = ptrtoint ptr addrspace(3) @lds to i32
  %s = shl i32 %t, 3
  %u = and i32 %s, 48
  %x = xor i32 %t4, %u
  %o = add i32 %x, 256
  %p = getelementptr i8, ptr addrspace(3) @lds, i32 %o
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) @lds, i32 4, i32 0, i32 0, i32 0, i32 0), !alias.scope !3, !noalias !4
  %v = load i32, ptr addrspace(3) %p, align 4, !alias.scope !4, !noalias !3
  store i32 %v, ptr addrspace(1) %out
  ret void
}

define amdgpu_kernel void @wave_tile(ptr addrspace(8) inreg %r, ptr addrspace(1) %out, i32 %c) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %t4 = shl i32 %t, 2
  %n = ptrtoint ptr addrspace(3) @lds to i32
  %f = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %t)
  %w = and i32 %f, 64
  %l = and i32 %t, 15
  %row = or disjoint i32 %w, %l
  %a = shl i32 %row, 7
  %x = xor i32 %a, 64
  %o = sub i32 16384, %x
  %p = getelementptr i8, ptr addrspace(3) @lds, i32 %o
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) @lds, i32 4, i32 0, i32 0, i32 0, i32 0), !alias.scope !3, !noalias !4
  %v = load i32, ptr addrspace(3) %p, align 4, !alias.scope !4, !noalias !3
  store i32 %v, ptr addrspace(1) %out
  ret void
}

define amdgpu_kernel void @ring(ptr addrspace(8) inreg %r, ptr addrspace(1) %out, i32 %c) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %t4 = shl i32 %t, 2
  %n = ptrtoint ptr addrspace(3) @lds to i32
  %s = and i32 %c, 1
  %q = shl i32 %s, 10
  %o = add i32 %q, 256
  %p = getelementptr i8, ptr addrspace(3) @lds, i32 %o
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) @lds, i32 4, i32 0, i32 0, i32 0, i32 0), !alias.scope !3, !noalias !4
  %v = load i32, ptr addrspace(3) %p, align 4, !alias.scope !4, !noalias !3
  store i32 %v, ptr addrspace(1) %out
  ret void
}

define amdgpu_kernel void @round_down(ptr addrspace(8) inreg %r, ptr addrspace(1) %out, i32 %c) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %t4 = shl i32 %t, 2
  %n = ptrtoint ptr addrspace(3) @lds to i32
  %m = add i32 %n, 384
  %l = and i32 %m, -128
  %p = inttoptr i32 %l to ptr addrspace(3)
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) @lds, i32 4, i32 0, i32 0, i32 0, i32 0), !alias.scope !3, !noalias !4
  %v = load i32, ptr addrspace(3) %p, align 4, !alias.scope !4, !noalias !3
  store i32 %v, ptr addrspace(1) %out
  ret void
}

define amdgpu_kernel void @subtract(ptr addrspace(8) inreg %r, ptr addrspace(1) %out, i32 %c) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %t4 = shl i32 %t, 2
  %n = ptrtoint ptr addrspace(3) @lds to i32
  %m = add i32 %n, 4096
  %l = sub i32 %m, %t4
  %p = inttoptr i32 %l to ptr addrspace(3)
  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %r, ptr addrspace(3) @lds, i32 4, i32 0, i32 0, i32 0, i32 0), !alias.scope !3, !noalias !4
  %v = load i32, ptr addrspace(3) %p, align 4, !alias.scope !4, !noalias !3
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
