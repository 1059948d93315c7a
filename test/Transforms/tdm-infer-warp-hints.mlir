// RUN: lodestone-opt %s --pass-pipeline='builtin.module(gpu.module(tdm-infer-warp-hints{complementary leading-group one-per-simd}))' \
// RUN:   --remarks-filter='.*' --remark-format=emitRemark 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks
// RUN: lodestone-opt %s --pass-pipeline='builtin.module(gpu.module(tdm-infer-warp-hints{complementary}))' \
// RUN:   | FileCheck %s --check-prefix=COMPLEMENTARY
// RUN: lodestone-opt %s --pass-pipeline='builtin.module(gpu.module(tdm-infer-warp-hints{leading-group}))' \
// RUN:   | FileCheck %s --check-prefix=LEADING
// RUN: lodestone-opt %s --pass-pipeline='builtin.module(gpu.module(tdm-infer-warp-hints{one-per-simd}))' \
// RUN:   | FileCheck %s --check-prefix=SIMD
// RUN: lodestone-opt %s --pass-pipeline='builtin.module(gpu.module(tdm-infer-warp-hints))' \
// RUN:   | FileCheck %s --check-prefix=OFF

// Without an option nothing changes.
// OFF-NOT: free =

!global = memref<?x?xf16, strided<[?, 1]>>
!tile = memref<256x64xf16, 3>
!small = memref<64x64xf16, 3>

