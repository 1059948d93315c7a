// Copies that need what a loop carries from iteration to iteration.
// RUN: lodestone-opt %s --split-input-file --lds-inverse-swizzle --canonicalize --cse | FileCheck %s
// RUN: lodestone-opt %s --split-input-file --lds-inverse-swizzle | FileCheck %s --check-prefix=CLEAN
// RUN: lodestone-opt %s --split-input-file --lds-inverse-swizzle --remarks-filter=lds-inverse-swizzle --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Nothing is left of what stood in until the other thread's values were known.
// CLEAN-NOT: poison

#lds = #gpu.address_space<workgroup>

// The address moves on by the same number in all threads: the loop carries that of
// the thread whose cell it is, and no longer its own.
// REMARK: [Passed] inverse-swizzle-applied {{.*}} Function=pointer
// CHECK-LABEL: gpu.func @pointer
// CHECK: %[[S:.+]] = arith.xori
// CHECK: %[[ROW:.+]] = arith.divui %[[S]], %c8
// CHECK: %[[FIRST:.+]] = arith.muli %[[ROW]], %arg2
// CHECK: %[[START:.+]] = arith.addi %[[FIRST]]
// CHECK: scf.for {{.*}} iter_args(%[[P:.+]] = %[[START]]) -> (index)
// CHECK-NEXT: vector.load %arg0[%[[P]]]
// CHECK: %[[NEXT:.+]] = arith.addi %[[P]], %c64
// CHECK-NEXT: scf.yield %[[NEXT]] : index
gpu.module @m {
gpu.func @pointer(%source: memref<?xf16>, %n: index, %stride: index) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  %first = arith.muli %row, %stride : index
  %start = arith.addi %first, %column : index
  scf.for %k = %c0 to %n step %c1 iter_args(%p = %start) -> (index) {
    %x = vector.load %source[%p] : memref<?xf16>, vector<8xf16>
    vector.store %x, %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
    gpu.barrier
    %next = arith.addi %p, %c64 : index
    scf.yield %next : index
  }
  gpu.return
}
}

// -----

#lds = #gpu.address_space<workgroup>

// Something else uses the address, too: it stays, beside the other thread's.
// CHECK-LABEL: gpu.func @shared_pointer
// CHECK: scf.for {{.*}} iter_args(%[[OWN:.+]] = %{{.+}}, %[[P:.+]] = %{{.+}}) -> (index, index)
// CHECK: vector.load %arg0[%[[P]]]
// CHECK: vector.load %arg1[%[[OWN]]]
gpu.module @m {
gpu.func @shared_pointer(%source: memref<?xf16> {llvm.noalias}, %other: memref<?xf16> {llvm.noalias},
    %out: memref<?xf16> {llvm.noalias}, %n: index) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c512 = arith.constant 512 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  %start = arith.muli %t, %c8 : index
  scf.for %k = %c0 to %n step %c1 iter_args(%p = %start) -> (index) {
    %x = vector.load %source[%p] : memref<?xf16>, vector<8xf16>
    vector.store %x, %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
    %y = vector.load %other[%p] : memref<?xf16>, vector<8xf16>
    vector.store %y, %out[%p] : memref<?xf16>, vector<8xf16>
    gpu.barrier
    %next = arith.addi %p, %c512 : index
    scf.yield %next : index
  }
  gpu.return
}
}

// -----

#lds = #gpu.address_space<workgroup>

// A page's number, looked up an iteration ahead: the lookup is the other thread's
// before the loop and in it.
// REMARK: [Passed] inverse-swizzle-applied {{.*}} Function=page_ahead
// CHECK-LABEL: gpu.func @page_ahead
// CHECK: %[[ROW:.+]] = arith.divui %{{.+}}, %c8
// CHECK: %[[FIRST:.+]] = memref.load %arg1[%[[ROW]]]
// CHECK: scf.for {{.*}} iter_args(%[[PAGE:.+]] = %[[FIRST]]) -> (i32)
// CHECK: %[[AT:.+]] = arith.addi %{{.+}}, %[[ROW]]
// CHECK: %[[NEXT:.+]] = memref.load %arg1[%[[AT]]]
// CHECK: %[[R:.+]] = arith.index_cast %[[PAGE]]
// CHECK: vector.load %arg0[%[[R]],
// CHECK: scf.yield %[[NEXT]] : i32
gpu.module @m {
gpu.func @page_ahead(%source: memref<?x64xf16>, %table: memref<?xi32>, %n: index) kernel
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
  %first = memref.load %table[%row] : memref<?xi32>
  scf.for %k = %c0 to %n step %c1 iter_args(%page = %first) -> (i32) {
    %ahead = arith.addi %k, %c1 : index
    %start = arith.muli %ahead, %c8 : index
    %position = arith.addi %start, %row : index
    %next = memref.load %table[%position] : memref<?xi32>
    %r = arith.index_cast %page : i32 to index
    %x = vector.load %source[%r, %column] : memref<?x64xf16>, vector<8xf16>
    vector.store %x, %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
    gpu.barrier
    scf.yield %next : i32
  }
  gpu.return
}
}

