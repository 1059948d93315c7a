// RUN: lodestone-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(gpu.module(tdm-fuse-copies))' \
// RUN:   --remarks-filter='.*' --remark-format=emitRemark 2>%t.remarks | FileCheck %s --implicit-check-not=fused_load
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// Nothing in here is fused.

!global = memref<?x?xf16, strided<[?, 1]>>
!tile = memref<64x64xf16, 3>

gpu.module @kernels {
  // Each rule of a fused load, with its values.
  // REMARK: [Missed] no-hint{{.*}}with the next load: a fused load needs a hint on each load
  // REMARK: [Missed] no-hint{{.*}}"a fused load needs a hint on each load
  gpu.func @no_hint(%a: !global, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %lds = lds.region @A : !tile
    tdm.load %a[%i, %i] to %lds hint(0x0f : i32) : !global to !tile
    tdm.load %a[%i, %i] to %lds : !global to !tile
    gpu.return
  }
  // REMARK: [Missed] has-barrier{{.*}}with the next load: a fused load can't have a barrier
  // REMARK: [Missed] has-barrier{{.*}}"a fused load can't have a barrier
  gpu.func @barrier(%a: !global, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %lds = lds.region @A : !tile
    %barrier = lds.region @barrier : memref<1xi64, 3>
    tdm.load %a[%i, %i] to %lds hint(0x0f : i32) : !global to !tile
    tdm.load %a[%i, %i] to %lds barrier(%barrier : memref<1xi64, 3>) hint(0xf0 : i32) : !global to !tile
    gpu.return
  }
  // REMARK: [Missed] different-rank{{.*}}one has rank 2 and another 1
  // REMARK: [Missed] different-rank{{.*}}with the load before:{{.*}}one has rank 2 and another 1
  gpu.func @rank(%a: !global, %v: memref<?xf16>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %lds = lds.region @A : !tile
    %row = lds.region @B : memref<64xf16, 3>
    tdm.load %a[%i, %i] to %lds hint(0x0f : i32) : !global to !tile
    tdm.load %v[%i] to %row hint(0xf0 : i32) : memref<?xf16> to memref<64xf16, 3>
    gpu.return
  }
  // REMARK: [Missed] common-warp{{.*}}two have 0x03
  gpu.func @overlap(%a: !global, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %lds = lds.region @A : !tile
    tdm.load %a[%i, %i] to %lds hint(0x0f : i32) : !global to !tile
    tdm.load %a[%i, %i] to %lds hint(0x33 : i32) : !global to !tile
    gpu.return
  }

  // A barrier, a wait, or an access to memory between the loads keeps them apart.
  // REMARK-COUNT-4: [Missed] no-adjacent-load
  gpu.func @apart(%a: !global, %i: index, %x: f16) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %lds = lds.region @A : !tile
    %other = lds.region @B : memref<64xf16, 3>
    tdm.load %a[%i, %i] to %lds hint(0x01 : i32) : !global to !tile
    gpu.barrier
    tdm.load %a[%i, %i] to %lds hint(0x02 : i32) : !global to !tile
    tdm.wait 0
    tdm.load %a[%i, %i] to %lds hint(0x04 : i32) : !global to !tile
    memref.store %x, %other[%i] : memref<64xf16, 3>
    tdm.load %a[%i, %i] to %lds hint(0x08 : i32) : !global to !tile
    gpu.return
  }

  // The wait lets the second load be in flight and not the first. Fused, it would
  // have to wait for both.
  // CHECK-LABEL: @cut
  // CHECK: tdm.wait 1
  // REMARK: [Missed] cuts-counted-wait
  // REMARK: [Missed] cuts-counted-wait
  gpu.func @cut(%a: !global, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %ldsA = lds.region @A : !tile
    %ldsB = lds.region @B : !tile
    tdm.load %a[%i, %i] to %ldsA hint(0x0f : i32) : !global to !tile
    tdm.load %a[%i, %i] to %ldsB hint(0xf0 : i32) : !global to !tile
    tdm.wait 1
    gpu.return
  }

  // On one path the last two copies are a pair, on the other they aren't: no count
  // says the same as before on both.
  // CHECK-LABEL: @uneven
  // CHECK: tdm.wait 2
  // REMARK: [Missed] cuts-counted-wait
  // REMARK: [Missed] cuts-counted-wait
  gpu.func @uneven(%a: !global, %i: index, %c: i1) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %ldsA = lds.region @A : !tile
    %ldsB = lds.region @B : !tile
    tdm.store %ldsA to %a[%i, %i] : !tile to !global
    scf.if %c {
      tdm.load %a[%i, %i] to %ldsA hint(0x0f : i32) : !global to !tile
      tdm.load %a[%i, %i] to %ldsB hint(0xf0 : i32) : !global to !tile
    } else {
      tdm.store %ldsA to %a[%i, %i] : !tile to !global
      tdm.store %ldsB to %a[%i, %i] : !tile to !global
    }
    tdm.wait 2
    gpu.return
  }

  // Somebody else counts.
  // REMARK: [Missed] counted-elsewhere{{.*}}rocdl.s.wait.tensorcnt, which counts instructions
  // REMARK: [Missed] counted-elsewhere
  gpu.func @by_hand(%a: !global, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %lds = lds.region @A : !tile
    tdm.load %a[%i, %i] to %lds hint(0x0f : i32) : !global to !tile
    tdm.load %a[%i, %i] to %lds hint(0xf0 : i32) : !global to !tile
    rocdl.s.wait.tensorcnt 0
    gpu.return
  }
  func.func private @helper()
  // REMARK: [Missed] counted-elsewhere{{.*}}calls a function
  // REMARK: [Missed] counted-elsewhere
  gpu.func @calls(%a: !global, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %lds = lds.region @A : !tile
    tdm.load %a[%i, %i] to %lds hint(0x0f : i32) : !global to !tile
    tdm.load %a[%i, %i] to %lds hint(0xf0 : i32) : !global to !tile
    func.call @helper() : () -> ()
    gpu.return
  }
  // REMARK: [Missed] counted-elsewhere{{.*}}not a kernel
  // REMARK: [Missed] counted-elsewhere
  func.func @called(%a: !global, %i: index, %lds: !tile) {
    tdm.load %a[%i, %i] to %lds hint(0x0f : i32) : !global to !tile
    tdm.load %a[%i, %i] to %lds hint(0xf0 : i32) : !global to !tile
    return
  }

  // Nobody knows how often this operation runs its region.
  // REMARK: [Missed] unknown-control-flow{{.*}}'test.loop' is around copies
  // REMARK: [Missed] unknown-control-flow
  gpu.func @unknown_flow(%a: !global, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %lds = lds.region @A : !tile
    "test.loop"() ({
      tdm.load %a[%i, %i] to %lds hint(0x0f : i32) : !global to !tile
      tdm.load %a[%i, %i] to %lds hint(0xf0 : i32) : !global to !tile
    }) : () -> ()
    tdm.wait 2
    gpu.return
  }
}
