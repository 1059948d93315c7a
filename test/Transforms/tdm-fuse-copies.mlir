// RUN: lodestone-opt %s --pass-pipeline='builtin.module(gpu.module(tdm-fuse-copies))' \
// RUN:   --remarks-filter='.*' --remark-format=emitRemark 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

!global = memref<?x?xf16, strided<[?, 1]>>
!tile = memref<64x64xf16, 3>
!small = memref<16x32xf32, 3>

gpu.module @kernels {
  // Two loads with disjoint hints become one operation where the second stood; the
  // wait for both still lets no copy be in flight, and the wait that let one other
  // copy be in flight still does.
  // CHECK-LABEL: @two
  // CHECK: tdm.store
  // CHECK-NEXT: %[[J:.*]] = arith.addi
  // CHECK-NEXT: tdm.fused_load {
  // CHECK-NEXT: tdm.load {{.*}} to %A hint(15 : i32)
  // CHECK-NEXT: tdm.load {{.*}} to %B if %{{.*}} hint(48 : i32)
  // CHECK-NEXT: }
  // CHECK-NEXT: tdm.wait 1
  // CHECK-NEXT: tdm.wait 0
  // REMARK: [Passed] wait-recounted{{.*}}After=1, Before=2
  // REMARK: [Passed] loads-fused{{.*}}Loads=2
  gpu.func @two(%a: !global, %b: memref<?x32xf32>, %i: index, %more: i1) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %ldsA = lds.region @A : !tile
    %ldsB = lds.region @B : !small
    %ldsC = lds.region @C : !tile
    tdm.store %ldsC to %a[%i, %i] : !tile to !global
    tdm.load %a[%i, %i] to %ldsA hint(0x0f : i32) : !global to !tile
    %j = arith.addi %i, %i : index
    tdm.load %b[%j, %i] to %ldsB if %more hint(0x30 : i32) : memref<?x32xf32> to !small
    tdm.wait 2
    tdm.wait 0
    gpu.return
  }

  // Five loads: four at most go together.
  // CHECK-LABEL: @five
  // CHECK: tdm.fused_load
  // CHECK-COUNT-4: tdm.load
  // CHECK: }
  // CHECK: tdm.load
  // REMARK: [Missed] no-adjacent-load
  gpu.func @five(%a: !global, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %lds = lds.region @A : !tile
    tdm.load %a[%i, %i] to %lds hint(0x01 : i32) : !global to !tile
    tdm.load %a[%i, %i] to %lds hint(0x02 : i32) : !global to !tile
    tdm.load %a[%i, %i] to %lds hint(0x04 : i32) : !global to !tile
    tdm.load %a[%i, %i] to %lds hint(0x08 : i32) : !global to !tile
    tdm.load %a[%i, %i] to %lds hint(0x10 : i32) : !global to !tile
    gpu.return
  }

  // A double-buffered loop: the wait lets the loads of the next step be in flight,
  // two before and one operation after, on the way in and around.
  // CHECK-LABEL: @pipelined
  // CHECK: tdm.fused_load
  // CHECK: scf.for
  // CHECK: tdm.fused_load
  // CHECK: tdm.wait 1
  // CHECK: tdm.wait 0
  gpu.func @pipelined(%a: !global, %n: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %lds = lds.region @A : memref<2x2x64x64xf16, 3>
    %a0 = memref.subview %lds[0, 0, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<2x2x64x64xf16, 3> to memref<64x64xf16, strided<[64, 1]>, 3>
    %b0 = memref.subview %lds[0, 1, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<2x2x64x64xf16, 3> to memref<64x64xf16, strided<[64, 1], offset: 4096>, 3>
    tdm.load %a[%c0, %c0] to %a0 hint(0x0f : i32) : !global to memref<64x64xf16, strided<[64, 1]>, 3>
    tdm.load %a[%c0, %c0] to %b0 hint(0xf0 : i32) : !global to memref<64x64xf16, strided<[64, 1], offset: 4096>, 3>
    scf.for %k = %c1 to %n step %c1 {
      %slot = arith.remui %k, %c2 : index
      %an = memref.subview %lds[%slot, 0, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<2x2x64x64xf16, 3> to memref<64x64xf16, strided<[64, 1], offset: ?>, 3>
      %bn = memref.subview %lds[%slot, 1, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<2x2x64x64xf16, 3> to memref<64x64xf16, strided<[64, 1], offset: ?>, 3>
      tdm.load %a[%k, %c0] to %an hint(0x0f : i32) : !global to memref<64x64xf16, strided<[64, 1], offset: ?>, 3>
      tdm.load %a[%k, %c0] to %bn hint(0xf0 : i32) : !global to memref<64x64xf16, strided<[64, 1], offset: ?>, 3>
      tdm.wait 2
      gpu.barrier
      gpu.barrier
    }
    tdm.wait 0
    gpu.return
  }

  // A wait that no path reaches with so many copies waits for nothing, and stays.
  // CHECK-LABEL: @fewer
  // CHECK: tdm.wait 3
  gpu.func @fewer(%a: !global, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %lds = lds.region @A : !tile
    tdm.load %a[%i, %i] to %lds hint(0x0f : i32) : !global to !tile
    tdm.load %a[%i, %i] to %lds hint(0xf0 : i32) : !global to !tile
    tdm.wait 3
    gpu.return
  }

  // What a person fused is one copy already.
  // CHECK-LABEL: @fused_already
  // CHECK: tdm.fused_load
  // CHECK: tdm.fused_load
  // CHECK: tdm.wait 1
  gpu.func @fused_already(%a: !global, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %lds = lds.region @A : !tile
    tdm.load %a[%i, %i] to %lds hint(0x0f : i32) : !global to !tile
    tdm.load %a[%i, %i] to %lds hint(0xf0 : i32) : !global to !tile
    tdm.fused_load {
      tdm.load %a[%i, %i] to %lds hint(0x0f : i32) : !global to !tile
      tdm.load %a[%i, %i] to %lds hint(0xf0 : i32) : !global to !tile
    }
    tdm.wait 1
    gpu.return
  }
}
