// A region in a gpu.launch is in the kernel's entry block after outlining, and is lowered.
// RUN: lodestone-opt %s --pass-pipeline='builtin.module(gpu-kernel-outlining,gpu.module(lds-lower-regions))' | FileCheck %s

// CHECK: gpu.func @host_kernel()
// CHECK-SAME: lds.dynamic_size = 16 : i64
// CHECK: lds.extent<"a", offset = 0, size = 16>
func.func @host(%n: index, %x: f32) {
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n)
             threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
    %a = lds.region @a size(16) : !llvm.ptr<3>
    %c = llvm.mlir.constant(1.0 : f32) : f32
    llvm.store %c, %a : f32, !llvm.ptr<3>
    gpu.terminator
  }
  return
}
