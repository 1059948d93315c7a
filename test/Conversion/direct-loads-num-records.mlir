// RUN: lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-rocdl{chip=gfx950 direct-to-lds=on})' | FileCheck %s

// The buffer that a DMA reads through has exactly the bytes of the memref, 64 * 32 elements of two: a
// load behind them gives zeros, and nothing of another allocation.
// CHECK: %[[BYTES:.*]] = llvm.mlir.constant(4096 : i64)
// CHECK: rocdl.make.buffer.rsrc %{{.*}}, %{{.*}}, %[[BYTES]], %{{.*}}
// CHECK: rocdl.load.to.lds %{{.*}}, %{{.*}}, 16
!source = memref<64x32xf16>
!lds = memref<2048xf16, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @tile(%g: !source, %rows: index, %out: memref<2048xf16>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %tile = lds.region @tile : !lds
    %zero = arith.constant dense<0.0> : vector<8xf16>
    %t = gpu.thread_id x
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %row = arith.divui %t, %c4 : index
    %cell = arith.remui %t, %c4 : index
    %col = arith.muli %cell, %c8 : index
    %at = arith.muli %t, %c8 : index
    %inside = arith.cmpi ult, %row, %rows : index
    %v = scf.if %inside -> (vector<8xf16>) {
      %x = vector.load %g[%row, %col] : !source, vector<8xf16>
      scf.yield %x : vector<8xf16>
    } else {
      scf.yield %zero : vector<8xf16>
    }
    vector.store %v, %tile[%at] : !lds, vector<8xf16>
    gpu.barrier
    %x = memref.load %tile[%t] : !lds
    memref.store %x, %out[%t] : memref<2048xf16>
    gpu.return
  }

  // Rows that are 100 elements apart: 63 of those, and 32 elements of the last one.
  // CHECK-LABEL: llvm.func @rows_apart
  // CHECK: %[[BYTES:.*]] = llvm.mlir.constant(12664 : i64)
  // CHECK: rocdl.make.buffer.rsrc %{{.*}}, %{{.*}}, %[[BYTES]], %{{.*}}
  gpu.func @rows_apart(%g: memref<64x32xf16, strided<[100, 1]>>, %out: memref<2048xf16>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %tile = lds.region @tile : !lds
    %t = gpu.thread_id x
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %row = arith.divui %t, %c4 : index
    %cell = arith.remui %t, %c4 : index
    %col = arith.muli %cell, %c8 : index
    %at = arith.muli %t, %c8 : index
    %v = vector.load %g[%row, %col] : memref<64x32xf16, strided<[100, 1]>>, vector<8xf16>
    vector.store %v, %tile[%at] : !lds, vector<8xf16>
    gpu.barrier
    %x = memref.load %tile[%t] : !lds
    memref.store %x, %out[%t] : memref<2048xf16>
    gpu.return
  }
}
