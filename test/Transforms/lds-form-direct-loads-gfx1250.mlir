// gfx1250 takes an address in LDS from each lane; it must be a multiple of what a lane moves.
// RUN: lodestone-opt %s --split-input-file --lds-form-direct-loads=chip=gfx1250 --remarks-filter='lds-form-direct-loads' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s

// Swizzled, and with a place from a table that counts in eights: any order, but whole cells.
// CHECK: remark: [Passed] direct-load-formed {{.*}}Function=any_order
// CHECK: remark: [Passed] direct-load-formed {{.*}}Function=from_table
!lds = memref<2048xf16, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @any_order(%g: memref<2048xf16>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %s = arith.xori %t, %c3 : index
    %i = arith.muli %t, %c8 : index
    %j = arith.muli %s, %c8 : index
    %v = vector.load %g[%i] : memref<2048xf16>, vector<8xf16>
    vector.store %v, %lds[%j] : !lds, vector<8xf16>
    gpu.barrier
    gpu.return
  }
  gpu.func @from_table(%g: memref<2048xf16>, %table: memref<256xindex>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c8 = arith.constant 8 : index
    %s = memref.load %table[%t] : memref<256xindex>
    %i = arith.muli %t, %c8 : index
    %j = arith.muli %s, %c8 : index
    %v = vector.load %g[%i] : memref<2048xf16>, vector<8xf16>
    vector.store %v, %lds[%j] : !lds, vector<8xf16>
    gpu.barrier
    gpu.return
  }
}

// -----

// A row of 66 bytes: the next one's cells are at odd dwords.
// CHECK: remark: [Missed] misaligned {{.*}}Function=padded_rows{{.*}}offsets in LDS are multiples of 2 only, but the DMA moves 16 bytes a lane
!lds = memref<64x33xf16, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @padded_rows(%g: memref<64x32xf16>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %row = arith.divui %t, %c4 : index
    %cell = arith.remui %t, %c4 : index
    %column = arith.muli %cell, %c8 : index
    %v = vector.load %g[%row, %column] : memref<64x32xf16>, vector<8xf16>
    vector.store %v, %lds[%row, %column] : !lds, vector<8xf16>
    gpu.barrier
    gpu.return
  }
}

// -----

// Nothing is known of what a table says.
// CHECK: remark: [Missed] misaligned {{.*}}Function=any_place{{.*}}multiples of 2 only
!lds = memref<2048xf16, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @any_place(%g: memref<2048xf16>, %table: memref<256xindex>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c8 = arith.constant 8 : index
    %j = memref.load %table[%t] : memref<256xindex>
    %i = arith.muli %t, %c8 : index
    %v = vector.load %g[%i] : memref<2048xf16>, vector<8xf16>
    vector.store %v, %lds[%j] : !lds, vector<8xf16>
    gpu.barrier
    gpu.return
  }
}
