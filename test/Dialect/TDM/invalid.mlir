// Each rule of a copy is broken once, in the order in which they are checked; the error says
// which one and the values, and where there is a legal hint nearby, that.
// RUN: lodestone-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

// Rule 1: the number of warps is a power of two.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 192, 1, 1>} {
    // expected-error @below {{6 warps}}
    tdm.load %a[%i, %i] to %l hint(0x01 : i32) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
    gpu.return
  }
}

// -----

// Also without a hint.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 192, 1, 1>} {
    // expected-error @below {{6 warps}}
    tdm.load %a[%i, %i] to %l  : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
    gpu.return
  }
}

// -----

// The workgroup consists of whole warps.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 48, 1, 1>} {
    // expected-error @below {{needs a workgroup of whole warps of 32 work items, but it has 48}}
    tdm.load %a[%i, %i] to %l  : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
    gpu.return
  }
}

// -----

// Rule 3: a hint names a warp.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{hint 0x00 selects no warp}}
    // expected-note @below {{the nearest legal hint is 0x01}}
    tdm.load %a[%i, %i] to %l hint(0 : i32) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
    gpu.return
  }
}

// -----

// Rule 4: no warp that the workgroup doesn't have.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{hint 0x100 selects warp 8, but the workgroup has warps 0 to 7 only}}
    // expected-note @below {{the nearest legal hint is 0x01}}
    tdm.load %a[%i, %i] to %l hint(0x100 : i32) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
    gpu.return
  }
}

// -----

// Rule 5: a power of two of warps.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{hint 0x07 selects 3 warps, but a block is divided among a power of two of warps}}
    // expected-note @below {{the nearest legal hint is 0x03}}
    tdm.load %a[%i, %i] to %l hint(0x07 : i32) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
    gpu.return
  }
}

// -----

// Rule 6: contiguous but not aligned.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{hint 0x3c is not axis-aligned}}
    // expected-note @below {{the nearest legal hint is 0x0c}}
    tdm.load %a[%i, %i] to %l hint(0x3c : i32) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
    gpu.return
  }
}

// -----

// Rule 6 is checked where the number of warps is unknown, too.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %i: index) kernel {
    // expected-error @below {{hint 0x18 is not axis-aligned}}
    // expected-note @below {{the nearest legal hint is 0x08}}
    tdm.load %a[%i, %i] to %l hint(0x18 : i32) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
    gpu.return
  }
}

// -----

// A pair of masks is for so many warps.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{hint is for 4 warps, but the workgroup has 8}}
    tdm.load %a[%i, %i] to %l hint(#tdm.warps<free = 1, anchor = 0, of = 4>) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
    gpu.return
  }
}

// -----

// Rule 7: one instruction fills all pieces.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{hint has 2 active warps, which the 4 pieces of the block don't divide}}
    tdm.load %a[%i, %i] to %l, %l, %l, %l partition(0) hint(0x03 : i32) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>, memref<256x64xf16, 3>, memref<256x64xf16, 3>, memref<256x64xf16, 3>
    gpu.return
  }
}

// -----

// Rule 8: no more warps than parts.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{hint has 4 active warps, but the block of 2x1 can be divided into 2 parts at most}}
    tdm.load %a[%i, %i] to %l block([2, 1]) hint(0x0f : i32) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
    gpu.return
  }
}

// -----

// Rule 8: a part must be contiguous in LDS, so columns of several rows are no part.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{can be divided into 1 parts at most}}
    tdm.load %a[%i, %i] to %l block([3, 64]) hint(0x03 : i32) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
    gpu.return
  }
}

// -----

// Rule 8: a part is a multiple of the padding interval.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{hint has 8 active warps, but the block of 8x16 can be divided into 4 parts at most that are multiples of the padding interval of 16 dwords}}
    tdm.load %a[%i, %i] to %l block([8, 16]) padding(<interval = 16, amount = 1>) hint(0xff : i32) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
    gpu.return
  }
}

