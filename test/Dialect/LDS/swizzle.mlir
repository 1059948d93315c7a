// Swizzles survive the custom and the generic form and bytecode, on regions and on
// other allocations; canonicalization simplifies those of regions.
// RUN: lodestone-opt %s | lodestone-opt | FileCheck %s
// RUN: lodestone-opt %s --mlir-print-op-generic | lodestone-opt | FileCheck %s
// RUN: lodestone-opt %s --emit-bytecode | lodestone-opt | FileCheck %s
// RUN: lodestone-opt %s --canonicalize | FileCheck %s --check-prefix=CANON

gpu.module @kernels {
  // Every attribute, clauses in any order, a parameter with a default.
  // CHECK-LABEL: gpu.func @regions
  // CANON-LABEL: gpu.func @regions
  gpu.func @regions() kernel {
    // CHECK: lds.region @xor size(9000) swizzle(#lds.xor<bits = 3, base = 4, shift = 3>) : memref<64x64xf16, 3>
    %0 = lds.region @xor swizzle(#lds.xor<base = 4, bits = 3, shift = 3>) size(9000) : memref<64x64xf16, 3>
    // CHECK: lds.region @left swizzle(#lds.xor<bits = 3, base = 4, shift = -3>)
    %1 = lds.region @left swizzle(#lds.xor<bits = 3, base = 4, shift = -3>) : memref<64x64xf16, 3>
    // CHECK: lds.region @rotate swizzle(#lds.rotate<cell_bytes = 16, row_bytes = 192>)
    %2 = lds.region @rotate swizzle(#lds.rotate<cell_bytes = 16, row_bytes = 192, step = 1>) : memref<64x96xf16, 3>
    // CHECK: lds.region @steps swizzle(#lds.rotate<cell_bytes = 16, row_bytes = 192, step = 3>)
    %3 = lds.region @steps swizzle(#lds.rotate<cell_bytes = 16, row_bytes = 192, step = 3>) : memref<64x96xf16, 3>
    // CHECK: lds.region @padded size(9200) swizzle(#lds.padded<row_bytes = 128, pad_bytes = 16>)
    %4 = lds.region @padded size(9200) swizzle(#lds.padded<row_bytes = 128, pad_bytes = 16>) : memref<64x64xf16, 3>
    // CHECK: lds.region @both size(9200)
    // CHECK-SAME: swizzle(#lds.compose<#lds.xor<bits = 3, base = 4, shift = 3>, #lds.padded<row_bytes = 128, pad_bytes = 16>>)
    %5 = lds.region @both size(9200) swizzle(#lds.compose<#lds.xor<bits = 3, base = 4, shift = 3>, #lds.padded<row_bytes = 128, pad_bytes = 16>>) : memref<64x64xf16, 3>
    gpu.return
  }

  // In rows of a power of two of bytes, a coordinate xor is an xor.
  // CHECK-LABEL: gpu.func @coordinates
  // CANON-LABEL: gpu.func @coordinates
  gpu.func @coordinates() kernel {
    // CHECK: swizzle(#lds.coord_xor<bits = 3, base_row = 1, base_col = 4, row_bytes = 128>)
    // CANON: lds.region @a swizzle(#lds.xor<bits = 3, base = 4, shift = 4>)
    %0 = lds.region @a swizzle(#lds.coord_xor<bits = 3, base_row = 1, base_col = 4, row_bytes = 128>) : memref<64x64xf16, 3>
    // CHECK: swizzle(#lds.coord_xor<bits = 2, base_row = 0, base_col = 4, row_bytes = 192>)
    // CANON: lds.region @b swizzle(#lds.coord_xor<bits = 2, base_row = 0, base_col = 4, row_bytes = 192>)
    %1 = lds.region @b swizzle(#lds.coord_xor<bits = 2, base_row = 0, base_col = 4, row_bytes = 192>) : memref<64x96xf16, 3>
    gpu.return
  }

  // What does nothing, or undoes itself, goes away.
  // CANON-LABEL: gpu.func @identities
  gpu.func @identities() kernel {
    // CANON: lds.region @a : memref<64x64xf16, 3>
    %0 = lds.region @a swizzle(#lds.xor<bits = 0, base = 4, shift = 0>) : memref<64x64xf16, 3>
    // CANON: lds.region @b : memref<64x64xf16, 3>
    %1 = lds.region @b swizzle(#lds.rotate<cell_bytes = 16, row_bytes = 128, step = 8>) : memref<64x64xf16, 3>
    // CANON: lds.region @c : memref<64x64xf16, 3>
    %2 = lds.region @c swizzle(#lds.padded<row_bytes = 128, pad_bytes = 0>) : memref<64x64xf16, 3>
    // CANON: lds.region @d : memref<64x64xf16, 3>
    %3 = lds.region @d swizzle(#lds.compose<#lds.xor<bits = 3, base = 4, shift = 3>, #lds.xor<bits = 3, base = 4, shift = 3>>) : memref<64x64xf16, 3>
    // CANON: lds.region @e swizzle(#lds.rotate<cell_bytes = 16, row_bytes = 128>) : memref<64x64xf16, 3>
    %4 = lds.region @e swizzle(#lds.compose<#lds.coord_xor<bits = 0, base_row = 0, base_col = 4, row_bytes = 128>, #lds.rotate<cell_bytes = 16, row_bytes = 128, step = 9>>) : memref<64x64xf16, 3>
    gpu.return
  }

  // CHECK: memref.global "private" @g : memref<64x64xf16, 3> {lds.swizzle = #lds.xor<bits = 3, base = 4, shift = 3>}
  memref.global "private" @g : memref<64x64xf16, 3> {lds.swizzle = #lds.xor<bits = 3, base = 4, shift = 3>}

  // CHECK: gpu.func @others() workgroup(%{{.*}} : memref<64x64xf16, 3> {lds.swizzle = #lds.xor<bits = 3, base = 4, shift = 3>})
  gpu.func @others() workgroup(%w : memref<64x64xf16, 3> {lds.swizzle = #lds.xor<bits = 3, base = 4, shift = 3>}) kernel {
    // CHECK: memref.alloc() {lds.swizzle = #lds.rotate<cell_bytes = 16, row_bytes = 128>}
    %0 = memref.alloc() {lds.swizzle = #lds.rotate<cell_bytes = 16, row_bytes = 128>} : memref<64x64xf16, 3>
    // CHECK: memref.alloca() {lds.swizzle = #lds.padded<row_bytes = 128, pad_bytes = 16>}
    %1 = memref.alloca() {lds.swizzle = #lds.padded<row_bytes = 128, pad_bytes = 16>} : memref<64x64xf16, #gpu.address_space<workgroup>>
    gpu.return
  }
}
