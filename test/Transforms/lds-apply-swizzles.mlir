// What lds-apply-swizzles makes of accesses, views and allocations.
// RUN: lodestone-opt %s --pass-pipeline='builtin.module(gpu.module(lds-apply-swizzles{strict},canonicalize,cse))' | FileCheck %s

gpu.module @kernels {
  // One cell: the offset is xored in bytes, and the access keeps its width and alignment.
  // CHECK-LABEL: gpu.func @cell
  gpu.func @cell(%i: index, %c: index) kernel {
    %c8 = arith.constant 8 : index
    %j = arith.muli %c, %c8 : index
    // CHECK: %[[A:.*]] = lds.region @A : memref<4096xf16, 3>
    %a = lds.region @A swizzle(#lds.xor<bits = 3, base = 4, shift = 3>) : memref<64x64xf16, 3>
    // CHECK-DAG: %[[ROW:.*]] = arith.muli %{{.*}}, %c128
    // CHECK-DAG: %[[COLUMN:.*]] = arith.muli %{{.*}}, %c16
    // CHECK: %[[Q:.*]] = arith.addi %[[ROW]], %[[COLUMN]]
    // CHECK: %[[BITS:.*]] = arith.andi %[[Q]], %c896
    // CHECK: %[[TURN:.*]] = arith.shrui %[[BITS]], %c3
    // CHECK: %[[P:.*]] = arith.xori %[[Q]], %[[TURN]]
    // CHECK: %[[K:.*]] = arith.divui %[[P]], %c2
    // CHECK: %[[X:.*]] = vector.load %[[A]][%[[K]]] {alignment = 16 : i64} : memref<4096xf16, 3>, vector<8xf16>
    %x = vector.load %a[%i, %j] : memref<64x64xf16, 3>, vector<8xf16>
    // CHECK: vector.store %[[X]], %[[A]][%[[K]]] {alignment = 16 : i64}
    vector.store %x, %a[%i, %j] : memref<64x64xf16, 3>, vector<8xf16>
    gpu.return
  }

  // A multiple of the period stays out of the xor: it can be hoisted.
  // CHECK-LABEL: gpu.func @stage
  gpu.func @stage(%s: index, %i: index, %j: index) kernel {
    %a = lds.region @A swizzle(#lds.xor<bits = 3, base = 4, shift = 3>) : memref<2x64x64xf16, 3>
    // CHECK: %[[P:.*]] = arith.xori
    // CHECK-NEXT: %[[K:.*]] = arith.divui %[[P]], %c2
    // CHECK-NEXT: %[[STAGE:.*]] = arith.muli %{{.*}}, %c4096
    // CHECK-NEXT: arith.addi %[[K]], %[[STAGE]]
    %x = memref.load %a[%s, %i, %j] : memref<2x64x64xf16, 3>
    memref.store %x, %a[%s, %i, %j] : memref<2x64x64xf16, 3>
    gpu.return
  }

  // So does one that is added within an index, under a factor: the rows of one thread share an xor,
  // and differ by an immediate offset. Row and cell of a thread are put together again.
  // CHECK-LABEL: gpu.func @rows_of_a_thread
  // CHECK-SAME: (%[[T:.*]]: index, %[[B:.*]]: index)
  gpu.func @rows_of_a_thread(%t: index, %b: index) kernel {
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %a = lds.region @A swizzle(#lds.xor<bits = 3, base = 4, shift = 3>) : memref<64x64xf16, 3>
    %i = arith.divui %t, %c8 : index
    %cell = arith.remui %t, %c8 : index
    %j = arith.muli %cell, %c8 : index
    %half = arith.muli %b, %c32 : index
    %i0 = arith.addi %half, %i : index
    %i8 = arith.addi %i0, %c8 : index
    // CHECK: %[[Q:.*]] = arith.muli %[[T]], %c16
    // CHECK: %[[P:.*]] = arith.xori %[[Q]]
    // CHECK: %[[K:.*]] = arith.divui %[[P]], %c2
    // CHECK: %[[HALF:.*]] = arith.muli %[[B]], %c2048
    // CHECK: arith.addi %[[K]], %[[HALF]]
    %x = vector.load %a[%i0, %j] : memref<64x64xf16, 3>, vector<8xf16>
    // CHECK-NOT: arith.xori
    // CHECK: %[[PLUS:.*]] = arith.addi %[[HALF]], %c512
    // CHECK: arith.addi %[[K]], %[[PLUS]]
    vector.store %x, %a[%i8, %j] : memref<64x64xf16, 3>, vector<8xf16>
    gpu.return
  }

  // A constant that isn't a multiple of the period goes through the xor, and so does a quotient by
  // another number than the remainder's.
  // CHECK-LABEL: gpu.func @not_a_period
  // CHECK-SAME: (%[[T:.*]]: index)
  gpu.func @not_a_period(%t: index) kernel {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %a = lds.region @A swizzle(#lds.xor<bits = 3, base = 4, shift = 3>) : memref<64x64xf16, 3>
    // CHECK-DAG: %[[ROW:.*]] = arith.divui %[[T]], %c4
    // CHECK-DAG: %[[CELL:.*]] = arith.remui %[[T]], %c8
    %i = arith.divui %t, %c4 : index
    %i1 = arith.addi %i, %c1 : index
    %cell = arith.remui %t, %c8 : index
    %j = arith.muli %cell, %c8 : index
    // CHECK-DAG: %[[A:.*]] = arith.muli %[[ROW]], %c128
    // CHECK-DAG: %[[B:.*]] = arith.muli %[[CELL]], %c16
    // CHECK: %[[SUM:.*]] = arith.addi %[[A]], %[[B]]
    // CHECK: %[[Q:.*]] = arith.addi %[[SUM]], %c128
    // CHECK: %[[P:.*]] = arith.xori %[[Q]]
    // CHECK-NEXT: arith.divui %[[P]], %c2
    %x = vector.load %a[%i1, %j] : memref<64x64xf16, 3>, vector<8xf16>
    vector.store %x, %a[%i1, %j] : memref<64x64xf16, 3>, vector<8xf16>
    gpu.return
  }

  // Wider than the granule: two loads, each swizzled; the mask is split, too.
  // CHECK-LABEL: gpu.func @wide
  gpu.func @wide(%i: index, %mask: vector<8xi1>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : vector<8xf16>
    %a = lds.region @A swizzle(#lds.xor<bits = 4, base = 3, shift = 4>) : memref<64x64xf16, 3>
    // CHECK: %[[X0:.*]] = vector.load {{.*}} {alignment = 8 : i64} : memref<4096xf16, 3>, vector<4xf16>
    // CHECK: vector.insert_strided_slice %[[X0]], {{.*}} {offsets = [0], strides = [1]}
    // CHECK: %[[X1:.*]] = vector.load {{.*}} {alignment = 8 : i64} : memref<4096xf16, 3>, vector<4xf16>
    // CHECK: vector.insert_strided_slice %[[X1]], {{.*}} {offsets = [4], strides = [1]}
    %x = vector.load %a[%i, %c0] : memref<64x64xf16, 3>, vector<8xf16>
    // CHECK: %[[M0:.*]] = vector.extract_strided_slice %{{.*}} {offsets = [0], sizes = [4], strides = [1]} : vector<8xi1>
    // CHECK: vector.maskedload {{.*}}, %[[M0]], {{.*}} {alignment = 8 : i64} : memref<4096xf16, 3>, vector<4xi1>, vector<4xf16> into vector<4xf16>
    // CHECK: vector.maskedload
    %y = vector.maskedload %a[%i, %c0], %mask, %zero : memref<64x64xf16, 3>, vector<8xi1>, vector<8xf16> into vector<8xf16>
    %z = arith.addf %x, %y : vector<8xf16>
    // CHECK-COUNT-2: vector.maskedstore
    vector.maskedstore %a[%i, %c0], %mask, %z : memref<64x64xf16, 3>, vector<8xi1>, vector<8xf16>
    gpu.return
  }

  // Nothing is known of the column, so a vector may straddle a granule anywhere.
  // CHECK-LABEL: gpu.func @unaligned
  gpu.func @unaligned(%i: index, %j: index) -> vector<2xf16> {
    %a = memref.alloca() {lds.swizzle = #lds.xor<bits = 3, base = 4, shift = 3>} : memref<64x64xf16, 3>
    // CHECK-COUNT-2: vector.load {{.*}} : memref<4096xf16, 3>, vector<1xf16>
    %x = vector.load %a[%i, %j] : memref<64x64xf16, 3>, vector<2xf16>
    gpu.return %x : vector<2xf16>
  }

  // Unless the access says so, and the allocation is aligned as well.
  // CHECK-LABEL: gpu.func @stated
  gpu.func @stated(%i: index, %j: index) -> vector<2xf16> {
    %a = lds.region @A align(16) swizzle(#lds.xor<bits = 3, base = 4, shift = 3>) : memref<64x64xf16, 3>
    // CHECK: vector.load {{.*}} {alignment = 4 : i64} : memref<4096xf16, 3>, vector<2xf16>
    %x = vector.load %a[%i, %j] {alignment = 4} : memref<64x64xf16, 3>, vector<2xf16>
    gpu.return %x : vector<2xf16>
  }

  // Views: the offset counts from the start of the allocation, not of the view.
  // CHECK-LABEL: gpu.func @views
  gpu.func @views(%i: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // CHECK-DAG: %[[A:.*]] = lds.region @A : memref<4096xf16, 3>
    %a = lds.region @A swizzle(#lds.xor<bits = 3, base = 4, shift = 3>) : memref<64x64xf16, 3>
    %s = memref.subview %a[8, 16] [16, 16] [2, 1] : memref<64x64xf16, 3> to memref<16x16xf16, strided<[128, 1], offset: 528>, 3>
    %d = memref.cast %s : memref<16x16xf16, strided<[128, 1], offset: 528>, 3> to memref<?x?xf16, strided<[?, ?], offset: ?>, 3>
    // Row 10, column 16: bytes 1312, which is cell 2 of row 2 in its period: cell 0.
    // CHECK-DAG: %[[K:.*]] = arith.constant 640 : index
    // CHECK: memref.load %[[A]][%[[K]]] : memref<4096xf16, 3>
    %x = memref.load %d[%c1, %c0] : memref<?x?xf16, strided<[?, ?], offset: ?>, 3>
    %f = memref.collapse_shape %a [[0, 1]] : memref<64x64xf16, 3> into memref<4096xf16, 3>
    %e = memref.expand_shape %f [[0, 1]] output_shape [512, 8] : memref<4096xf16, 3> into memref<512x8xf16, 3>
    // CHECK: memref.store %{{.*}}, %[[A]]
    memref.store %x, %e[%i, %c0] : memref<512x8xf16, 3>
    // CHECK-NOT: memref.{{subview|cast|collapse_shape|expand_shape}}
    // CHECK: gpu.return
    gpu.return
  }

  // Bytes seen as elements of another type.
  // CHECK-LABEL: gpu.func @bytes
  gpu.func @bytes(%i: index) kernel {
    %c1024 = arith.constant 1024 : index
    // CHECK: %[[A:.*]] = lds.region @A : memref<8192xi8, 3>
    %a = lds.region @A swizzle(#lds.xor<bits = 3, base = 4, shift = 3>) : memref<8192xi8, 3>
    // CHECK: %[[V:.*]] = memref.view %[[A]][%{{.*}}][] : memref<8192xi8, 3> to memref<2048xf32, 3>
    %v = memref.view %a[%c1024][] : memref<8192xi8, 3> to memref<56x32xf32, 3>
    // CHECK: memref.load %[[V]]
    %x = memref.load %v[%i, %i] : memref<56x32xf32, 3>
    memref.store %x, %v[%i, %i] : memref<56x32xf32, 3>
    gpu.return
  }

  // Padding enlarges the allocation; affine accesses and transfers are accesses like others.
  // CHECK-LABEL: gpu.func @padded
  gpu.func @padded(%i: index) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f16
    // CHECK: memref.alloc() : memref<4600xf16, 3>
    %a = memref.alloc() {lds.swizzle = #lds.padded<row_bytes = 128, pad_bytes = 16>} : memref<64x64xf16, 3>
    // CHECK: memref.load
    %x = affine.load %a[symbol(%i) mod 64, 3] : memref<64x64xf16, 3>
    // CHECK: memref.store
    affine.store %x, %a[symbol(%i) mod 64, 5] : memref<64x64xf16, 3>
    // CHECK: vector.load {{.*}} : memref<4600xf16, 3>, vector<8xf16>
    %y = vector.transfer_read %a[%i, %c0], %zero {in_bounds = [true]} : memref<64x64xf16, 3>, vector<8xf16>
    // CHECK: vector.store {{.*}} : memref<4600xf16, 3>, vector<8xf16>
    vector.transfer_write %y, %a[%i, %c0] {in_bounds = [true]} : vector<8xf16>, memref<64x64xf16, 3>
    // CHECK: memref.dealloc %{{.*}} : memref<4600xf16, 3>
    memref.dealloc %a : memref<64x64xf16, 3>
    gpu.return
  }

  // A rotation has no powers of two to rely on.
  // CHECK-LABEL: gpu.func @rotated
  // CHECK-SAME: workgroup(%[[W:.*]] : memref<6144xf16, 3>, %{{.*}} : memref<4xi32, 3> {llvm.align = 16 : i64})
  gpu.func @rotated(%i: index, %v: i32) workgroup(%w : memref<64x96xf16, 3> {lds.swizzle = #lds.rotate<cell_bytes = 16, row_bytes = 192>}, %n : memref<4xi32, 3> {lds.swizzle = #lds.xor<bits = 1, base = 2, shift = 1>, llvm.align = 16}) kernel {
    // CHECK: arith.remui %{{.*}}, %c192
    // CHECK: memref.load %[[W]]
    %x = memref.load %w[%i, %i] : memref<64x96xf16, 3>
    memref.store %x, %w[%i, %i] : memref<64x96xf16, 3>
    // CHECK: memref.atomic_rmw addi %{{.*}}, %{{.*}}[%{{.*}}] : (i32, memref<4xi32, 3>) -> i32
    %o = memref.atomic_rmw addi %v, %n[%i] : (i32, memref<4xi32, 3>) -> i32
    gpu.return
  }

  // A global: all places that get its address.
  // CHECK: memref.global "private" @g : memref<4096xf16, 3>
  // CHECK-NOT: lds.swizzle
  memref.global "private" @g : memref<64x64xf16, 3> {alignment = 16, lds.swizzle = #lds.xor<bits = 3, base = 4, shift = 3>}
  // CHECK-LABEL: gpu.func @writer
  gpu.func @writer(%i: index, %x: f16) {
    // CHECK: memref.get_global @g : memref<4096xf16, 3>
    %a = memref.get_global @g : memref<64x64xf16, 3>
    memref.store %x, %a[%i, %i] : memref<64x64xf16, 3>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @reader
  gpu.func @reader(%i: index) -> f16 {
    // CHECK: memref.get_global @g : memref<4096xf16, 3>
    %a = memref.get_global @g : memref<64x64xf16, 3>
    %x = memref.load %a[%i, %i] : memref<64x64xf16, 3>
    gpu.return %x : f16
  }

  // What is loaded from one swizzled allocation is the index of an access to another, and of
  // a view of itself.
  // CHECK-LABEL: gpu.func @table
  gpu.func @table(%i: index) kernel {
    // CHECK-DAG: %[[T:.*]] = lds.region @T : memref<16xi32, 3>
    // CHECK-DAG: %[[A:.*]] = lds.region @A : memref<4096xi32, 3>
    %t = lds.region @T swizzle(#lds.xor<bits = 1, base = 3, shift = 1>) : memref<16xi32, 3>
    %a = lds.region @A swizzle(#lds.xor<bits = 3, base = 4, shift = 3>) : memref<128x32xi32, 3>
    // CHECK: %[[N:.*]] = memref.load %[[T]]
    %n = memref.load %t[%i] : memref<16xi32, 3>
    // CHECK: %[[ROW:.*]] = arith.index_cast %[[N]]
    %row = arith.index_cast %n : i32 to index
    // CHECK: arith.muli %[[ROW]], %c128
    // CHECK: %[[M:.*]] = memref.load %[[A]]
    %m = memref.load %a[%row, %i] : memref<128x32xi32, 3>
    // CHECK: %[[FIRST:.*]] = arith.index_cast %[[M]]
    %first = arith.index_cast %m : i32 to index
    %s = memref.subview %a[%first, 0] [8, 32] [1, 1] : memref<128x32xi32, 3> to memref<8x32xi32, strided<[32, 1], offset: ?>, 3>
    // CHECK: arith.muli %[[FIRST]], %c128
    // CHECK: memref.store %[[N]], %[[A]]
    memref.store %n, %s[%i, %i] : memref<8x32xi32, strided<[32, 1], offset: ?>, 3>
    gpu.return
  }

  // Elements that are vectors are moved as a whole.
  // CHECK-LABEL: gpu.func @vectors
  gpu.func @vectors(%i: index) kernel {
    %a = lds.region @A swizzle(#lds.xor<bits = 3, base = 4, shift = 3>) : memref<64x8xvector<8xf16>, 3>
    // CHECK: memref.load %{{.*}}[%{{.*}}] : memref<512xvector<8xf16>, 3>
    %x = memref.load %a[%i, %i] : memref<64x8xvector<8xf16>, 3>
    memref.store %x, %a[%i, %i] : memref<64x8xvector<8xf16>, 3>
    gpu.return
  }

  // Each lane of a transposing load reads within a granule, wherever that is.
  // CHECK-LABEL: gpu.func @transposed
  gpu.func @transposed(%i: index, %c: index) -> vector<4xf16> {
    %c4 = arith.constant 4 : index
    %j = arith.muli %c, %c4 : index
    %a = lds.region @A swizzle(#lds.xor<bits = 3, base = 4, shift = 3>) : memref<64x64xf16, 3>
    // CHECK: amdgpu.transpose_load %{{.*}}[%{{.*}}] : memref<4096xf16, 3> -> vector<4xf16>
    %x = amdgpu.transpose_load %a[%i, %j] : memref<64x64xf16, 3> -> vector<4xf16>
    gpu.return %x : vector<4xf16>
  }

  // The identity needs nothing.
  // CHECK-LABEL: gpu.func @identity
  gpu.func @identity(%i: index) -> f16 {
    %a = memref.alloca() {lds.swizzle = #lds.xor<bits = 0, base = 0, shift = 0>} : memref<64x64xf16, 3>
    // CHECK: memref.load %{{.*}}[%{{.*}}, %{{.*}}] : memref<64x64xf16, 3>
    %x = memref.load %a[%i, %i] : memref<64x64xf16, 3>
    gpu.return %x : f16
  }
}
