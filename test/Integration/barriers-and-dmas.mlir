// Which barrier lets LDS-DMAs stay in flight: a wait for the wave's own accesses to LDS and
// s_barrier. The fences of the others wait for all DMAs.
// RUN: sed s/BARRIER/rocdl.s.barrier/ %s | lodestone-opt --pass-pipeline='builtin.module(lodestone-to-binary{chip=gfx950 format=isa})' | sed 's/\\0A/\n/g' | FileCheck %s --check-prefixes=CHECK,FLIGHT
// RUN: sed s/BARRIER/rocdl.s.barrier/ %s | lodestone-opt --pass-pipeline='builtin.module(lodestone-to-binary{chip=gfx942 format=isa})' | sed 's/\\0A/\n/g' | FileCheck %s --check-prefixes=CHECK,FLIGHT
// RUN: sed s/BARRIER/amdgpu.lds_barrier/ %s | lodestone-opt --pass-pipeline='builtin.module(lodestone-to-binary{chip=gfx950 format=isa})' | sed 's/\\0A/\n/g' | FileCheck %s --check-prefixes=CHECK,DRAIN
// RUN: sed s/BARRIER/gpu.barrier/ %s | lodestone-opt --pass-pipeline='builtin.module(lodestone-to-binary{chip=gfx950 format=isa})' | sed 's/\\0A/\n/g' | FileCheck %s --check-prefixes=CHECK,DRAIN

// CHECK-LABEL: in_flight:
// CHECK-COUNT-2: global_load_lds_dword
// FLIGHT: s_waitcnt vmcnt(1) lgkmcnt(0)
// DRAIN: s_waitcnt vmcnt(0) lgkmcnt(0)
// CHECK-NEXT: s_barrier
// CHECK-NEXT: ds_read_b32
// CHECK: s_waitcnt vmcnt(0) lgkmcnt(0)
// CHECK-NEXT: s_barrier
// CHECK-NEXT: ds_read_b32
!lds = memref<1024xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @in_flight(%g: memref<4096xf32>, %out: memref<1024xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %a = lds.region @a : !lds
    %b = lds.region @b : !lds
    %t = gpu.thread_id x
    %c64 = arith.constant 64 : index
    %c255 = arith.constant 255 : index
    %c1024 = arith.constant 1024 : index
    %other = arith.subi %c255, %t : index
    %wave = arith.divui %t, %c64 : index
    %at = arith.muli %wave, %c64 : index
    %from = arith.addi %t, %c1024 : index
    amdgpu.gather_to_lds %g[%t], %a[%at] : f32, memref<4096xf32>, !lds
    lds.commit_group
    amdgpu.gather_to_lds %g[%from], %b[%at] : f32, memref<4096xf32>, !lds
    lds.commit_group
    lds.wait_group 1
    amdgpu.memory_counter_wait ds(0)
    BARRIER
    %x = memref.load %a[%other] : !lds
    lds.wait_group 0
    amdgpu.memory_counter_wait ds(0)
    BARRIER
    %y = memref.load %b[%other] : !lds
    %z = arith.addf %x, %y : f32
    memref.store %z, %out[%t] : memref<1024xf32>
    gpu.return
  }
}
