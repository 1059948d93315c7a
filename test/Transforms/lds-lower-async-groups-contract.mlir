// RUN: lodestone-opt %s --lds-lower-async-groups=chip=gfx950 --remarks-filter=lds-lower-async-groups --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --implicit-check-not=error

// Nothing to report: the group is waited for, published, read, and the readers are waited for; the
// fences of gpu.barrier wait for LDS-DMAs; other waits may be enough; slots of different turns and
// branches that differ between threads aren't compared.
// CHECK: [Analysis] group-contract-checked {{.*}}Function=right | Compared=2, Unknown=0
// CHECK: [Analysis] group-contract-checked {{.*}}Function=by_hand | Compared=1, Unknown=0
// CHECK: [Analysis] group-contract-checked {{.*}}Function=not_known | {{.*}}Unknown=2
// CHECK: [Missed] group-contract-unchecked {{.*}}Function=no_size | Reason="the size of blocks isn't known
!lds = memref<1024xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @right(%g: memref<1024xf32>, %out: memref<1024xf32>) workgroup(%tile: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %c255 = arith.constant 255 : index
    %c256 = arith.constant 256 : index
    %other = arith.subi %c255, %t : index
    %behind = arith.addi %other, %c256 : index
    %wave = arith.divui %t, %c64 : index
    %at = arith.muli %wave, %c64 : index
    scf.for %k = %c0 to %c8 step %c1 {
      amdgpu.gather_to_lds %g[%t], %tile[%at] : f32, memref<1024xf32>, !lds
      lds.commit_group
      // Bytes behind the copy's.
      %y = memref.load %tile[%behind] : !lds
      lds.wait_group 0
      %own = memref.load %tile[%t] : !lds
      rocdl.s.barrier
      %x = memref.load %tile[%other] : !lds
      %sum = arith.addf %own, %x : f32
      %all = arith.addf %sum, %y : f32
      memref.store %all, %out[%t] : memref<1024xf32>
      rocdl.s.barrier
    }
    gpu.return
  }
  gpu.func @fenced(%g: memref<1024xf32>, %out: memref<1024xf32>) workgroup(%tile: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c64 = arith.constant 64 : index
    %c255 = arith.constant 255 : index
    %other = arith.subi %c255, %t : index
    %behind = arith.addi %t, %c255 : index
    %wave = arith.divui %t, %c64 : index
    %at = arith.muli %wave, %c64 : index
    amdgpu.gather_to_lds %g[%t], %tile[%at] : f32, memref<1024xf32>, !lds
    lds.commit_group
    gpu.barrier
    %x = memref.load %tile[%other] : !lds
    memref.store %x, %out[%t] : memref<1024xf32>
    gpu.barrier
    amdgpu.gather_to_lds %g[%t], %tile[%at] : f32, memref<1024xf32>, !lds
    lds.commit_group
    gpu.return
  }
  gpu.func @by_hand(%g: memref<1024xf32>, %out: memref<1024xf32>) workgroup(%tile: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c64 = arith.constant 64 : index
    %wave = arith.divui %t, %c64 : index
    %at = arith.muli %wave, %c64 : index
    amdgpu.gather_to_lds %g[%t], %tile[%at] : f32, memref<1024xf32>, !lds
    lds.commit_group
    amdgpu.memory_counter_wait load(1)
    %x = memref.load %tile[%t] : !lds
    memref.store %x, %out[%t] : memref<1024xf32>
    gpu.return
  }
  gpu.func @not_known(%g: memref<1024xf32>, %out: memref<1024xf32>, %n: index) workgroup(%tile: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %c256 = arith.constant 256 : index
    %wave = arith.divui %t, %c64 : index
    %first = arith.muli %wave, %c64 : index
    %is_low = arith.cmpi ult, %t, %c64 : index
    scf.for %k = %c0 to %n step %c1 {
      %turn = arith.remui %k, %c2 : index
      %slot = arith.muli %turn, %c256 : index
      %here = arith.addi %slot, %t : index
      scf.if %is_low {
        %x = memref.load %tile[%here] : !lds
        memref.store %x, %out[%t] : memref<1024xf32>
      }
      %at = arith.addi %slot, %first : index
      amdgpu.gather_to_lds %g[%t], %tile[%at] : f32, memref<1024xf32>, !lds
      lds.commit_group
    }
    gpu.return
  }
  gpu.func @no_size(%g: memref<1024xf32>, %out: memref<1024xf32>) workgroup(%tile: !lds) kernel {
    %t = gpu.thread_id x
    %c64 = arith.constant 64 : index
    %wave = arith.divui %t, %c64 : index
    %at = arith.muli %wave, %c64 : index
    amdgpu.gather_to_lds %g[%t], %tile[%at] : f32, memref<1024xf32>, !lds
    lds.commit_group
    %x = memref.load %tile[%t] : !lds
    memref.store %x, %out[%t] : memref<1024xf32>
    gpu.return
  }
}
