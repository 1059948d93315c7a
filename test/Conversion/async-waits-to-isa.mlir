// The counts of waits survive code generation where the number of instructions in flight isn't that
// of one straight loop.
// RUN: lodestone-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(affine-loop-unroll{unroll-factor=70})),lodestone-to-binary{chip=gfx950 format=isa})' | sed -e 's/\\0A/\n/g' -e 's/\\09/ /g' | FileCheck %s

!lds = memref<4096xf32, #gpu.address_space<workgroup>>
!buffer = memref<65536xf32, #amdgpu.address_space<fat_raw_buffer>>
module attributes {gpu.container_module} {
  gpu.module @m {
    // A group of 70 DMAs stays in flight: the largest count that the counter can express, and not 70
    // modulo 64.
    // CHECK-LABEL: {{^}}cap:
    // CHECK-COUNT-71: buffer_load_dword {{.*}} lds
    // CHECK-NOT: vmcnt
    // CHECK: s_waitcnt vmcnt(62)
    // CHECK-NEXT: s_barrier
    // CHECK-NOT: vmcnt
    // CHECK: s_waitcnt vmcnt(0)
    // CHECK-NEXT: s_barrier
    gpu.func @cap(%source: memref<65536xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %a = lds.region @a : !lds
      %b = lds.region @b : !lds
      %g = amdgpu.fat_raw_buffer_cast %source : memref<65536xf32> to !buffer
      %t = gpu.thread_id x
      %c0 = arith.constant 0 : index
      amdgpu.gather_to_lds %g[%t], %a[%c0] : f32, !buffer, !lds
      lds.commit_group
      affine.for %i = 0 to 70 {
        %n = affine.apply affine_map<(i) -> (i * 32)>(%i)
        %from = arith.addi %n, %t : index
        amdgpu.gather_to_lds %g[%from], %b[%n] : f32, !buffer, !lds
      }
      lds.commit_group
      lds.wait_group 1
      rocdl.s.barrier
      lds.wait_group 0
      rocdl.s.barrier
      gpu.return
    }

    // A wave that goes one way has three DMAs in flight behind the first group, else it has one: the
    // wait behind both ways leaves one.
    // CHECK-LABEL: {{^}}branches:
    // CHECK: buffer_load_dword {{.*}} lds
    // CHECK: s_cbranch
    // CHECK-NOT: vmcnt
    // CHECK: s_waitcnt vmcnt(1)
    // CHECK-NEXT: s_barrier
    // CHECK-NOT: vmcnt
    // CHECK: s_waitcnt vmcnt(0)
    // CHECK-NEXT: s_barrier
    gpu.func @branches(%source: memref<65536xf32>, %way: i1) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %a = lds.region @a : !lds
      %b = lds.region @b : !lds
      %g = amdgpu.fat_raw_buffer_cast %source : memref<65536xf32> to !buffer
      %t = gpu.thread_id x
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      amdgpu.gather_to_lds %g[%t], %a[%c0] : f32, !buffer, !lds
      lds.commit_group
      scf.if %way {
        amdgpu.gather_to_lds %g[%t], %b[%c0] : f32, !buffer, !lds
        amdgpu.gather_to_lds %g[%t], %b[%c64] : f32, !buffer, !lds
        amdgpu.gather_to_lds %g[%t], %b[%c128] : f32, !buffer, !lds
      } else {
        amdgpu.gather_to_lds %g[%t], %b[%c64] : f32, !buffer, !lds
      }
      lds.commit_group
      lds.wait_group 1
      rocdl.s.barrier
      lds.wait_group 0
      rocdl.s.barrier
      gpu.return
    }

    // Between the groups there are a load, whose value is stored in the end, and an atomic. The atomic
    // stays whatever LLVM does and counts, together with the younger DMA; the load doesn't, so that
    // the wait is one stricter than it had to be, and right wherever the load is moved.
    // CHECK-LABEL: {{^}}mixed:
    // CHECK: buffer_load_dword {{.*}} lds
    // CHECK-NOT: vmcnt
    // CHECK: s_waitcnt vmcnt(2)
    // CHECK-NEXT: s_barrier
    // CHECK-NOT: vmcnt
    // CHECK: s_waitcnt vmcnt(0)
    // CHECK-NEXT: s_barrier
    gpu.func @mixed(%source: memref<65536xf32>, %values: memref<256xi32>, %p: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %a = lds.region @a : !lds
      %b = lds.region @b : !lds
      %g = amdgpu.fat_raw_buffer_cast %source : memref<65536xf32> to !buffer
      %t = gpu.thread_id x
      %t64 = arith.index_cast %t : index to i64
      %q = llvm.getelementptr %p[%t64] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      amdgpu.gather_to_lds %g[%t], %a[%c0] : f32, !buffer, !lds
      lds.commit_group
      %x = memref.load %values[%t] : memref<256xi32>
      %old = llvm.atomicrmw add %q, %one syncscope("agent-one-as") monotonic : !llvm.ptr<1>, i32
      amdgpu.gather_to_lds %g[%t], %b[%c0] : f32, !buffer, !lds
      lds.commit_group
      lds.wait_group 1
      rocdl.s.barrier
      lds.wait_group 0
      rocdl.s.barrier
      memref.store %x, %values[%c0] : memref<256xi32>
      gpu.return
    }
  }
}
