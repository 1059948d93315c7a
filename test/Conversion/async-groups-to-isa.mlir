// The waits that a kernel states are the waits in the machine code, with alias scopes on the reads in
// between, and no wait for all copies that nobody asked for.
// RUN: lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-binary{chip=gfx950 format=isa})' | sed -e 's/\\0A/\n/g' -e 's/\\09/ /g' | FileCheck %s

// Double buffering with two regions, four DMAs a group: those of one group stay in flight across the
// reads of the other buffer.
// CHECK-LABEL: {{^}}double_buffer:
// CHECK-COUNT-4: buffer_load_dword {{.*}} lds
// CHECK: .LBB0_[[LOOP:[0-9]+]]:
// CHECK-COUNT-4: buffer_load_dword {{.*}} lds
// CHECK-NOT: vmcnt
// CHECK: s_waitcnt vmcnt(4)
// CHECK-NEXT: s_barrier
// CHECK-NOT: vmcnt
// CHECK: ds_read
// CHECK-NOT: vmcnt
// CHECK: s_barrier
// CHECK-COUNT-4: buffer_load_dword {{.*}} lds
// CHECK-NOT: vmcnt
// CHECK: s_waitcnt vmcnt(4)
// CHECK-NEXT: s_barrier
// CHECK-NOT: vmcnt
// CHECK: ds_read
// CHECK-NOT: vmcnt
// CHECK: s_cbranch
// CHECK: s_waitcnt vmcnt(0)
!lds = memref<1024xf32, #gpu.address_space<workgroup>>
!buffer = memref<65536xf32, #amdgpu.address_space<fat_raw_buffer>>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @double_buffer(%source: memref<65536xf32>, %out: memref<65536xf32>, %n: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %a = lds.region @a : !lds
      %b = lds.region @b : !lds
      %g = amdgpu.fat_raw_buffer_cast %source : memref<65536xf32> to !buffer
      %t = gpu.thread_id x
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %c-64 = arith.constant -64 : i32
      %c256 = arith.constant 256 : index
      %c1024 = arith.constant 1024 : index
      %zero = arith.constant 0.0 : f32
      %t32 = arith.index_cast %t : index to i32
      %first = arith.andi %t32, %c-64 : i32
      %uniform = rocdl.readfirstlane %first : i32
      %w0 = arith.index_castui %uniform : i32 to index
      %w1 = arith.addi %w0, %c256 : index
      %w2 = arith.addi %w1, %c256 : index
      %w3 = arith.addi %w2, %c256 : index
        amdgpu.gather_to_lds %g[%t], %a[%w0] : f32, !buffer, !lds
        amdgpu.gather_to_lds %g[%t], %a[%w1] : f32, !buffer, !lds
        amdgpu.gather_to_lds %g[%t], %a[%w2] : f32, !buffer, !lds
        amdgpu.gather_to_lds %g[%t], %a[%w3] : f32, !buffer, !lds
      lds.commit_group
      %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> f32 {
        %p = arith.muli %k, %c1024 : index
        %q = arith.addi %p, %t : index
        amdgpu.gather_to_lds %g[%q], %b[%w0] : f32, !buffer, !lds
        amdgpu.gather_to_lds %g[%q], %b[%w1] : f32, !buffer, !lds
        amdgpu.gather_to_lds %g[%q], %b[%w2] : f32, !buffer, !lds
        amdgpu.gather_to_lds %g[%q], %b[%w3] : f32, !buffer, !lds
        lds.commit_group
        lds.wait_group 1
        rocdl.s.barrier
        rocdl.sched.barrier 0
        %x = memref.load %a[%t] : !lds
        amdgpu.memory_counter_wait ds(0)
        rocdl.s.barrier
        rocdl.sched.barrier 0
        amdgpu.gather_to_lds %g[%q], %a[%w0] : f32, !buffer, !lds
        amdgpu.gather_to_lds %g[%q], %a[%w1] : f32, !buffer, !lds
        amdgpu.gather_to_lds %g[%q], %a[%w2] : f32, !buffer, !lds
        amdgpu.gather_to_lds %g[%q], %a[%w3] : f32, !buffer, !lds
        lds.commit_group
        lds.wait_group 1
        rocdl.s.barrier
        rocdl.sched.barrier 0
        %y = memref.load %b[%t] : !lds
        amdgpu.memory_counter_wait ds(0)
        rocdl.s.barrier
        rocdl.sched.barrier 0
        %z = arith.addf %x, %y : f32
        %next = arith.addf %s, %z : f32
        scf.yield %next : f32
      }
      lds.wait_group 0
      memref.store %sum, %out[%t] : memref<65536xf32>
      gpu.return
    }
  }
}