// -----

// Rule 10: a tile dimension has 16 bits.
gpu.module @m {
  gpu.func @k(%a: memref<?xi8>, %l: memref<70000xi8, 3>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // expected-error @below {{dimension 0 of the part of a warp, 70000, is 70000 elements long, but a descriptor has room for 65535}}
    tdm.load %a[%i] to %l : memref<?xi8> to memref<70000xi8, 3>
    gpu.return
  }
}

// -----

// Rank 1 to 5: none.
gpu.module @m {
  gpu.func @k(%a: memref<f16>, %l: memref<f16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{tensor must have rank 1 to 5}}
    tdm.load %a[] to %l : memref<f16> to memref<f16, 3>
    gpu.return
  }
}

// -----

// Rank 1 to 5: six.
gpu.module @m {
  gpu.func @k(%a: memref<2x2x2x2x2x2xf16>, %l: memref<2x2x2x2x2x2xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{tensor must have rank 1 to 5}}
    tdm.load %a[%i, %i, %i, %i, %i, %i] to %l : memref<2x2x2x2x2x2xf16> to memref<2x2x2x2x2x2xf16, 3>
    gpu.return
  }
}

// -----

// Elements of 1, 2, 4 or 8 bytes: i4.
gpu.module @m {
  gpu.func @k(%a: memref<64xi4>, %l: memref<64xi4, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{element type must have 1, 2, 4 or 8 bytes}}
    tdm.load %a[%i] to %l : memref<64xi4> to memref<64xi4, 3>
    gpu.return
  }
}

// -----

// Elements of 1, 2, 4 or 8 bytes: i128.
gpu.module @m {
  gpu.func @k(%a: memref<64xi128>, %l: memref<64xi128, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{element type must have 1, 2, 4 or 8 bytes}}
    tdm.load %a[%i] to %l : memref<64xi128> to memref<64xi128, 3>
    gpu.return
  }
}

// -----

// Elements of 1, 2, 4 or 8 bytes: f80.
gpu.module @m {
  gpu.func @k(%a: memref<64xf80>, %l: memref<64xf80, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{element type must have 1, 2, 4 or 8 bytes}}
    tdm.load %a[%i] to %l : memref<64xf80> to memref<64xf80, 3>
    gpu.return
  }
}

// -----

// Elements of 1, 2, 4 or 8 bytes: index.
gpu.module @m {
  gpu.func @k(%a: memref<64xindex>, %l: memref<64xindex, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{element type must have 1, 2, 4 or 8 bytes}}
    tdm.load %a[%i] to %l : memref<64xindex> to memref<64xindex, 3>
    gpu.return
  }
}

// -----

// Elements of 1, 2, 4 or 8 bytes: vector<3xf16>.
gpu.module @m {
  gpu.func @k(%a: memref<64xvector<3xf16>>, %l: memref<64xvector<3xf16>, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{element type must have 1, 2, 4 or 8 bytes}}
    tdm.load %a[%i] to %l : memref<64xvector<3xf16>> to memref<64xvector<3xf16>, 3>
    gpu.return
  }
}

// -----

// The innermost stride is 1, not two.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[64, 2]>>, %l: memref<256x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{the innermost stride of the tensor must be 1, but is 2}}
    tdm.load %a[%i, %i] to %l : memref<?x?xf16, strided<[64, 2]>> to memref<256x64xf16, 3>
    gpu.return
  }
}

// -----

// The innermost stride is known.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[64, ?]>>, %l: memref<256x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{the innermost stride of the tensor must be 1, but is dynamic}}
    tdm.load %a[%i, %i] to %l : memref<?x?xf16, strided<[64, ?]>> to memref<256x64xf16, 3>
    gpu.return
  }
}

// -----

// A stride isn't negative.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[-64, 1]>>, %l: memref<256x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{stride of dimension 0 is -64, but must be from 0 to 281474976710655}}
    tdm.load %a[%i, %i] to %l : memref<?x?xf16, strided<[-64, 1]>> to memref<256x64xf16, 3>
    gpu.return
  }
}

