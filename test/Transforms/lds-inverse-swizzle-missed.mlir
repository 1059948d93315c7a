// Why copies stay as they are.
// RUN: lodestone-opt %s --split-input-file --lds-inverse-swizzle --remarks-filter=lds-inverse-swizzle --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s
// RUN: not lodestone-opt %s --split-input-file --lds-inverse-swizzle=strict=true -o /dev/null 2>&1 | FileCheck %s --check-prefix=STRICT

// STRICT: error: unknown-block-size: the kernel copies to LDS, but has no known_block_size

// Nothing is known about threads whose number isn't known.
// CHECK: [Missed] unknown-block-size {{.*}} Reason="the kernel copies to LDS, but has no known_block_size
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @k(%source: memref<8x64xf16>) kernel
     {
  %tile = lds.region @tile : memref<8x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  %x = vector.load %source[%row, %column] : memref<8x64xf16>, vector<8xf16>
  vector.store %x, %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  gpu.barrier
  gpu.return
}
}

// -----

// The loaded value has another use, which would see another element.
// CHECK: [Missed] value-used-elsewhere {{.*}} Reason="what is copied is also used by another operation
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @k(%source: memref<8x64xf16>, %out: memref<64xf16>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  %x = vector.load %source[%row, %column] : memref<8x64xf16>, vector<8xf16>
  vector.store %x, %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  %y = vector.extract %x[0] : f16 from vector<8xf16>
  memref.store %y, %out[%t] : memref<64xf16>
  gpu.barrier
  gpu.return
}
}

// -----

// The swizzle keeps 8 bytes together: each thread's 16 become two stores, at places
// that aren't side by side.
// CHECK: [Missed] value-used-elsewhere {{.*}} Function=small_granule | Reason="what is copied is also used by another operation
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @small_granule(%source: memref<8x64xf16>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile swizzle(#lds.xor<bits = 3, base = 3, shift = 4>) : memref<8x64xf16, #lds>
  %t = gpu.thread_id x
  %c8 = arith.constant 8 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  %x = vector.load %source[%row, %column] : memref<8x64xf16>, vector<8xf16>
  vector.store %x, %tile[%row, %column] : memref<8x64xf16, #lds>, vector<8xf16>
  gpu.barrier
  gpu.return
}
}

// -----

// Which of two allocations is written is decided at run time.
// CHECK: [Missed] unknown-allocation {{.*}} Reason="the LDS that is stored to may be one of several
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @k(%source: memref<8x64xf16>, %flag: i1) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  %other = lds.region @other : memref<8x64xf16, #lds>
  %which = arith.select %flag, %tile, %other : memref<8x64xf16, #lds>
  %x = vector.load %source[%row, %column] : memref<8x64xf16>, vector<8xf16>
  vector.store %x, %which[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  gpu.barrier
  gpu.return
}
}

// -----

// How often a loop without a barrier runs isn't known.
// CHECK: [Missed] unknown-trip-count {{.*}} Reason="a loop around the copy, without a barrier in it, doesn't run a constant number
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @k(%source: memref<8x64xf16>, %n: index) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  scf.for %i = %c0 to %n step %c1 {
  %x = vector.load %source[%row, %column] : memref<8x64xf16>, vector<8xf16>
  vector.store %x, %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  }
  gpu.barrier
  gpu.return
}
}

// -----

// The row to store at comes from memory.
// CHECK: [Missed] unknown-store-offset {{.*}} Reason="the offset depends on the result of 'memref.load' in line {{[0-9]+}}, whose value in each thread isn't known
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @k(%source: memref<8x64xf16>, %rows: memref<8xindex>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  %r = memref.load %rows[%row] : memref<8xindex>
  %x = vector.load %source[%row, %column] : memref<8x64xf16>, vector<8xf16>
  vector.store %x, %tile[%r, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  gpu.barrier
  gpu.return
}
}

// -----

