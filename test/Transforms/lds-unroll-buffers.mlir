// Loops that go round LDS buffers get a copy of their body for each.
// RUN: lodestone-opt %s --lds-unroll-buffers=stores | FileCheck %s
// Without copies in flight there is nothing to tell apart, nor on chips whose waits don't look at scopes.
// RUN: lodestone-opt %s --lds-unroll-buffers | FileCheck %s --check-prefix=NONE
// RUN: lodestone-opt %s --lds-unroll-buffers='stores chip=gfx1250' | FileCheck %s --check-prefix=NONE
// NONE-LABEL: gpu.func @modulo
// NONE: scf.for
// NONE: arith.remui
// NONE-NOT: arith.maxsi

!tile = memref<3x64xf32, #gpu.address_space<workgroup>>
!buffer = memref<64xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  // The counter modulo 2, also one ahead; a round starts only if all of it runs, and the iteration that may be left has
  // its buffers as constants, too.
  // CHECK-LABEL: gpu.func @modulo
  // CHECK-SAME: (%{{.*}}: memref<?xf32>, %[[N:.*]]: index, %{{.*}}: memref<?xf32>)
  gpu.func @modulo(%g: memref<?xf32>, %n: index, %out: memref<?xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %tile = lds.region @tile : !tile
    // CHECK: %[[MAX:.*]] = arith.maxsi %[[N]], %c0
    // CHECK: %[[END:.*]] = arith.subi %[[MAX]], %c1 overflow<nsw>
    // CHECK: %[[ROUNDS:.*]]:2 = scf.for %[[K:.*]] = %c0 to %[[END]] step %c2 iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %c0)
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %c0) -> index {
      %k1 = arith.addi %k, %c1 : index
      %slot = arith.remui %k, %c2 : index
      %next = arith.remui %k1, %c2 : index
      // CHECK: memref.store %{{.*}}, %tile[%c1, %{{.*}}]
      // CHECK: memref.load %tile[%c0, %{{.*}}]
      // CHECK: memref.store %{{.*}}, %tile[%c0, %{{.*}}]
      // CHECK: memref.load %tile[%c1, %{{.*}}]
      %x = memref.load %g[%k1] : memref<?xf32>
      memref.store %x, %tile[%next, %t] : !tile
      gpu.barrier
      %y = memref.load %tile[%slot, %t] : !tile
      memref.store %y, %out[%k] : memref<?xf32>
      gpu.barrier
      %s1 = arith.addi %s, %k : index
      scf.yield %s1 : index
    }
    // CHECK: %[[RUNS:.*]] = arith.cmpi slt, %[[ROUNDS]]#1, %[[N]]
    // CHECK: scf.if %[[RUNS]]
    // CHECK: memref.store %{{.*}}, %tile[%c1, %{{.*}}]
    // CHECK: memref.load %tile[%c0, %{{.*}}]
    // CHECK: } else {
    // CHECK-NEXT: scf.yield %[[ROUNDS]]#0
    %f = arith.index_cast %sum : index to i32
    %f32 = arith.sitofp %f : i32 to f32
    memref.store %f32, %out[%c0] : memref<?xf32>
    gpu.return
  }

  // Three buffers by a number that the loop carries, and remainders of what isn't a power of two.
  // CHECK-LABEL: gpu.func @carried
  gpu.func @carried(%g: memref<?xf32>, %out: memref<?xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c30 = arith.constant 30 : index
    %tile = lds.region @tile : !tile
    // CHECK: scf.for
    %last = scf.for %k = %c0 to %c30 step %c1 iter_args(%slot = %c0) -> index {
      %k2 = arith.addi %k, %c2 : index
      %next = arith.remui %k2, %c3 : index
      // CHECK: memref.store %{{.*}}, %tile[%c2, %{{.*}}]
      // CHECK: memref.load %tile[%c0, %{{.*}}]
      // CHECK: memref.store %{{.*}}, %tile[%c0, %{{.*}}]
      // CHECK: memref.load %tile[%c1, %{{.*}}]
      // CHECK: memref.store %{{.*}}, %tile[%c1, %{{.*}}]
      // CHECK: memref.load %tile[%c2, %{{.*}}]
      // CHECK-NOT: scf.if
      %x = memref.load %g[%k2] : memref<?xf32>
      memref.store %x, %tile[%next, %t] : !tile
      gpu.barrier
      %y = memref.load %tile[%slot, %t] : !tile
      memref.store %y, %out[%k] : memref<?xf32>
      gpu.barrier
      %s1 = arith.addi %slot, %c1 : index
      %wraps = arith.cmpi eq, %s1, %c3 : index
      %s = arith.select %wraps, %c0, %s1 : index
      scf.yield %s : index
    }
    gpu.return
  }

  // Two buffers that the loop hands on in a ring.
  // CHECK-LABEL: gpu.func @ring
  gpu.func @ring(%g: memref<?xf32>, %n: index, %out: memref<?xf32>) kernel {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = lds.region @a : !buffer
    %b = lds.region @b : !buffer
    // CHECK: scf.for
    scf.for %k = %c0 to %n step %c1 iter_args(%now = %a, %next = %b) -> (!buffer, !buffer) {
      // CHECK: memref.store %{{.*}}, %b[
      // CHECK: memref.load %a[
      // CHECK: memref.store %{{.*}}, %a[
      // CHECK: memref.load %b[
      // CHECK: }
      // CHECK: scf.if
      // CHECK: memref.store %{{.*}}, %b[
      // CHECK: memref.load %a[
      %x = memref.load %g[%k] : memref<?xf32>
      memref.store %x, %next[%t] : !buffer
      gpu.barrier
      %y = memref.load %now[%t] : !buffer
      memref.store %y, %out[%k] : memref<?xf32>
      gpu.barrier
      scf.yield %next, %now : !buffer, !buffer
    }
    gpu.return
  }

  // An index that never comes back is no buffer.
  // CHECK-LABEL: gpu.func @straight
  gpu.func @straight(%g: memref<?xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %tile = lds.region @tile : !tile
    // CHECK: scf.for %{{.*}} = %c0 to %c3 step %c1
    scf.for %k = %c0 to %c3 step %c1 {
      %x = memref.load %g[%k] : memref<?xf32>
      memref.store %x, %tile[%k, %t] : !tile
    }
    gpu.return
  }

  // Of more than 32 bits, conversions keep no more than those: the remainder may be 1.
  // CHECK-LABEL: gpu.func @wide
  gpu.func @wide(%g: memref<?xf32>, %n: i64, %m: index, %out: memref<?xi64>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %first = arith.constant 4294967297 : i64
    %step = arith.constant 8589934592 : i64
    %tile = lds.region @tile : !tile
    scf.for %k = %first to %n step %step : i64 {
      %low = arith.trunci %k : i64 to i32
      %wide = arith.extui %low : i32 to i64
      // CHECK: %[[REST:.*]] = arith.remui
      // CHECK: memref.store %[[REST]]
      %rest = arith.remui %wide, %step : i64
      memref.store %rest, %out[%c0] : memref<?xi64>
    }
    // CHECK: arith.maxsi
    scf.for %k = %c0 to %m step %c1 {
      %slot = arith.remui %k, %c2 : index
      %x = memref.load %g[%k] : memref<?xf32>
      memref.store %x, %tile[%slot, %t] : !tile
    }
    gpu.return
  }
}
