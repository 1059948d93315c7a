// RUN: lodestone-opt %s --split-input-file --pass-pipeline='builtin.module(gpu.module(convert-tdm-to-rocdl,canonicalize,cse))' | FileCheck %s

!global = memref<4096x1024xf16>
!lds = memref<256x64xf16, #gpu.address_space<workgroup>>

gpu.module @m [#rocdl.target<chip = "gfx1250">] {
  // Two groups of words; only what depends on the warp or the workgroup is computed, by
  // scalar operations on the wave's id; warps 4 to 7 get a count of zero.
  // CHECK-LABEL: gpu.func @hint
  // CHECK-DAG: %[[STRIDE_AND_TILE:.*]] = arith.constant 67108864 : i32
  // CHECK: %[[WARP:.*]] = llvm.call_intrinsic "llvm.amdgcn.wave.id"() : () -> i32
  // CHECK: %[[OTHER:.*]] = arith.andi %[[WARP]], %c4_i32
  // CHECK: %[[ACTIVE:.*]] = arith.cmpi eq, %[[OTHER]], %c0_i32
  // CHECK: %[[COUNT:.*]] = arith.extui %[[ACTIVE]] : i1 to i32
  // CHECK: %[[LDS:.*]] = arith.addi %{{.*}}, %{{.*}} : i32
  // CHECK: llvm.fence syncscope("wavefront") release
  // CHECK: %[[G0:.*]] = vector.from_elements %[[COUNT]], %[[LDS]], %{{.*}}, %{{.*}} : vector<4xi32>
  // CHECK: %[[G1:.*]] = vector.from_elements %c65536_i32, %{{.*}}, %{{.*}}, %{{.*}}, %c64_i32, %c1024_i32, %c0_i32, %c0_i32 : vector<8xi32>
  // CHECK: rocdl.tensor.load.to.lds.d2 %[[G0]], %[[G1]] cachepolicy 0
  // CHECK: rocdl.s.wait.tensorcnt 0
  // CHECK-NEXT: llvm.fence syncscope("wavefront") acquire
  gpu.func @hint(%a: !global, %i: index) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %l = lds.region @L : !lds
    tdm.load %a[%i, %c0] to %l hint(0x0f : i32) : !global to !lds
    tdm.wait 0
    gpu.return
  }

  // All warps: no predicate, with and without a hint that says so. A workgroup of two
  // dimensions has the same warps.
  // CHECK-LABEL: gpu.func @all
  // CHECK-NOT: arith.cmpi
  // CHECK: %[[G0:.*]] = vector.from_elements %c1_i32,
  // CHECK: %[[G1:.*]] = vector.from_elements
  // CHECK: rocdl.tensor.load.to.lds.d2 %[[G0]], %[[G1]]
  // CHECK-NOT: vector.from_elements
  // CHECK: rocdl.tensor.load.to.lds.d2 %[[G0]], %[[G1]]
  gpu.func @all(%a: !global, %i: index) kernel
      attributes {known_block_size = array<i32: 64, 4, 1>} {
    %l = lds.region @L : !lds
    tdm.load %a[%i, %i] to %l : !global to !lds
    tdm.load %a[%i, %i] to %l hint(0xff : i32) : !global to !lds
    gpu.return
  }

  // The user's condition and the hint both hold: 1 or 0 by the condition, in integers
  // that LLVM doesn't know to be a condition by the warp: the id is opaque to it.
  // CHECK-LABEL: gpu.func @predicated
  // CHECK-SAME: %[[P:[a-z0-9]*]]: i1
  // CHECK: %[[ID:.*]] = llvm.inline_asm "", "=s,0" %{{.*}}
  // CHECK: %[[DIFFERENCE:.*]] = arith.xori %[[ID]], %c5_i32
  // CHECK: %[[LESS:.*]] = arith.subi %[[DIFFERENCE]], %c1_i32
  // CHECK: %[[ACTIVE:.*]] = arith.shrui %[[LESS]], %c31_i32
  // CHECK: %[[COUNT:.*]] = arith.select %[[P]], %[[ACTIVE]], %c0_i32
  // CHECK: vector.from_elements %[[COUNT]],
  gpu.func @predicated(%a: !global, %p: i1) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %l = lds.region @L : !lds
    tdm.load %a[%c0, %c0] to %l if %p hint(0xa0 : i32) : !global to !lds
    gpu.return
  }

  // Mask 0x8005, f32, gaps of 5 dwords each 64, barrier, 7 repetitions: word 0 of group 1 is
  // 0x097E8005, word 3 of group 2 is 6 << 16.
  // CHECK-LABEL: gpu.func @everything
  // CHECK-DAG: %[[FLAGS:.*]] = arith.constant 159285253 : i32
  // CHECK-DAG: %[[G2:.*]] = arith.constant dense<[0, 20, 1000, 393216]> : vector<4xi32>
  // CHECK: %[[G1:.*]] = vector.from_elements %[[FLAGS]],
  // CHECK: rocdl.tensor.load.to.lds %{{.*}}, %[[G1]], %[[G2]], %{{.*}} cachepolicy 0
  gpu.func @everything(%a: memref<64x64xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %mask = arith.constant 0x8005 : i16
    %l = lds.region @L : memref<1000xf32, 3>
    %bar = lds.region @bar : memref<1xi64, 3>
    tdm.load %a[%c0, %c0] to %l block([2, 8]) padding(<interval = 64, amount = 5>)
      workgroups(%mask) barrier(%bar : memref<1xi64, 3>) early_timeout
      iterate(<count = 7, global_step = 1000, lds_step = 20>) : memref<64x64xf32> to memref<1000xf32, 3>
    gpu.return
  }

  // LLVM takes groups 2 and 3 away when they are zero, and the third dimension goes with them:
  // beyond the tensor, its size is zero here, too.
  // CHECK-LABEL: gpu.func @third_dimension
  // CHECK: %[[G2:.*]] = arith.constant dense<[0, 1, 0, 0]> : vector<4xi32>
  // CHECK: rocdl.tensor.load.to.lds %{{.*}}, %{{.*}}, %[[G2]],
  gpu.func @third_dimension(%a: memref<4x4x4xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c4 = arith.constant 4 : index
    %l = lds.region @L : memref<4x4x4xf32, 3>
    tdm.load %a[%c4, %c4, %c4] to %l : memref<4x4x4xf32> to memref<4x4x4xf32, 3>
    gpu.return
  }

  // 32 rows on 4 warps: 8 each, so one instruction for 16-bit indices and one for 32-bit ones;
  // 64 rows on 4 warps take two for the latter.
  // CHECK-LABEL: gpu.func @gather
  // CHECK-COUNT-1: rocdl.tensor.load.to.lds
  // CHECK: rocdl.s.wait.tensorcnt 0
  // CHECK-COUNT-2: rocdl.tensor.load.to.lds
  // CHECK: rocdl.s.wait.tensorcnt 2
  gpu.func @gather(%a: !global, %rows: vector<32xi16>, %more: vector<64xi32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %l = lds.region @L : memref<32x64xf16, 3>
    %n = lds.region @N : memref<64x64xf16, 3>
    tdm.gather %a[%c0] rows(%rows : vector<32xi16>) to %l : !global to memref<32x64xf16, 3>
    tdm.wait 0
    tdm.gather %a[%c0] rows(%more : vector<64xi32>) to %n : !global to memref<64x64xf16, 3>
    tdm.wait 1
    gpu.return
  }

  // A fused load is one instruction, and each word that differs is selected.
  // CHECK-LABEL: gpu.func @fused
  // CHECK: arith.select
  // CHECK-COUNT-1: rocdl.tensor.load.to.lds
  // CHECK-NOT: rocdl.tensor
  // CHECK: rocdl.s.wait.tensorcnt 1
  gpu.func @fused(%a: !global, %b: memref<64x64xi8>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %l = lds.region @L : !lds
    %n = lds.region @N : memref<64x64xi8, 3>
    tdm.fused_load {
      tdm.load %a[%c0, %c0] to %l hint(0x0f : i32) : !global to !lds
      tdm.load %b[%c0, %c0] to %n hint(#tdm.warps<free = 0b001, anchor = 0b110, of = 8>) : memref<64x64xi8> to memref<64x64xi8, 3>
    }
    tdm.wait 1
    gpu.return
  }
}

