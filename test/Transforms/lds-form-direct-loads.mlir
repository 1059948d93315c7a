// RUN: lodestone-opt %s --split-input-file --lds-form-direct-loads=chip=gfx950 --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,GFX950
// RUN: lodestone-opt %s --split-input-file --lds-form-direct-loads=chip=gfx950 -o /dev/null --remarks-filter='lds-form-direct-loads' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: lodestone-opt %s --split-input-file --lds-form-direct-loads=chip=gfx942 --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,GFX942
// RUN: lodestone-opt %s --split-input-file --lds-form-direct-loads=chip=gfx1250 --canonicalize --cse | FileCheck %s --check-prefix=GFX1250

// Sixteen bytes a lane, side by side: one DMA on gfx950, four on gfx942, where lane i of the n-th
// brings dword i + 64 n of the wave's kilobyte, with one address for the four. The wave's place is in a scalar register. The copy
// is waited for in front of the barrier.
// REMARK: remark: [Passed] direct-load-formed {{.*}}BytesPerLane=16, DMAs=1
// REMARK: remark: [Analysis] direct-load-profit {{.*}}CopiesLeft=0, DMAs=1, StoresRemoved=1, VGPRsFreed=4, WaitsAdded=1
// CHECK-LABEL: gpu.func @whole
// CHECK: %[[T:.+]] = gpu.thread_id x
// CHECK: rocdl.readfirstlane
// GFX950: amdgpu.gather_to_lds %{{.+}}[%{{.+}}], %{{.+}}[%{{.+}}] : vector<4xf32>
// GFX942: amdgpu.gather_to_lds %[[BUFFER:.+]][%[[FROM:.+]]], %[[TILE:.+]][%[[TO:.+]]] : f32
// GFX942: lds.wave_load %[[BUFFER]][%[[FROM]]], %[[TILE]][%[[TO]]] offset(256) : f32
// GFX942: lds.wave_load %[[BUFFER]][%[[FROM]]], %[[TILE]][%[[TO]]] offset(512) : f32
// GFX942: lds.wave_load %[[BUFFER]][%[[FROM]]], %[[TILE]][%[[TO]]] offset(768) : f32
// CHECK-NOT: vector.store
// CHECK: lds.commit_group
// CHECK-NEXT: lds.wait_group 0
// CHECK-NEXT: gpu.barrier
// GFX1250-LABEL: gpu.func @whole
// GFX1250: lds.async_load %{{.+}}[%[[I:.+]]], %{{.+}}[%[[I]]] : vector<4xf32>
// GFX1250-NEXT: lds.commit_group
!lds = memref<1024xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @whole(%g: memref<1024xf32>, %out: memref<1024xf32>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c4 = arith.constant 4 : index
    %i = arith.muli %t, %c4 : index
    %v = vector.load %g[%i] : memref<1024xf32>, vector<4xf32>
    vector.store %v, %lds[%i] : !lds, vector<4xf32>
    gpu.barrier
    %x = memref.load %lds[%t] : !lds
    memref.store %x, %out[%t] : memref<1024xf32>
    gpu.return
  }
}

// -----

// Eight bytes a lane: no chip with a wave-wide destination has such a DMA, and two of four bytes with
// the lanes as they are would write over each other. So lanes swap: lane i brings dword i of the
// wave's 128, then dword i + 64.
// CHECK-LABEL: gpu.func @eight_bytes
// CHECK: %[[LANE:.+]] = gpu.lane_id upper_bound 64
// CHECK-DAG: arith.divui
// CHECK-DAG: arith.remui
// CHECK: amdgpu.gather_to_lds {{.*}} : vector<2xf16>
// CHECK: lds.wave_load {{.*}} offset(256) : vector<2xf16>
// CHECK-NOT: {{gather_to_lds|wave_load}}
// GFX1250-LABEL: gpu.func @eight_bytes
// GFX1250: lds.async_load {{.*}} : vector<4xf16>
!lds = memref<64x16xf16, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @eight_bytes(%g: memref<64x16xf16>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c4 = arith.constant 4 : index
    %row = arith.divui %t, %c4 : index
    %cell = arith.remui %t, %c4 : index
    %col = arith.muli %cell, %c4 : index
    %v = vector.load %g[%row, %col] : memref<64x16xf16>, vector<4xf16>
    vector.store %v, %lds[%row, %col] : !lds, vector<4xf16>
    gpu.barrier
    gpu.return
  }
}

