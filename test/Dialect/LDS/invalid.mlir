// Each rule of lds.region is broken once; the error says which one and the values.
// RUN: lodestone-opt %s --split-input-file --verify-diagnostics

gpu.module @m {
gpu.func @align() kernel {
  // expected-error @+1 {{align 24 is not a power of two}}
  %0 = lds.region @a size(16) align(24) : !llvm.ptr<3>
  gpu.return
}
}

// -----

gpu.module @m {
gpu.func @negative_align() kernel {
  // expected-error @+1 {{align -16 is not a power of two}}
  %0 = lds.region @a size(16) align(-16) : !llvm.ptr<3>
  gpu.return
}
}

// -----

gpu.module @m {
gpu.func @offset() kernel {
  // expected-error @+1 {{offset 72 is not a multiple of align 16}}
  %0 = lds.region @a offset(72) size(16) : !llvm.ptr<3>
  gpu.return
}
}

// -----

gpu.module @m {
gpu.func @negative_offset() kernel {
  // expected-error @+1 {{offset -16 is negative}}
  %0 = lds.region @a offset(-16) size(16) : !llvm.ptr<3>
  gpu.return
}
}

// -----

gpu.module @m {
gpu.func @size() kernel {
  // expected-error @+1 {{size 0 is not positive}}
  %0 = lds.region @a size(0) : !llvm.ptr<3>
  gpu.return
}
}

// -----

gpu.module @m {
gpu.func @no_size() kernel {
  // expected-error @+1 {{needs a size when the result is a pointer}}
  %0 = lds.region @a : !llvm.ptr<3>
  gpu.return
}
}

// -----

gpu.module @m {
gpu.func @beyond_addresses() kernel {
  // expected-error @+1 {{64 bytes at offset 2147483632 end beyond the largest LDS offset 2147483647}}
  %0 = lds.region @a offset(2147483632) size(64) : !llvm.ptr<3>
  gpu.return
}
}

// -----

gpu.module @m {
gpu.func @size_overflow() kernel {
  // expected-error @+1 {{9223372036854775807 bytes at offset 16 end beyond the largest LDS offset 2147483647}}
  %0 = lds.region @a offset(16) size(9223372036854775807) : !llvm.ptr<3>
  gpu.return
}
}

// -----

gpu.module @m {
gpu.func @size_of_memref() kernel {
  // expected-error @+1 {{size 1000 is too small for the result 'memref<256xf32, 3>' of 1024 bytes}}
  %0 = lds.region @a size(1000) : memref<256xf32, 3>
  gpu.return
}
}

// -----

gpu.module @m {
gpu.func @memref_too_big() kernel {
  // expected-error @+1 {{has more than 2147483647 bytes}}
  %0 = lds.region @a : memref<4294967296x4294967296xf64, 3>
  gpu.return
}
}

// -----

gpu.module @m {
gpu.func @empty_memref() kernel {
  // expected-error @+1 {{result 'memref<4x0xf32, 3>' has no bytes}}
  %0 = lds.region @a : memref<4x0xf32, 3>
  gpu.return
}
}

// -----

gpu.module @m {
gpu.func @dynamic_memref() kernel {
  // expected-error @+1 {{result must have a static shape, but is 'memref<?xf32, 3>'}}
  %0 = lds.region @a size(64) : memref<?xf32, 3>
  gpu.return
}
}

// -----

gpu.module @m {
gpu.func @layout() kernel {
  // expected-error @+1 {{result must have the identity layout}}
  %0 = lds.region @a size(64) : memref<4x4xf32, strided<[8, 1]>, 3>
  gpu.return
}
}

// -----

gpu.module @m {
gpu.func @memory_space() kernel {
  // expected-error @+1 {{result must be in memory space #gpu.address_space<workgroup> or 3, but is 'memref<4xf32>'}}
  %0 = lds.region @a : memref<4xf32>
  gpu.return
}
}

// -----

gpu.module @m {
gpu.func @element() kernel {
  // expected-error @+1 {{element type 'i4' has no fixed number of bytes without padding}}
  %0 = lds.region @a : memref<4xi4, 3>
  gpu.return
}
}

