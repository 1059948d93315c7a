// Reads and writes of LDS that a copy may still be busy with, and what the pass can't do without;
// at the end, what is right and near to it.
// RUN: lodestone-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(convert-tdm-to-rocdl))' -o /dev/null

// A read without any wait.
!global = memref<4096x64xf16>
!lds = memref<64x64xf16, #gpu.address_space<workgroup>>
gpu.module @m [#rocdl.target<chip = "gfx1250">] {
  gpu.func @k(%a: !global, %out: memref<4xf16>, %n: index, %p: i1) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %l = lds.region @L : !lds
    // expected-note @below {{the copy is here}}
    tdm.load %a[%c0, %c0] to %l : !global to !lds
    gpu.barrier
    // expected-error @below {{reads LDS that a copy writes, but can be reached without a tdm.wait for it}}
    %x = memref.load %l[%c0, %c0] : !lds
    gpu.return
  }
}

// -----

// A wait, but no barrier: the parts of the other warps may be missing.
!global = memref<4096x64xf16>
!lds = memref<64x64xf16, #gpu.address_space<workgroup>>
gpu.module @m [#rocdl.target<chip = "gfx1250">] {
  gpu.func @k(%a: !global, %out: memref<4xf16>, %n: index, %p: i1) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %l = lds.region @L : !lds
    // expected-note @below {{the copy is here}}
    tdm.load %a[%c0, %c0] to %l : !global to !lds
    tdm.wait 0
    // expected-error @below {{reads LDS that a copy writes, but can be reached without a barrier after the tdm.wait for it}}
    %x = memref.load %l[%c0, %c0] : !lds
    gpu.return
  }
}

// -----

// The barrier is before the wait.
!global = memref<4096x64xf16>
!lds = memref<64x64xf16, #gpu.address_space<workgroup>>
gpu.module @m [#rocdl.target<chip = "gfx1250">] {
  gpu.func @k(%a: !global, %out: memref<4xf16>, %n: index, %p: i1) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %l = lds.region @L : !lds
    // expected-note @below {{the copy is here}}
    tdm.load %a[%c0, %c0] to %l : !global to !lds
    gpu.barrier
    tdm.wait 0
    // expected-error @below {{reads LDS that a copy writes, but can be reached without a barrier after the tdm.wait for it}}
    %x = memref.load %l[%c0, %c0] : !lds
    gpu.return
  }
}

// -----

// The wait leaves this copy in flight.
!global = memref<4096x64xf16>
!lds = memref<64x64xf16, #gpu.address_space<workgroup>>
gpu.module @m [#rocdl.target<chip = "gfx1250">] {
  gpu.func @k(%a: !global, %out: memref<4xf16>, %n: index, %p: i1) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %l = lds.region @L : !lds
    // expected-note @below {{the copy is here}}
    tdm.load %a[%c0, %c0] to %l : !global to !lds
    tdm.wait 1
    gpu.barrier
    // expected-error @below {{reads LDS that a copy writes, but can be reached without a tdm.wait for it}}
    %x = memref.load %l[%c0, %c0] : !lds
    gpu.return
  }
}

// -----

// The wait is on one path only.
!global = memref<4096x64xf16>
!lds = memref<64x64xf16, #gpu.address_space<workgroup>>
gpu.module @m [#rocdl.target<chip = "gfx1250">] {
  gpu.func @k(%a: !global, %out: memref<4xf16>, %n: index, %p: i1) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %l = lds.region @L : !lds
    // expected-note @below {{the copy is here}}
    tdm.load %a[%c0, %c0] to %l : !global to !lds
    scf.if %p {
      tdm.wait 0
    }
    gpu.barrier
    // expected-error @below {{reads LDS that a copy writes, but can be reached without a tdm.wait for it}}
    %x = memref.load %l[%c0, %c0] : !lds
    gpu.return
  }
}

// -----

// In a loop, the copy of the iteration before.
!global = memref<4096x64xf16>
!lds = memref<64x64xf16, #gpu.address_space<workgroup>>
gpu.module @m [#rocdl.target<chip = "gfx1250">] {
  gpu.func @k(%a: !global, %out: memref<4xf16>, %n: index, %p: i1) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %l = lds.region @L : !lds
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      // expected-error @below {{reads LDS that a copy writes, but can be reached without a tdm.wait for it}}
      %x = memref.load %l[%c0, %c0] : !lds
      // expected-note @below {{the copy is here}}
      tdm.load %a[%c0, %c0] to %l : !global to !lds
    }
    gpu.return
  }
}