// Rows are a distance apart that is only known at run time, times the row.
// CHECK: [Missed] unknown-store-offset {{.*}} Reason="the offset has an argument of 'gpu.func' in line {{[0-9]+}} times a number that differs
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @k(%source: memref<8x64xf16>, %stride: index) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x64xf16, #lds>
  %flat = lds.region @flat : memref<512xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  %start = arith.muli %row, %stride : index
  %o = arith.addi %start, %at : index
  %x = vector.load %source[%row, %column] : memref<8x64xf16>, vector<8xf16>
  vector.store %x, %flat[%o] : memref<512xf16, #lds>, vector<8xf16>
  gpu.barrier
  gpu.return
}
}

// -----

// An 8-row xor on rows of 6 cells leaves rows, and cells free.
// CHECK: [Missed] no-contiguous-window {{.*}} Reason="the 64 cells of 16 bytes of one step leave 32 bytes free before thread 16's
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @k(%source: memref<8x64xf16>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<16x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  %c6 = arith.constant 6 : index
  %c7 = arith.constant 7 : index
  %r = arith.divui %t, %c6 : index
  %j = arith.remui %t, %c6 : index
  %flip = arith.andi %r, %c7 : index
  %p = arith.xori %j, %flip : index
  %first = arith.muli %r, %c6 : index
  %n = arith.addi %first, %p : index
  %o = arith.muli %n, %c8 : index
  %flat = memref.collapse_shape %tile [[0, 1]] : memref<16x64xf16, #lds> into memref<1024xf16, #lds>
  %x = vector.load %source[%row, %column] : memref<8x64xf16>, vector<8xf16>
  vector.store %x, %flat[%o] : memref<1024xf16, #lds>, vector<8xf16>
  gpu.barrier
  gpu.return
}
}

// -----

// Padded rows: the cells of one step have gaps.
// CHECK: [Missed] no-contiguous-window {{.*}} Reason="the 64 cells of 16 bytes of one step leave 16 bytes free before thread
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @k(%source: memref<8x64xf16>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x72xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  %x = vector.load %source[%row, %column] : memref<8x64xf16>, vector<8xf16>
  vector.store %x, %tile[%row, %at] : memref<8x72xf16, #lds>, vector<8xf16>
  gpu.barrier
  gpu.return
}
}

// -----

// Cells wider than what the xor keeps together overlap.
// CHECK: [Missed] colliding-cells {{.*}} Reason="threads 0 and 1 store 16 bytes each at bytes 0 and 8
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @k(%source: memref<8x64xf16>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  %c4 = arith.constant 4 : index
  %o = arith.muli %to, %c4 : index
  %x = vector.load %source[%row, %column] : memref<8x64xf16>, vector<8xf16>
  vector.store %x, %tile[%row, %o] : memref<8x64xf16, #lds>, vector<8xf16>
  gpu.barrier
  gpu.return
}
}

// -----

// The second step stores where the first did.
// CHECK: [Missed] overlapping-steps {{.*}} Reason="steps store 1024 bytes each, at bytes 0 and 0
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @k(%source: memref<8x64xf16>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %c2 step %c1 {
  %x = vector.load %source[%row, %column] : memref<8x64xf16>, vector<8xf16>
  vector.store %x, %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  }
  gpu.barrier
  gpu.return
}
}

// -----

// Windows that don't move by a constant from step to step.
// CHECK: [Missed] uneven-steps {{.*}} Reason="step 2 stores at byte 4096, where even steps would lead to 2048
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @k(%source: memref<8x64xf16>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<40x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
  %square = arith.muli %i, %i : index
  %first = arith.muli %square, %c8 : index
  %r = arith.addi %first, %row : index
  %x = vector.load %source[%row, %column] : memref<8x64xf16>, vector<8xf16>
  vector.store %x, %tile[%r, %at] : memref<40x64xf16, #lds>, vector<8xf16>
  }
  gpu.barrier
  gpu.return
}
}

// -----

