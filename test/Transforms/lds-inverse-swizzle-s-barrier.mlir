// rocdl.s.barrier as the barrier of a kernel whose LDS-DMAs are to stay in flight over it.
// RUN: lodestone-opt %s --split-input-file --lds-inverse-swizzle --remarks-filter=lds-inverse-swizzle --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s

// Behind a wait for LDS accesses, which waits for the store.
// CHECK: [Passed] inverse-swizzle-applied {{.*}}waited
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @waited(%source: memref<8x64xf16> {llvm.noalias}, %out: memref<8x64xf16>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x64xf16, #lds>
  %t = gpu.thread_id x
  %c8 = arith.constant 8 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  %x = vector.load %source[%row, %column] : memref<8x64xf16>, vector<8xf16>
  vector.store %x, %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  amdgpu.memory_counter_wait ds(0)
  rocdl.s.barrier
  %y = vector.load %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  vector.store %y, %out[%row, %column] : memref<8x64xf16>, vector<8xf16>
  gpu.return
}
}

// -----

// Waits for other things may stand in between.
// CHECK: [Passed] inverse-swizzle-applied {{.*}}waited_with_others
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @waited_with_others(%source: memref<8x64xf16> {llvm.noalias}, %out: memref<8x64xf16>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x64xf16, #lds>
  %t = gpu.thread_id x
  %c8 = arith.constant 8 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  %x = vector.load %source[%row, %column] : memref<8x64xf16>, vector<8xf16>
  vector.store %x, %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  lds.commit_group
  amdgpu.memory_counter_wait ds(0)
  lds.wait_group 0
  rocdl.s.barrier
  %y = vector.load %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  vector.store %y, %out[%row, %column] : memref<8x64xf16>, vector<8xf16>
  gpu.return
}
}

// -----

// Alone it orders no memory: the store may still be on its way.
// CHECK: [Missed] no-barrier {{.*}}alone
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @alone(%source: memref<8x64xf16> {llvm.noalias}, %out: memref<8x64xf16>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x64xf16, #lds>
  %t = gpu.thread_id x
  %c8 = arith.constant 8 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  %x = vector.load %source[%row, %column] : memref<8x64xf16>, vector<8xf16>
  vector.store %x, %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  rocdl.s.barrier
  %y = vector.load %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  vector.store %y, %out[%row, %column] : memref<8x64xf16>, vector<8xf16>
  gpu.return
}
}

// -----

// Neither does a wait for loads.
// CHECK: [Missed] no-barrier {{.*}}waits_for_loads
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @waits_for_loads(%source: memref<8x64xf16> {llvm.noalias}, %out: memref<8x64xf16>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x64xf16, #lds>
  %t = gpu.thread_id x
  %c8 = arith.constant 8 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  %x = vector.load %source[%row, %column] : memref<8x64xf16>, vector<8xf16>
  vector.store %x, %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  amdgpu.memory_counter_wait load(0)
  rocdl.s.barrier
  %y = vector.load %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  vector.store %y, %out[%row, %column] : memref<8x64xf16>, vector<8xf16>
  gpu.return
}
}

// -----

// An LDS-DMA into the same bytes isn't waited for.
// CHECK: [Missed] no-barrier {{.*}}dma
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @dma(%source: memref<8x64xf16> {llvm.noalias}, %out: memref<8x64xf16>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x64xf16, #lds>
  %c0 = arith.constant 0 : index
  amdgpu.gather_to_lds %out[%c0, %c0], %tile[%c0, %c0] : vector<8xf16>, memref<8x64xf16>, memref<8x64xf16, #lds>
  %t = gpu.thread_id x
  %c8 = arith.constant 8 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  %x = vector.load %source[%row, %column] : memref<8x64xf16>, vector<8xf16>
  vector.store %x, %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  amdgpu.memory_counter_wait ds(0)
  rocdl.s.barrier
  %y = vector.load %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  vector.store %y, %out[%row, %column] : memref<8x64xf16>, vector<8xf16>
  gpu.return
}
}
