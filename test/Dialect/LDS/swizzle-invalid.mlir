// Each rule of the swizzle attributes, and of where they may be, is broken once.
// RUN: lodestone-opt %s --split-input-file --verify-diagnostics

// Without a shift, every xor clears bits.
gpu.module @m {
gpu.func @k() kernel {
  // expected-error @+1 {{shift 0 is no bijection: offsets 0 and 16 both go to 0}}
  %0 = lds.region @a swizzle(#lds.xor<bits = 3, base = 4, shift = 0>) : memref<64x64xf16, 3>
  gpu.return
}
}

// -----

// Longer than any LDS.
gpu.module @m {
gpu.func @k() kernel {
  // expected-error @+1 {{bits 8, base 8 and shift 5 make a period above 1048576 bytes}}
  %0 = lds.region @a swizzle(#lds.xor<bits = 8, base = 8, shift = 5>) : memref<64x64xf16, 3>
  gpu.return
}
}

// -----

// The 12 cells of 96 columns of f16 can't take 8 phases.
gpu.module @m {
gpu.func @k() kernel {
  // expected-error @+1 {{12 cells a row are no multiple of 8, as 8 phases need; offsets 912 and 1024 both go to 976}}
  %0 = lds.region @a swizzle(#lds.coord_xor<bits = 3, base_row = 0, base_col = 4, row_bytes = 192>) : memref<64x96xf16, 3>
  gpu.return
}
}

// -----

// 24 cells, 16 phases.
gpu.module @m {
gpu.func @k() kernel {
  // expected-error @+1 {{24 cells a row are no multiple of 16, as 16 phases need; offsets}}
  %0 = lds.region @a swizzle(#lds.coord_xor<bits = 4, base_row = 0, base_col = 4, row_bytes = 384>) : memref<64x192xf16, 3>
  gpu.return
}
}

// -----

// Rows that are no whole cells.
gpu.module @m {
gpu.func @k() kernel {
  // expected-error @+1 {{a row of 100 bytes is no multiple of a cell of 16 bytes}}
  %0 = lds.region @a swizzle(#lds.coord_xor<bits = 2, base_row = 0, base_col = 4, row_bytes = 100>) : memref<64x64xf16, 3>
  gpu.return
}
}

// -----

// Exponents that no LDS has.
gpu.module @m {
gpu.func @k() kernel {
  // expected-error @+1 {{bits 3, base_row 64 and base_col 4 are not all below 21}}
  %0 = lds.region @a swizzle(#lds.coord_xor<bits = 3, base_row = 64, base_col = 4, row_bytes = 128>) : memref<64x64xf16, 3>
  gpu.return
}
}

// -----

// A cell must be a power of two.
gpu.module @m {
gpu.func @k() kernel {
  // expected-error @+1 {{a cell of 12 bytes is no power of two}}
  %0 = lds.region @a swizzle(#lds.rotate<cell_bytes = 12, row_bytes = 96>) : memref<64x64xf16, 3>
  gpu.return
}
}

// -----

// A row must hold something.
gpu.module @m {
gpu.func @k() kernel {
  // expected-error @+1 {{a row of 0 bytes is not between 1 and 1048576}}
  %0 = lds.region @a swizzle(#lds.padded<row_bytes = 0, pad_bytes = 16>) : memref<64x64xf16, 3>
  gpu.return
}
}

// -----

// Padding has a limit.
gpu.module @m {
gpu.func @k() kernel {
  // expected-error @+1 {{a padding of 2097152 bytes exceeds 1048576}}
  %0 = lds.region @a swizzle(#lds.padded<row_bytes = 128, pad_bytes = 2097152>) : memref<64x64xf16, 3>
  gpu.return
}
}

// -----

// Only swizzles compose.
gpu.module @m {
gpu.func @k() kernel {
  // expected-error @+1 {{3 : i32 is no swizzle of the lds dialect}}
  %0 = lds.region @a swizzle(#lds.compose<3 : i32>) : memref<64x64xf16, 3>
  gpu.return
}
}

// -----

// The period of a composition has the same limit.
gpu.module @m {
gpu.func @k() kernel {
  // expected-error @+1 {{the composition's period exceeds 1048576 bytes}}
  %0 = lds.region @a swizzle(#lds.compose<#lds.xor<bits = 1, base = 10, shift = 4>, #lds.padded<row_bytes = 997, pad_bytes = 1>, #lds.rotate<cell_bytes = 16, row_bytes = 208>>) : memref<64x64xf16, 3>
  gpu.return
}
}

// -----

// Something that is no swizzle.
gpu.module @m {
gpu.func @k() kernel {
  // expected-error @+1 {{expected a swizzle, but got #lds.extent<"a", offset = 0, size = 16>}}
  %0 = lds.region @a swizzle(#lds.extent<"a", offset = 0, size = 16>) : memref<64x64xf16, 3>
  gpu.return
}
}

// -----

// A pointer has no logical indices.
gpu.module @m {
gpu.func @k() kernel {
  // expected-error @+1 {{a swizzle needs a memref, but this is '!llvm.ptr<3>'}}
  %0 = lds.region @a size(1024) swizzle(#lds.xor<bits = 3, base = 4, shift = 3>) : !llvm.ptr<3>
  gpu.return
}
}

// -----

// The tile ends inside of a period, and some of it would leave the region.
gpu.module @m {
gpu.func @k() kernel {
  // expected-error @+1 {{does not fit 'memref<37x8xf16, 3>': offset 543 goes to 607, outside of the 592 bytes}}
  %0 = lds.region @a swizzle(#lds.xor<bits = 3, base = 4, shift = 3>) : memref<37x8xf16, 3>
  gpu.return
}
}

// -----

// Padding needs room.
gpu.module @m {
gpu.func @k() kernel {
  // expected-error @+1 {{does not fit 'memref<64x64xf16, 3>': offset 8191 goes to 9199, outside of the 9199 bytes}}
  %0 = lds.region @a size(9199) swizzle(#lds.padded<row_bytes = 128, pad_bytes = 16>) : memref<64x64xf16, 3>
  gpu.return
}
}

// -----

// A swizzle must not tear an element.
gpu.module @m {
gpu.func @k() kernel {
  // expected-error @+1 {{an element of 4 bytes of 'memref<64x32xf32, 3>' does not divide the granule of 2 bytes}}
  %0 = lds.region @a swizzle(#lds.xor<bits = 3, base = 1, shift = 4>) : memref<64x32xf32, 3>
  gpu.return
}
}

// -----

// More bytes than are checked one by one.
gpu.module @m {
gpu.func @k() kernel {
  // expected-error @+1 {{has 2097152 bytes, more than 1048576}}
  %0 = lds.region @a swizzle(#lds.xor<bits = 3, base = 4, shift = 3>) : memref<2097152xi8, 3>
  gpu.return
}
}

// -----

// Not LDS.
gpu.module @m {
gpu.func @k(%n: index) kernel {
  // expected-error @+1 {{'lds.swizzle': a swizzle needs memory space #gpu.address_space<workgroup> or 3, but this is 'memref<64x64xf16>'}}
  %0 = memref.alloc() {lds.swizzle = #lds.xor<bits = 3, base = 4, shift = 3>} : memref<64x64xf16>
  gpu.return
}
}

// -----

// A size that isn't known.
gpu.module @m {
gpu.func @k(%n: index) kernel {
  // expected-error @+1 {{'lds.swizzle': a swizzle needs a static shape, the identity layout and elements of 1, 2, 4, 8 or 16 bytes, but this is 'memref<?x64xf16, 3>'}}
  %0 = memref.alloc(%n) {lds.swizzle = #lds.xor<bits = 3, base = 4, shift = 3>} : memref<?x64xf16, 3>
  gpu.return
}
}

// -----

// Another attribute.
gpu.module @m {
gpu.func @k(%n: index) kernel {
  // expected-error @+1 {{'lds.swizzle' must be a swizzle, but is 3 : i64}}
  %0 = memref.alloc() {lds.swizzle = 3} : memref<64x64xf16, 3>
  gpu.return
}
}

// -----

// Another operation.
gpu.module @m {
gpu.func @k(%n: index) kernel {
  // expected-error @+1 {{'lds.swizzle' is only for memref.alloc, memref.alloca, memref.global and workgroup attributions}}
  %0 = arith.constant {lds.swizzle = #lds.xor<bits = 3, base = 4, shift = 3>} 0 : i32
  gpu.return
}
}

// -----

// The same rules for a global.
gpu.module @m {
  // expected-error @+1 {{'lds.swizzle': an element of 8 bytes of 'memref<64xf64, 3>' does not divide the granule of 4 bytes}}
  memref.global "private" @g : memref<64xf64, 3> {lds.swizzle = #lds.xor<bits = 3, base = 2, shift = 3>}
}