// Rows with gaps between them, in a view.
// CHECK: [Missed] layout-not-contiguous {{.*}} Reason="the store is to
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @k(%source: memref<8x64xf16>, %words: memref<64xf16>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x128xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  %x = vector.load %source[%row, %column] : memref<8x64xf16>, vector<8xf16>
  %view = memref.subview %tile[0, 0] [8, 64] [1, 1] : memref<8x128xf16, #lds> to memref<8x64xf16, strided<[128, 1]>, #lds>
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %y = arith.remui %t, %c4 : index
  %z = arith.xori %y, %c1 : index
  %o = arith.muli %z, %c16 : index
  %w = memref.load %words[%t] : memref<64xf16>
  %zero = arith.constant 0 : index
  %s = arith.xori %t, %c1 : index
  memref.store %w, %view[%zero, %s] : memref<8x64xf16, strided<[128, 1]>, #lds>
  gpu.barrier
  gpu.return
}
}

// -----

// A multiplicative scramble of rows is no xor and no rotation.
// CHECK: [Missed] no-closed-form {{.*}} Reason="no xor of shifted bits of its number gives the thread that stores where thread t of 64 would
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @k(%source: memref<8x64xf16>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %scaled = arith.muli %t, %c3 : index
  %n = arith.xori %scaled, %c1 : index
  %m = arith.remui %n, %c64 : index
  %o = arith.muli %m, %c8 : index
  %flat = memref.collapse_shape %tile [[0, 1]] : memref<8x64xf16, #lds> into memref<512xf16, #lds>
  %x = vector.load %source[%row, %column] : memref<8x64xf16>, vector<8xf16>
  vector.store %x, %flat[%o] : memref<512xf16, #lds>, vector<8xf16>
  gpu.barrier
  gpu.return
}
}

// -----

// Only some threads may get to the copy, by a condition that isn't the copy's own.
// CHECK: [Missed] divergent-control-flow {{.*}} Reason="some threads may reach 'scf.if' in line {{[0-9]+}} and others not
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @k(%source: memref<8x64xf16>, %flags: memref<64xi1>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  scf.while : () -> () {
    %more = memref.load %flags[%t] : memref<64xi1>
    scf.condition(%more)
  } do {
  %in = arith.cmpi ult, %row, %c1 : index
  scf.if %in {
  %x = vector.load %source[%row, %column] : memref<8x64xf16>, vector<8xf16>
  vector.store %x, %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  }
  scf.yield
  }
  gpu.barrier
  gpu.return
}
}

// -----

// The address is what another lane has: no other thread can compute it.
// CHECK: [Missed] address-not-repeatable {{.*}} Reason="no other thread can compute the result of 'gpu.shuffle'
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @k(%source: memref<8x64xf16>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  %c64 = arith.constant 64 : i32
  %one = arith.constant 1 : i32
  %r32 = arith.index_cast %row : index to i32
  %got, %valid = gpu.shuffle xor %r32, %one, %c64 : i32
  %r = arith.index_cast %got : i32 to index
  %x = vector.load %source[%r, %column] : memref<8x64xf16>, vector<8xf16>
  vector.store %x, %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  gpu.barrier
  gpu.return
}
}

// -----

// The condition around the store also holds for a read of LDS.
// CHECK: [Missed] shared-guard {{.*}} Reason="the condition of 'scf.if' in line {{[0-9]+}} around the store also holds for 'memref.store'
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @k(%source: memref<8x64xf16> {llvm.noalias}, %out: memref<64xf16>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  %in = arith.cmpi ult, %row, %c1 : index
  %f = arith.constant 1.0 : f16
  scf.if %in {
  %x = vector.load %source[%row, %column] : memref<8x64xf16>, vector<8xf16>
  vector.store %x, %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  memref.store %f, %out[%t] : memref<64xf16>
  }
  gpu.barrier
  gpu.return
}
}

// -----

