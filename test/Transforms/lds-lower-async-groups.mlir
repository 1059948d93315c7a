// RUN: lodestone-opt %s --lds-lower-async-groups --split-input-file | FileCheck %s
// RUN: lodestone-opt %s --lds-lower-async-groups --split-input-file -o /dev/null --remarks-filter='lds-lower-async-groups' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

// A double buffer: the copies of the group committed last may be outstanding, and copies don't
// cross from one group to the other.
// CHECK-LABEL: gpu.func @double_buffer
// CHECK: amdgpu.gather_to_lds
// CHECK-NEXT: amdgpu.gather_to_lds
// CHECK-NEXT: rocdl.sched.barrier 1935
// CHECK-NEXT: amdgpu.gather_to_lds
// CHECK-NEXT: amdgpu.gather_to_lds
// CHECK-NEXT: amdgpu.gather_to_lds
// CHECK-NEXT: rocdl.sched.barrier 1935
// CHECK-NEXT: amdgpu.memory_counter_wait load(3)
// CHECK-NEXT: amdgpu.memory_counter_wait load(0)
!lds = memref<2048xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @double_buffer(%g: memref<4096xf32, 1>, %i: index, %lds: !lds) kernel {
    amdgpu.gather_to_lds %g[%i], %lds[%i] : f32, memref<4096xf32, 1>, !lds
    amdgpu.gather_to_lds %g[%i], %lds[%i] : f32, memref<4096xf32, 1>, !lds
    lds.commit_group
    amdgpu.gather_to_lds %g[%i], %lds[%i] : f32, memref<4096xf32, 1>, !lds
    amdgpu.gather_to_lds %g[%i], %lds[%i] : f32, memref<4096xf32, 1>, !lds
    amdgpu.gather_to_lds %g[%i], %lds[%i] : f32, memref<4096xf32, 1>, !lds
    lds.commit_group
    lds.wait_group 1
    lds.wait_group 0
    gpu.return
  }
}

// -----

// Copies that are in no group yet are not waited for.
// CHECK-LABEL: gpu.func @uncommitted
// CHECK: amdgpu.memory_counter_wait load(1)
!lds = memref<2048xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @uncommitted(%g: memref<4096xf32, 1>, %i: index, %lds: !lds) kernel {
    amdgpu.gather_to_lds %g[%i], %lds[%i] : f32, memref<4096xf32, 1>, !lds
    lds.commit_group
    amdgpu.gather_to_lds %g[%i], %lds[%i] : f32, memref<4096xf32, 1>, !lds
    lds.wait_group 0
    gpu.return
  }
}

// -----

// A loop that prefetches two groups ahead: the wait in it is the same on the way in and around, and
// after a loop that certainly runs the groups are the loop's.
// CHECK-LABEL: gpu.func @loop
// CHECK: scf.for
// CHECK: amdgpu.memory_counter_wait load(3)
// CHECK: rocdl.s.barrier
// CHECK: }
// CHECK: amdgpu.memory_counter_wait load(3)
// CHECK-NEXT: amdgpu.memory_counter_wait load(0)
!lds = memref<2048xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @loop(%g: memref<4096xf32, 1>, %i: index, %lds: !lds) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    amdgpu.gather_to_lds %g[%i], %lds[%i] : f32, memref<4096xf32, 1>, !lds
    lds.commit_group
    scf.for %k = %c0 to %c8 step %c1 {
      amdgpu.gather_to_lds %g[%k], %lds[%i] : f32, memref<4096xf32, 1>, !lds
      amdgpu.gather_to_lds %g[%k], %lds[%i] : f32, memref<4096xf32, 1>, !lds
      amdgpu.gather_to_lds %g[%k], %lds[%i] : f32, memref<4096xf32, 1>, !lds
      lds.commit_group
      lds.wait_group 1
      rocdl.s.barrier
    }
    amdgpu.gather_to_lds %g[%i], %lds[%i] : f32, memref<4096xf32, 1>, !lds
    amdgpu.gather_to_lds %g[%i], %lds[%i] : f32, memref<4096xf32, 1>, !lds
    amdgpu.gather_to_lds %g[%i], %lds[%i] : f32, memref<4096xf32, 1>, !lds
    lds.commit_group
    lds.wait_group 1
    lds.wait_group 0
    gpu.return
  }
}

