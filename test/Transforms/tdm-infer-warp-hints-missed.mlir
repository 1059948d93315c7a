// RUN: lodestone-opt %s --pass-pipeline='builtin.module(gpu.module(tdm-infer-warp-hints{complementary leading-group one-per-simd}))' \
// RUN:   --remarks-filter='.*' --remark-format=emitRemark 2>%t.remarks | FileCheck %s '--implicit-check-not=free ='
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// None of these gets a hint.
// CHECK: gpu.module

!global = memref<?x?xf16, strided<[?, 1]>>
!tile = memref<64x64xf16, 3>
!odd = memref<33x65xf16, 3>

gpu.module @kernels {
  // The number of warps decides what a hint may be.
  // REMARK: [Missed] unknown-warps{{.*}}the size of the workgroup is unknown
  gpu.func @unknown_warps(%a: !global, %i: index) kernel {
    %lds = lds.region @A : !tile
    tdm.load %a[%i, %i] to %lds : !global to !tile
    gpu.return
  }

  // Fewer warps would arrive at the barrier less often.
  // REMARK: [Missed] has-barrier
  gpu.func @barrier(%a: !global, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %lds = lds.region @A : !tile
    %barrier = lds.region @barrier : memref<1xi64, 3>
    tdm.load %a[%i, %i] to %lds barrier(%barrier : memref<1xi64, 3>) : !global to !tile
    gpu.return
  }

  // A block that can't be divided among the warps of a hint; its neighbour stays
  // without, too, for its hint would make sense with the other's only.
  // REMARK: [Missed] hint-not-legal{{.*}}of a load beside this one, 0xf0: hint has 4 active warps
  // REMARK: [Missed] hint-not-legal{{.*}}"0xf0: hint has 4 active warps, but the block of 33x65 can be divided into 1 parts at most
  gpu.func @not_divisible(%a: !global, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %ldsA = lds.region @A : !tile
    %ldsB = lds.region @B : !odd
    tdm.load %a[%i, %i] to %ldsA : !global to !tile
    tdm.load %a[%i, %i] to %ldsB : !global to !odd
    gpu.return
  }

  // Alone, outside of a loop, and not more warps than SIMDs.
  // REMARK: [Missed] no-rule-applies
  gpu.func @alone(%a: !global, %i: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %lds = lds.region @A : !tile
    tdm.load %a[%i, %i] to %lds : !global to !tile
    gpu.return
  }

  // A barrier between two loads separates them, and so do different ranks.
  // REMARK: [Missed] no-rule-applies
  // REMARK: [Missed] no-rule-applies
  // REMARK: [Missed] no-rule-applies
  gpu.func @not_adjacent(%a: !global, %v: memref<?xf16>, %i: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %ldsA = lds.region @A : !tile
    %ldsB = lds.region @B : !tile
    %ldsC = lds.region @C : memref<64xf16, 3>
    tdm.load %a[%i, %i] to %ldsA : !global to !tile
    gpu.barrier
    tdm.load %a[%i, %i] to %ldsB : !global to !tile
    tdm.load %v[%i] to %ldsC : memref<?xf16> to memref<64xf16, 3>
    gpu.return
  }

  // A barrier under a condition that isn't known when compiling.
  // REMARK: [Missed] unknown-stagger{{.*}}the condition of this barrier is not a constant of each warp
  gpu.func @unknown_condition(%a: !global, %n: index, %late: i1) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %lds = lds.region @A : !tile
    scf.if %late {
      gpu.barrier
    }
    scf.for %k = %c0 to %n step %c1 {
      tdm.load %a[%k, %k] to %lds : !global to !tile
      tdm.wait 0
      gpu.barrier
    }
    gpu.return
  }

  // A condition that is not the same for all lanes of a warp.
  // REMARK: [Missed] unknown-stagger{{.*}}the condition of this barrier is not a constant of each warp
  gpu.func @lanes_differ(%a: !global, %n: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c48 = arith.constant 48 : index
    %lds = lds.region @A : !tile
    %x = gpu.thread_id x
    %late = arith.cmpi uge, %x, %c48 : index
    scf.if %late {
      gpu.barrier
    }
    scf.for %k = %c0 to %n step %c1 {
      tdm.load %a[%k, %k] to %lds : !global to !tile
      tdm.wait 0
      gpu.barrier
    }
    gpu.return
  }

  // Warps that drift apart with each iteration.
  // REMARK: [Missed] unknown-stagger{{.*}}this branch has a barrier and is in a loop
  gpu.func @drifting(%a: !global, %n: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %lds = lds.region @A : !tile
    %x = gpu.thread_id x
    %late = arith.cmpi uge, %x, %c64 : index
    scf.for %k = %c0 to %n step %c1 {
      tdm.load %a[%k, %k] to %lds : !global to !tile
      tdm.wait 0
      scf.if %late {
        gpu.barrier
      }
    }
    gpu.return
  }

  // Three warps of four lead, which no hint can say.
  // REMARK: [Missed] leading-group-not-legal{{.*}}hint 0x07 selects 3 warps
  gpu.func @three_lead(%a: !global, %n: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c96 = arith.constant 96 : index
    %lds = lds.region @A : !tile
    %x = gpu.thread_id x
    %late = arith.cmpi uge, %x, %c96 : index
    scf.if %late {
      gpu.barrier
    }
    scf.for %k = %c0 to %n step %c1 {
      tdm.load %a[%k, %k] to %lds : !global to !tile
      tdm.wait 0
      gpu.barrier
    }
    gpu.return
  }

  // Three pieces can't be filled by one instruction of a power of two of warps.
  // REMARK: [Missed] hint-not-legal{{.*}}0x0f: hint has 4 active warps, which the 3 pieces of the block don't divide
  gpu.func @partitioned(%a: !global, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %ldsA = lds.region @A : !tile
    %ldsB = lds.region @B : !tile
    %ldsC = lds.region @C : !tile
    tdm.load %a[%i, %i] to %ldsA, %ldsB, %ldsC partition(0) : !global to !tile, !tile, !tile
    gpu.return
  }
}