// A thread reads what it stored itself, without a barrier.
// CHECK: [Missed] no-barrier {{.*}} Reason="no barrier stands between the copy and 'vector.load' in line {{[0-9]+}}, which may touch the same bytes
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @k(%source: memref<8x64xf16> {llvm.noalias}, %out: memref<8x64xf16>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  %x = vector.load %source[%row, %column] : memref<8x64xf16>, vector<8xf16>
  vector.store %x, %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  %y = vector.load %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  vector.store %y, %out[%row, %column] : memref<8x64xf16>, vector<8xf16>
  gpu.barrier
  gpu.return
}
}

// -----

// The same before the copy, around a loop.
// CHECK: [Missed] no-barrier {{.*}} Reason="no barrier stands between the copy and 'vector.load'
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @k(%source: memref<8x64xf16> {llvm.noalias}, %out: memref<8x64xf16>, %n: index) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  scf.for %i = %c0 to %n step %c1 {
  %x = vector.load %source[%row, %column] : memref<8x64xf16>, vector<8xf16>
  vector.store %x, %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  gpu.barrier
  %y = vector.load %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  vector.store %y, %out[%row, %column] : memref<8x64xf16>, vector<8xf16>
  }
  gpu.return
}
}

// -----

// A region that takes the same bytes is read without a barrier.
// CHECK: [Missed] no-barrier {{.*}} Reason="no barrier stands between the copy and 'vector.load'
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @k(%source: memref<8x64xf16> {llvm.noalias}, %out: memref<8x64xf16>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x64xf16, #lds>
  %over = lds.region @over overlays @tile : memref<8x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  %x = vector.load %source[%row, %column] : memref<8x64xf16>, vector<8xf16>
  vector.store %x, %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  %y = vector.load %over[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  vector.store %y, %out[%row, %column] : memref<8x64xf16>, vector<8xf16>
  gpu.barrier
  gpu.return
}
}

// -----

// A function that is called may touch any LDS.
// CHECK: [Missed] no-barrier {{.*}} Reason="no barrier stands between the copy and 'func.call'
#lds = #gpu.address_space<workgroup>
gpu.module @m {
func.func private @other()
gpu.func @k(%source: memref<8x64xf16>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  %x = vector.load %source[%row, %column] : memref<8x64xf16>, vector<8xf16>
  vector.store %x, %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  func.call @other() : () -> ()
  gpu.barrier
  gpu.return
}
}

// -----

// A barrier on one side of a branch only.
// CHECK: [Missed] no-barrier {{.*}} Reason="no barrier stands between the copy and 'vector.load'
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @k(%source: memref<8x64xf16>, %out: memref<8x64xf16>, %flag: i1) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  %x = vector.load %source[%row, %column] : memref<8x64xf16>, vector<8xf16>
  vector.store %x, %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  scf.if %flag {
  gpu.barrier
  }
  %y = vector.load %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  gpu.barrier
  vector.store %y, %out[%row, %column] : memref<8x64xf16>, vector<8xf16>
  gpu.return
}
}

// -----

// A barrier that waits for no memory isn't one.
// CHECK: [Missed] no-barrier {{.*}} Reason="no barrier stands between the copy and 'vector.load'
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @k(%source: memref<8x64xf16>, %out: memref<8x64xf16>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
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
  gpu.barrier
  vector.store %y, %out[%row, %column] : memref<8x64xf16>, vector<8xf16>
  gpu.return
}
}

// -----

// The thread wrote itself what it then loads.
// CHECK: [Missed] source-written {{.*}} Reason="no barrier stands between 'vector.load' in line {{[0-9]+}} and 'memref.store' in line {{[0-9]+}}, which may write what is loaded
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @k(%source: memref<8x64xf16>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  %f = arith.constant 1.0 : f16
  memref.store %f, %source[%row, %column] : memref<8x64xf16>
  %x = vector.load %source[%row, %column] : memref<8x64xf16>, vector<8xf16>
  vector.store %x, %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  gpu.barrier
  gpu.return
}
}