// -----

// One branch issues fewer copies than the other, or none: the minimum counts.
// CHECK-LABEL: gpu.func @branches
// CHECK: amdgpu.memory_counter_wait load(1)
// CHECK: amdgpu.memory_counter_wait load(0)
!lds = memref<2048xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @branches(%g: memref<4096xf32, 1>, %i: index, %lds: !lds, %c: i1) kernel {
    amdgpu.gather_to_lds %g[%i], %lds[%i] : f32, memref<4096xf32, 1>, !lds
    lds.commit_group
    scf.if %c {
      amdgpu.gather_to_lds %g[%i], %lds[%i] : f32, memref<4096xf32, 1>, !lds
      amdgpu.gather_to_lds %g[%i], %lds[%i] : f32, memref<4096xf32, 1>, !lds
    } else {
      amdgpu.gather_to_lds %g[%i], %lds[%i] : f32, memref<4096xf32, 1>, !lds
    }
    lds.commit_group
    lds.wait_group 1
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    amdgpu.gather_to_lds %g[%i], %lds[%i] : f32, memref<4096xf32, 1>, !lds
    cf.br ^bb2
  ^bb2:
    lds.wait_group 0
    gpu.return
  }
}

// -----

// A branch that commits more often than the other shifts the groups on its path only.
// CHECK-LABEL: gpu.func @uneven_commits
// CHECK: amdgpu.memory_counter_wait load(1)
!lds = memref<2048xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @uneven_commits(%g: memref<4096xf32, 1>, %i: index, %lds: !lds, %c: i1) kernel {
    amdgpu.gather_to_lds %g[%i], %lds[%i] : f32, memref<4096xf32, 1>, !lds
    lds.commit_group
    amdgpu.gather_to_lds %g[%i], %lds[%i] : f32, memref<4096xf32, 1>, !lds
    lds.commit_group
    scf.if %c {
      amdgpu.gather_to_lds %g[%i], %lds[%i] : f32, memref<4096xf32, 1>, !lds
      lds.commit_group
    }
    lds.wait_group 1
    gpu.return
  }
}

// -----

// More instructions than the counter can express: the most that it can.
// CHECK-LABEL: gpu.func @cap
// CHECK: amdgpu.memory_counter_wait load(62)
!lds = memref<2048xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @cap(%g: memref<4096xf32, 1>, %i: index, %lds: !lds) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c100 = arith.constant 100 : index
    amdgpu.gather_to_lds %g[%i], %lds[%i] : f32, memref<4096xf32, 1>, !lds
    lds.commit_group
    affine.for %k = 0 to 1 {
      scf.execute_region {
        amdgpu.gather_to_lds %g[%k], %lds[%i] : f32, memref<4096xf32, 1>, !lds
        scf.yield
      }
    }
    scf.for %k = %c0 to %c100 step %c1 {
      amdgpu.gather_to_lds %g[%k], %lds[%i] : f32, memref<4096xf32, 1>, !lds
      amdgpu.gather_to_lds %g[%k], %lds[%i] : f32, memref<4096xf32, 1>, !lds
      lds.commit_group
    }
    lds.wait_group 40
    gpu.return
  }
}

// -----

// Ordinary loads don't count, since LLVM may move them; volatile and atomic accesses do.
// CHECK-LABEL: gpu.func @other_traffic
// CHECK: amdgpu.memory_counter_wait load(0)
// CHECK: amdgpu.memory_counter_wait load(2)
!lds = memref<2048xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @other_traffic(%g: memref<4096xf32, 1>, %i: index, %lds: !lds, %p: !llvm.ptr<1>) kernel {
    amdgpu.gather_to_lds %g[%i], %lds[%i] : f32, memref<4096xf32, 1>, !lds
    lds.commit_group
    %x = memref.load %g[%i] : memref<4096xf32, 1>
    lds.wait_group 0
    amdgpu.gather_to_lds %g[%i], %lds[%i] : f32, memref<4096xf32, 1>, !lds
    lds.commit_group
    llvm.store volatile %x, %p : f32, !llvm.ptr<1>
    %y = llvm.atomicrmw fadd %p, %x monotonic : !llvm.ptr<1>, f32
    lds.wait_group 0
    gpu.return
  }
}

