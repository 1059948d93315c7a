// RUN: not lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-binary{chip=gfx950 rocm-path=/nowhere})' 2>&1 | FileCheck %s

// A function of ROCm's device libraries is named when these are missing.
// CHECK: error: '__ocml_tanh_f32' needs ROCm's device libraries, which are not in '/nowhere/amdgcn/bitcode'; install rocm-device-libs and set ROCM_PATH
gpu.module @kernels {
  gpu.func @tanh(%a: memref<4xf32>) kernel {
    %c0 = arith.constant 0 : index
    %x = memref.load %a[%c0] : memref<4xf32>
    %y = math.tanh %x : f32
    memref.store %y, %a[%c0] : memref<4xf32>
    gpu.return
  }
}