// -----

// An LDS barrier doesn't order global memory.
// CHECK: [Missed] source-written {{.*}} Reason="no barrier stands between 'vector.load'
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @k(%source: memref<8x64xf16>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  %f = arith.constant 1.0 : f16
  memref.store %f, %source[%row, %column] : memref<8x64xf16>
  amdgpu.lds_barrier
  %x = vector.load %source[%row, %column] : memref<8x64xf16>, vector<8xf16>
  vector.store %x, %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  gpu.barrier
  gpu.return
}
}

// -----

// In the next iteration the same expression is another place: what a thread then
// reads without a barrier is what it stored itself.
// CHECK: [Missed] no-barrier {{.*}} Function=next_iteration | Reason="no barrier stands between the copy and 'vector.load'
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @next_iteration(%source: memref<16x256xi32> {llvm.noalias}, %out: memref<16x256xi32> {llvm.noalias})
    kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile align(16) : memref<4352xi32, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c256 = arith.constant 256 : index
  %row = arith.shrui %t, %c4 : index
  %to = arith.xori %t, %row : index
  %cell = arith.muli %to, %c4 : index
  %column = arith.muli %t, %c4 : index
  scf.for %i = %c0 to %c16 step %c1 {
    %start = arith.muli %i, %c256 : index
    %here = arith.addi %start, %cell : index
    %next = arith.addi %here, %c256 : index
    %y = vector.load %tile[%here] : memref<4352xi32, #lds>, vector<4xi32>
    vector.store %y, %out[%i, %column] : memref<16x256xi32>, vector<4xi32>
    gpu.barrier
    %x = vector.load %source[%i, %column] : memref<16x256xi32>, vector<4xi32>
    vector.store %x, %tile[%next] : memref<4352xi32, #lds>, vector<4xi32>
  }
  gpu.return
}
}

// -----

// Eight bits of an offset don't tell where in LDS it is.
// CHECK: [Missed] unknown-store-offset {{.*}} Function=eight_bits | Reason="of the offset, only the low 8 bits are known"
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @eight_bits(%source: memref<64x4xi32>, %n: i8)
    kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile align(16) : memref<4096xi32, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c1024 = arith.constant 1024 : index
  %row = arith.shrui %t, %c4 : index
  %to = arith.xori %t, %row : index
  %cell = arith.muli %to, %c4 : index
  %start = arith.index_castui %n : i8 to index
  %at0 = arith.addi %cell, %start : index
  %at = arith.addi %at0, %c1024 : index
  %x = vector.load %source[%t, %c0] : memref<64x4xi32>, vector<4xi32>
  gpu.barrier
  vector.store %x, %tile[%at] : memref<4096xi32, #lds>, vector<4xi32>
  gpu.barrier
  gpu.return
}
}

// -----

// A flat address is one in LDS if it was cast from there: the thread reads what it
// stored itself.
// CHECK: [Missed] no-barrier {{.*}} Function=flat_view | Reason="no barrier stands between the copy and 'vector.load'
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @flat_view(%source: memref<64x4xi32> {llvm.noalias}, %out: memref<64x4xi32> {llvm.noalias})
    kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile align(16) : memref<256xi32, #lds>
  %flat = memref.memory_space_cast %tile : memref<256xi32, #lds> to memref<256xi32>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %row = arith.shrui %t, %c4 : index
  %to = arith.xori %t, %row : index
  %at = arith.muli %to, %c4 : index
  %x = vector.load %source[%t, %c0] : memref<64x4xi32>, vector<4xi32>
  vector.store %x, %tile[%at] : memref<256xi32, #lds>, vector<4xi32>
  %y = vector.load %flat[%at] : memref<256xi32>, vector<4xi32>
  vector.store %y, %out[%t, %c0] : memref<64x4xi32>, vector<4xi32>
  gpu.return
}
}

// -----