gpu.module @kernels {
  // Two adjacent loads divide the warps, by the highest bit of the warp id; pure
  // operations between them don't matter. With 8 warps each then has one for each
  // of the four SIMDs.
  // CHECK-LABEL: @two
  // CHECK: to %A hint(#tdm.warps<free = 0b011, anchor = 0b000, of = 8>)
  // CHECK: to %B hint(#tdm.warps<free = 0b011, anchor = 0b100, of = 8>)
  // REMARK: remark: [Passed] hint-inferred | Category:tdm-infer-warp-hints
  // REMARK-SAME: Hint=0x0f, Reason="1 of 2 adjacent loads", Warps="free = 0b011, anchor = 0b000, of = 8"
  // REMARK: remark: [Passed] hint-inferred
  // REMARK-SAME: Hint=0xf0, Reason="2 of 2 adjacent loads"
  // COMPLEMENTARY-LABEL: @two
  // COMPLEMENTARY: hint(#tdm.warps<free = 0b011, anchor = 0b000, of = 8>)
  // COMPLEMENTARY: hint(#tdm.warps<free = 0b011, anchor = 0b100, of = 8>)
  // LEADING-LABEL: @two
  // LEADING-NOT: free =
  // SIMD-LABEL: @two
  // SIMD: hint(#tdm.warps<free = 0b011, anchor = 0b000, of = 8>)
  // SIMD: hint(#tdm.warps<free = 0b011, anchor = 0b000, of = 8>)
  gpu.func @two(%a: !global, %b: !global, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %ldsA = lds.region @A : !tile
    %ldsB = lds.region @B : !tile
    tdm.load %a[%i, %i] to %ldsA : !global to !tile
    %j = arith.addi %i, %i : index
    tdm.load %b[%j, %i] to %ldsB : !global to !tile
    gpu.return
  }

  // Of three loads the one with the most bytes gets half of the warps, and of 16
  // warps four at most stay.
  // CHECK-LABEL: @three
  // CHECK: hint(#tdm.warps<free = 0b0011, anchor = 0b1000, of = 16>)
  // CHECK: hint(#tdm.warps<free = 0b0011, anchor = 0b0000, of = 16>)
  // CHECK: hint(#tdm.warps<free = 0b0011, anchor = 0b1100, of = 16>)
  // REMARK: Hint=0xf00, Reason="1 of 3 adjacent loads"
  // REMARK: Hint=0x0f, Reason="2 of 3 adjacent loads; one warp for each of 4 SIMDs"
  // COMPLEMENTARY-LABEL: @three
  // COMPLEMENTARY: hint(#tdm.warps<free = 0b0011, anchor = 0b1000, of = 16>)
  // COMPLEMENTARY: hint(#tdm.warps<free = 0b0111, anchor = 0b0000, of = 16>)
  // COMPLEMENTARY: hint(#tdm.warps<free = 0b0011, anchor = 0b1100, of = 16>)
  gpu.func @three(%a: !global, %i: index) kernel attributes {known_block_size = array<i32: 64, 8, 1>} {
    %ldsA = lds.region @A : !small
    %ldsB = lds.region @B : !tile
    %ldsC = lds.region @C : !small
    tdm.load %a[%i, %i] to %ldsA : !global to !small
    tdm.load %a[%i, %i] to %ldsB : !global to !tile
    tdm.load %a[%i, %i] to %ldsC : !global to !small
    gpu.return
  }

  // Five are three and two, not four and one.
  // COMPLEMENTARY-LABEL: @five
  // COMPLEMENTARY: hint(#tdm.warps<free = 0b01, anchor = 0b00, of = 4>)
  // COMPLEMENTARY: hint(#tdm.warps<free = 0b00, anchor = 0b10, of = 4>)
  // COMPLEMENTARY: hint(#tdm.warps<free = 0b00, anchor = 0b11, of = 4>)
  // COMPLEMENTARY: hint(#tdm.warps<free = 0b01, anchor = 0b00, of = 4>)
  // COMPLEMENTARY: hint(#tdm.warps<free = 0b01, anchor = 0b10, of = 4>)
  gpu.func @five(%a: !global, %i: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %lds = lds.region @A : !small
    tdm.load %a[%i, %i] to %lds : !global to !small
    tdm.load %a[%i, %i] to %lds : !global to !small
    tdm.load %a[%i, %i] to %lds : !global to !small
    tdm.load %a[%i, %i] to %lds : !global to !small
    tdm.load %a[%i, %i] to %lds : !global to !small
    gpu.return
  }

  // Warps 4 to 7 run a barrier more before the loop, so 0 to 3 lead; the load after
  // the loop has the rest of the rules.
  // LEADING-LABEL: @pipelined
  // LEADING: scf.for
  // LEADING: tdm.load {{.*}} hint(#tdm.warps<free = 0b011, anchor = 0b000, of = 8>)
  // LEADING: tdm.load %{{[^h]*}} : memref
  // CHECK-LABEL: @pipelined
  // REMARK: Hint=0x0f, Reason="the leading group of a warp-pipelined loop"
  gpu.func @pipelined(%a: !global, %n: index) kernel attributes {known_block_size = array<i32: 128, 2, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %lds = lds.region @A : !small
    %y = gpu.thread_id y
    %late = arith.cmpi ne, %y, %c0 : index
    scf.if %late {
      gpu.barrier
    }
    scf.for %k = %c0 to %n step %c1 {
      tdm.load %a[%k, %k] to %lds : !global to !small
      tdm.wait 0
      gpu.barrier
      gpu.barrier
    }
    scf.if %late {
    } else {
      gpu.barrier
    }
    tdm.load %a[%n, %n] to %lds : !global to !small
    gpu.return
  }

  // The same with the warp's id made scalar and the group that is late first; two
  // loads of the stage share the leading group.
  // CHECK-LABEL: @pipelined_fused
  // CHECK: scf.for
  // CHECK: hint(#tdm.warps<free = 0b001, anchor = 0b100, of = 8>)
  // CHECK: hint(#tdm.warps<free = 0b001, anchor = 0b110, of = 8>)
  // REMARK: Hint=0x30, Reason="the leading group of a warp-pipelined loop; 1 of 2 adjacent loads"
  gpu.func @pipelined_fused(%a: !global, %n: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : i32
    %c4 = arith.constant 4 : i32
    %ldsA = lds.region @A : !small
    %ldsB = lds.region @B : !small
    %x = gpu.thread_id x
    %x32 = arith.index_cast %x : index to i32
    %id = arith.divui %x32, %c32 : i32
    %warp = rocdl.readfirstlane %id : i32
    %late = arith.cmpi ult, %warp, %c4 : i32
    scf.if %late {
      rocdl.s.barrier
    }
    scf.for %k = %c0 to %n step %c1 {
      tdm.load %a[%k, %k] to %ldsA : !global to !small
      tdm.load %a[%k, %k] to %ldsB : !global to !small
      tdm.wait 0
      gpu.barrier
    }
    gpu.return
  }

  // After a loop that ends with the matching barrier all warps are in step again.
  // LEADING-LABEL: @in_step_again
  // LEADING-NOT: free =
  // LEADING: gpu.return
  gpu.func @in_step_again(%a: !global, %n: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    %lds = lds.region @A : !small
    %x = gpu.thread_id x
    %late = arith.cmpi uge, %x, %c128 : index
    scf.if %late {
      gpu.barrier
    }
    scf.for %k = %c0 to %n step %c1 {
      gpu.barrier
    }
    scf.if %late {
    } else {
      gpu.barrier
    }
    scf.for %k = %c0 to %n step %c1 {
      tdm.load %a[%k, %k] to %lds : !global to !small
      tdm.wait 0
      gpu.barrier
    }
    gpu.return
  }

  // A hint that a person wrote stays, though a rule would choose another; so does a
  // fused load.
  // CHECK-LABEL: @kept
  // CHECK: hint(240 : i32)
  // CHECK: tdm.fused_load
  // CHECK-NEXT: hint(3 : i32)
  // CHECK-NEXT: hint(12 : i32)
  // REMARK: remark: [Analysis] hint-kept
  gpu.func @kept(%a: !global, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %ldsA = lds.region @A : !small
    %ldsB = lds.region @B : !small
    tdm.load %a[%i, %i] to %ldsA hint(0xf0 : i32) : !global to !small
    gpu.barrier
    tdm.fused_load {
      tdm.load %a[%i, %i] to %ldsA hint(0x3 : i32) : !global to !small
      tdm.load %a[%i, %i] to %ldsB hint(0xc : i32) : !global to !small
    }
    gpu.return
  }
}
