// RUN: lodestone-opt %s --lds-pack-static-globals | FileCheck %s

// The globals of a kernel with DMAs become parts of one, the strictest alignment first; a
// kernel without DMAs keeps its own.
// CHECK: llvm.mlir.global internal @plain_a
// CHECK: llvm.mlir.global internal @plain_b
// CHECK-NOT: @small
// CHECK: llvm.mlir.global internal @__lds_packed() {addr_space = 3 : i32, alignment = 256 : i64} : !llvm.array<1040 x i8>
// CHECK-NOT: @large
llvm.mlir.global internal @plain_a() {addr_space = 3 : i32} : i32
llvm.mlir.global internal @plain_b() {addr_space = 3 : i32} : i32
llvm.mlir.global internal @small() {addr_space = 3 : i32} : !llvm.array<4 x ptr<3>>
llvm.mlir.global internal @large() {addr_space = 3 : i32, alignment = 256 : i64} : !llvm.array<1024 x i8>
// CHECK-LABEL: llvm.func @packed
// CHECK: llvm.getelementptr inbounds %{{.*}}[0, 1024] {lds.extent = #lds.extent<"small", offset = 1024, size = 16>}
// CHECK: llvm.getelementptr inbounds %{{.*}}[0, 0] {lds.extent = #lds.extent<"large", offset = 0, size = 1024>}
llvm.func @packed(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c4 = llvm.mlir.constant(4 : i32) : i32
  %s = llvm.mlir.addressof @small : !llvm.ptr<3>
  %l = llvm.mlir.addressof @large : !llvm.ptr<3>
  rocdl.raw.ptr.buffer.load.lds %src, %l, %c4, %c0, %c0, %c0, %c0
  %x = llvm.load %s : !llvm.ptr<3> -> i32
  llvm.return
}
// CHECK-LABEL: llvm.func @plain
// CHECK: llvm.mlir.addressof @plain_a
llvm.func @plain() attributes {rocdl.kernel} {
  %a = llvm.mlir.addressof @plain_a : !llvm.ptr<3>
  %b = llvm.mlir.addressof @plain_b : !llvm.ptr<3>
  %x = llvm.load %a : !llvm.ptr<3> -> i32
  llvm.store %x, %b : i32, !llvm.ptr<3>
  llvm.return
}