// An op that doesn't say how it runs its region hides neither what is in there, nor what
// comes before and behind it.
// CHECK: [Missed] no-barrier {{.*}} Function=in_parallel | Reason="no barrier stands between the copy and 'memref.load'
// CHECK: [Missed] no-barrier {{.*}} Function=of_parallel | Reason="{{the copy can run again|no barrier stands between the copy and 'vector.load'}}
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @in_parallel(%source: memref<8x64xf16> {llvm.noalias}, %out: memref<8x64xf16>) kernel
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
  affine.parallel (%i) = (0) to (8) {
    gpu.barrier
    %y = memref.load %tile[%i, %i] : memref<8x64xf16, #lds>
    memref.store %y, %out[%i, %i] : memref<8x64xf16>
  }
  gpu.barrier
  gpu.return
}
gpu.func @of_parallel(%source: memref<8x64xf16> {llvm.noalias}, %out: memref<8x64xf16>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  affine.parallel (%i) = (0) to (8) {
    gpu.barrier
    %x = vector.load %source[%row, %column] : memref<8x64xf16>, vector<8xf16>
    vector.store %x, %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  }
  %y = vector.load %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  vector.store %y, %out[%row, %column] : memref<8x64xf16>, vector<8xf16>
  gpu.return
}
}

// -----

// The condition holds for all steps of a thread; each step is another thread's now.
// It can't move into the loop: what is loaded first may only be loaded under it.
// CHECK: [Missed] shared-guard {{.*}} Function=guarded_loop | Reason="the condition of 'scf.if' in line {{[0-9]+}} holds for all iterations of a loop, in which the copy would be that of different threads
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @guarded_loop(%source: memref<?x64xf16>, %pages: memref<64xindex>, %rows: index) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<64x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %flip = arith.andi %t, %c7 : index
  %in = arith.cmpi ult, %t, %rows : index
  scf.if %in {
    %page = memref.load %pages[%t] : memref<64xindex>
    scf.for %i = %c0 to %c8 step %c1 {
      %column = arith.muli %i, %c8 : index
      %x = vector.load %source[%page, %column] : memref<?x64xf16>, vector<8xf16>
      %to = arith.xori %i, %flip : index
      %at = arith.muli %to, %c8 : index
      vector.store %x, %tile[%t, %at] : memref<64x64xf16, #lds>, vector<8xf16>
    }
  }
  gpu.barrier
  gpu.return
}
}

// -----

// A page's number can't be carried for another thread if that is another one in
// each step.
// CHECK: [Missed] address-not-repeatable {{.*}} Function=page_of_many | Reason="no other thread can compute an argument of 'scf.for' in line
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @page_of_many(%source: memref<?x64xf16>, %pages: memref<?xindex>, %n: index) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<64x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %flip = arith.andi %t, %c7 : index
  %first = memref.load %pages[%t] : memref<?xindex>
  scf.for %k = %c0 to %n step %c1 iter_args(%page = %first) -> (index) {
    scf.for %i = %c0 to %c8 step %c1 {
      %column = arith.muli %i, %c8 : index
      %x = vector.load %source[%page, %column] : memref<?x64xf16>, vector<8xf16>
      %to = arith.xori %i, %flip : index
      %at = arith.muli %to, %c8 : index
      vector.store %x, %tile[%t, %at] : memref<64x64xf16, #lds>, vector<8xf16>
    }
    gpu.barrier
    %tiles = arith.muli %k, %c64 : index
    %position = arith.addi %tiles, %t : index
    %next = memref.load %pages[%position] : memref<?xindex>
    scf.yield %next : index
  }
  gpu.return
}
}

// -----

