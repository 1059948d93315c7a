// RUN: lodestone-opt %s | lodestone-opt | FileCheck %s
// RUN: lodestone-opt %s --mlir-print-op-generic | lodestone-opt | FileCheck %s
// RUN: lodestone-opt %s --cse --loop-invariant-code-motion | FileCheck %s --check-prefix=EFFECTS

!global = memref<?x?xf16, strided<[?, 1], offset: ?>>
!lds = memref<256x64xf16, #gpu.address_space<workgroup>>

// All forms of a copy survive printing and parsing.
// CHECK-LABEL: gpu.func @copies
gpu.module @m {
  gpu.func @copies(%a: !global, %i: index, %p: i1, %mask: i16, %rows: vector<256xi16>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %l = lds.region @L : !lds
    %bar = lds.region @bar : memref<1xi64, 3>
    // CHECK: tdm.load %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} : memref<?x?xf16
    tdm.load %a[%i, %i] to %l : !global to !lds
    // CHECK: tdm.load {{.*}} if %{{.*}} workgroups(%{{.*}}) barrier(%{{.*}} : memref<1xi64, 3>) hint(#tdm.warps<free = 0b011, anchor = 0b100, of = 8>) early_timeout
    tdm.load %a[%i, %i] to %l if %p hint(#tdm.warps<free = 3, anchor = 0x4, of = 0b1000>)
      barrier(%bar : memref<1xi64, 3>) workgroups(%mask) early_timeout : !global to !lds
    // CHECK: tdm.load {{.*}} block([64, 32]) padding(<interval = 16, amount = 4>) iterate(<count = 2, global_step = 128, lds_step = 4096>)
    tdm.load %a[%i, %i] to %l block([64, 32]) padding(<interval = 16, amount = 4>)
      iterate(<count = 2, global_step = 128, lds_step = 4096>) hint(0x01 : i32) : !global to !lds
    // CHECK: tdm.store %{{.*}}, %{{.*}} to %{{.*}}[%{{.*}}, %{{.*}}] partition(0) hint(240 : i32)
    tdm.store %l, %l to %a[%i, %i] partition(0) hint(0xf0 : i32) : !lds, !lds to !global
    // CHECK: tdm.gather %{{.*}}[%{{.*}}] rows(%{{.*}} : vector<256xi16>) to %{{.*}} if %{{.*}} :
    tdm.gather %a[%i] rows(%rows : vector<256xi16>) to %l if %p : !global to !lds
    // CHECK: tdm.fused_load {
    // CHECK-NEXT: tdm.load
    // CHECK-NEXT: tdm.load
    // CHECK-NEXT: }
    tdm.fused_load {
      tdm.load %a[%i, %i] to %l hint(0x0f : i32) : !global to !lds
      tdm.load %a[%i, %i] to %l hint(0xf0 : i32) : !global to !lds
    }
    // CHECK: tdm.wait 1
    tdm.wait 1
    gpu.return
  }

  // Neither a copy nor a wait lets a read of the block pass: the second read is not the first one.
  // EFFECTS-LABEL: gpu.func @effects
  // EFFECTS: scf.for
  // EFFECTS:   memref.load
  // EFFECTS:   tdm.load
  // EFFECTS:   tdm.wait
  // EFFECTS:   memref.load
  // EFFECTS:   tdm.store
  // EFFECTS:   memref.load
  gpu.func @effects(%a: !global, %out: memref<3xf16>, %i: index) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %l = lds.region @L : !lds
    scf.for %j = %c0 to %i step %c1 {
      %x = memref.load %l[%c0, %c0] : !lds
      memref.store %x, %out[%c0] : memref<3xf16>
      tdm.load %a[%j, %c0] to %l : !global to !lds
      tdm.wait 0
      gpu.barrier
      %y = memref.load %l[%c0, %c0] : !lds
      memref.store %y, %out[%c1] : memref<3xf16>
      tdm.store %l to %a[%j, %c0] : !lds to !global
      tdm.wait 0
      %z = memref.load %a[%c0, %c0] : !global
      memref.store %z, %out[%c2] : memref<3xf16>
      gpu.barrier
    }
    gpu.return
  }
}