// -----

// A stride has 48 bits.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[281474976710656, 1]>>, %l: memref<256x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{stride of dimension 0 is 281474976710656}}
    tdm.load %a[%i, %i] to %l : memref<?x?xf16, strided<[281474976710656, 1]>> to memref<256x64xf16, 3>
    gpu.return
  }
}

// -----

// A size has 32 bits.
gpu.module @m {
  gpu.func @k(%a: memref<4294967296xf16>, %l: memref<256xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{size of dimension 0 is 4294967296, but must be from 0 to 4294967295}}
    tdm.load %a[%i] to %l : memref<4294967296xf16> to memref<256xf16, 3>
    gpu.return
  }
}

// -----

// The layout has strides.
gpu.module @m {
  gpu.func @k(%a: memref<64xf16, affine_map<(d0) -> (d0 mod 8)>>, %l: memref<64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{tensor must have a strided layout}}
    tdm.load %a[%i] to %l : memref<64xf16, affine_map<(d0) -> (d0 mod 8)>> to memref<64xf16, 3>
    gpu.return
  }
}

// -----

// An offset isn't negative.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %n = arith.constant -1 : index
    // expected-error @below {{offset of dimension 1 is -1, but must be from 0 to 4294967295}}
    tdm.load %a[%i, %n] to %l : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
    gpu.return
  }
}

// -----

// There is an offset for each dimension.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{needs 2 offsets, but has 1}}
    tdm.load %a[%i] to %l : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
    gpu.return
  }
}

// -----

// The tensor is in global memory.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{tensor must be in global memory}}
    tdm.load %l[%i, %i] to %l : memref<256x64xf16, 3> to memref<256x64xf16, 3>
    gpu.return
  }
}

// -----

// The block is in LDS.
gpu.module @m {
  gpu.func @k(%a: memref<64xf16>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{block must be in workgroup memory}}
    tdm.load %a[%i] to %a : memref<64xf16> to memref<64xf16>
    gpu.return
  }
}

// -----

// One element type.
gpu.module @m {
  gpu.func @k(%a: memref<64xf16>, %l: memref<64xbf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{elements of the tensor are 'f16', but those of the block 'bf16'}}
    tdm.load %a[%i] to %l : memref<64xf16> to memref<64xbf16, 3>
    gpu.return
  }
}

// -----

// The block has a static shape.
gpu.module @m {
  gpu.func @k(%a: memref<64xf16>, %l: memref<?xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{block must have a static shape with elements}}
    tdm.load %a[%i] to %l : memref<64xf16> to memref<?xf16, 3>
    gpu.return
  }
}

// -----

// The block has elements.
gpu.module @m {
  gpu.func @k(%a: memref<64xf16>, %l: memref<0xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{block must have a static shape with elements}}
    tdm.load %a[%i] to %l : memref<64xf16> to memref<0xf16, 3>
    gpu.return
  }
}

// -----

// The ranks agree.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{rank of the tensor is 2, but that of the block 1}}
    tdm.load %a[%i, %i] to %l : memref<?x?xf16, strided<[?, 1]>> to memref<64xf16, 3>
    gpu.return
  }
}

// -----

// Sizes of a block are positive.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{block size must be from 1 to}}
    tdm.load %a[%i, %i] to %l block([0, 4]) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
    gpu.return
  }
}

// -----

// Two pieces at one place would overwrite each other.
gpu.module @m {
  gpu.func @k(%a: memref<?xf16>, %l: memref<64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // expected-error @below {{pieces must be at different places, but piece 1 is the memref of an earlier one}}
    tdm.load %a[%i] to %l, %l partition(0) : memref<?xf16> to memref<64xf16, 3>, memref<64xf16, 3>
    gpu.return
  }
}

// -----