// What is added to the address differs between steps: where another step was isn't
// known.
// CHECK: [Missed] address-not-repeatable {{.*}} Function=growing | Reason="no other thread can compute an argument of 'scf.for' in line
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @growing(%source: memref<?xf16>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<64x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %flip = arith.andi %t, %c7 : index
  scf.for %i = %c0 to %c8 step %c1 iter_args(%p = %t) -> (index) {
    %x = vector.load %source[%p] : memref<?xf16>, vector<8xf16>
    %to = arith.xori %i, %flip : index
    %at = arith.muli %to, %c8 : index
    vector.store %x, %tile[%t, %at] : memref<64x64xf16, #lds>, vector<8xf16>
    %next = arith.addi %p, %i : index
    scf.yield %next : index
  }
  gpu.barrier
  gpu.return
}
}

// -----

// The loop may run a different number of times in each thread.
// CHECK: [Missed] address-not-repeatable {{.*}} Function=uneven | Reason="no other thread can compute an argument of 'scf.for' in line
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @uneven(%source: memref<?xf16>, %trips: memref<64xindex>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  %n = memref.load %trips[%t] : memref<64xindex>
  scf.for %k = %c0 to %n step %c1 iter_args(%p = %t) -> (index) {
    %x = vector.load %source[%p] : memref<?xf16>, vector<8xf16>
    vector.store %x, %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
    gpu.barrier
    %next = arith.addi %p, %c8 : index
    scf.yield %next : index
  }
  gpu.return
}
}

// -----

// The page was looked up before a barrier, behind which the table may be another one.
// CHECK: [Missed] address-not-repeatable {{.*}} Function=page_before_barrier | Reason="no other thread can compute the result of 'memref.load'
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @page_before_barrier(%source: memref<?x64xf16>, %pages: memref<64xindex>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<64x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %flip = arith.andi %t, %c7 : index
  %page = memref.load %pages[%t] : memref<64xindex>
  gpu.barrier
  scf.for %i = %c0 to %c8 step %c1 {
    %column = arith.muli %i, %c8 : index
    %x = vector.load %source[%page, %column] : memref<?x64xf16>, vector<8xf16>
    %to = arith.xori %i, %flip : index
    %at = arith.muli %to, %c8 : index
    vector.store %x, %tile[%t, %at] : memref<64x64xf16, #lds>, vector<8xf16>
  }
  gpu.barrier
  gpu.return
}
}

// -----

// All steps together are one window, but scrambled by a multiplication.
// CHECK: [Missed] no-closed-form {{.*}} Function=scrambled | Reason="no xor of shifted bits of its number gives what cell n of the 512 of all steps comes from
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @scrambled(%source: memref<64x64xf16>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<64x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %three = arith.muli %t, %c3 : index
  %flipped = arith.xori %three, %c1 : index
  %row = arith.remui %flipped, %c64 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %column = arith.muli %i, %c8 : index
    %x = vector.load %source[%t, %column] : memref<64x64xf16>, vector<8xf16>
    vector.store %x, %tile[%row, %column] : memref<64x64xf16, #lds>, vector<8xf16>
  }
  gpu.barrier
  gpu.return
}
}

// -----

// How often the inner loop runs depends on the step: that of another step would end
// elsewhere.
// CHECK: [Missed] address-not-repeatable {{.*}} Function=inner_trips | Reason="no other thread can compute the result of 'scf.for' in line
#lds = #gpu.address_space<workgroup>
gpu.module @m {
gpu.func @inner_trips(%source: memref<?xf16> {llvm.noalias}, %out: memref<?xindex> {llvm.noalias}) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<64x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %flip = arith.andi %t, %c7 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %p = scf.for %j = %c0 to %i step %c1 iter_args(%q = %t) -> (index) {
      memref.store %q, %out[%t] : memref<?xindex>
      %r = arith.addi %q, %c8 : index
      scf.yield %r : index
    }
    %x = vector.load %source[%p] : memref<?xf16>, vector<8xf16>
    %to = arith.xori %i, %flip : index
    %at = arith.muli %to, %c8 : index
    vector.store %x, %tile[%t, %at] : memref<64x64xf16, #lds>, vector<8xf16>
  }
  gpu.barrier
  gpu.return
}
}