// -----

gpu.module @m {
gpu.func @index_element() kernel {
  // expected-error @+1 {{element type 'index' has no fixed number of bytes}}
  %0 = lds.region @a : memref<4xindex, 3>
  gpu.return
}
}

// -----

gpu.module @m {
gpu.func @vector_element() kernel {
  // expected-error @+1 {{element type 'vector<3xf32>' has no fixed number of bytes}}
  %0 = lds.region @a : memref<4xvector<3xf32>, 3>
  gpu.return
}
}

// -----

gpu.module @m {
gpu.func @pointer_space() kernel {
  // expected-error @+1 {{result #0 must be memref of any type values or LLVM pointer in address space 3}}
  %0 = lds.region @a size(16) : !llvm.ptr<1>
  gpu.return
}
}

// -----

gpu.module @m {
gpu.func @empty_name() kernel {
  // expected-error @+1 {{the name of a region must not be empty}}
  %0 = lds.region @"" size(16) : !llvm.ptr<3>
  gpu.return
}
}

// -----

gpu.module @m {
gpu.func @duplicate() kernel {
  // expected-note @+1 {{the other region is here}}
  %0 = lds.region @a offset(64) size(16) : !llvm.ptr<3>
  // expected-error @+1 {{'@a' (32 bytes) has the name of another region (16 bytes at offset 64) of kernel 'duplicate'}}
  %1 = lds.region @a size(32) : !llvm.ptr<3>
  gpu.return
}
}

// -----

gpu.module @m {
gpu.func @unknown() kernel {
  %0 = lds.region @a size(16) : !llvm.ptr<3>
  // expected-error @+1 {{'@b' (16 bytes) overlays '@c', which is no region of kernel 'unknown'}}
  %1 = lds.region @b size(16) overlays @a, @c : !llvm.ptr<3>
  gpu.return
}
}

// -----

gpu.module @m {
gpu.func @overlays_itself() kernel {
  // expected-error @+1 {{'@a' overlays itself}}
  %0 = lds.region @a size(16) overlays @a : !llvm.ptr<3>
  gpu.return
}
}

// -----

gpu.module @m {
gpu.func @overlays_twice() kernel {
  %0 = lds.region @a size(16) : !llvm.ptr<3>
  // expected-error @+1 {{'@b' overlays '@a' twice}}
  %1 = lds.region @b size(16) overlays @a, @a : !llvm.ptr<3>
  gpu.return
}
}

// -----

gpu.module @m {
gpu.func @overlap() kernel {
  // expected-note @+1 {{'@a' is here}}
  %0 = lds.region @a offset(0) : memref<4096xf32, #gpu.address_space<workgroup>>
  %1 = lds.region @x size(16) : !llvm.ptr<3>
  // expected-error @+1 {{'@b' (bytes [8192, 24576)) shares 8192 bytes with '@a' (bytes [0, 16384)); add 'overlays @a' if they are never live at the same time}}
  %2 = lds.region @b offset(8192) size(16384) : !llvm.ptr<3>
  gpu.return
}
}

// -----

// That both overlay a third doesn't make two regions overlays of each other.
gpu.module @m {
gpu.func @overlap_is_not_transitive() kernel {
  %0 = lds.region @arena offset(0) size(1024) : !llvm.ptr<3>
  // expected-note @+1 {{'@a' is here}}
  %1 = lds.region @a offset(0) size(64) overlays @arena : !llvm.ptr<3>
  // expected-error @+1 {{'@b' (bytes [48, 112)) shares 16 bytes with '@a' (bytes [0, 64))}}
  %2 = lds.region @b offset(48) size(64) overlays @arena : !llvm.ptr<3>
  gpu.return
}
}

// -----

// A region inside of another one, which begins first but is declared last.
gpu.module @m {
gpu.func @contained() kernel {
  // expected-note @+1 {{'@inner' is here}}
  %0 = lds.region @inner offset(64) size(16) : !llvm.ptr<3>
  // expected-error @+1 {{'@outer' (bytes [0, 128)) shares 16 bytes with '@inner' (bytes [64, 80))}}
  %1 = lds.region @outer offset(0) size(128) : !llvm.ptr<3>
  gpu.return
}
}