// -----

!global = memref<4096x64xf16>
!lds = memref<64x64xf16, 3>

// Four pieces of a block on two warps take two instructions without a hint; waits count them.
gpu.module @waits [#rocdl.target<chip = "gfx1250">] {
  // Straight: the last copy took two, the last two took three, all four took six. More copies than
  // there are need no wait.
  // CHECK-LABEL: gpu.func @straight
  // CHECK: rocdl.s.wait.tensorcnt 2
  // CHECK: rocdl.s.wait.tensorcnt 3
  // CHECK: rocdl.s.wait.tensorcnt 5
  // CHECK: rocdl.s.wait.tensorcnt 63
  gpu.func @straight(%a: !global) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %l = lds.region @L : !lds
    %n0 = lds.region @N0 : memref<16x64xf16, 3>
    %n1 = lds.region @N1 : memref<16x64xf16, 3>
    %n2 = lds.region @N2 : memref<16x64xf16, 3>
    %n3 = lds.region @N3 : memref<16x64xf16, 3>
    tdm.load %a[%c0, %c0] to %n0, %n1, %n2, %n3 partition(0)
      : !global to memref<16x64xf16, 3>, memref<16x64xf16, 3>, memref<16x64xf16, 3>, memref<16x64xf16, 3>
    tdm.load %a[%c0, %c0] to %l : !global to !lds
    tdm.load %a[%c0, %c0] to %n0, %n1, %n2, %n3 partition(0)
      : !global to memref<16x64xf16, 3>, memref<16x64xf16, 3>, memref<16x64xf16, 3>, memref<16x64xf16, 3>
    tdm.wait 1
    tdm.wait 2
    tdm.wait 3
    tdm.wait 4
    gpu.return
  }

  // One path starts a copy of two instructions, the other one of one: the wait allows one.
  // CHECK-LABEL: gpu.func @branch
  // CHECK: rocdl.s.wait.tensorcnt 1
  gpu.func @branch(%a: !global, %p: i1) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %l = lds.region @L : !lds
    %n0 = lds.region @N0 : memref<16x64xf16, 3>
    %n1 = lds.region @N1 : memref<16x64xf16, 3>
    %n2 = lds.region @N2 : memref<16x64xf16, 3>
    %n3 = lds.region @N3 : memref<16x64xf16, 3>
    tdm.load %a[%c0, %c0] to %l : !global to !lds
    scf.if %p {
      tdm.load %a[%c0, %c0] to %n0, %n1, %n2, %n3 partition(0)
        : !global to memref<16x64xf16, 3>, memref<16x64xf16, 3>, memref<16x64xf16, 3>, memref<16x64xf16, 3>
    } else {
      tdm.load %a[%c0, %c0] to %l : !global to !lds
    }
    tdm.wait 1
    gpu.return
  }

  // In a loop: the copies of the iteration before count, and those of the prologue in the
  // first one, whichever took fewer instructions.
  // CHECK-LABEL: gpu.func @loop
  // CHECK: scf.for
  // CHECK: rocdl.s.wait.tensorcnt 2
  // CHECK: rocdl.s.wait.tensorcnt 3
  // CHECK: rocdl.s.wait.tensorcnt 5
  gpu.func @loop(%a: !global, %n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %l = lds.region @L : !lds
    %n0 = lds.region @N0 : memref<16x64xf16, 3>
    %n1 = lds.region @N1 : memref<16x64xf16, 3>
    %n2 = lds.region @N2 : memref<16x64xf16, 3>
    %n3 = lds.region @N3 : memref<16x64xf16, 3>
    tdm.load %a[%c0, %c0] to %l : !global to !lds
    scf.for %i = %c0 to %n step %c1 {
      tdm.load %a[%i, %c0] to %n0, %n1, %n2, %n3 partition(0)
        : !global to memref<16x64xf16, 3>, memref<16x64xf16, 3>, memref<16x64xf16, 3>, memref<16x64xf16, 3>
      tdm.wait 1
      tdm.wait 2
      tdm.load %a[%i, %c0] to %l : !global to !lds
      tdm.load %a[%i, %c0] to %n0, %n1, %n2, %n3 partition(0)
        : !global to memref<16x64xf16, 3>, memref<16x64xf16, 3>, memref<16x64xf16, 3>, memref<16x64xf16, 3>
      tdm.wait 3
    }
    gpu.return
  }

  // In a function that others call, and after a call, nothing is known but that each copy took
  // an instruction.
  // CHECK-LABEL: gpu.func @called
  // CHECK: rocdl.s.wait.tensorcnt 3
  // CHECK: func.call
  // CHECK: rocdl.s.wait.tensorcnt 1
  func.func private @other()
  gpu.func @called(%a: !global) attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %n0 = lds.region @N0 : memref<16x64xf16, 3>
    %n1 = lds.region @N1 : memref<16x64xf16, 3>
    %n2 = lds.region @N2 : memref<16x64xf16, 3>
    %n3 = lds.region @N3 : memref<16x64xf16, 3>
    tdm.load %a[%c0, %c0] to %n0, %n1, %n2, %n3 partition(0)
      : !global to memref<16x64xf16, 3>, memref<16x64xf16, 3>, memref<16x64xf16, 3>, memref<16x64xf16, 3>
    tdm.wait 2
    func.call @other() : () -> ()
    tdm.wait 1
    gpu.return
  }
}
