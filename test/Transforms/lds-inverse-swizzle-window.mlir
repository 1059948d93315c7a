// Copies whose steps don't fill a window each, but one together.
// RUN: lodestone-opt %s --split-input-file --lds-inverse-swizzle --canonicalize --cse | FileCheck %s
// RUN: lodestone-opt %s --split-input-file --lds-inverse-swizzle --remarks-filter=lds-inverse-swizzle --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

#lds = #gpu.address_space<workgroup>

// Thread t copies row t, cell by cell: each step's stores are a row apart. In step n
// it stores cell 64 n + t, in row 8 n + t / 8, which is the thread it takes it from.
// REMARK: [Passed] inverse-swizzle-applied {{.*}} CellBytes=16, Step="([[M:.+]]) % 8", Steps=8, Thread="([[M]]) / 8", Threads=64, WindowBytes=8192
// CHECK-LABEL: gpu.func @row_of_each_thread
// CHECK: %[[TO:.+]] = arith.muli %thread_id_x, %c8
// CHECK: scf.for %[[N:.+]] =
// CHECK: %[[M:.+]] = arith.xori
// CHECK: %[[THREAD:.+]] = arith.divui %[[M]], %c8
// CHECK: %[[STEP:.+]] = arith.remui %[[M]], %c8
// CHECK: %[[COLUMN:.+]] = arith.muli %[[STEP]], %c8
// CHECK: vector.load %arg0[%[[THREAD]], %[[COLUMN]]]
// CHECK: %[[BASE:.+]] = arith.muli %[[N]], %c512
// CHECK: %[[AT:.+]] = arith.addi %[[TO]], %[[BASE]]
// CHECK: vector.store %{{.+}}[%[[AT]]]
gpu.module @m {
gpu.func @row_of_each_thread(%source: memref<64x64xf16>) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<64x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %flip = arith.andi %t, %c7 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %column = arith.muli %i, %c8 : index
    %x = vector.load %source[%t, %column] : memref<64x64xf16>, vector<8xf16>
    %to = arith.xori %i, %flip : index
    %at = arith.muli %to, %c8 : index
    vector.store %x, %tile[%t, %at] : memref<64x64xf16, #lds>, vector<8xf16>
  }
  gpu.barrier
  gpu.return
}
}

// -----

#lds = #gpu.address_space<workgroup>

// 24 threads: the row is no number of shifted bits, but a function of the cell's
// number. The row of the page is looked up where it is needed now; the row's bound
// and the step's condition are those of the cell.
// REMARK: [Passed] inverse-swizzle-applied {{.*}} Step="((t + 24 * n0) ^ ((t + 24 * n0) & 56) >> 3) % 8"
// CHECK-LABEL: gpu.func @guarded
// CHECK: scf.for
// CHECK: %[[THREAD:.+]] = arith.divui %{{.+}}, %c8
// CHECK: %[[STEP:.+]] = arith.remui %{{.+}}, %c8
// CHECK: %[[PAGE:.+]] = memref.load %arg1[%[[THREAD]]]
// CHECK: %[[VALID:.+]] = arith.cmpi ult, %[[STEP]], %arg2
// CHECK: scf.if %[[VALID]]
// CHECK: %[[IN:.+]] = arith.cmpi ult, %[[THREAD]], %arg3
// CHECK: scf.if %[[IN]]
// CHECK: vector.load %arg0[%[[PAGE]],
gpu.module @m {
gpu.func @guarded(%source: memref<?x64xf16>, %pages: memref<24xindex>, %columns: index, %rows: index)
    kernel attributes {known_block_size = array<i32: 24, 1, 1>} {
  %tile = lds.region @tile : memref<24x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %flip = arith.andi %t, %c7 : index
  %page = memref.load %pages[%t] : memref<24xindex>
  scf.for %i = %c0 to %c8 step %c1 {
    %valid = arith.cmpi ult, %i, %columns : index
    scf.if %valid {
      %in = arith.cmpi ult, %t, %rows : index
      scf.if %in {
        %column = arith.muli %i, %c8 : index
        %x = vector.load %source[%page, %column] : memref<?x64xf16>, vector<8xf16>
        %to = arith.xori %i, %flip : index
        %at = arith.muli %to, %c8 : index
        vector.store %x, %tile[%t, %at] : memref<24x64xf16, #lds>, vector<8xf16>
      }
    }
  }
  gpu.barrier
  gpu.return
}
}

// -----

#lds = #gpu.address_space<workgroup>

// An address that the loop carries grows by the same in each step.
// REMARK: [Passed] inverse-swizzle-applied {{.*}} Function=carried
// CHECK-LABEL: gpu.func @carried
// CHECK: scf.for
// CHECK: %[[THREAD:.+]] = arith.divui %{{.+}}, %c8
// CHECK: %[[STEP:.+]] = arith.remui %{{.+}}, %c8
// CHECK: %[[START:.+]] = arith.muli %[[THREAD]], %arg1
// CHECK: %[[MORE:.+]] = arith.muli %[[STEP]], %c8
// CHECK: %[[P:.+]] = arith.addi %[[START]], %[[MORE]]
// CHECK: vector.load %arg0[%[[P]]]
gpu.module @m {
gpu.func @carried(%source: memref<?xf16>, %stride: index) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<64x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %flip = arith.andi %t, %c7 : index
  %start = arith.muli %t, %stride : index
  scf.for %i = %c0 to %c8 step %c1 iter_args(%p = %start) -> (index) {
    %x = vector.load %source[%p] : memref<?xf16>, vector<8xf16>
    %to = arith.xori %i, %flip : index
    %at = arith.muli %to, %c8 : index
    vector.store %x, %tile[%t, %at] : memref<64x64xf16, #lds>, vector<8xf16>
    %next = arith.addi %p, %c8 : index
    scf.yield %next : index
  }
  gpu.barrier
  gpu.return
}
}

// -----

#lds = #gpu.address_space<workgroup>

// A condition around the loop moves into it, where it is that of the thread whose
// cell it is.
// REMARK: [Passed] inverse-swizzle-applied {{.*}} Function=guarded_loop
// CHECK-LABEL: gpu.func @guarded_loop
// CHECK: scf.for
// CHECK: %[[THREAD:.+]] = arith.divui %{{.+}}, %c8
// CHECK: %[[IN:.+]] = arith.cmpi ult, %[[THREAD]], %arg1
// CHECK: scf.if %[[IN]]
// CHECK: vector.load %arg0[%[[THREAD]],
// CHECK: vector.store
gpu.module @m {
gpu.func @guarded_loop(%source: memref<64x64xf16>, %rows: index) kernel
    attributes {known_block_size = array<i32: 64, 1, 1>} {
  %tile = lds.region @tile : memref<64x64xf16, #lds>
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %in = arith.cmpi ult, %t, %rows : index
  scf.if %in {
    %flip = arith.andi %t, %c7 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %column = arith.muli %i, %c8 : index
      %x = vector.load %source[%t, %column] : memref<64x64xf16>, vector<8xf16>
      %to = arith.xori %i, %flip : index
      %at = arith.muli %to, %c8 : index
      vector.store %x, %tile[%t, %at] : memref<64x64xf16, #lds>, vector<8xf16>
    }
  }
  gpu.barrier
  gpu.return
}
}
