// What users of the lowered kernel rely on is still there at the end of the conversion to
// the LLVM dialect: the extents on the addresses, the bytes to pass on the kernel, and no
// cast. A region may be lowered before or after convert-gpu-to-rocdl.
// RUN: lodestone-opt %s --pass-pipeline='builtin.module(gpu.module(lds-lower-regions,convert-gpu-to-rocdl{chipset=gfx950},reconcile-unrealized-casts,canonicalize,cse))' | FileCheck %s
// RUN: lodestone-opt %s --pass-pipeline='builtin.module(gpu.module(convert-gpu-to-rocdl{chipset=gfx950},lds-lower-regions,reconcile-unrealized-casts,canonicalize,cse))' | FileCheck %s

// CHECK: llvm.mlir.global external @lds_dynamic
// CHECK: llvm.func @k
// CHECK-SAME: lds.dynamic_size = 2048 : i64
// CHECK-DAG: getelementptr {{.*}}[0, 0] {lds.extent = #lds.extent<"a", offset = 0, size = 1024>}
// CHECK-DAG: getelementptr {{.*}}[0, 1024] {lds.extent = #lds.extent<"b", offset = 1024, size = 1024>}
// CHECK-NOT: unrealized_conversion_cast
gpu.module @m {
  gpu.func @k(%i: index, %j: index) kernel {
    %a = lds.region @a : memref<256xf32, #gpu.address_space<workgroup>>
    %b = lds.region @b : memref<8x32xf32, #gpu.address_space<workgroup>>
    %x = memref.load %a[%i] : memref<256xf32, #gpu.address_space<workgroup>>
    memref.store %x, %b[%i, %j] : memref<8x32xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}
