// What certainly touches the bytes of a copy in flight is an error.
// RUN: lodestone-opt %s --lds-lower-async-groups=chip=gfx950 --split-input-file --verify-diagnostics -o /dev/null

// The wait leaves the youngest group in flight, which is the copy's own.
!lds = memref<1024xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @no_wait(%g: memref<1024xf32>, %out: memref<1024xf32>) workgroup(%tile: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c64 = arith.constant 64 : index
    %wave = arith.divui %t, %c64 : index
    %at = arith.muli %wave, %c64 : index
    // expected-note @+1 {{the copy is here}}
    amdgpu.gather_to_lds %g[%t], %tile[%at] : f32, memref<1024xf32>, !lds
    lds.commit_group
    lds.wait_group 1
    rocdl.s.barrier
    // expected-error @+1 {{in thread 0 reads LDS that a copy of wave 0 writes, but can be reached without an lds.wait_group for its group}}
    %x = memref.load %tile[%t] : !lds
    memref.store %x, %out[%t] : memref<1024xf32>
    gpu.return
  }
}

// -----

// A wait is for groups, and this copy is in none yet.
!lds = memref<1024xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @no_commit(%g: memref<1024xf32>, %x: f32) workgroup(%tile: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c64 = arith.constant 64 : index
    %wave = arith.divui %t, %c64 : index
    %at = arith.muli %wave, %c64 : index
    // expected-note @+1 {{the copy is here}}
    amdgpu.gather_to_lds %g[%t], %tile[%at] : f32, memref<1024xf32>, !lds
    lds.wait_group 0
    rocdl.s.barrier
    // expected-error @+1 {{writes LDS that a copy of wave 0 writes, but can be reached without an lds.commit_group and an lds.wait_group for it}}
    memref.store %x, %tile[%t] : !lds
    lds.commit_group
    gpu.return
  }
}

// -----

// Each wave waits for its own copies: a thread of another one needs a barrier, too.
!lds = memref<1024xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @no_barrier(%g: memref<1024xf32>, %out: memref<1024xf32>) workgroup(%tile: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c64 = arith.constant 64 : index
    %c255 = arith.constant 255 : index
    %other = arith.subi %c255, %t : index
    %wave = arith.divui %t, %c64 : index
    %at = arith.muli %wave, %c64 : index
    // expected-note @+1 {{the copy is here}}
    amdgpu.gather_to_lds %g[%t], %tile[%at] : f32, memref<1024xf32>, !lds
    lds.commit_group
    lds.wait_group 0
    %own = memref.load %tile[%t] : !lds
    // expected-error @+1 {{in thread 0 reads LDS that a copy of wave 3 writes, but can be reached without a barrier after the wait for it}}
    %x = memref.load %tile[%other] : !lds
    %sum = arith.addf %own, %x : f32
    memref.store %sum, %out[%t] : memref<1024xf32>
    gpu.return
  }
}

// -----

// The next turn's copy overtakes other waves that still read: a second barrier is missing.
!lds = memref<1024xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @around(%g: memref<1024xf32>, %out: memref<1024xf32>) workgroup(%tile: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %c255 = arith.constant 255 : index
    %other = arith.subi %c255, %t : index
    %wave = arith.divui %t, %c64 : index
    %at = arith.muli %wave, %c64 : index
    scf.for %k = %c0 to %c8 step %c1 {
      // expected-error @+1 {{of wave 3 writes LDS that thread 0 reads, but can be reached from there without a barrier}}
      amdgpu.gather_to_lds %g[%t], %tile[%at] : f32, memref<1024xf32>, !lds
      lds.commit_group
      lds.wait_group 0
      rocdl.s.barrier
      // expected-note @+1 {{the access is here}}
      %x = memref.load %tile[%other] : !lds
      memref.store %x, %out[%t] : memref<1024xf32>
    }
    gpu.return
  }
}

// -----

// In one turn of a loop a slot is the same for the copy and for what reads it, whichever it is;
// so is a place in a loop that runs for certain.
!lds = memref<1024xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @same_turn(%g: memref<1024xf32>, %out: memref<1024xf32>, %n: index) workgroup(%tile: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %c256 = arith.constant 256 : index
    %wave = arith.divui %t, %c64 : index
    %first = arith.muli %wave, %c64 : index
    scf.for %k = %c0 to %n step %c1 {
      %turn = arith.remui %k, %c2 : index
      %slot = arith.muli %turn, %c256 : index
      %at = arith.addi %slot, %first : index
      // expected-note @+1 {{the copy is here}}
      amdgpu.gather_to_lds %g[%t], %tile[%at] : f32, memref<1024xf32>, !lds
      lds.commit_group
      lds.wait_group 1
      rocdl.s.barrier
      scf.for %j = %c0 to %c2 step %c1 {
        %lane = arith.addi %t, %j : index
        %here = arith.addi %slot, %lane : index
        // expected-error @+1 {{reads LDS that a copy of wave 0 writes, but can be reached without an lds.wait_group for its group}}
        %x = memref.load %tile[%here] : !lds
        memref.store %x, %out[%t] : memref<1024xf32>
      }
      rocdl.s.barrier
    }
    gpu.return
  }
}

// -----

// gfx1250's async loads, of which no fence of a barrier knows.
!lds = memref<1024xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @async(%g: memref<1024xf32>, %out: memref<1024xf32>) workgroup(%tile: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    // expected-note @+1 {{the copy is here}}
    lds.async_load %g[%t], %tile[%t] : f32, memref<1024xf32>, !lds
    lds.commit_group
    gpu.barrier
    // expected-error @+1 {{reads LDS that a copy of wave 0 writes, but can be reached without an lds.wait_group}}
    %x = memref.load %tile[%t] : !lds
    memref.store %x, %out[%t] : memref<1024xf32>
    gpu.return
  }
}

// -----

// Two conditions may go together: what is only possible is a warning.
!lds = memref<2x256xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @correlated(%g: memref<8x256xf32>, %more: i1, %out: memref<256xf32>) workgroup(%tile: !lds) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %w = arith.muli %t, %c4 : index
    // expected-note @+1 {{the copy is here}}
    amdgpu.gather_to_lds %g[%c0, %w], %tile[%c0, %c0] : vector<4xf32>, memref<8x256xf32>, !lds
    lds.commit_group
    scf.if %more {
      amdgpu.gather_to_lds %g[%c1, %w], %tile[%c1, %c0] : vector<4xf32>, memref<8x256xf32>, !lds
      lds.commit_group
    }
    scf.if %more {
      lds.wait_group 1
    } else {
      lds.wait_group 0
    }
    rocdl.s.barrier
    // expected-warning @+1 {{'memref.load' op in thread 0 reads LDS that a copy of wave 0 writes, but can be reached without an lds.wait_group for its group}}
    %x = memref.load %tile[%c0, %t] : !lds
    memref.store %x, %out[%t] : memref<256xf32>
    gpu.return
  }
}