// -----

// Groups of ordinary stores: they are done when lgkmcnt says so. A wait without anything to wait
// for goes.
// REMARK: remark: [Passed] wait-not-needed
// CHECK-LABEL: gpu.func @stores
// CHECK: memref.store
// CHECK-NEXT: memref.store
// CHECK-NEXT: amdgpu.memory_counter_wait ds(0)
// CHECK-NEXT: gpu.return
!lds = memref<2048xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @stores(%x: f32, %g: memref<4096xf32, 1>, %i: index, %lds: !lds) kernel {
    memref.store %x, %lds[%i] : !lds
    lds.commit_group
    memref.store %x, %lds[%i] : !lds
    lds.commit_group
    lds.wait_group 1
    lds.wait_group 1
    gpu.return
  }
}

// -----

// Each counter has its own count: gfx1250's async loads and the TDM's copies.
// CHECK-LABEL: gpu.func @gfx1250
// CHECK: rocdl.sched.barrier
// LLVM takes these waits to touch no memory: a fence keeps reads of LDS behind them.
// CHECK: rocdl.s.wait.asynccnt 1
// CHECK-NEXT: rocdl.s.wait.tensorcnt 0
// CHECK-NEXT: llvm.fence syncscope("wavefront") acquire
gpu.module @m {
  gpu.func @gfx1250(%g: !llvm.ptr<1>, %l: !llvm.ptr<3>, %d0: vector<4xi32>, %d1: vector<8xi32>) kernel {
    rocdl.global.load.async.to.lds.b128 %g, %l, 0, 0 : !llvm.ptr<1>, !llvm.ptr<3>
    rocdl.tensor.load.to.lds.d2 %d0, %d1 cachepolicy 0 : vector<4xi32>, vector<8xi32>
    lds.commit_group
    rocdl.global.load.async.to.lds.b128 %g, %l, 0, 0 : !llvm.ptr<1>, !llvm.ptr<3>
    lds.commit_group
    lds.wait_group 1
    gpu.return
  }
}

// -----

// An intrinsic called by name is a copy, of which nobody knows how many instructions it is.
// CHECK-LABEL: gpu.func @by_name
// CHECK: amdgpu.memory_counter_wait load(0)
gpu.module @m {
  gpu.func @by_name(%g: !llvm.ptr<1>, %l: !llvm.ptr<3>) kernel {
    llvm.inline_asm has_side_effects "buffer_load_dword off, s[0:3], 0 lds", "" : () -> ()
    lds.commit_group
    llvm.inline_asm has_side_effects "buffer_load_dword off, s[0:3], 0 lds", "" : () -> ()
    lds.commit_group
    lds.wait_group 1
    gpu.return
  }
}

// -----

// A wait that is never reached has nothing to wait for.
// CHECK-LABEL: gpu.func @unreachable
// CHECK-NOT: memory_counter_wait
!lds = memref<2048xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @unreachable(%g: memref<4096xf32, 1>, %i: index, %lds: !lds) kernel {
    amdgpu.gather_to_lds %g[%i], %lds[%i] : f32, memref<4096xf32, 1>, !lds
    lds.commit_group
    gpu.return
  ^bb1:
    lds.wait_group 0
    gpu.return
  }
}

// -----

// Copies of the tdm dialect are copies of a group; those in a fused load are one.
// CHECK-LABEL: gpu.func @tdm
// CHECK: rocdl.s.wait.tensorcnt 1
// CHECK: rocdl.s.wait.tensorcnt 0
!tile = memref<64x64xf16, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @tdm(%g: memref<?x64xf16>, %i: index, %a: !tile, %b: !tile, %c: !tile) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    tdm.load %g[%i, %i] to %a : memref<?x64xf16> to !tile
    lds.commit_group
    tdm.fused_load {
      tdm.load %g[%i, %i] to %b hint(1 : i32) : memref<?x64xf16> to !tile
      tdm.load %g[%i, %i] to %c hint(2 : i32) : memref<?x64xf16> to !tile
    }
    lds.commit_group
    lds.wait_group 1
    gpu.barrier
    lds.wait_group 0
    gpu.return
  }
}
