// Copies whose swizzle moves to the load.
// RUN: lodestone-opt %s --split-input-file --lds-inverse-swizzle --canonicalize --cse --remarks-filter=lds-inverse-swizzle --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: lodestone-opt %s --split-input-file --lds-inverse-swizzle --canonicalize --cse | FileCheck %s

#lds = #gpu.address_space<workgroup>

// Rows of 8 cells of 16 bytes, flipped by the row's number: thread t loads what
// thread t ^ (t & 56) >> 3 loaded and stores at 8 t.
// REMARK: [Passed] inverse-swizzle-applied {{.*}} CellBytes=16, Steps=1, Thread="t ^ (t & 56) >> 3", Threads=64, WindowBytes=1024
// CHECK-LABEL: gpu.func @xor
// CHECK: %[[T:.+]] = gpu.thread_id x
// CHECK: %[[ROWBITS:.+]] = arith.andi %[[T]], %c56
// CHECK: %[[FLIP:.+]] = arith.shrui %[[ROWBITS]], %c3
// CHECK: %[[S:.+]] = arith.xori %[[T]], %[[FLIP]]
// CHECK: %[[TO:.+]] = arith.muli %[[T]], %c8
// CHECK: %[[ROW:.+]] = arith.divui %[[S]], %c8
// CHECK: %[[CELL:.+]] = arith.remui %[[S]], %c8
// CHECK: %[[COLUMN:.+]] = arith.muli %[[CELL]], %c8
// CHECK: %[[X:.+]] = vector.load %arg0[%[[ROW]], %[[COLUMN]]]
// CHECK: %[[FLAT:.+]] = memref.collapse_shape
// CHECK: vector.store %[[X]], %[[FLAT]][%[[TO]]]
gpu.module @m {
gpu.func @xor(%source: memref<8x64xf16>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x64xf16, #lds>
  %t = gpu.thread_id x
  %c8 = arith.constant 8 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  %x = vector.load %source[%row, %column] : memref<8x64xf16>, vector<8xf16>
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  vector.store %x, %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  gpu.barrier
  gpu.return
}
}

// -----

#lds = #gpu.address_space<workgroup>

// A loop whose steps are four rows: the flip depends on the step, too. The
// bound of rows is tested with the row that is loaded, and so is the fill.
// REMARK: [Passed] inverse-swizzle-applied {{.*}} CellBytes=16, Steps=4, Thread="t ^ (t & 24) >> 3 ^ (n0 & 1) << 2", Threads=32, WindowBytes=512
// CHECK-LABEL: gpu.func @steps
// CHECK: scf.for %[[I:.+]] =
// CHECK: arith.shli %{{.*}}, %c2
// CHECK: %[[IN:.+]] = arith.cmpi ult
// CHECK: %[[X:.+]] = scf.if %[[IN]]
// CHECK: vector.load
// CHECK: vector.store %[[X]]
gpu.module @m {
gpu.func @steps(%source: memref<?x64xf16>) kernel
    attributes {known_block_size = array<i32: 32, 1, 1>} {
  %tile = lds.region @tile : memref<16x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c7 = arith.constant 7 : index
  %zero = arith.constant dense<0.0> : vector<8xf16>
  %rows = memref.dim %source, %c0 : memref<?x64xf16>
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %first = arith.muli %i, %c4 : index
    %r = arith.divui %t, %c8 : index
    %row = arith.addi %first, %r : index
    %in = arith.cmpi ult, %row, %rows : index
    %x = scf.if %in -> vector<8xf16> {
      %loaded = vector.load %source[%row, %column]
        : memref<?x64xf16>, vector<8xf16>
      scf.yield %loaded : vector<8xf16>
    } else {
      scf.yield %zero : vector<8xf16>
    }
    %flip = arith.andi %row, %c7 : index
    %to = arith.xori %cell, %flip : index
    %at = arith.muli %to, %c8 : index
    vector.store %x, %tile[%row, %at] : memref<16x64xf16, #lds>, vector<8xf16>
  }
  gpu.barrier
  gpu.return
}
}

// -----

#lds = #gpu.address_space<workgroup>

// Without a fill the store is in the condition; the condition is that of the
// thread whose element it is.
// REMARK: [Passed] inverse-swizzle-applied
// CHECK-LABEL: gpu.func @no_fill
// CHECK: %[[S:.+]] = arith.xori
// CHECK: %[[ROW:.+]] = arith.divui %[[S]]
// CHECK: %[[IN:.+]] = arith.cmpi ult, %[[ROW]], %arg1
// CHECK: scf.if %[[IN]]
// CHECK-NEXT: vector.load %arg0[%[[ROW]],
// CHECK: vector.store
gpu.module @m {
gpu.func @no_fill(%source: memref<8x64xf16>, %rows: index) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x64xf16, #lds>
  %t = gpu.thread_id x
  %c8 = arith.constant 8 : index
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  %in = arith.cmpi ult, %row, %rows : index
  scf.if %in {
    %x = vector.load %source[%row, %column] : memref<8x64xf16>, vector<8xf16>
    vector.store %x, %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  }
  gpu.barrier
  gpu.return
}
}