// -----

#lds = #gpu.address_space<workgroup>

// The data itself, loaded an iteration ahead; behind the loop, its last value.
// REMARK: [Passed] inverse-swizzle-applied {{.*}} Function=data_ahead
// REMARK: [Passed] inverse-swizzle-applied {{.*}} Function=data_ahead
// CHECK-LABEL: gpu.func @data_ahead
// CHECK: %[[S:.+]] = arith.xori
// CHECK: %[[TO:.+]] = arith.muli %thread_id_x, %c8
// CHECK: %[[ROW:.+]] = arith.divui %[[S]], %c8
// CHECK: %[[FIRST:.+]] = vector.load %arg0[%[[ROW]],
// CHECK: %[[LAST:.+]] = scf.for {{.*}} iter_args(%[[X:.+]] = %[[FIRST]]) -> (vector<8xf16>)
// CHECK: vector.store %[[X]], %{{.+}}[%[[TO]]]
// CHECK: %[[R:.+]] = arith.addi %{{.+}}, %[[ROW]]
// CHECK: %[[NEXT:.+]] = vector.load %arg0[%[[R]],
// CHECK: scf.yield %[[NEXT]] : vector<8xf16>
// CHECK: vector.store %[[LAST]], %{{.+}}[%[[TO]]]
gpu.module @m {
gpu.func @data_ahead(%source: memref<?x64xf16>, %n: index) kernel
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
  %first = vector.load %source[%row, %column] : memref<?x64xf16>, vector<8xf16>
  %last = scf.for %k = %c0 to %n step %c1 iter_args(%x = %first) -> (vector<8xf16>) {
    vector.store %x, %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
    %ahead = arith.addi %k, %c1 : index
    %start = arith.muli %ahead, %c8 : index
    %r = arith.addi %start, %row : index
    %next = vector.load %source[%r, %column] : memref<?x64xf16>, vector<8xf16>
    gpu.barrier
    scf.yield %next : vector<8xf16>
  }
  vector.store %last, %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  gpu.barrier
  gpu.return
}
}

// -----

#lds = #gpu.address_space<workgroup>

// In each step it is another thread that is taken over from: its own start, and as
// much more as this thread has come from its start.
// REMARK: [Passed] inverse-swizzle-applied {{.*}} Function=per_step
// CHECK-LABEL: gpu.func @per_step
// CHECK: %[[START:.+]] = arith.muli %thread_id_x, %c8
// CHECK: scf.for {{.*}} iter_args(%[[P:.+]] = %[[START]]) -> (index)
// CHECK: scf.for %[[I:.+]] =
// CHECK: %[[S:.+]] = arith.xori
// CHECK: %[[ITS:.+]] = arith.muli %[[S]], %c8
// CHECK: %[[MORE:.+]] = arith.subi %[[P]], %[[START]]
// CHECK: %[[Q:.+]] = arith.addi %[[ITS]], %[[MORE]]
// CHECK: %[[R:.+]] = arith.addi %[[Q]],
// CHECK: vector.load %arg0[%[[R]]]
gpu.module @m {
gpu.func @per_step(%source: memref<?xf16>, %n: index, %stride: index) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<32x128xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c15 = arith.constant 15 : index
  %c16 = arith.constant 16 : index
  %c512 = arith.constant 512 : index
  %cell = arith.remui %t, %c16 : index
  %start = arith.muli %t, %c8 : index
  %first = arith.divui %t, %c16 : index
  scf.for %k = %c0 to %n step %c1 iter_args(%p = %start) -> (index) {
    scf.for %i = %c0 to %c8 step %c1 {
      %rows = arith.muli %i, %c4 : index
      %row = arith.addi %first, %rows : index
      %flip = arith.andi %row, %c15 : index
      %to = arith.xori %cell, %flip : index
      %at = arith.muli %to, %c8 : index
      %from = arith.muli %i, %c512 : index
      %q = arith.addi %p, %from : index
      %x = vector.load %source[%q] : memref<?xf16>, vector<8xf16>
      vector.store %x, %tile[%row, %at] : memref<32x128xf16, #lds>, vector<8xf16>
    }
    gpu.barrier
    %next = arith.addi %p, %stride : index
    scf.yield %next : index
  }
  gpu.return
}
}

