// What lds-verify-alias-scopes rejects in tags that others wrote, and what it
// only warns about.
// RUN: lodestone-opt %s --lds-verify-alias-scopes --split-input-file --verify-diagnostics

// A DMA without scopes is in no slot: the tagged read would not wait for it.
#domain = #llvm.alias_scope_domain<id = "d">
#a = #llvm.alias_scope<id = "a", domain = #domain>
llvm.mlir.global external @lds() {addr_space = 3 : i32} : !llvm.array<0 x i8>
llvm.func @one_sided(%r: !llvm.ptr<8>, %v: i32) attributes {rocdl.kernel} {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c4 = llvm.mlir.constant(4 : i32) : i32
  %p = llvm.mlir.addressof @lds : !llvm.ptr<3>
  %q = llvm.inline_asm "", "=s,0" %p : (!llvm.ptr<3>) -> !llvm.ptr<3>
  // expected-error@+1 {{is an LDS-DMA without alias scopes in a kernel with tagged accesses, which don't wait for it}}
  rocdl.raw.ptr.buffer.load.lds %r, %q, %c4, %v, %c0, %c0, %c0
  // expected-note@+1 {{the first tagged access is here}}
  %x = llvm.load %p {alias_scopes = [#a]} : !llvm.ptr<3> -> f32
  llvm.return
}

// -----

// The DMA writes 64 lanes' dwords, bytes 0 to 255; the read at 128 is in them.
#domain = #llvm.alias_scope_domain<id = "d">
#a = #llvm.alias_scope<id = "a", domain = #domain>
llvm.mlir.global external @lds() {addr_space = 3 : i32} : !llvm.array<0 x i8>
llvm.func @overlap(%r: !llvm.ptr<8>, %v: i32) attributes {rocdl.kernel} {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c4 = llvm.mlir.constant(4 : i32) : i32
  %p = llvm.mlir.addressof @lds : !llvm.ptr<3>
  %q = llvm.inline_asm "", "=s,0" %p : (!llvm.ptr<3>) -> !llvm.ptr<3>
  // expected-note@+1 {{the DMA is here}}
  rocdl.raw.ptr.buffer.load.lds %r, %q, %c4, %v, %c0, %c0, %c0 {alias_scopes = [#a]}
  %g = llvm.getelementptr %p[128] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  // expected-error@+1 {{is noalias to an LDS-DMA but may touch its bytes: bytes [128, 132) here, bytes [0, 256) there}}
  %x = llvm.load %g {noalias_scopes = [#a]} : !llvm.ptr<3> -> f32
  llvm.return
}

// -----

// The DMA comes only on one path: at the join LLVM may have forgotten its slot.
#domain = #llvm.alias_scope_domain<id = "d">
#a = #llvm.alias_scope<id = "a", domain = #domain>
llvm.mlir.global external @lds() {addr_space = 3 : i32} : !llvm.array<0 x i8>
llvm.func @unprimed(%r: !llvm.ptr<8>, %v: i32, %c: i1) attributes {rocdl.kernel} {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c4 = llvm.mlir.constant(4 : i32) : i32
  %p = llvm.mlir.addressof @lds : !llvm.ptr<3>
  %q = llvm.inline_asm "", "=s,0" %p : (!llvm.ptr<3>) -> !llvm.ptr<3>
  llvm.cond_br %c, ^dma, ^join
^dma:
  // expected-note@+1 {{the DMA is here}}
  rocdl.raw.ptr.buffer.load.lds %r, %q, %c4, %v, %c0, %c0, %c0 {alias_scopes = [#a]}
  llvm.br ^join
^join:
  // expected-error@+1 {{carries alias metadata where an LDS-DMA that it may overlap isn't issued first on every path, so the wait is lost}}
  %x = llvm.load %p {alias_scopes = [#a]} : !llvm.ptr<3> -> f32
  llvm.return
}

// -----

// Nothing is known of a pointer that comes from memory, and the address of the
// DMA is open to LLVM's alias analysis: warnings, since it may be right.
#domain = #llvm.alias_scope_domain<id = "d">
#a = #llvm.alias_scope<id = "a", domain = #domain>
llvm.mlir.global external @lds() {addr_space = 3 : i32} : !llvm.array<0 x i8>
llvm.func @unknown(%r: !llvm.ptr<8>, %v: i32, %m: !llvm.ptr<1>) attributes {rocdl.kernel} {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c4 = llvm.mlir.constant(4 : i32) : i32
  %p = llvm.mlir.addressof @lds : !llvm.ptr<3>
  // expected-note@+2 {{the DMA is here}}
  // expected-warning@+1 {{its address isn't laundered}}
  rocdl.raw.ptr.buffer.load.lds %r, %p, %c4, %v, %c0, %c0, %c0 {alias_scopes = [#a]}
  %g = llvm.load %m : !llvm.ptr<1> -> !llvm.ptr<3>
  // expected-warning@+1 {{is noalias to an LDS-DMA, which can't be verified: the pointer can't be traced to an LDS object}}
  %x = llvm.load %g {noalias_scopes = [#a]} : !llvm.ptr<3> -> f32
  llvm.return
}

// -----

// The backend replaces scopes on the accesses of two static globals.
#domain = #llvm.alias_scope_domain<id = "d">
#a = #llvm.alias_scope<id = "a", domain = #domain>
// expected-note@+1 {{another is here}}
llvm.mlir.global internal @x() {addr_space = 3 : i32} : !llvm.array<256 x i8>
// expected-error@+1 {{is one of 2 static LDS globals of a kernel with alias scopes; the backend replaces the scopes}}
llvm.mlir.global internal @y() {addr_space = 3 : i32} : !llvm.array<256 x i8>
llvm.func @static(%r: !llvm.ptr<8>, %v: i32) attributes {rocdl.kernel} {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c4 = llvm.mlir.constant(4 : i32) : i32
  %p = llvm.mlir.addressof @x : !llvm.ptr<3>
  %y = llvm.mlir.addressof @y : !llvm.ptr<3>
  %q = llvm.inline_asm "", "=s,0" %p : (!llvm.ptr<3>) -> !llvm.ptr<3>
  rocdl.raw.ptr.buffer.load.lds %r, %q, %c4, %v, %c0, %c0, %c0 {alias_scopes = [#a]}
  %x = llvm.load %y {noalias_scopes = [#a]} : !llvm.ptr<3> -> f32
  llvm.return
}
