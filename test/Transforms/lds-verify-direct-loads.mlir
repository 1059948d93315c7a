// RUN: lodestone-opt %s --split-input-file --lds-verify-direct-loads=chip=gfx950 --verify-diagnostics
// RUN: not lodestone-opt %s --split-input-file --lds-verify-direct-loads=chip=gfx950 -o /dev/null --remarks-filter='lds-verify.*' --remark-format=emitRemark 2>&1 | FileCheck %s

// A destination of each lane's own: the hardware would take one of them.
!lds = memref<256xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @lane(%g: memref<256xf32>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    // expected-error @+1 {{has a destination that differs between the lanes of a wave, of which the hardware takes one: index 0 is 0 in lane 0 of wave 0 and 1 in lane 1}}
    amdgpu.gather_to_lds %g[%t], %lds[%t] : f32, memref<256xf32>, !lds
    gpu.return
  }
}

// -----

// The same wave's lanes differ in another dimension of the block, by something unknown.
!lds = memref<256xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @unknown_part(%g: memref<256xf32>, %n: index) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 32, 4, 1>} {
    %t = gpu.thread_id x
    %y = gpu.thread_id y
    %i = arith.muli %y, %n : index
    // expected-error @+1 {{index 0 is another one in lane 32 than in lane 0 of wave 0}}
    amdgpu.gather_to_lds %g[%t], %lds[%i] : f32, memref<256xf32>, !lds
    gpu.return
  }
}

// -----

// The wave's own place, and one that is the same for all: both are right.
!lds = memref<256xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @wave(%g: memref<256xf32>, %n: index) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c64 = arith.constant 64 : index
    %w = arith.divui %t, %c64 : index
    %i = arith.muli %w, %c64 : index
    amdgpu.gather_to_lds %g[%t], %lds[%i] : f32, memref<256xf32>, !lds
    amdgpu.gather_to_lds %g[%t], %lds[%n] : f32, memref<256xf32>, !lds
    gpu.return
  }
}

// -----

// What is loaded may be anything: said, not guessed.
// CHECK: remark: [Analysis] destination-not-proved{{.*}}index 0 of the destination isn't known to be the same in all lanes of a wave
!lds = memref<256xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @loaded(%g: memref<256xf32>, %table: memref<256xindex>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %i = memref.load %table[%t] : memref<256xindex>
    amdgpu.gather_to_lds %g[%t], %lds[%i] : f32, memref<256xf32>, !lds
    gpu.return
  }
}

// -----

// Nor is a destination taken for right where nobody says which threads make a wave.
// CHECK: remark: [Analysis] destination-not-proved{{.*}}the kernel has no known_block_size, so that the destination isn't known
!lds = memref<256xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @any_block(%g: memref<256xf32>) workgroup(%lds: !lds) kernel {
    %t = gpu.thread_id x
    amdgpu.gather_to_lds %g[%t], %lds[%t] : f32, memref<256xf32>, !lds
    gpu.return
  }
}

// -----

// With an offset in the instruction there is still one destination.
!lds = memref<256xf32, #gpu.address_space<workgroup>>
!buffer = memref<256xf32, #amdgpu.address_space<fat_raw_buffer>>
gpu.module @m {
  gpu.func @offset(%g: !buffer) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    // expected-error @+1 {{'lds.wave_load' op has a destination that differs between the lanes of a wave}}
    lds.wave_load %g[%t], %lds[%t] offset(64) : f32, !buffer, !lds
    gpu.return
  }
}