// -----

#lds = #gpu.address_space<workgroup>

// A sum that starts with what was loaded is no copy.
// REMARK-NOT: Function=sum
// CHECK-LABEL: gpu.func @sum
gpu.module @m {
gpu.func @sum(%source: memref<8x64xf16>, %n: index) kernel
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
  %first = vector.load %source[%row, %column] : memref<8x64xf16>, vector<8xf16>
  %last = scf.for %k = %c0 to %n step %c1 iter_args(%x = %first) -> (vector<8xf16>) {
    %next = arith.addf %x, %x : vector<8xf16>
    scf.yield %next : vector<8xf16>
  }
  vector.store %last, %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  gpu.barrier
  gpu.return
}
}

// -----

#lds = #gpu.address_space<workgroup>

// Two addresses that take turns: both are the other thread's, and nothing else is
// left in the loop.
// REMARK: [Passed] inverse-swizzle-applied {{.*}} Function=turns
// CHECK-LABEL: gpu.func @turns
// CHECK: %[[S:.+]] = arith.xori
// CHECK: %[[SQUARE:.+]] = arith.muli %[[S]], %[[S]]
// CHECK: scf.for {{.*}} iter_args(%[[P:.+]] = %[[S]], %[[Q:.+]] = %[[SQUARE]]) -> (index, index)
// CHECK: vector.load %arg0[%[[P]]]
// CHECK: scf.yield %[[Q]], %[[P]]
gpu.module @m {
gpu.func @turns(%source: memref<?xf16>, %n: index) kernel
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
  %square = arith.muli %t, %t : index
  scf.for %k = %c0 to %n step %c1 iter_args(%p = %t, %q = %square) -> (index, index) {
    %x = vector.load %source[%p] : memref<?xf16>, vector<8xf16>
    vector.store %x, %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
    gpu.barrier
    scf.yield %q, %p : index, index
  }
  gpu.return
}
}

// -----

#lds = #gpu.address_space<workgroup>

// Two loops: the address goes through the inner one.
// REMARK: [Passed] inverse-swizzle-applied {{.*}} Function=nested
// CHECK-LABEL: gpu.func @nested
// CHECK: %[[S:.+]] = arith.xori
// CHECK: scf.for {{.*}}, %[[P:.+]] = %[[S]])
// CHECK: %[[END:.+]]:2 = scf.for {{.*}}, %[[Q:.+]] = %[[P]])
// CHECK: vector.load %arg0[%[[Q]]]
// CHECK: %[[NEXT:.+]] = arith.addi %[[Q]]
// CHECK: scf.yield %{{.+}}, %[[NEXT]]
// CHECK: scf.yield %{{.+}}, %[[END]]#1
gpu.module @m {
gpu.func @nested(%source: memref<?xf16>, %n: index) kernel
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
  scf.for %k = %c0 to %n step %c1 iter_args(%p = %t) -> (index) {
    %end = scf.for %l = %c0 to %n step %c1 iter_args(%q = %p) -> (index) {
      %x = vector.load %source[%q] : memref<?xf16>, vector<8xf16>
      vector.store %x, %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
      gpu.barrier
      %next = arith.addi %q, %c8 : index
      scf.yield %next : index
    }
    scf.yield %end : index
  }
  gpu.return
}
}

// -----

#lds = #gpu.address_space<workgroup>

// Code that is never reached, where values may depend on themselves, is left alone.
// REMARK-NOT: Function=unreachable
// CHECK-LABEL: gpu.func @unreachable
gpu.module @m {
gpu.func @unreachable(%source: memref<?xf16>, %n: index) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x64xf16, #lds>
  gpu.return
^dead:
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  %z = arith.addi %next, %t : index
  %next = arith.addi %z, %c1 : index
  scf.for %l = %c0 to %n step %c1 iter_args(%q = %next) -> (index) {
    %x = vector.load %source[%q] : memref<?xf16>, vector<8xf16>
    vector.store %x, %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
    gpu.barrier
    %r = arith.addi %q, %z : index
    scf.yield %r : index
  }
  gpu.return
}
}