// -----

// A part of the block is a part of the block.
!global = memref<4096x64xf16>
!lds = memref<64x64xf16, #gpu.address_space<workgroup>>
gpu.module @m [#rocdl.target<chip = "gfx1250">] {
  gpu.func @k(%a: !global, %out: memref<4xf16>, %n: index, %p: i1) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %l = lds.region @L : !lds
    // expected-note @below {{the copy is here}}
    tdm.load %a[%c0, %c0] to %l : !global to !lds
    %v = memref.subview %l[8, 0] [1, 64] [1, 1] : !lds to memref<1x64xf16, strided<[64, 1], offset: 512>, #gpu.address_space<workgroup>>
    // expected-error @below {{reads LDS that a copy writes, but can be reached without a tdm.wait for it}}
    %x = memref.load %v[%c0, %c0] : memref<1x64xf16, strided<[64, 1], offset: 512>, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

// A store of the block reads it.
!global = memref<4096x64xf16>
!lds = memref<64x64xf16, #gpu.address_space<workgroup>>
gpu.module @m [#rocdl.target<chip = "gfx1250">] {
  gpu.func @k(%a: !global, %out: memref<4xf16>, %n: index, %p: i1) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %l = lds.region @L : !lds
    // expected-note @below {{the copy is here}}
    tdm.load %a[%c0, %c0] to %l : !global to !lds
    tdm.wait 0
    // expected-error @below {{reads LDS that a copy writes, but can be reached without a barrier after the tdm.wait for it}}
    tdm.store %l to %a[%c0, %c0] : !lds to !global
    gpu.return
  }
}

// -----

// What a store reads isn't to be overwritten.
!global = memref<4096x64xf16>
!lds = memref<64x64xf16, #gpu.address_space<workgroup>>
gpu.module @m [#rocdl.target<chip = "gfx1250">] {
  gpu.func @k(%a: !global, %out: memref<4xf16>, %n: index, %p: i1) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %l = lds.region @L : !lds
    // expected-note @below {{the copy is here}}
    tdm.store %l to %a[%c0, %c0] : !lds to !global
    gpu.barrier
    // expected-error @below {{writes LDS that a copy reads, but can be reached without a tdm.wait for it}}
    tdm.load %a[%c0, %c0] to %l : !global to !lds
    gpu.return
  }
}

// -----

// What a copy writes isn't to be written.
!global = memref<4096x64xf16>
!lds = memref<64x64xf16, #gpu.address_space<workgroup>>
gpu.module @m [#rocdl.target<chip = "gfx1250">] {
  gpu.func @k(%a: !global, %out: memref<4xf16>, %n: index, %p: i1) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %l = lds.region @L : !lds
    // expected-note @below {{the copy is here}}
    tdm.load %a[%c0, %c0] to %l : !global to !lds
    %f = memref.load %out[%c0] : memref<4xf16>
    // expected-error @below {{writes LDS that a copy writes, but can be reached without a tdm.wait for it}}
    memref.store %f, %l[%c0, %c0] : !lds
    gpu.return
  }
}

// -----

// Members of a fused load count.
!global = memref<4096x64xf16>
!lds = memref<64x64xf16, #gpu.address_space<workgroup>>
gpu.module @m [#rocdl.target<chip = "gfx1250">] {
  gpu.func @k(%a: !global, %out: memref<4xf16>, %n: index, %p: i1) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %l = lds.region @L : !lds
    %m = lds.region @M : !lds
    // expected-note @below {{the copy is here}}
    tdm.fused_load {
      tdm.load %a[%c0, %c0] to %m hint(1 : i32) : !global to !lds
      tdm.load %a[%c0, %c0] to %l hint(2 : i32) : !global to !lds
    }
    // expected-error @below {{reads LDS that a copy writes, but can be reached without a tdm.wait for it}}
    %x = memref.load %l[%c0, %c0] : !lds
    gpu.return
  }
}

// -----