// -----

// A copy that is in a group is waited for where the kernel says so.
// CHECK-LABEL: gpu.func @in_a_group
// CHECK: amdgpu.gather_to_lds
// CHECK-NEXT: lds.commit_group
// CHECK-NEXT: rocdl.s.barrier
// CHECK-NEXT: lds.wait_group 0
// CHECK-NEXT: rocdl.s.barrier
!lds = memref<64xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @in_a_group(%g: memref<64xf32>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %v = memref.load %g[%t] : memref<64xf32>
    memref.store %v, %lds[%t] : !lds
    lds.commit_group
    rocdl.s.barrier
    lds.wait_group 0
    rocdl.s.barrier
    gpu.return
  }
}

// -----

// No fill: a tail's lanes keep what is in LDS, so the DMA stays under the condition; the hardware
// skips the slots of the lanes that don't take part.
// CHECK-LABEL: gpu.func @tail_no_fill
// CHECK: scf.if
// CHECK: amdgpu.gather_to_lds
// GFX1250-LABEL: gpu.func @tail_no_fill
// GFX1250: scf.if
// GFX1250: lds.async_load
!lds = memref<256xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @tail_no_fill(%g: memref<?xf32>, %n: index) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c = arith.cmpi ult, %t, %n : index
    scf.if %c {
      %v = memref.load %g[%t] : memref<?xf32>
      memref.store %v, %lds[%t] : !lds
    }
    gpu.barrier
    gpu.return
  }
}

// -----

// No fill with narrower DMAs: each lane asks whether the element that it brings is inside, not its
// own.
// GFX942-LABEL: gpu.func @tail_narrow
// GFX942-COUNT-2: arith.cmpi ult
// GFX942: scf.if
// GFX942: amdgpu.gather_to_lds {{.*}} : vector<2xf16>
// GFX942: scf.if
// GFX942: amdgpu.gather_to_lds {{.*}} : vector<2xf16>
!lds = memref<256x4xf16, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @tail_narrow(%g: memref<?x4xf16>, %n: index) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c = arith.cmpi ult, %t, %n : index
    scf.if %c {
      %v = vector.load %g[%t, %c0] : memref<?x4xf16>, vector<4xf16>
      vector.store %v, %lds[%t, %c0] : !lds, vector<4xf16>
    }
    gpu.barrier
    gpu.return
  }
}

// -----

// Zero fill: every lane writes, and those outside read behind the end of a buffer of exactly the
// memref's bytes, whichever bound they fail; the next byte of a short row would be another row's.
// CHECK-LABEL: gpu.func @zero_fill
// CHECK-SAME: (%[[G:.+]]: memref<16x96xf32>
// CHECK-DAG: %[[FLAT:.+]] = memref.reinterpret_cast %[[G]] to offset: [0], sizes: [1536], strides: [1]
// CHECK-DAG: %[[BUFFER:.+]] = amdgpu.fat_raw_buffer_cast %[[FLAT]]
// CHECK-DAG: %[[END:.+]] = arith.constant 1536 : index
// CHECK: %[[AT:.+]] = arith.select %{{.+}}, %{{.+}}, %[[END]]
// CHECK: amdgpu.gather_to_lds %[[BUFFER]][%[[AT]]]
!lds = memref<64xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @zero_fill(%g: memref<16x96xf32>, %row: index, %n: index) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %zero = arith.constant 0.0 : f32
    %c = arith.cmpi ult, %t, %n : index
    %v = scf.if %c -> f32 {
      %x = memref.load %g[%row, %t] : memref<16x96xf32>
      scf.yield %x : f32
    } else {
      scf.yield %zero : f32
    }
    memref.store %v, %lds[%t] : !lds
    gpu.barrier
    gpu.return
  }
}

