// All loads of a copy, then its stores.
// RUN: lodestone-opt %s --split-input-file --lds-split-copy-phases --canonicalize | FileCheck %s
// RUN: lodestone-opt %s --split-input-file --lds-split-copy-phases=register-budget=9 --remarks-filter=lds-split-copy-phases --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=NINE

#lds = #gpu.address_space<workgroup>

// A loop that only copies is unrolled, as far as registers go.
// NINE: [Passed] copy-phases-split {{.*}} Function=loop | Registers=8, Stores=2
// CHECK-LABEL: gpu.func @loop
// CHECK-COUNT-4: vector.load
// CHECK-NOT: vector.load
// CHECK-COUNT-4: vector.store
gpu.module @m {
gpu.func @loop(%source: memref<1024xf32>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<1024xf32, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c256 = arith.constant 256 : index
  %c1024 = arith.constant 1024 : index
  %at = arith.muli %t, %c4 : index
  scf.for %i = %c0 to %c1024 step %c256 {
    %n = arith.addi %i, %at : index
    %x = vector.load %source[%n] : memref<1024xf32>, vector<4xf32>
    vector.store %x, %tile[%n] : memref<1024xf32, #lds>, vector<4xf32>
  }
  gpu.return
}
}

// -----

#lds = #gpu.address_space<workgroup>

// A condition around load and store becomes two; what wasn't loaded isn't stored.
// CHECK-LABEL: gpu.func @guards
// CHECK: %[[X:.+]] = scf.if %[[IN:.+]] -> (f32)
// CHECK-NEXT: memref.load
// CHECK-NEXT: scf.yield
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[POISON:.+]] : f32
// CHECK: memref.load
// CHECK: scf.if %[[IN]] {
// CHECK-NEXT: memref.store %[[X]]
// CHECK: scf.if
// CHECK-NEXT: memref.store
gpu.module @m {
gpu.func @guards(%source: memref<128xf32>, %n: index) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<128xf32, #lds>
  %t = gpu.thread_id x
  %c64 = arith.constant 64 : index
  %u = arith.addi %t, %c64 : index
  %in = arith.cmpi ult, %t, %n : index
  scf.if %in {
    %x = memref.load %source[%t] : memref<128xf32>
    memref.store %x, %tile[%t] : memref<128xf32, #lds>
  }
  %also = arith.cmpi ult, %u, %n : index
  scf.if %also {
    %x = memref.load %source[%u] : memref<128xf32>
    memref.store %x, %tile[%u] : memref<128xf32, #lds>
  }
  gpu.return
}
}

// -----

#lds = #gpu.address_space<workgroup>

// A read of the same LDS, and a barrier, keep stores in front of them.
// NINE-NOT: Function=blocked
// CHECK-LABEL: gpu.func @blocked
// CHECK: memref.load %arg0
// CHECK: memref.store
// CHECK: memref.load %tile
// CHECK: memref.load %arg0
// CHECK: memref.store
// CHECK: gpu.barrier
// CHECK: memref.load %arg0
// CHECK: memref.store
gpu.module @m {
gpu.func @blocked(%source: memref<128xf32>, %out: memref<128xf32>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<128xf32, #lds>
  %t = gpu.thread_id x
  %c64 = arith.constant 64 : index
  %u = arith.addi %t, %c64 : index
  %x = memref.load %source[%t] : memref<128xf32>
  memref.store %x, %tile[%t] : memref<128xf32, #lds>
  %r = memref.load %tile[%u] : memref<128xf32, #lds>
  memref.store %r, %out[%t] : memref<128xf32>
  %y = memref.load %source[%u] : memref<128xf32>
  memref.store %y, %tile[%u] : memref<128xf32, #lds>
  gpu.barrier
  %z = memref.load %source[%t] : memref<128xf32>
  memref.store %z, %tile[%t] : memref<128xf32, #lds>
  gpu.return
}
}

// -----

#lds = #gpu.address_space<workgroup>

// Where the budget ends a phase, a remark has the numbers.
// NINE: [Missed] split-over-budget {{.*}} Function=budget | Reason="one more store would take 12 registers of 9"
gpu.module @m {
gpu.func @budget(%source: memref<1024xf32>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<1024xf32, #lds>
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %x = vector.load %source[%c0] : memref<1024xf32>, vector<4xf32>
  vector.store %x, %tile[%c0] : memref<1024xf32, #lds>, vector<4xf32>
  %y = vector.load %source[%c4] : memref<1024xf32>, vector<4xf32>
  vector.store %y, %tile[%c4] : memref<1024xf32, #lds>, vector<4xf32>
  %z = vector.load %source[%c8] : memref<1024xf32>, vector<4xf32>
  vector.store %z, %tile[%c8] : memref<1024xf32, #lds>, vector<4xf32>
  gpu.return
}
}

// -----

#lds = #gpu.address_space<workgroup>

// A store stays in its group: the wait is for the first group only.
// CHECK-LABEL: gpu.func @groups
// CHECK: vector.store
// CHECK: lds.commit_group
// CHECK: vector.load
// CHECK: vector.store
// CHECK: lds.commit_group
gpu.module @m {
gpu.func @groups(%source: memref<1024xf32>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<1024xf32, #lds>
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %x = vector.load %source[%c0] : memref<1024xf32>, vector<4xf32>
  vector.store %x, %tile[%c0] : memref<1024xf32, #lds>, vector<4xf32>
  lds.commit_group
  %y = vector.load %source[%c4] : memref<1024xf32>, vector<4xf32>
  vector.store %y, %tile[%c4] : memref<1024xf32, #lds>, vector<4xf32>
  lds.commit_group
  lds.wait_group 1
  rocdl.s.barrier
  gpu.return
}
}
