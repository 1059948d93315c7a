// RUN: lodestone-opt %s --split-input-file --verify-diagnostics --lds-attach-alias-scopes=strict

// With `strict` a refusal is an error that names what it is about.
llvm.mlir.global external @lds() {addr_space = 3 : i32} : !llvm.array<0 x i8>
llvm.func @unprimed(%src: !llvm.ptr<8>, %flag: i1) attributes {rocdl.kernel} {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c4 = llvm.mlir.constant(4 : i32) : i32
  %a = llvm.mlir.addressof @lds : !llvm.ptr<3>
  llvm.cond_br %flag, ^then, ^join
^then:
  // expected-note@+1 {{because of this}}
  rocdl.raw.ptr.buffer.load.lds %src, %a, %c4, %c0, %c0, %c0, %c0
  llvm.br ^join
^join:
  // expected-error@+1 {{gets no alias scope (unprimed-dma): a DMA of lds[0, 256) may have been issued, but not on every path that leads here; it waits for every LDS-DMA}}
  %x = llvm.load %a : !llvm.ptr<3> -> i32
  llvm.return
}

// -----

// A chip that isn't known is not taken for another.
// expected-error@+1 {{unknown chip 'gfx000'; known chips are}}
gpu.module @m [#rocdl.target<chip = "gfx000">] {
  llvm.func @f() {
    llvm.return
  }
}