// Both halves of a split barrier are needed, and the wait is before the first.
!global = memref<4096x64xf16>
!lds = memref<64x64xf16, #gpu.address_space<workgroup>>
gpu.module @m [#rocdl.target<chip = "gfx1250">] {
  gpu.func @k(%a: !global, %out: memref<4xf16>, %n: index, %p: i1) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %l = lds.region @L : !lds
    // expected-note @below {{the copy is here}}
    tdm.load %a[%c0, %c0] to %l : !global to !lds
    rocdl.s.barrier.signal id = -1
    tdm.wait 0
    rocdl.s.barrier.wait id = -1
    // expected-error @below {{reads LDS that a copy writes, but can be reached without a barrier after the tdm.wait for it}}
    %x = memref.load %l[%c0, %c0] : !lds
    gpu.return
  }
}

// -----

// A named barrier is one of some warps, not of the workgroup.
!global = memref<4096x64xf16>
!lds = memref<64x64xf16, #gpu.address_space<workgroup>>
gpu.module @m [#rocdl.target<chip = "gfx1250">] {
  gpu.func @k(%a: !global, %out: memref<4xf16>, %n: index, %p: i1) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %l = lds.region @L : !lds
    // expected-note @below {{the copy is here}}
    tdm.load %a[%c0, %c0] to %l : !global to !lds
    tdm.wait 0
    rocdl.s.barrier.signal id = 1
    rocdl.s.barrier.wait id = 1
    // expected-error @below {{reads LDS that a copy writes, but can be reached without a barrier after the tdm.wait for it}}
    %x = memref.load %l[%c0, %c0] : !lds
    gpu.return
  }
}

// -----

// The number of warps is needed.
!global = memref<4096x64xf16>
!lds = memref<64x64xf16, #gpu.address_space<workgroup>>
gpu.module @m [#rocdl.target<chip = "gfx1250">] {
  gpu.func @k(%a: !global, %out: memref<4xf16>, %n: index, %p: i1) kernel  {
    %c0 = arith.constant 0 : index
    %l = lds.region @L : !lds
    // expected-error @below {{needs the size of the workgroup to divide the block among its warps, but it is unknown; give the kernel a known_block_size}}
    tdm.load %a[%c0, %c0] to %l : !global to !lds
    gpu.return
  }
}

// -----

// A chip without the tensor data mover.
!global = memref<4096x64xf16>
!lds = memref<64x64xf16, #gpu.address_space<workgroup>>
gpu.module @m [#rocdl.target<chip = "gfx950">] {
  // expected-error @below {{has copies of the tensor data mover, which gfx950 doesn't have}}
  gpu.func @k(%a: !global, %out: memref<4xf16>, %n: index, %p: i1) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %l = lds.region @L : !lds
    tdm.load %a[%c0, %c0] to %l : !global to !lds
    gpu.return
  }
}

// -----

// A chip that nobody knows.
!global = memref<4096x64xf16>
!lds = memref<64x64xf16, #gpu.address_space<workgroup>>
// expected-error @below {{unknown chip 'gfx9999'}}
gpu.module @m [#rocdl.target<chip = "gfx9999">] {
  gpu.func @k(%a: !global, %out: memref<4xf16>, %n: index, %p: i1) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %l = lds.region @L : !lds
    tdm.load %a[%c0, %c0] to %l : !global to !lds
    gpu.return
  }
}

// -----

// Right, in every way to say it: no diagnostic.
!global = memref<4096x64xf16>
!lds = memref<64x64xf16, #gpu.address_space<workgroup>>
gpu.module @m [#rocdl.target<chip = "gfx1250">] {
  gpu.func @k(%a: !global, %out: memref<4xf16>, %n: index, %p: i1) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %l = lds.region @L : !lds
    %m = lds.region @M : !lds
    tdm.load %a[%c0, %c0] to %l : !global to !lds
    tdm.wait 0
    gpu.barrier
    %x = memref.load %l[%c0, %c0] : !lds
    gpu.return
  }
}

// -----

// A wait before the signal of a split barrier.
!global = memref<4096x64xf16>
!lds = memref<64x64xf16, #gpu.address_space<workgroup>>
gpu.module @m [#rocdl.target<chip = "gfx1250">] {
  gpu.func @k(%a: !global, %out: memref<4xf16>, %n: index, %p: i1) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %l = lds.region @L : !lds
    tdm.load %a[%c0, %c0] to %l : !global to !lds
    tdm.wait 0
    rocdl.s.barrier.signal id = -1
    rocdl.s.barrier.wait id = -1
    %x = memref.load %l[%c0, %c0] : !lds
    gpu.return
  }
}

