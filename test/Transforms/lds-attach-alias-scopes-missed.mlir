// Each reason for which an access stays without metadata, or a DMA gets the wildcard.
// RUN: lodestone-opt %s --split-input-file --lds-attach-alias-scopes --remarks-filter=lds-attach-alias-scopes --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s
// RUN: lodestone-opt %s --split-input-file --lds-attach-alias-scopes=launder=false --remarks-filter=lds-attach-alias-scopes --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=PLAIN

llvm.mlir.global external @lds() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
// A number that is used as an address; a flat pointer from elsewhere; a DMA and a read on
// different paths; a DMA whose first byte alone is known.
// CHECK-DAG: [Missed] unknown-pointer {{.*}} Function=refused | Op=llvm.load, Reason="the pointer can't be traced to an LDS object; it waits for every LDS-DMA"
// CHECK-DAG: [Missed] flat-pointer {{.*}} Function=refused | Op=llvm.load
// CHECK-DAG: [Missed] unprimed-dma {{.*}} Function=refused | Op=llvm.load, Reason="a DMA of lds[0, 256) may have been issued, but not on every path that leads here
// CHECK-DAG: [Missed] unknown-pointer {{.*}} Function=refused | Op=rocdl.raw.ptr.buffer.load.lds, Reason="it may write any byte of dynamic LDS from byte 64 on; no bound is known; every LDS access waits for this DMA"
// Without laundering nothing may be tagged while LLVM sees a DMA's address.
// PLAIN: [Missed] needs-launder {{.*}} Function=refused | Op=llvm.load
llvm.func @refused(%src: !llvm.ptr<8>, %any: i32, %flat: !llvm.ptr, %flag: i1, %size: i32) attributes {rocdl.kernel} {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c4 = llvm.mlir.constant(4 : i32) : i32
  %a = llvm.mlir.addressof @lds : !llvm.ptr<3>
  %b = llvm.getelementptr %a[64] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  llvm.cond_br %flag, ^then, ^join
^then:
  rocdl.raw.ptr.buffer.load.lds %src, %a, %c4, %c0, %c0, %c0, %c0
  llvm.br ^join
^join:
  %w = llvm.inttoptr %any : i32 to !llvm.ptr<3>
  %x0 = llvm.load %w : !llvm.ptr<3> -> i32
  %x1 = llvm.load %flat : !llvm.ptr -> i32
  %x2 = llvm.load %a : !llvm.ptr<3> -> i32
  rocdl.raw.ptr.buffer.load.lds %src, %b, %size, %c0, %c0, %c0, %c0
  llvm.return
}

// -----

// Inline assembly that may be a DMA can't carry scopes, so nothing in the kernel may; tags
// that were there are dropped.
#domain = #llvm.alias_scope_domain<id = "d">
#scope = #llvm.alias_scope<id = "s", domain = #domain>
llvm.mlir.global external @lds() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
// CHECK-DAG: [Missed] untaggable-dma {{.*}} Function=assembly | Op=llvm.load, Reason="'llvm.inline_asm' is an LDS-DMA that can't carry alias scopes
// CHECK-DAG: [Missed] tags-dropped {{.*}} Function=assembly
llvm.func @assembly(%src: !llvm.ptr<8>, %v: i32) attributes {rocdl.kernel} {
  %a = llvm.mlir.addressof @lds : !llvm.ptr<3>
  llvm.inline_asm has_side_effects "buffer_load_dword $0, 0 offen lds", "v" %v : (i32) -> ()
  %x = llvm.load %a {noalias_scopes = [#scope]} : !llvm.ptr<3> -> i32
  llvm.return
}

// -----

// The backend replaces the scopes on two or more static globals.
llvm.mlir.global internal @a() {addr_space = 3 : i32} : !llvm.array<512 x i8>
llvm.mlir.global internal @b() {addr_space = 3 : i32} : !llvm.array<512 x i8>
// CHECK: [Missed] static-lds-conflict {{.*}} Function=statics | Op=llvm.load, Reason="the kernel uses 2 static LDS globals
llvm.func @statics(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c4 = llvm.mlir.constant(4 : i32) : i32
  %a = llvm.mlir.addressof @a : !llvm.ptr<3>
  %b = llvm.mlir.addressof @b : !llvm.ptr<3>
  rocdl.raw.ptr.buffer.load.lds %src, %a, %c4, %c0, %c0, %c0, %c0
  %x = llvm.load %b : !llvm.ptr<3> -> i32
  llvm.return
}

// -----

// A region whose pointer isn't where it says; an access past its object; what waits for all
// DMAs anyway; a call through a pointer, which LLVM may resolve and inline.
llvm.mlir.global external @lds() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
llvm.mlir.global internal @static() {addr_space = 3 : i32} : !llvm.array<512 x i8>
llvm.func internal @issues(%src: !llvm.ptr<8>) {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c4 = llvm.mlir.constant(4 : i32) : i32
  %a = llvm.mlir.addressof @lds : !llvm.ptr<3>
  rocdl.raw.ptr.buffer.load.lds %src, %a, %c4, %c0, %c0, %c0, %c0
  llvm.return
}
// CHECK-DAG: [Missed] unknown-pointer {{.*}} Function=more | Op=llvm.load
// CHECK-DAG: [Missed] outside-object {{.*}} Function=more | Op=llvm.load
// CHECK-DAG: [Missed] unprimed-dma {{.*}} Function=more | Op=llvm.load
// CHECK-DAG: drains-vmcnt {{.*}} Function=more | Reason="a release fence waits for every LDS-DMA
llvm.func @more(%src: !llvm.ptr<8>, %flag: i1) attributes {rocdl.kernel} {
  %f = llvm.mlir.addressof @issues : !llvm.ptr
  %a = llvm.mlir.addressof @lds : !llvm.ptr<3>
  %s = llvm.mlir.addressof @static : !llvm.ptr<3>
  %liar = llvm.getelementptr %a[0, 64] {lds.extent = #lds.extent<"liar", offset = 128, size = 64>} : (!llvm.ptr<3>) -> !llvm.ptr<3>, !llvm.array<1024 x i8>
  %x0 = llvm.load %liar : !llvm.ptr<3> -> i32
  %past = llvm.getelementptr %s[512] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %x1 = llvm.load %past : !llvm.ptr<3> -> i32
  llvm.fence release
  llvm.call %f(%src) : !llvm.ptr, (!llvm.ptr<8>) -> ()
  %x2 = llvm.load %a : !llvm.ptr<3> -> i32
  llvm.return
}
