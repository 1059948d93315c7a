// With separate-globals each region has an external global of its name, at which the
// dynamic LDS starts; so the address still adds the offset.
// RUN: lodestone-opt %s --pass-pipeline='builtin.module(gpu.module(lds-lower-regions{separate-globals}))' | FileCheck %s

// CHECK-LABEL: gpu.module @m
gpu.module @m {
  // CHECK-DAG: llvm.mlir.global external @a() {addr_space = 3 : i32, alignment = 64 : i64, lds.extent = #lds.extent<"a", offset = 0, size = 64>} : !llvm.array<0 x i8>
  // CHECK-DAG: llvm.mlir.global external @b() {{{.*}}lds.extent = #lds.extent<"b", offset = 64, size = 64>}
  // CHECK-DAG: llvm.mlir.global external @b_0() {{{.*}}lds.extent = #lds.extent<"b", offset = 128, size = 64>}
  // CHECK-DAG: llvm.mlir.global external @x() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
  // CHECK-DAG: llvm.mlir.global external @z() {{{.*}}lds.extent = #lds.extent<"z", offset = 64, size = 16>}
  // CHECK-NOT: llvm.mlir.global

  // CHECK-LABEL: gpu.func @first
  gpu.func @first() kernel {
    // CHECK: %[[A:.*]] = llvm.mlir.addressof @a
    // CHECK: llvm.getelementptr %[[A]][0, 0] {lds.extent = #lds.extent<"a", offset = 0, size = 64>}
    %a = lds.region @a size(64) align(64) : !llvm.ptr<3>
    // CHECK: %[[B:.*]] = llvm.mlir.addressof @b :
    // CHECK: llvm.getelementptr %[[B]][0, 64] {lds.extent = #lds.extent<"b", offset = 64, size = 64>}
    %b = lds.region @b size(64) : !llvm.ptr<3>
    gpu.return
  }

  // The same name for the same bytes shares the global, for other bytes it doesn't.
  // CHECK-LABEL: gpu.func @second
  gpu.func @second() kernel {
    // CHECK: llvm.mlir.addressof @a
    %a = lds.region @a size(64) : !llvm.ptr<3>
    // CHECK: %[[B:.*]] = llvm.mlir.addressof @b_0
    // CHECK: llvm.getelementptr %[[B]][0, 128] {lds.extent = #lds.extent<"b", offset = 128, size = 64>}
    %b = lds.region @b offset(128) size(64) : !llvm.ptr<3>
    gpu.return
  }

  // Regions that share bytes must not be in distinct globals, which LLVM takes to be
  // disjoint: @x and @y share bytes, @z only touches them.
  // CHECK-LABEL: gpu.func @overlays
  gpu.func @overlays() kernel {
    // CHECK: %[[X:.*]] = llvm.mlir.addressof @x
    // CHECK: llvm.getelementptr %[[X]][0, 32] {lds.extent = #lds.extent<"x", offset = 32, size = 32>}
    %x = lds.region @x offset(32) size(32) : !llvm.ptr<3>
    // CHECK: %[[Z:.*]] = llvm.mlir.addressof @z
    // CHECK: llvm.getelementptr %[[Z]][0, 64] {lds.extent = #lds.extent<"z", offset = 64, size = 16>}
    %z = lds.region @z offset(64) size(16) : !llvm.ptr<3>
    // CHECK: llvm.getelementptr %[[X]][0, 0] {lds.extent = #lds.extent<"y", offset = 0, size = 64>}
    %y = lds.region @y offset(0) size(64) overlays @x : !llvm.ptr<3>
    gpu.return
  }
}