// -----

// In a loop, with the place in LDS from the loop: the barrier on the way around and the one after
// the loop both get a wait.
// CHECK-LABEL: gpu.func @loop
// CHECK: scf.for
// CHECK-NEXT: lds.commit_group
// CHECK-NEXT: lds.wait_group 0
// CHECK-NEXT: gpu.barrier
// CHECK: amdgpu.gather_to_lds
// CHECK: }
// CHECK-NEXT: lds.commit_group
// CHECK-NEXT: lds.wait_group 0
// CHECK-NEXT: gpu.barrier
!lds = memref<8x64xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @loop(%g: memref<8x64xf32>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %k = %c0 to %c8 step %c1 {
      gpu.barrier
      %v = memref.load %g[%k, %t] : memref<8x64xf32>
      memref.store %v, %lds[%k, %t] : !lds
    }
    gpu.barrier
    gpu.return
  }
}

// -----

// Two dimensions of threads: the lanes of a wave are threads in the order x, y.
// CHECK-LABEL: gpu.func @two_dimensions
// CHECK: amdgpu.gather_to_lds
!lds = memref<16x16xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @two_dimensions(%g: memref<16x16xf32>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
    %x = gpu.thread_id x
    %y = gpu.thread_id y
    %v = memref.load %g[%x, %y] : memref<16x16xf32>
    memref.store %v, %lds[%y, %x] : !lds
    gpu.barrier
    gpu.return
  }
}

// -----

// Transfers of whole vectors are loads and stores.
// CHECK-LABEL: gpu.func @transfers
// GFX950: amdgpu.gather_to_lds {{.*}} : vector<8xf16>
// GFX942: amdgpu.gather_to_lds {{.*}} : vector<2xf16>
// GFX942-COUNT-3: lds.wave_load {{.*}} : vector<2xf16>
// CHECK-NOT: vector.transfer
// GFX1250-LABEL: gpu.func @transfers
// GFX1250: lds.async_load {{.*}} : vector<8xf16>
!lds = memref<64x32xf16, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @transfers(%g: memref<64x32xf16>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %zero = arith.constant 0.0 : f16
    %row = arith.divui %t, %c4 : index
    %cell = arith.remui %t, %c4 : index
    %col = arith.muli %cell, %c8 : index
    %v = vector.transfer_read %g[%row, %col], %zero {in_bounds = [true]} : memref<64x32xf16>, vector<8xf16>
    vector.transfer_write %v, %lds[%row, %col] {in_bounds = [true]} : vector<8xf16>, !lds
    gpu.barrier
    gpu.return
  }
}

// -----

// What no form says of all iterations at once is computed for each: the lanes' places follow from
// the cell's number by division.
// CHECK-LABEL: gpu.func @steps
// GFX950: scf.for
// GFX950: amdgpu.gather_to_lds {{.*}} : vector<8xf16>
// GFX942: scf.for
// GFX942: amdgpu.gather_to_lds {{.*}} : vector<2xf16>
!lds = memref<64x32xf16, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @steps(%g: memref<64x32xf16>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %c256 = arith.constant 256 : index
    scf.for %first = %c0 to %c256 step %c64 {
      %n = arith.addi %first, %t : index
      %row = arith.divui %n, %c4 : index
      %cell = arith.remui %n, %c4 : index
      %col = arith.muli %cell, %c8 : index
      %v = vector.load %g[%row, %col] : memref<64x32xf16>, vector<8xf16>
      vector.store %v, %lds[%row, %col] : !lds, vector<8xf16>
    }
    gpu.barrier
    gpu.return
  }
}