// Several pieces need a dimension.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{has 2 pieces, but no dimension to partition}}
    tdm.load %a[%i, %i] to %l, %l : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>, memref<256x64xf16, 3>
    gpu.return
  }
}

// -----

// The dimension exists.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{partitioned dimension must be below the rank 2, but is 2}}
    tdm.load %a[%i, %i] to %l, %l partition(2) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>, memref<256x64xf16, 3>
    gpu.return
  }
}

// -----

// Pieces are alike.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{block of 9 elements along dimension 0 is no multiple of the 2 pieces}}
    tdm.load %a[%i, %i] to %l, %l block([9, 4]) partition(0) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>, memref<256x64xf16, 3>
    gpu.return
  }
}

// -----

// Pieces have one type.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %m: memref<128x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{pieces must have one type}}
    tdm.load %a[%i, %i] to %l, %m partition(0) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>, memref<128x64xf16, 3>
    gpu.return
  }
}

// -----

// LDS is large enough for the gaps.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{needs 36848 bytes of LDS, but 'memref<256x64xf16, 3>' has 32768}}
    tdm.load %a[%i, %i] to %l block([256, 64]) padding(<interval = 32, amount = 4>) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
    gpu.return
  }
}

// -----

// Strides are those of the padding.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, strided<[68, 1]>, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{doesn't have the strides that the padding makes; with block(...) a contiguous memref of 36848 bytes will do}}
    tdm.load %a[%i, %i] to %l padding(<interval = 32, amount = 4>) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, strided<[68, 1]>, 3>
    gpu.return
  }
}

// -----

// Gaps within rows have no strides.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, strided<[80, 1]>, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{doesn't have the strides that the padding makes}}
    tdm.load %a[%i, %i] to %l padding(<interval = 16, amount = 4>) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, strided<[80, 1]>, 3>
    gpu.return
  }
}

// -----

// Without padding the block is contiguous.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, strided<[72, 1]>, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{block must be contiguous}}
    tdm.load %a[%i, %i] to %l : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, strided<[72, 1]>, 3>
    gpu.return
  }
}

// -----

// Repetitions don't overlap.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{repetitions are 2048 bytes apart in LDS, but each takes 4096}}
    tdm.load %a[%i, %i] to %l block([32, 64]) iterate(<count = 4, global_step = 64, lds_step = 1024>) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
    gpu.return
  }
}

// -----

// All repetitions fit.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{needs 65536 bytes of LDS}}
    tdm.load %a[%i, %i] to %l block([32, 64]) iterate(<count = 16, global_step = 64, lds_step = 2048>) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
    gpu.return
  }
}

// -----

// The descriptor has room to repeat rank 2 and 3.
gpu.module @m {
  gpu.func @k(%a: memref<?xf16>, %l: memref<64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{only copies of rank 2 and 3 can be repeated, but the rank is 1}}
    tdm.load %a[%i] to %l block([32]) iterate(<count = 2, global_step = 64, lds_step = 32>) : memref<?xf16> to memref<64xf16, 3>
    gpu.return
  }
}

// -----

// The barrier has 8 bytes.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %b: memref<1xi32, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{barrier must be one i64 in workgroup memory}}
    tdm.load %a[%i, %i] to %l barrier(%b : memref<1xi32, 3>) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
    gpu.return
  }
}

// -----

// The barrier is aligned: its region has another offset.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %b = lds.region @b offset(4) align(4) : memref<1xi64, 3>
    // expected-error @below {{barrier must be at a multiple of 8 bytes, but its address is a multiple of 8 plus 4}}
    tdm.load %a[%i, %i] to %l barrier(%b : memref<1xi64, 3>) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
    gpu.return
  }
}

// -----

// The barrier is aligned: its region is aligned less.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %b = lds.region @b align(4) : memref<1xi64, 3>
    // expected-error @below {{barrier must be at a multiple of 8 bytes, but its address is a multiple of 8 plus 4}}
    tdm.load %a[%i, %i] to %l barrier(%b : memref<1xi64, 3>) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
    gpu.return
  }
}

