// Barriers in halves, and barriers of some warps, publish no copy.
// RUN: lodestone-opt %s --lds-form-direct-loads=chip=gfx1250 --remarks-filter='lds-form-direct-loads' --remark-format=emitRemark 2>&1 | FileCheck %s

!lds = memref<1024xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  // Others may go on as soon as this warp has signalled: a wait in front of the second half is late.
  // CHECK: remark: [Missed] no-barrier{{.*}}Function=halves
  gpu.func @halves(%g: memref<1024xf32>, %out: memref<1024xf32>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c255 = arith.constant 255 : index
    %t = gpu.thread_id x
    %other = arith.subi %c255, %t : index
    %v = memref.load %g[%t] : memref<1024xf32>
    memref.store %v, %lds[%t] : !lds
    amdgpu.memory_counter_wait ds(0)
    rocdl.s.barrier.signal id = -1
    rocdl.s.barrier.wait id = -1
    %x = memref.load %lds[%other] : !lds
    memref.store %x, %out[%t] : memref<1024xf32>
    gpu.return
  }

  // CHECK: remark: [Missed] no-barrier{{.*}}Function=named
  gpu.func @named(%g: memref<1024xf32>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %v = memref.load %g[%t] : memref<1024xf32>
    memref.store %v, %lds[%t] : !lds
    rocdl.s.barrier.wait id = 1
    gpu.return
  }
}
// CHECK-NOT: lds.async_load
