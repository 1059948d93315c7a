// Why a loop that goes round buffers stays as it is.
// RUN: lodestone-opt %s --lds-unroll-buffers='stores max-factor=2' --remarks-filter=lds-unroll-buffers --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s
// RUN: not lodestone-opt %s --lds-unroll-buffers=chip=gfx000 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: error: unknown chip 'gfx000'

!buffer = memref<64xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @missed(%g: memref<?xf32>, %n: index, %first: index, %out: memref<?xf32>) kernel {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = lds.region @a : !buffer
    %b = lds.region @b : !buffer
    %c = lds.region @c : !buffer
    // CHECK: [Missed] buffers-not-unrolled {{.*}} Reason="the loop uses 3 buffers in turn, more than 2"
    scf.for %k = %c0 to %n step %c1 iter_args(%i = %a, %j = %b, %l = %c) -> (!buffer, !buffer, !buffer) {
      %x = memref.load %g[%k] : memref<?xf32>
      memref.store %x, %i[%t] : !buffer
      scf.yield %j, %l, %i : !buffer, !buffer, !buffer
    }
    // CHECK: [Missed] buffers-not-unrolled {{.*}} Reason="the loop's start and step are no constants of 31 bits"
    scf.for %k = %first to %n step %c1 iter_args(%i = %a, %j = %b) -> (!buffer, !buffer) {
      %x = memref.load %g[%k] : memref<?xf32>
      memref.store %x, %i[%t] : !buffer
      scf.yield %j, %i : !buffer, !buffer
    }
    // CHECK: [Missed] buffers-not-unrolled {{.*}} Reason="the loop's counter is unsigned"
    scf.for unsigned %k = %c0 to %n step %c1 iter_args(%i = %a, %j = %b) -> (!buffer, !buffer) {
      %x = memref.load %g[%k] : memref<?xf32>
      memref.store %x, %i[%t] : !buffer
      scf.yield %j, %i : !buffer, !buffer
    }
    // A memref that is handed on to two places isn't in a ring.
    // CHECK-NOT: buffers
    scf.for %k = %c0 to %n step %c1 iter_args(%i = %a, %j = %b) -> (!buffer, !buffer) {
      %x = memref.load %g[%k] : memref<?xf32>
      memref.store %x, %i[%t] : !buffer
      scf.yield %j, %j : !buffer, !buffer
    }
    gpu.return
  }
}
