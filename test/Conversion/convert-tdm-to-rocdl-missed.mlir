// Accesses that may be to the bytes of a copy: a remark, no error.
// RUN: lodestone-opt %s --split-input-file --pass-pipeline='builtin.module(gpu.module(convert-tdm-to-rocdl))' --remarks-filter=convert-tdm-to-rocdl --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s

// A ring of two buffers by a number that isn't known: reads of one may be reads of the other.
!global = memref<4096x64xf16>
!lds = memref<64x64xf16, #gpu.address_space<workgroup>>
gpu.module @m [#rocdl.target<chip = "gfx1250">] {
  gpu.func @k(%a: !global, %out: memref<4xf16>, %n: index, %p: i1) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %l = lds.region @L : !lds
    // CHECK: [Missed] unproven-wait {{.*}} Reason="reads LDS at a place that isn't constant, which may be that of the copy 'tdm.load', and can be reached without a tdm.wait for it"
    %v = memref.subview %l[%n, 0] [1, 64] [1, 1] : !lds to memref<1x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
    tdm.load %a[%c0, %c0] to %v : !global to memref<1x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
    %x = memref.load %l[%c0, %c0] : !lds
    gpu.return
  }
}

// -----

// A region that overlays that of the copy, after the wait.
!global = memref<4096x64xf16>
!lds = memref<64x64xf16, #gpu.address_space<workgroup>>
gpu.module @m [#rocdl.target<chip = "gfx1250">] {
  gpu.func @k(%a: !global, %out: memref<4xf16>, %n: index, %p: i1) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %l = lds.region @L : !lds
    %m = lds.region @M overlays @L : !lds
    // CHECK: [Missed] unproven-wait {{.*}} and can be reached without a barrier after the tdm.wait for it"
    tdm.load %a[%c0, %c0] to %l : !global to !lds
    tdm.wait 0
    %x = memref.load %m[%c0, %c0] : !lds
    gpu.return
  }
}

// -----

// A memref from elsewhere.
!global = memref<4096x64xf16>
!lds = memref<64x64xf16, #gpu.address_space<workgroup>>
gpu.module @m [#rocdl.target<chip = "gfx1250">] {
  gpu.func @k(%a: !global, %q: memref<4xf16, 3>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %l = lds.region @L : !lds
    // CHECK: [Missed] unproven-wait
    tdm.load %a[%c0, %c0] to %l : !global to !lds
    %x = memref.load %q[%c0] : memref<4xf16, 3>
    gpu.return
  }
}