// -----

// The barrier is aligned: it is a view elsewhere.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %r = lds.region @r : memref<64xi8, 3>
    %c10 = arith.constant 10 : index
    %b = memref.view %r[%c10][] : memref<64xi8, 3> to memref<1xi64, 3>
    // expected-error @below {{barrier must be at a multiple of 8 bytes, but its address is a multiple of 8 plus 2}}
    tdm.load %a[%i, %i] to %l barrier(%b : memref<1xi64, 3>) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
    gpu.return
  }
}

// -----

// A gather has an index for each row.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %r: vector<8xi16>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{needs an index for each of the 256 rows of the block, but has 8}}
    tdm.gather %a[%i] rows(%r : vector<8xi16>) to %l : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
    gpu.return
  }
}

// -----

// A gather is of a matrix.
gpu.module @m {
  gpu.func @k(%a: memref<?xf16>, %l: memref<8xf16, 3>, %r: vector<8xi16>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{gathers rows of a matrix}}
    tdm.gather %a[%i] rows(%r : vector<8xi16>) to %l : memref<?xf16> to memref<8xf16, 3>
    gpu.return
  }
}

// -----

// A fused load has 2 to 4 members: one.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{must have 2 to 4 loads, but has 1}}
    tdm.fused_load {
      tdm.load %a[%i, %i] to %l hint(1 : i32) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
    }
    gpu.return
  }
}

// -----

// A fused load has 2 to 4 members: five.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{must have 2 to 4 loads, but has 5}}
    tdm.fused_load {
      tdm.load %a[%i, %i] to %l hint(1 : i32) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
      tdm.load %a[%i, %i] to %l hint(2 : i32) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
      tdm.load %a[%i, %i] to %l hint(4 : i32) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
      tdm.load %a[%i, %i] to %l hint(8 : i32) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
      tdm.load %a[%i, %i] to %l hint(16 : i32) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
    }
    gpu.return
  }
}

// -----

// All members have a hint.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{needs a hint on each load}}
    tdm.fused_load {
      tdm.load %a[%i, %i] to %l hint(1 : i32) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
      // expected-note @below {{this load breaks it}}
      tdm.load %a[%i, %i] to %l  : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
    }
    gpu.return
  }
}

// -----

// No warp has two members.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{needs hints without a common warp, but two have 0x03}}
    tdm.fused_load {
      tdm.load %a[%i, %i] to %l hint(0x0f : i32) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
      // expected-note @below {{this load breaks it}}
      tdm.load %a[%i, %i] to %l hint(0x03 : i32) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
    }
    gpu.return
  }
}

// -----

// Members have one rank.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %v: memref<?xf16>, %w: memref<256xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{needs loads of the same rank, but one has rank 2 and another 1}}
    tdm.fused_load {
      tdm.load %a[%i, %i] to %l hint(0x0f : i32) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
      // expected-note @below {{this load breaks it}}
      tdm.load %v[%i] to %w hint(0xf0 : i32) : memref<?xf16> to memref<256xf16, 3>
    }
    gpu.return
  }
}

// -----

// Members have no barrier.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %b: memref<1xi64, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{can't have a barrier on a load}}
    tdm.fused_load {
      tdm.load %a[%i, %i] to %l hint(0x0f : i32) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
      // expected-note @below {{this load breaks it}}
      tdm.load %a[%i, %i] to %l hint(0xf0 : i32) barrier(%b : memref<1xi64, 3>) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
    }
    gpu.return
  }
}

// -----

// Members are loads.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<256x64xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{may hold tdm.load only}}
    tdm.fused_load {
      tdm.load %a[%i, %i] to %l hint(0x0f : i32) : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
      // expected-note @below {{this is tdm.wait}}
      tdm.wait 0
    }
    gpu.return
  }
}

// -----

