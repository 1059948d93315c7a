// RUN: lodestone-opt %s --split-input-file --lds-form-direct-loads=chip=gfx942 --remarks-filter='lds-form-direct-loads' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s

// Rows come from a table that the kernel doesn't write: a lane looks up the row of the one for which
// it brings a dword.
// CHECK: remark: [Passed] direct-load-formed {{.*}}BytesPerLane=4, DMAs=4
!lds = memref<2048xf16, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @table(%g: memref<64x64xf16>, %table: memref<32xi32>, %out: memref<32xi32> {llvm.noalias}) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %t = gpu.thread_id x
    %i = arith.divui %t, %c8 : index
    %cell = arith.remui %t, %c8 : index
    %column = arith.muli %cell, %c8 : index
    %to = arith.muli %t, %c8 : index
    %entry = memref.load %table[%i] : memref<32xi32>
    %row = arith.index_castui %entry : i32 to index
    %v = vector.load %g[%row, %column] : memref<64x64xf16>, vector<8xf16>
    vector.store %v, %lds[%to] : !lds, vector<8xf16>
    gpu.barrier
    memref.store %entry, %out[%i] : memref<32xi32>
    gpu.return
  }
}

// -----

// Without llvm.noalias, what is written may be the table.
// CHECK: remark: [Missed] not-relaned {{.*}}which the kernel may write
!lds = memref<2048xf16, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @table_written(%g: memref<64x64xf16>, %table: memref<32xi32>, %out: memref<32xi32>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %t = gpu.thread_id x
    %i = arith.divui %t, %c8 : index
    %cell = arith.remui %t, %c8 : index
    %column = arith.muli %cell, %c8 : index
    %to = arith.muli %t, %c8 : index
    %entry = memref.load %table[%i] : memref<32xi32>
    %row = arith.index_castui %entry : i32 to index
    %v = vector.load %g[%row, %column] : memref<64x64xf16>, vector<8xf16>
    vector.store %v, %lds[%to] : !lds, vector<8xf16>
    gpu.barrier
    memref.store %entry, %out[%i] : memref<32xi32>
    gpu.return
  }
}
