// The buffers that DMAs read through have a memref's bytes, from the first to the last, and no more:
// zero-fill relies on what is behind them.
// RUN: lodestone-opt %s --lds-form-direct-loads='chip=gfx950 assume-small-buffers' --canonicalize --cse | FileCheck %s

!lds = memref<64x64xf16, #gpu.address_space<workgroup>>
gpu.module @m {
  // Rows that are apart: 63 * 100 + 64 elements. What is outside of a row isn't outside of the
  // buffer, so the condition chooses the element.
  // CHECK-LABEL: gpu.func @rows_apart
  // CHECK-SAME: (%[[G:.+]]: memref<64x64xf16, strided<[100, 1]>>
  // CHECK-DAG: %[[END:.+]] = arith.constant 6364 : index
  // CHECK-DAG: %[[FLAT:.+]] = memref.reinterpret_cast %[[G]] to offset: [0], sizes: [6364], strides: [1]
  // CHECK-DAG: %[[BUFFER:.+]] = amdgpu.fat_raw_buffer_cast %[[FLAT]] :
  // CHECK: %[[AT:.+]] = arith.select %{{.+}}, %{{.+}}, %[[END]]
  // CHECK: amdgpu.gather_to_lds %[[BUFFER]][%[[AT]]]
  gpu.func @rows_apart(%g: memref<64x64xf16, strided<[100, 1]>>, %n: index) workgroup(%lds: !lds) kernel
      attributes {known_block_size = array<i32: 512, 1, 1>} {
    %zero = arith.constant dense<0.0> : vector<8xf16>
    %t = gpu.thread_id x
    %c8 = arith.constant 8 : index
    %r = arith.divui %t, %c8 : index
    %q = arith.remui %t, %c8 : index
    %c = arith.muli %q, %c8 : index
    %in = arith.cmpi ult, %c, %n : index
    %v = scf.if %in -> vector<8xf16> {
      %x = vector.load %g[%r, %c] : memref<64x64xf16, strided<[100, 1]>>, vector<8xf16>
      scf.yield %x : vector<8xf16>
    } else {
      scf.yield %zero : vector<8xf16>
    }
    vector.store %v, %lds[%r, %c] : !lds, vector<8xf16>
    gpu.barrier
    gpu.return
  }

  // Sizes and strides from the caller: 1 + (rows - 1) * stride + columns - 1, or none. A buffer
  // starts at the first element.
  // CHECK-LABEL: gpu.func @dynamic
  // CHECK-SAME: (%[[G:.+]]: memref<?x?xf16
  // CHECK-DAG: %[[C0:.+]] = arith.constant 0 : index
  // CHECK-DAG: %[[C1:.+]] = arith.constant 1 : index
  // CHECK: %{{.+}}, %[[OFFSET:.+]], %[[SIZE:.+]]:2, %[[STRIDE:.+]]:2 = memref.extract_strided_metadata %[[G]]
  // CHECK: %[[NO_ROWS:.+]] = arith.cmpi eq, %[[SIZE]]#0, %[[C0]]
  // CHECK: %[[ROWS:.+]] = arith.subi %[[SIZE]]#0, %[[C1]]
  // CHECK: %[[LAST_ROW:.+]] = arith.muli %[[ROWS]], %[[STRIDE]]#0
  // CHECK: %[[SUM:.+]] = arith.addi %[[LAST_ROW]], %[[C1]]
  // CHECK: %[[NO_COLUMNS:.+]] = arith.cmpi eq, %[[SIZE]]#1, %[[C0]]
  // CHECK: %[[EMPTY:.+]] = arith.ori %[[NO_ROWS]], %[[NO_COLUMNS]]
  // CHECK: %[[COLUMNS:.+]] = arith.subi %[[SIZE]]#1, %[[C1]]
  // CHECK: %[[ALL:.+]] = arith.addi %[[SUM]], %[[COLUMNS]]
  // CHECK: %[[END:.+]] = arith.select %[[EMPTY]], %[[C0]], %[[ALL]]
  // CHECK: %[[FLAT:.+]] = memref.reinterpret_cast %[[G]] to offset: [%[[OFFSET]]], sizes: [%[[END]]], strides: [1]
  // CHECK: %[[BUFFER:.+]] = amdgpu.fat_raw_buffer_cast %[[FLAT]] resetOffset
  // CHECK: %[[AT:.+]] = arith.select %{{.+}}, %{{.+}}, %[[END]]
  // CHECK: amdgpu.gather_to_lds %[[BUFFER]][%[[AT]]]
  gpu.func @dynamic(%g: memref<?x?xf16, strided<[?, 1], offset: ?>>, %n: index) workgroup(%lds: !lds) kernel
      attributes {known_block_size = array<i32: 512, 1, 1>} {
    %zero = arith.constant dense<0.0> : vector<8xf16>
    %t = gpu.thread_id x
    %c8 = arith.constant 8 : index
    %r = arith.divui %t, %c8 : index
    %q = arith.remui %t, %c8 : index
    %c = arith.muli %q, %c8 : index
    %in = arith.cmpi ult, %c, %n : index
    %v = scf.if %in -> vector<8xf16> {
      %x = vector.load %g[%r, %c] {alignment = 16} : memref<?x?xf16, strided<[?, 1], offset: ?>>, vector<8xf16>
      scf.yield %x : vector<8xf16>
    } else {
      scf.yield %zero : vector<8xf16>
    }
    vector.store %v, %lds[%r, %c] : !lds, vector<8xf16>
    gpu.barrier
    gpu.return
  }

  // The tile of an iteration, and a memref that changes places with another one.
  // CHECK-LABEL: gpu.func @in_a_loop
  // CHECK: scf.for {{.*}} iter_args(%[[A:.+]] = %{{.+}}, %{{.+}} = %{{.+}})
  // CHECK-DAG: memref.reinterpret_cast %[[A]] to offset: [0], sizes: [524288], strides: [1]
  // CHECK-DAG: %[[VIEW:.+]] = memref.subview
  // CHECK-DAG: memref.reinterpret_cast %[[VIEW]] to offset: [%{{.+}}], sizes: [8128], strides: [1]
  // CHECK-DAG: amdgpu.fat_raw_buffer_cast %{{.+}} resetOffset : memref<8128xf16, strided<[1], offset: ?>>
  gpu.func @in_a_loop(%g: memref<4096x128xf16>, %h: memref<4096x128xf16>, %n: index)
      workgroup(%lds: !lds, %other: !lds) kernel attributes {known_block_size = array<i32: 512, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %r = arith.divui %t, %c8 : index
    %q = arith.remui %t, %c8 : index
    %c = arith.muli %q, %c8 : index
    %x:2 = scf.for %k = %c0 to %n step %c64 iter_args(%a = %g, %b = %h) -> (memref<4096x128xf16>, memref<4096x128xf16>) {
      %s = memref.subview %g[%k, 64] [64, 64] [1, 1] : memref<4096x128xf16> to memref<64x64xf16, strided<[128, 1], offset: ?>>
      gpu.barrier
      %v = vector.load %s[%r, %c] : memref<64x64xf16, strided<[128, 1], offset: ?>>, vector<8xf16>
      vector.store %v, %lds[%r, %c] : !lds, vector<8xf16>
      %w = vector.load %a[%r, %c] : memref<4096x128xf16>, vector<8xf16>
      vector.store %w, %other[%r, %c] : !lds, vector<8xf16>
      gpu.barrier
      scf.yield %b, %a : memref<4096x128xf16>, memref<4096x128xf16>
    }
    gpu.return
  }
}