// The instructions of a gather start where the padding does.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<4096xf16, 3>, %r: vector<32xi16>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // expected-error @below {{takes several instructions of 16 rows, whose 640 bytes must be a multiple of the padding interval of 64 dwords}}
    tdm.gather %a[%i] rows(%r : vector<32xi16>) to %l block([32, 20]) padding(<interval = 64, amount = 1>) : memref<?x?xf16, strided<[?, 1]>> to memref<4096xf16, 3>
    gpu.return
  }
}

// -----

// The bytes of a block can be counted.
gpu.module @m {
  gpu.func @k(%a: memref<?xf16>, %l: memref<9223372036854775807xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // expected-error @below {{block must have at most 2147483647 bytes}}
    tdm.load %a[%i] to %l : memref<?xf16> to memref<9223372036854775807xf16, 3>
    gpu.return
  }
}

// -----

// Also those of all pieces.
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %l: memref<1073741824x1xf16, 3>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // expected-error @below {{block must have at most 2147483647 bytes}}
    tdm.load %a[%i, %i] to %l, %l partition(0) : memref<?x?xf16, strided<[?, 1]>> to memref<1073741824x1xf16, 3>, memref<1073741824x1xf16, 3>
    gpu.return
  }
}

// -----

// Rule 9: what the descriptor can say about padding.
// expected-error @+1 {{padding interval must be a power of two from 2 to 256 dwords, but is 1}}
"test.a"() {p = #tdm.padding<interval = 1, amount = 4>} : () -> ()

// -----

// expected-error @+1 {{padding interval must be a power of two from 2 to 256 dwords, but is 512}}
"test.a"() {p = #tdm.padding<interval = 512, amount = 4>} : () -> ()

// -----

// expected-error @+1 {{padding interval must be a power of two from 2 to 256 dwords, but is 48}}
"test.a"() {p = #tdm.padding<interval = 48, amount = 4>} : () -> ()

// -----

// expected-error @+1 {{padding amount must be from 1 to 128 dwords, but is 0}}
"test.a"() {p = #tdm.padding<interval = 64, amount = 0>} : () -> ()

// -----

// expected-error @+1 {{padding amount must be from 1 to 128 dwords, but is 129}}
"test.a"() {p = #tdm.padding<interval = 64, amount = 129>} : () -> ()

// -----

// A repetition has 8 bits for the count, and the steps 48 and 32.
// expected-error @+1 {{iteration count must be from 1 to 256, but is 257}}
"test.a"() {p = #tdm.iteration<count = 257, global_step = 0, lds_step = 0>} : () -> ()

// -----

// expected-error @+1 {{iteration global_step must be from 0 to 2^48 - 1 elements, but is -1}}
"test.a"() {p = #tdm.iteration<count = 2, global_step = -1, lds_step = 0>} : () -> ()

// -----

// expected-error @+1 {{iteration lds_step must be from 0 to 2^32 - 1 elements, but is 4294967296}}
"test.a"() {p = #tdm.iteration<count = 2, global_step = 0, lds_step = 4294967296>} : () -> ()

// -----

// A pair of masks has no common bit.
// expected-error @+1 {{bit 0 of the warp id is both free and anchored}}
"test.a"() {p = #tdm.warps<free = 0b011, anchor = 0b001, of = 8>} : () -> ()

// -----

// A pair of masks is of the bits that a warp id has.
// expected-error @+1 {{bit 3 is anchored, but the ids of 8 warps have 3 bits}}
"test.a"() {p = #tdm.warps<free = 0b011, anchor = 0b1000, of = 8>} : () -> ()

// -----

// Numbers are numbers.
// expected-error @+1 {{'0b2' is not a binary number}}
"test.a"() {p = #tdm.warps<free = 0b2, anchor = 0, of = 8>} : () -> ()

// -----

// And fit.
// expected-error @+1 {{free 4294967296 does not fit into 32 bits}}
"test.a"() {p = #tdm.warps<free = 4294967296, anchor = 0, of = 8>} : () -> ()
