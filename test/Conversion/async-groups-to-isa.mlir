// The waits that a kernel states are the waits in the machine code, and no others for all copies
// appear, with and without alias scopes on the reads in between.
// RUN: lodestone-opt %s --split-input-file --pass-pipeline='builtin.module(lodestone-to-binary{chip=gfx950 format=isa})' | sed 's/\\0A/\n/g' | FileCheck %s --check-prefixes=CHECK,TAGGED

// Double buffering with two regions: a group of four DMAs stays in flight across the reads.
// CHECK-LABEL: double_buffer:
// CHECK-COUNT-8: buffer_load_dword{{.*}} lds
// CHECK: s_waitcnt vmcnt(4)
// CHECK-NEXT: s_barrier
// CHECK-NOT: vmcnt(0)
// CHECK: s_waitcnt vmcnt(4)
// CHECK-NEXT: s_barrier
// CHECK-NOT: vmcnt(0)
// CHECK: s_waitcnt vmcnt(4)
// CHECK: s_waitcnt vmcnt(0)
!lds = memref<1024xf32, #gpu.address_space<workgroup>>
!buffer = memref<65536xf32, #amdgpu.address_space<fat_raw_buffer>>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @double_buffer(%source: memref<65536xf32>, %out: memref<65536xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %a = lds.region @a : !lds
      %b = lds.region @b : !lds
      %g = amdgpu.fat_raw_buffer_cast %source : memref<65536xf32> to !buffer
      %t = gpu.thread_id x
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      %c192 = arith.constant 192 : index
      %c1024 = arith.constant 1024 : index
      amdgpu.gather_to_lds %g[%t], %a[%c0] : f32, !buffer, !lds
      amdgpu.gather_to_lds %g[%t], %a[%c64] : f32, !buffer, !lds
      amdgpu.gather_to_lds %g[%t], %a[%c128] : f32, !buffer, !lds
      amdgpu.gather_to_lds %g[%t], %a[%c192] : f32, !buffer, !lds
      lds.commit_group
      scf.for %k = %c0 to %c16 step %c1 {
        %p = arith.muli %k, %c1024 : index
        %q = arith.addi %p, %t : index
        amdgpu.gather_to_lds %g[%q], %b[%c0] : f32, !buffer, !lds
        amdgpu.gather_to_lds %g[%q], %b[%c64] : f32, !buffer, !lds
        amdgpu.gather_to_lds %g[%q], %b[%c128] : f32, !buffer, !lds
        amdgpu.gather_to_lds %g[%q], %b[%c192] : f32, !buffer, !lds
        lds.commit_group
        lds.wait_group 1
        rocdl.s.barrier
        rocdl.sched.barrier 0
        %x = memref.load %a[%t] : !lds
        amdgpu.memory_counter_wait ds(0)
        rocdl.s.barrier
        rocdl.sched.barrier 0
        amdgpu.gather_to_lds %g[%q], %a[%c0] : f32, !buffer, !lds
        amdgpu.gather_to_lds %g[%q], %a[%c64] : f32, !buffer, !lds
        amdgpu.gather_to_lds %g[%q], %a[%c128] : f32, !buffer, !lds
        amdgpu.gather_to_lds %g[%q], %a[%c192] : f32, !buffer, !lds
        lds.commit_group
        lds.wait_group 1
        rocdl.s.barrier
        rocdl.sched.barrier 0
        %y = memref.load %b[%t] : !lds
        %z = arith.addf %x, %y : f32
        amdgpu.memory_counter_wait ds(0)
        rocdl.s.barrier
        rocdl.sched.barrier 0
      }
      lds.wait_group 0
      gpu.return
    }
  }
}
