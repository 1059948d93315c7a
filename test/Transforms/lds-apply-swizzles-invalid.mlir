// Attributes that only this pass sees: those of workgroup attributions.
// RUN: lodestone-opt %s --split-input-file --lds-apply-swizzles --verify-diagnostics

gpu.module @m {
  // expected-error @+1 {{'lds.swizzle' of workgroup attribution 1: must be a swizzle, but is 3 : i64}}
  gpu.func @kind() workgroup(%o : memref<4xf16, 3>, %w : memref<64x64xf16, 3> {lds.swizzle = 3}) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{'lds.swizzle' of workgroup attribution 0: an element of 8 bytes of 'memref<64xf64, 3>' does not divide the granule of 4 bytes of swizzle #lds.xor<bits = 3, base = 2, shift = 3>}}
  gpu.func @tears() workgroup(%w : memref<64xf64, 3> {lds.swizzle = #lds.xor<bits = 3, base = 2, shift = 3>}) kernel {
    gpu.return
  }
}