// -----

#lds = #gpu.address_space<workgroup>

// A tile that is filled with zeros first: the fill of a cell moves to the
// thread that then stores the cell, which keeps their order.
// REMARK: [Passed] inverse-swizzle-applied
// REMARK: [Passed] inverse-swizzle-applied
// CHECK-LABEL: gpu.func @fill_first
gpu.module @m {
gpu.func @fill_first(%source: memref<8x64xf16>, %rows: index) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x64xf16, #lds>
  %t = gpu.thread_id x
  %c8 = arith.constant 8 : index
  %zero = arith.constant dense<0.0> : vector<8xf16>
  %row = arith.divui %t, %c8 : index
  %cell = arith.remui %t, %c8 : index
  %column = arith.muli %cell, %c8 : index
  %to = arith.xori %cell, %row : index
  %at = arith.muli %to, %c8 : index
  // CHECK: vector.store %cst, %[[FLAT:.+]][%[[TO:.+]]]
  vector.store %zero, %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  %in = arith.cmpi ult, %row, %rows : index
  scf.if %in {
    %x = vector.load %source[%row, %column] : memref<8x64xf16>, vector<8xf16>
    // CHECK: vector.store %{{.*}}[%[[TO]]]
    vector.store %x, %tile[%row, %at] : memref<8x64xf16, #lds>, vector<8xf16>
  }
  gpu.barrier
  gpu.return
}
}

// -----

#lds = #gpu.address_space<workgroup>

// A page table: the lookup goes with the row. 32-bit numbers, two dimensions of
// threads, a buffer that is chosen at run time.
// REMARK: [Passed] inverse-swizzle-applied
// CHECK-LABEL: gpu.func @paged
// CHECK: %[[S:.+]] = arith.xori
// CHECK: %[[Y:.+]] = arith.divui %[[S]], %c8
// CHECK: memref.load %arg1[%[[Y]]]
gpu.module @m {
gpu.func @paged(%pool: memref<64x64xf16>, %pages: memref<?xi32>, %buffer: i32)
    kernel attributes {known_block_size = array<i32: 8, 8, 1>} {
  %tile = lds.region @tile : memref<1024xf16, #lds>
  %x = gpu.thread_id x
  %y = gpu.thread_id y
  %c8 = arith.constant 8 : index
  %c3 = arith.constant 3 : i32
  %c6 = arith.constant 6 : i32
  %c9 = arith.constant 9 : i32
  %page = memref.load %pages[%y] : memref<?xi32>
  %row = arith.index_cast %page : i32 to index
  %column = arith.muli %x, %c8 : index
  %v = vector.load %pool[%row, %column] : memref<64x64xf16>, vector<8xf16>
  %x32 = arith.index_cast %x : index to i32
  %y32 = arith.index_cast %y : index to i32
  %to = arith.xori %x32, %y32 : i32
  %cells = arith.shli %to, %c3 : i32
  %rows = arith.shli %y32, %c6 : i32
  %sum = arith.addi %rows, %cells : i32
  %base = arith.shli %buffer, %c9 : i32
  %offset = arith.addi %sum, %base : i32
  %at = arith.index_cast %offset : i32 to index
  // CHECK: %[[BASE:.+]] = arith.muli %arg2, %c512_i32
  // CHECK: %[[LANE:.+]] = arith.index_cast %{{.*}} : index to i32
  // CHECK: %[[SUM:.+]] = arith.addi %[[LANE]], %[[BASE]]
  // CHECK: %[[AT:.+]] = arith.index_castui %[[SUM]]
  // CHECK: vector.store %{{.*}}[%[[AT]]]
  vector.store %v, %tile[%at] : memref<1024xf16, #lds>, vector<8xf16>
  gpu.barrier
  gpu.return
}
}

// -----

#lds = #gpu.address_space<workgroup>

// Stores that are in order already are left alone, without a remark.
// REMARK-NOT: Function=linear
// CHECK-LABEL: gpu.func @linear
// CHECK: vector.store %{{.*}} : memref<8x64xf16, #gpu.address_space<workgroup>>
gpu.module @m {
gpu.func @linear(%source: memref<8x64xf16>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<8x64xf16, #lds>
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
