// What is known about an integer in each of a block's threads. Waves have four
// lanes here.
// RUN: lodestone-thread-values-test %s | FileCheck %s

gpu.module @m {

// Thread numbers count x first. Lane and wave numbers follow from the wave size.
// CHECK-LABEL: ids:
// CHECK-NEXT: %{{.*}}: [0 1 2 3 0 1 2 3] mod 2^64
// CHECK-NEXT: %{{.*}}: [0 0 0 0 1 1 1 1] mod 2^64, wave-uniform
// CHECK-NEXT: %{{.*}}: [0 1 2 3 0 1 2 3] mod 2^64
// CHECK-NEXT: %{{.*}}: [0 0 0 0 1 1 1 1] mod 2^64, wave-uniform
// CHECK-NEXT: %{{.*}}: 4 mod 2^64, block-uniform
gpu.func @ids() kernel attributes {known_block_size = array<i32: 4, 2, 1>} {
  %x = gpu.thread_id x
  %y = gpu.thread_id y
  %lane = gpu.lane_id
  %wave = gpu.subgroup_id : index
  %size = gpu.subgroup_size : index
  "t.use"(%x, %y, %lane, %wave, %size) {show}
    : (index, index, index, index, index) -> ()
  gpu.return
}

// A swizzled offset is known exactly; what is unknown but the same for all
// threads stays as a term, cancels, and lets an xor of the bits below it be.
// CHECK-LABEL: swizzle:
// CHECK-NEXT: %{{.*}}: [0 16 32 48 80 64 112 96] mod 2^32
// CHECK-NEXT: %{{.*}}: [0 16 32 48 80 64 112 96] + 4096 * %arg0 mod 2^32
// CHECK-NEXT: %{{.*}}: [0 16 32 48 80 64 112 96] mod 2^32
// CHECK-NEXT: %{{.*}}: 0 + [0 1 2 3 4 5 6 7] * %arg0 mod 2^32
// CHECK-NEXT: %{{.*}}: [0 16 32 48 64 80 96 112] + 4096 * %arg0 mod 2^32
gpu.func @swizzle(%buffer: i32) kernel
    attributes {known_block_size = array<i32: 8, 1, 1>} {
  %t = rocdl.workitem.id.x : i32
  %c2 = arith.constant 2 : i32
  %c4 = arith.constant 4 : i32
  %c12 = arith.constant 12 : i32
  %row = arith.shrui %t, %c2 : i32
  %linear = arith.shli %t, %c4 : i32
  %flip = arith.shli %row, %c4 : i32
  %offset = arith.xori %linear, %flip : i32
  %base = arith.shli %buffer, %c12 : i32
  %sum = arith.addi %offset, %base : i32
  %back = arith.subi %sum, %base : i32
  %product = arith.muli %t, %buffer : i32
  %mixed = arith.xori %sum, %flip : i32
  "t.use"(%offset, %sum, %back, %product, %mixed) {show}
    : (i32, i32, i32, i32, i32) -> ()
  gpu.return
}

// 32-bit integers wrap; as an index, a sum with an unknown term is known modulo
// 2^32 only; so is what the width of index would matter to, and less is of what
// is shifted down from there.
// CHECK-LABEL: widths:
// CHECK-NEXT: %{{.*}}: [2147483647 -2147483648] mod 2^32
// CHECK-NEXT: %{{.*}}: [1 2] + 1 * %arg0 mod 2^32
// CHECK-NEXT: %{{.*}}: [0 4294967296] mod 2^64
// CHECK-NEXT: %{{.*}}: 0 mod 2^31
// CHECK-NEXT: %{{.*}}: [-1 0] mod 2^32
gpu.func @widths(%n: i32) kernel
    attributes {known_block_size = array<i32: 2, 1, 1>} {
  %t = rocdl.workitem.id.x : i32
  %x = gpu.thread_id x
  %c1 = arith.constant 1 : i32
  %max = arith.constant 2147483647 : i32
  %big = arith.constant 4294967296 : index
  %i1 = arith.constant 1 : index
  %wrapped = arith.addi %t, %max : i32
  %t1 = arith.addi %t, %c1 : i32
  %sum = arith.addi %t1, %n : i32
  %asIndex = arith.index_cast %sum : i32 to index
  %far = arith.muli %x, %big : index
  %shifted = arith.shrui %far, %i1 : index
  %minus = arith.subi %x, %i1 : index
  %unsigned = arith.divui %minus, %i1 : index
  "t.use"(%wrapped, %asIndex, %far, %shifted, %unsigned) {show}
    : (i32, index, index, index, index) -> ()
  gpu.return
}

// Bits below an unknown term are known, whatever it is: masks, divisions by
// powers of two, and what puts them together again. Bits of the term aren't.
// CHECK-LABEL: below:
// CHECK-NEXT: %{{.*}}: [3 11] mod 2^64
// CHECK-NEXT: %{{.*}}: [0 8] + 64 * %arg0 mod 2^64
// CHECK-NEXT: %{{.*}}: [0 1] + 8 * %arg0 mod 2^29
// CHECK-NEXT: %{{.*}}: [0 8] + 64 * %arg0 mod 2^32
// CHECK-NEXT: %{{.*}}: [3 11] mod 2^64
// CHECK-NEXT: %{{.*}}: unknown
// CHECK-NEXT: %{{.*}}: unknown
gpu.func @below(%n: index) kernel
    attributes {known_block_size = array<i32: 2, 1, 1>} {
  %t = gpu.thread_id x
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  %c127 = arith.constant 127 : index
  %c-8 = arith.constant -8 : index
  %lane = arith.muli %t, %c8 : index
  %high = arith.muli %n, %c64 : index
  %sum = arith.addi %lane, %high : index
  %all = arith.addi %sum, %c3 : index
  %low = arith.andi %all, %c63 : index
  %aligned = arith.andi %all, %c-8 : index
  %cell = arith.divui %all, %c8 : index
  %back = arith.muli %cell, %c8 : index
  %rest = affine.apply affine_map<(d0) -> (d0 mod 64)>(%all)
  %tooMany = arith.andi %all, %c127 : index
  %odd = arith.remui %all, %c3 : index
  "t.use"(%low, %aligned, %cell, %back, %rest, %tooMany, %odd) {show}
    : (index, index, index, index, index, index, index) -> ()
  gpu.return
}

// Division by zero and shifts by the width are never given a value.
// CHECK-LABEL: undefined:
// CHECK-NEXT: %{{.*}}: unknown because of %[[#]]
// CHECK-NEXT: %{{.*}}: unknown because of %[[#]]
// CHECK-NEXT: %{{.*}}: [0 -1] mod 2^32
gpu.func @undefined() kernel
    attributes {known_block_size = array<i32: 2, 1, 1>} {
  %t = rocdl.workitem.id.x : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %quotient = arith.divui %c1, %t : i32
  %amount = arith.muli %t, %c32 : i32
  %shift = arith.shrui %c1, %amount : i32
  %zero = arith.constant 0 : i32
  %minus = arith.subi %zero, %t : i32
  "t.use"(%quotient, %shift, %minus) {show} : (i32, i32, i32) -> ()
  gpu.return
}

// Affine operations, selections and the upper half of a product.
// CHECK-LABEL: operations:
// CHECK-NEXT: %{{.*}}: [-1 -1 0 0] mod 2^64
// CHECK-NEXT: %{{.*}}: [0 1 2 2] mod 2^64
// CHECK-NEXT: %{{.*}}: [0 0 1 1] mod 2^64
// CHECK-NEXT: %{{.*}}: [0 1 0 1] mod 2^64
// CHECK-NEXT: %{{.*}}: [0 6 2 8] mod 2^64
// CHECK-NEXT: %{{.*}}: [0 1 7 7] mod 2^64
// CHECK-NEXT: %{{.*}}: [0 0 0 1] mod 2^32
gpu.func @operations() kernel
    attributes {known_block_size = array<i32: 4, 1, 1>} {
  %t = gpu.thread_id x
  %a = affine.apply affine_map<(d0) -> ((d0 - 2) floordiv 2)>(%t)
  %b = affine.min affine_map<(d0) -> (d0, 2)>(%t)
  %d:2 = affine.delinearize_index %t into (2, 2) : index, index
  %l = affine.linearize_index [%d#1, %t] by (5) : index
  %c7 = arith.constant 7 : index
  %c2 = arith.constant 2 : index
  %less = arith.cmpi slt, %t, %c2 : index
  %s = arith.select %less, %t, %c7 : index
  %third = arith.constant 1431655766 : i32
  %w = arith.index_cast %t : index to i32
  %low, %high = arith.mului_extended %w, %third : i32
  "t.use"(%a, %b, %d#0, %d#1, %l, %s, %high) {show}
    : (index, index, index, index, index, index, i32) -> ()
  gpu.return
}

// A loop's counter and what it carries, in one iteration of it and in any.
// CHECK-LABEL: loops:
// CHECK-NEXT: %{{.*}}: 14 mod 2^64, block-uniform
// CHECK-NEXT: %{{.*}}: [30 31] mod 2^64
// CHECK-NEXT: %{{.*}}: 0 + 1 * %arg0 mod 2^64, block-uniform
// CHECK-NEXT: %{{.*}}: unknown because of
gpu.func @loops() kernel attributes {known_block_size = array<i32: 2, 1, 1>} {
  %t = gpu.thread_id x
  %c10 = arith.constant 10 : index
  %c2 = arith.constant 2 : index
  %c20 = arith.constant 20 : index
  %r = scf.for %i = %c10 to %c20 step %c2 iter_args(%a = %t) -> index {
    "t.use"(%i) {show = array<i64: 2>} : (index) -> ()
    "t.use"(%a) {show = array<i64: 3>} : (index) -> ()
    "t.use"(%i, %a) {show} : (index, index) -> ()
    %next = arith.addi %a, %c10 : index
    scf.yield %next : index
  }
  gpu.return
}

// What is the same for all threads: block numbers, arguments, what loops that
// all leave together carry; not what is loaded, nor what depends on a branch
// that threads take differently, nor what a loop that they leave one by one
// ends with.
// CHECK-LABEL: uniformity:
// CHECK-NEXT: , block-uniform
// CHECK-NEXT: , block-uniform
// CHECK-NEXT: [[LOADED:%[0-9]+]]: unknown because of [[LOADED]]{{$}}
// CHECK-NEXT: , block-uniform
// CHECK-NEXT: [[LEFT:%[0-9]+]]: unknown because of [[LEFT]]{{$}}
// CHECK-NEXT: , block-uniform
// CHECK-NEXT: [1 0] mod 2^64{{$}}
gpu.func @uniformity(%n: index, %m: memref<4xindex>) kernel
    attributes {known_block_size = array<i32: 2, 1, 1>} {
  %t = gpu.thread_id x
  %b = gpu.block_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %divided = arith.divui %n, %b : index
  %loaded = memref.load %m[%c0] : memref<4xindex>
  %same = scf.for %i = %c0 to %n step %c1 iter_args(%a = %b) -> index {
    %next = arith.xori %a, %i : index
    scf.yield %next : index
  }
  %other = scf.for %i = %c0 to %t step %c1 iter_args(%a = %b) -> index {
    %next = arith.xori %a, %i : index
    scf.yield %next : index
  }
  %zero = arith.cmpi eq, %b, %c0 : index
  %either = scf.if %zero -> index {
    scf.yield %n : index
  } else {
    scf.yield %b : index
  }
  %first = arith.cmpi eq, %t, %c0 : index
  %which = scf.if %first -> index {
    scf.yield %c1 : index
  } else {
    scf.yield %c0 : index
  }
  "t.use"(%b, %divided, %loaded, %same, %other, %either, %which) {show}
    : (index, index, index, index, index, index, index) -> ()
  gpu.return
}

// Nothing is known without the size of a block, or if no GPU runs it.
// CHECK-LABEL: unsized:
// CHECK-NEXT: no block size
// CHECK-LABEL: huge:
// CHECK-NEXT: no block size
gpu.func @unsized() kernel {
  gpu.return
}
gpu.func @huge() kernel attributes {known_block_size = array<i32: 64, 64, 1>} {
  gpu.return
}

// Values that depend on themselves, in code that is never reached.
// CHECK-LABEL: unreachable:
// CHECK-NEXT: %{{.*}}: unknown because of
gpu.func @unreachable() kernel
    attributes {known_block_size = array<i32: 2, 1, 1>} {
  %t = gpu.thread_id x
  gpu.return
^never:
  %a = arith.addi %b, %t : index
  %b = arith.addi %a, %t : index
  "t.use"(%a) {show} : (index) -> ()
  cf.br ^never
}
}
