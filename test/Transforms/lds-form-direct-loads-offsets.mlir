// DMAs that are as far apart in memory as in LDS share addresses, with the distance in the instruction.
// RUN: lodestone-opt %s --lds-form-direct-loads=chip=gfx950 --canonicalize --cse | FileCheck %s
// RUN: lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-binary{chip=gfx950 direct-to-lds=on assume-small-buffers format=isa})' | tr '\\' '\n' | FileCheck %s --check-prefix=ISA

!tile = memref<8x64x8xf16, #gpu.address_space<workgroup>>
gpu.module @m {
  // The field has twelve bits: after 4095 bytes come new addresses.
  // CHECK-LABEL: gpu.func @contiguous
  // CHECK: amdgpu.gather_to_lds %[[G:.+]][%[[I:.+]]], %[[T:.+]][%[[J:.+]]] : vector<8xf16>
  // CHECK: lds.wave_load %[[G]][%[[I]]], %[[T]][%[[J]]] offset(1024) : vector<8xf16>
  // CHECK: lds.wave_load %[[G]][%[[I]]], %[[T]][%[[J]]] offset(3072) : vector<8xf16>
  // CHECK: amdgpu.gather_to_lds %[[G]]
  // CHECK-NOT: wave_load
  // ISA-LABEL: contiguous:
  // ISA: buffer_load_dwordx4 [[A:v[0-9]+]], [[R:s\[[0-9:]+\]]], 0 offen lds
  // ISA: buffer_load_dwordx4 [[A]], [[R]], 0 offen offset:1024 lds
  // ISA: buffer_load_dwordx4 [[A]], [[R]], 0 offen offset:3072 lds
  // ISA: buffer_load_dwordx4 v{{[0-9]+}}, [[R]], 0 offen lds
  gpu.func @contiguous(%g: memref<8x64x8xf16>, %out: memref<f16>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %tile = lds.region @tile align(16) : !tile
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %v0 = vector.load %g[%c0, %t, %c0] : memref<8x64x8xf16>, vector<8xf16>
    vector.store %v0, %tile[%c0, %t, %c0] : !tile, vector<8xf16>
    %v1 = vector.load %g[%c1, %t, %c0] : memref<8x64x8xf16>, vector<8xf16>
    vector.store %v1, %tile[%c1, %t, %c0] : !tile, vector<8xf16>
    %v3 = vector.load %g[%c3, %t, %c0] : memref<8x64x8xf16>, vector<8xf16>
    vector.store %v3, %tile[%c3, %t, %c0] : !tile, vector<8xf16>
    %v4 = vector.load %g[%c4, %t, %c0] : memref<8x64x8xf16>, vector<8xf16>
    vector.store %v4, %tile[%c4, %t, %c0] : !tile, vector<8xf16>
    gpu.barrier
    %x = memref.load %tile[%c0, %t, %c0] : !tile
    memref.store %x, %out[] : memref<f16>
    gpu.return
  }

  // Rows that are further apart in memory, or a later copy that is behind: addresses of their own.
  // CHECK-LABEL: gpu.func @apart
  // CHECK-COUNT-3: amdgpu.gather_to_lds
  // CHECK-NOT: wave_load
  gpu.func @apart(%g: memref<8x128x8xf16>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %tile = lds.region @tile align(16) : !tile
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %v1 = vector.load %g[%c1, %t, %c0] : memref<8x128x8xf16>, vector<8xf16>
    vector.store %v1, %tile[%c1, %t, %c0] : !tile, vector<8xf16>
    %v2 = vector.load %g[%c2, %t, %c0] : memref<8x128x8xf16>, vector<8xf16>
    vector.store %v2, %tile[%c2, %t, %c0] : !tile, vector<8xf16>
    %v0 = vector.load %g[%c0, %t, %c0] : memref<8x128x8xf16>, vector<8xf16>
    vector.store %v0, %tile[%c0, %t, %c0] : !tile, vector<8xf16>
    gpu.barrier
    gpu.return
  }

  // What runs under a condition may run without what is in front of it, which then has addresses
  // that nobody knows to be in range. In the loop both copies are in, and from one iteration.
  // CHECK-LABEL: gpu.func @blocks
  // CHECK: scf.for
  // CHECK: amdgpu.gather_to_lds
  // CHECK: lds.wave_load {{.*}} offset(1024)
  // CHECK: scf.if
  // CHECK: amdgpu.gather_to_lds
  gpu.func @blocks(%g: memref<99x64x8xf16>, %n: index, %c: i1) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %tile = lds.region @tile align(16) : !tile
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    scf.for %k = %c0 to %n step %c1 {
      %k1 = arith.addi %k, %c1 : index
      %k2 = arith.addi %k, %c2 : index
      gpu.barrier
      %v0 = vector.load %g[%k, %t, %c0] : memref<99x64x8xf16>, vector<8xf16>
      vector.store %v0, %tile[%c0, %t, %c0] : !tile, vector<8xf16>
      %v1 = vector.load %g[%k1, %t, %c0] : memref<99x64x8xf16>, vector<8xf16>
      vector.store %v1, %tile[%c1, %t, %c0] : !tile, vector<8xf16>
      scf.if %c {
        %v2 = vector.load %g[%k2, %t, %c0] : memref<99x64x8xf16>, vector<8xf16>
        vector.store %v2, %tile[%c2, %t, %c0] : !tile, vector<8xf16>
      }
      gpu.barrier
    }
    gpu.return
  }

  // Lanes that bring zeros read behind the buffer's end, in both copies or in neither.
  // CHECK-LABEL: gpu.func @zero_fill
  // CHECK: amdgpu.gather_to_lds
  // CHECK: lds.wave_load {{.*}} offset(1024)
  // CHECK: amdgpu.gather_to_lds
  gpu.func @zero_fill(%g: memref<8x64x8xf16>, %n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %tile = lds.region @tile align(16) : !tile
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %zero = arith.constant dense<0.0> : vector<8xf16>
    %in = arith.cmpi ult, %t, %n : index
    %t2 = arith.addi %t, %c2 : index
    %in2 = arith.cmpi ult, %t2, %n : index
    %v0 = scf.if %in -> vector<8xf16> {
      %v = vector.load %g[%c0, %t, %c0] : memref<8x64x8xf16>, vector<8xf16>
      scf.yield %v : vector<8xf16>
    } else {
      scf.yield %zero : vector<8xf16>
    }
    vector.store %v0, %tile[%c0, %t, %c0] : !tile, vector<8xf16>
    %v1 = scf.if %in -> vector<8xf16> {
      %v = vector.load %g[%c1, %t, %c0] : memref<8x64x8xf16>, vector<8xf16>
      scf.yield %v : vector<8xf16>
    } else {
      scf.yield %zero : vector<8xf16>
    }
    vector.store %v1, %tile[%c1, %t, %c0] : !tile, vector<8xf16>
    %v2 = scf.if %in2 -> vector<8xf16> {
      %v = vector.load %g[%c2, %t, %c0] : memref<8x64x8xf16>, vector<8xf16>
      scf.yield %v : vector<8xf16>
    } else {
      scf.yield %zero : vector<8xf16>
    }
    vector.store %v2, %tile[%c2, %t, %c0] : !tile, vector<8xf16>
    gpu.barrier
    gpu.return
  }

  // The last bytes of a buffer of nearly 2^32 are behind its first ones, modulo 2^32: with indices of
  // 32 bits the distance could be one that wraps.
  // CHECK-LABEL: gpu.func @wraps
  // CHECK-COUNT-2: amdgpu.gather_to_lds
  // CHECK-NOT: wave_load
  gpu.func @wraps(%g: memref<1073741312xf32>, %i: i32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %tile = lds.region @tile align(16) : memref<8x64xf32, #gpu.address_space<workgroup>>
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : i32
    %t32 = arith.index_cast %t : index to i32
    %a = arith.addi %i, %t32 : i32
    %b = arith.addi %a, %c64 : i32
    %ai = arith.index_castui %a : i32 to index
    %bi = arith.index_castui %b : i32 to index
    %v0 = memref.load %g[%ai] : memref<1073741312xf32>
    memref.store %v0, %tile[%c0, %t] : memref<8x64xf32, #gpu.address_space<workgroup>>
    %v1 = memref.load %g[%bi] : memref<1073741312xf32>
    memref.store %v1, %tile[%c1, %t] : memref<8x64xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    gpu.return
  }
}