// -----

// One warp needs no barrier.
!global = memref<4096x64xf16>
!lds = memref<64x64xf16, #gpu.address_space<workgroup>>
gpu.module @m [#rocdl.target<chip = "gfx1250">] {
  gpu.func @k(%a: !global, %out: memref<4xf16>, %n: index, %p: i1) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %l = lds.region @L : !lds
    tdm.load %a[%c0, %c0] to %l : !global to !lds
    tdm.wait 0
    %x = memref.load %l[%c0, %c0] : !lds
    gpu.return
  }
}

// -----

// Another region, and bytes beside the block.
!global = memref<4096x64xf16>
!lds = memref<64x64xf16, #gpu.address_space<workgroup>>
gpu.module @m [#rocdl.target<chip = "gfx1250">] {
  gpu.func @k(%a: !global, %out: memref<4xf16>, %n: index, %p: i1) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %l = lds.region @L : !lds
    %m = lds.region @M : !lds
    %w = lds.region @W : !lds
    tdm.load %a[%c0, %c0] to %l : !global to !lds
    %x = memref.load %m[%c0, %c0] : !lds
    %lo = memref.subview %w[0, 0] [32, 64] [1, 1] : !lds to memref<32x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>>
    %hi = memref.subview %w[32, 0] [32, 64] [1, 1] : !lds to memref<32x64xf16, strided<[64, 1], offset: 2048>, #gpu.address_space<workgroup>>
    tdm.load %a[%c0, %c0] to %hi : !global to memref<32x64xf16, strided<[64, 1], offset: 2048>, #gpu.address_space<workgroup>>
    %y = memref.load %lo[%c0, %c0] : memref<32x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

// The copy before the last one is done.
!global = memref<4096x64xf16>
!lds = memref<64x64xf16, #gpu.address_space<workgroup>>
gpu.module @m [#rocdl.target<chip = "gfx1250">] {
  gpu.func @k(%a: !global, %out: memref<4xf16>, %n: index, %p: i1) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %l = lds.region @L : !lds
    %m = lds.region @M : !lds
    tdm.load %a[%c0, %c0] to %l : !global to !lds
    tdm.load %a[%c0, %c0] to %m : !global to !lds
    tdm.wait 1
    gpu.barrier
    %x = memref.load %l[%c0, %c0] : !lds
    gpu.return
  }
}

// -----

// Reading what a store reads.
!global = memref<4096x64xf16>
!lds = memref<64x64xf16, #gpu.address_space<workgroup>>
gpu.module @m [#rocdl.target<chip = "gfx1250">] {
  gpu.func @k(%a: !global, %out: memref<4xf16>, %n: index, %p: i1) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %l = lds.region @L : !lds
    tdm.store %l to %a[%c0, %c0] : !lds to !global
    %x = memref.load %l[%c0, %c0] : !lds
    gpu.return
  }
}

// -----

// The count of instructions says it, too.
!global = memref<4096x64xf16>
!lds = memref<64x64xf16, #gpu.address_space<workgroup>>
gpu.module @m [#rocdl.target<chip = "gfx1250">] {
  gpu.func @k(%a: !global, %out: memref<4xf16>, %n: index, %p: i1) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %l = lds.region @L : !lds
    tdm.load %a[%c0, %c0] to %l : !global to !lds
    rocdl.s.wait.tensorcnt 0
    gpu.barrier
    %x = memref.load %l[%c0, %c0] : !lds
    gpu.return
  }
}

// -----

// An index of 32 bits has no room for an address.
gpu.module @m attributes {dlti.dl_spec = #dlti.dl_spec<index = 32 : i64>} {
  // expected-error @below {{has copies of the tensor data mover, whose addresses need an index of 64 bits, but it has 32}}
  gpu.func @k(%a: memref<64xf16>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %l = lds.region @L : memref<64xf16, 3>
    tdm.load %a[%i] to %l : memref<64xf16> to memref<64xf16, 3>
    gpu.return
  }
}