// -----

func.func @no_kernel() {
  // expected-error @+1 {{must be in the entry block of a gpu.func, llvm.func or gpu.launch}}
  %0 = lds.region @a size(16) : !llvm.ptr<3>
  return
}

// -----

gpu.module @m {
gpu.func @nested(%lb: index) kernel {
  scf.for %i = %lb to %lb step %lb {
    // expected-error @+1 {{must be in the entry block of a gpu.func, llvm.func or gpu.launch}}
    %0 = lds.region @a size(16) : !llvm.ptr<3>
  }
  gpu.return
}
}

// -----

llvm.func @later_block() attributes {rocdl.kernel} {
  llvm.br ^next
^next:
  // expected-error @+1 {{must be in the entry block of a gpu.func, llvm.func or gpu.launch}}
  %0 = lds.region @a size(16) : !llvm.ptr<3>
  llvm.return
}

// -----

// expected-error @+1 {{must be in the entry block of a gpu.func, llvm.func or gpu.launch}}
%0 = lds.region @a size(16) : !llvm.ptr<3>

// -----

gpu.module @m {
gpu.func @not_a_list() kernel {
  // expected-error @+1 {{attribute 'overlays' failed to satisfy constraint: string array attribute}}
  %0 = "lds.region"() {region_name = "a", size = 16 : i64, overlays = [@b]} : () -> !llvm.ptr<3>
  gpu.return
}
}

// -----

gpu.module @m {
gpu.func @no_name() kernel {
  // expected-error @+1 {{requires attribute 'region_name'}}
  %0 = "lds.region"() {size = 16 : i64} : () -> !llvm.ptr<3>
  gpu.return
}
}

// -----

gpu.module @m {
gpu.func @missing_name_after_overlays() kernel {
  // expected-error @+1 {{expected valid '@'-identifier for symbol name}}
  %0 = lds.region @a size(16) overlays : !llvm.ptr<3>
  gpu.return
}
}

// -----

// A counter of six bits has no room for more.
gpu.module @m {
gpu.func @too_many_groups() kernel {
  // expected-error @+1 {{'lds.wait_group' op groups in flight must be 0 to 63, but are 64}}
  lds.wait_group 64
  gpu.return
}
}

// -----

gpu.module @m {
gpu.func @negative_groups() kernel {
  // expected-error @+1 {{'lds.wait_group' op groups in flight must be 0 to 63, but are -1}}
  lds.wait_group -1
  gpu.return
}
}

// -----

// The widths that the instruction has.
!lds = memref<64xi8, #gpu.address_space<workgroup>>
gpu.module @m {
gpu.func @async_load_width(%g: memref<64xi8>, %lds: !lds, %i: index) kernel {
  // expected-error @+1 {{'lds.async_load' op copies 1, 4, 8 or 16 bytes a lane, which 'vector<2xi8>' isn't}}
  lds.async_load %g[%i], %lds[%i] : vector<2xi8>, memref<64xi8>, !lds
  gpu.return
}
}

// -----

// A type without a number of bytes.
!lds = memref<64xi8, #gpu.address_space<workgroup>>
gpu.module @m {
gpu.func @async_load_type(%g: memref<64xi8>, %lds: !lds, %i: index) kernel {
  // expected-error @+1 {{'lds.async_load' op copies 1, 4, 8 or 16 bytes a lane, which 'tensor<4xi8>' isn't}}
  lds.async_load %g[%i], %lds[%i] : tensor<4xi8>, memref<64xi8>, !lds
  gpu.return
}
}

// -----

// From LDS to LDS there is no such copy.
!lds = memref<64xf32, #gpu.address_space<workgroup>>
gpu.module @m {
gpu.func @async_load_source(%lds: !lds, %i: index) kernel {
  // expected-error @+1 {{'lds.async_load' op source must be global memory, but is 'memref<64xf32, #gpu.address_space<workgroup>>'}}
  lds.async_load %lds[%i], %lds[%i] : f32, !lds, !lds
  gpu.return
}
}

