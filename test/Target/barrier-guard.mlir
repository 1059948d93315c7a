// A load in front of a barrier stays there. LLVM by itself moves the read of LDS below into
// the branch that uses it, behind the barrier, where other waves have written the bytes;
// once it doesn't any more, UPSTREAM says so, and the guards can go.
// RUN: lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-binary{chip=gfx950 format=isa})' | sed 's/\\0A/\n/g' | FileCheck %s
// RUN: lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-binary{chip=gfx1250 format=isa})' | sed 's/\\0A/\n/g' | FileCheck %s
// RUN: lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-rocdl{chip=gfx950},rocdl-attach-target{chip=gfx950 O=3},gpu-module-to-binary{format=isa})' | sed 's/\\0A/\n/g' | FileCheck %s --check-prefix=UPSTREAM

!lds = memref<256xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  // With all of its fences.
  // CHECK-LABEL: fenced:
  // CHECK: ds_{{write|store}}_b32
  // CHECK: s_barrier
  // CHECK: ds_{{read|load}}_b32
  // CHECK: s_barrier
  // CHECK: s_cbranch
  // CHECK-NOT: ds_{{read|load}}_b32
  // CHECK: s_endpgm
  // UPSTREAM-LABEL: fenced:
  // UPSTREAM: s_barrier
  // UPSTREAM: s_barrier
  // UPSTREAM: s_cbranch
  // UPSTREAM: ds_read_b32
  gpu.func @fenced(%g: memref<256xf32>, %out: memref<256xf32>, %n: i32) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : i32
    %c255 = arith.constant 255 : index
    %other = arith.subi %c255, %t : index
    %v = memref.load %g[%t] : memref<256xf32>
    memref.store %v, %lds[%t] : !lds
    gpu.barrier
    %x = memref.load %lds[%other] : !lds
    gpu.barrier
    %wanted = arith.cmpi sgt, %n, %c0 : i32
    scf.if %wanted {
      memref.store %x, %out[%t] : memref<256xf32>
    }
    memref.store %v, %lds[%other] : !lds
    gpu.return
  }

  // Without fences.
  // CHECK-LABEL: bare:
  // CHECK: ds_{{write|store}}_b32
  // CHECK: s_barrier
  // CHECK: ds_{{read|load}}_b32
  // CHECK: {{lgkm|ds}}cnt
  // CHECK: s_barrier
  // CHECK: s_cbranch
  // CHECK-NOT: ds_{{read|load}}_b32
  // CHECK: s_endpgm
  gpu.func @bare(%g: memref<256xf32>, %out: memref<256xf32>, %n: i32) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : i32
    %c255 = arith.constant 255 : index
    %other = arith.subi %c255, %t : index
    %v = memref.load %g[%t] : memref<256xf32>
    memref.store %v, %lds[%t] : !lds
    amdgpu.memory_counter_wait ds(0)
    rocdl.s.barrier
    %x = memref.load %lds[%other] : !lds
    amdgpu.memory_counter_wait ds(0)
    rocdl.s.barrier
    %wanted = arith.cmpi sgt, %n, %c0 : i32
    scf.if %wanted {
      memref.store %x, %out[%t] : memref<256xf32>
    }
    memref.store %v, %lds[%other] : !lds
    gpu.return
  }

  // Written in assembly that doesn't say that it touches memory.
  // CHECK-LABEL: assembly:
  // CHECK: s_barrier
  // CHECK: ds_{{read|load}}_b32
  // CHECK: in place of s_barrier
  // CHECK: s_cbranch
  // CHECK-NOT: ds_{{read|load}}_b32
  // CHECK: s_endpgm
  gpu.func @assembly(%g: memref<256xf32>, %out: memref<256xf32>, %n: i32) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : i32
    %c255 = arith.constant 255 : index
    %other = arith.subi %c255, %t : index
    %v = memref.load %g[%t] : memref<256xf32>
    memref.store %v, %lds[%t] : !lds
    gpu.barrier
    %x = memref.load %lds[%other] : !lds
    llvm.inline_asm has_side_effects "; in place of s_barrier", "" : () -> ()
    %wanted = arith.cmpi sgt, %n, %c0 : i32
    scf.if %wanted {
      memref.store %x, %out[%t] : memref<256xf32>
    }
    memref.store %v, %lds[%other] : !lds
    gpu.return
  }
}
