// RUN: lodestone-opt %s --split-input-file --verify-diagnostics \
// RUN:   --pass-pipeline='builtin.module(gpu.module(tdm-infer-warp-hints{one-per-simd chip=gfx9999}))'

// A chip that nobody knows has no number of SIMDs.
// expected-error@+1 {{unknown chip 'gfx9999'}}
gpu.module @kernels {
  gpu.func @kernel(%a: memref<?x64xf16>, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %lds = lds.region @A : memref<64x64xf16, 3>
    tdm.load %a[%i, %i] to %lds : memref<?x64xf16> to memref<64x64xf16, 3>
    gpu.return
  }
}
