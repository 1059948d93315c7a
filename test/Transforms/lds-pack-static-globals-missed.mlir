// Why the globals of a kernel stay apart.
// RUN: lodestone-opt %s --split-input-file --lds-pack-static-globals --remarks-filter=lds-pack-static-globals --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s

// Another kernel uses one of them.
// CHECK: [Missed] not-packed {{.*}} Reason="static LDS globals of 'first' stay apart: one is used outside the kernel"
llvm.mlir.global internal @a() {addr_space = 3 : i32} : i64
llvm.mlir.global internal @b() {addr_space = 3 : i32} : i64
llvm.func @first(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c4 = llvm.mlir.constant(4 : i32) : i32
  %a = llvm.mlir.addressof @a : !llvm.ptr<3>
  %b = llvm.mlir.addressof @b : !llvm.ptr<3>
  rocdl.raw.ptr.buffer.load.lds %src, %a, %c4, %c0, %c0, %c0, %c0
  %x = llvm.load %b : !llvm.ptr<3> -> i32
  llvm.return
}
llvm.func @second() attributes {rocdl.kernel} {
  %a = llvm.mlir.addressof @a : !llvm.ptr<3>
  llvm.return
}

// -----

// One has an initial value, which would be lost.
// CHECK: [Missed] not-packed {{.*}} Reason="static LDS globals of 'only' stay apart: one has an initial value"
llvm.mlir.global internal @a(0 : i64) {addr_space = 3 : i32} : i64
llvm.mlir.global internal @b() {addr_space = 3 : i32} : i64
llvm.func @only(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c4 = llvm.mlir.constant(4 : i32) : i32
  %a = llvm.mlir.addressof @a : !llvm.ptr<3>
  %b = llvm.mlir.addressof @b : !llvm.ptr<3>
  rocdl.raw.ptr.buffer.load.lds %src, %a, %c4, %c0, %c0, %c0, %c0
  llvm.return
}