// -----

// Nor from global memory to global memory.
gpu.module @m {
gpu.func @async_load_target(%g: memref<64xf32>, %i: index) kernel {
  // expected-error @+1 {{'lds.async_load' op target must be in workgroup memory, but is 'memref<64xf32>'}}
  lds.async_load %g[%i], %g[%i] : f32, memref<64xf32>, memref<64xf32>
  gpu.return
}
}

// -----

// An index for each dimension, on both sides.
!lds = memref<64xf32, #gpu.address_space<workgroup>>
gpu.module @m {
gpu.func @async_load_source_rank(%g: memref<8x8xf32>, %lds: !lds, %i: index) kernel {
  // expected-error @+1 {{'lds.async_load' op source has 2 dimensions, but 1 indices}}
  lds.async_load %g[%i], %lds[%i] : f32, memref<8x8xf32>, !lds
  gpu.return
}
}

// -----

!lds = memref<64xf32, #gpu.address_space<workgroup>>
gpu.module @m {
gpu.func @async_load_target_rank(%g: memref<64xf32>, %lds: !lds, %i: index) kernel {
  // expected-error @+1 {{'lds.async_load' op target has 1 dimensions, but 2 indices}}
  lds.async_load %g[%i], %lds[%i, %i] : f32, memref<64xf32>, !lds
  gpu.return
}
}

// -----

// Twelve bits in the instruction, and no sign.
!lds = memref<64xf32, #gpu.address_space<workgroup>>
!buffer = memref<64xf32, #amdgpu.address_space<fat_raw_buffer>>
gpu.module @m {
gpu.func @wave_load_offset(%g: !buffer, %lds: !lds, %i: index) kernel {
  // expected-error @+1 {{'lds.wave_load' op offset must be 0 to 4095, but is 4096}}
  lds.wave_load %g[%i], %lds[%i] offset(4096) : f32, !buffer, !lds
  gpu.return
}
}

// -----

!lds = memref<64xf32, #gpu.address_space<workgroup>>
!buffer = memref<64xf32, #amdgpu.address_space<fat_raw_buffer>>
gpu.module @m {
gpu.func @wave_load_negative_offset(%g: !buffer, %lds: !lds, %i: index) kernel {
  // expected-error @+1 {{'lds.wave_load' op offset must be 0 to 4095, but is -4}}
  lds.wave_load %g[%i], %lds[%i] offset(-4) : f32, !buffer, !lds
  gpu.return
}
}

// -----

// The lanes' bytes would have holes between them.
!lds = memref<64xf32, #gpu.address_space<workgroup>>
!buffer = memref<64xf32, #amdgpu.address_space<fat_raw_buffer>>
gpu.module @m {
gpu.func @wave_load_width(%g: !buffer, %lds: !lds, %i: index) kernel {
  // expected-error @+1 {{'lds.wave_load' op copies 4 or 16 bytes a lane, which 'vector<2xf32>' isn't}}
  lds.wave_load %g[%i], %lds[%i] offset(0) : vector<2xf32>, !buffer, !lds
  gpu.return
}
}

// -----

// The other kind of LDS-DMA has another offset field.
!lds = memref<64xf32, #gpu.address_space<workgroup>>
gpu.module @m {
gpu.func @wave_load_source(%g: memref<64xf32>, %lds: !lds, %i: index) kernel {
  // expected-error @+1 {{'lds.wave_load' op source must be a buffer, but is 'memref<64xf32>'}}
  lds.wave_load %g[%i], %lds[%i] offset(0) : f32, memref<64xf32>, !lds
  gpu.return
}
}

// -----

!lds = memref<64xf32, #gpu.address_space<workgroup>>
!buffer = memref<64xf32, #amdgpu.address_space<fat_raw_buffer>>
gpu.module @m {
gpu.func @wave_load_rank(%g: !buffer, %lds: !lds, %i: index) kernel {
  // expected-error @+1 {{'lds.wave_load' op target has 1 dimensions, but 2 indices}}
  lds.wave_load %g[%i], %lds[%i, %i] offset(0) : f32, !buffer, !lds
  gpu.return
}
}
