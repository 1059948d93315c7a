// Regions and extents survive the custom and the generic form, and bytecode of the
// current version and of version 4, which other MLIR versions can read.
// RUN: lodestone-opt %s | lodestone-opt | FileCheck %s
// RUN: lodestone-opt %s --mlir-print-op-generic | lodestone-opt | FileCheck %s
// RUN: lodestone-opt %s --emit-bytecode | lodestone-opt | FileCheck %s
// RUN: lodestone-opt %s --emit-bytecode --emit-bytecode-version=4 | lodestone-opt | FileCheck %s
// RUN: lodestone-opt %s --canonicalize --cse | FileCheck %s --check-prefix=KEPT

gpu.module @kernels {
  // All clauses, none of them, and clauses in another order than the printed one.
  // CHECK-LABEL: gpu.func @clauses
  gpu.func @clauses() kernel {
    // CHECK-NEXT: %A0 = lds.region @A0 offset(0) size(20000) align(128) : memref<128x128xf8E4M3FN, #gpu.address_space<workgroup>>
    %0 = lds.region @A0 offset(0) size(20000) align(128) : memref<128x128xf8E4M3FN, #gpu.address_space<workgroup>>
    // CHECK-NEXT: %A1 = lds.region @A1 : memref<4xf32, 3>
    %1 = lds.region @A1 : memref<4xf32, 3>
    // CHECK-NEXT: %out = lds.region @out offset(0) size(512) overlays @A0, @A1 {tag} : !llvm.ptr<3>
    %2 = lds.region @out overlays @A0, @A1 size(512) offset(0) {tag} : !llvm.ptr<3>
    gpu.return
  }

  // A name needs quotes when it is no identifier.
  // CHECK-LABEL: gpu.func @odd_names
  gpu.func @odd_names() kernel {
    // CHECK-NEXT: lds.region @"a \22b\22"
    %0 = lds.region @"a \22b\22" size(16) : !llvm.ptr<3>
    // CHECK-NEXT: overlays @"a \22b\22"
    %1 = lds.region @c size(16) overlays @"a \22b\22" : !llvm.ptr<3>
    gpu.return
  }

  // Elements of each kind that has a byte size.
  // CHECK-LABEL: gpu.func @elements
  gpu.func @elements() kernel {
    // CHECK-COUNT-5: lds.region
    %0 = lds.region @a size(32) : memref<2x4xi32, 3 : i32>
    %1 = lds.region @b size(16) : memref<8xbf16, #gpu.address_space<workgroup>>
    %2 = lds.region @c size(16) : memref<2xcomplex<f32>, 3>
    %3 = lds.region @d size(96) : memref<2xvector<3x4xf32>, 3>
    %4 = lds.region @e size(4) : memref<f32, 3>
    gpu.return
  }

  // The order of clauses in the generic form doesn't matter, and align has a default.
  // CHECK-LABEL: gpu.func @generic
  gpu.func @generic() kernel {
    // CHECK-NEXT: lds.region @g offset(16) size(64) : !llvm.ptr<3>
    %0 = "lds.region"() {region_name = "g", size = 64 : i64, offset = 16 : i64} : () -> !llvm.ptr<3>
    gpu.return
  }

  // Neighbours that touch do not overlap; declared overlays may, whichever says so.
  // CHECK-LABEL: gpu.func @neighbours
  gpu.func @neighbours() kernel {
    %0 = lds.region @a offset(0) size(64) : !llvm.ptr<3>
    %1 = lds.region @b offset(64) size(64) : !llvm.ptr<3>
    %2 = lds.region @c offset(32) size(64) overlays @a, @b : !llvm.ptr<3>
    %3 = lds.region @d offset(128) size(64) overlays @e : !llvm.ptr<3>
    %4 = lds.region @e offset(160) size(64) : !llvm.ptr<3>
    gpu.return
  }

  // The same regions in a kernel that is an llvm.func, and a lowered one.
  // CHECK-LABEL: llvm.func @llvm_kernel
  // CHECK-SAME: lds.dynamic_size = 1024 : i64
  llvm.func @llvm_kernel() attributes {rocdl.kernel, lds.dynamic_size = 1024 : i64} {
    // CHECK: lds.region @a size(16)
    %0 = lds.region @a size(16) : !llvm.ptr<3>
    %1 = llvm.mlir.addressof @lds : !llvm.ptr<3>
    // CHECK: lds.extent = #lds.extent<"x", offset = 32, size = 16>
    %2 = llvm.getelementptr %1[0, 32] {lds.extent = #lds.extent<"x", size = 16, offset = 32>} : (!llvm.ptr<3>) -> !llvm.ptr<3>, !llvm.array<0 x i8>
    llvm.return
  }
  // CHECK: llvm.mlir.global external @lds()
  // CHECK-SAME: lds.extent = #lds.extent<"all", offset = 0, size = 1024>
  llvm.mlir.global external @lds() {addr_space = 3 : i32, lds.extent = #lds.extent<"all", offset = 0, size = 1024>} : !llvm.array<0 x i8>
}

// Regions that nothing uses stay: the layout must not depend on the optimizer.
// KEPT-LABEL: gpu.func @neighbours
// KEPT-COUNT-5: lds.region

// A kernel that isn't outlined yet.
// CHECK-LABEL: func.func @host
func.func @host(%n: index) {
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n)
             threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
    // CHECK: lds.region @a size(16)
    %0 = lds.region @a size(16) : !llvm.ptr<3>
    gpu.terminator
  }
  return
}

// Groups round trip, and accesses don't move across them.
// CHECK-LABEL: gpu.func @groups
// CHECK: lds.commit_group
// CHECK-NEXT: lds.wait_group 2
gpu.module @groups {
  gpu.func @groups() kernel {
    lds.commit_group
    lds.wait_group 2
    gpu.return
  }
}

// Copies round trip, and nobody takes them for dead.
// CHECK-LABEL: gpu.func @copies
// CHECK: lds.async_load %{{.*}}[%{{.*}}], %{{.*}}[%{{.*}}] : f32, memref<64xf32>
// CHECK: lds.wave_load %{{.*}}[%{{.*}}], %{{.*}}[%{{.*}}] offset(256) : f32, memref<64xf32, #amdgpu.address_space<fat_raw_buffer>>
gpu.module @copies {
  gpu.func @copies(%g: memref<64xf32>, %buffer: memref<64xf32, #amdgpu.address_space<fat_raw_buffer>>,
                   %lds: memref<64xf32, 3>, %i: index) kernel {
    lds.async_load %g[%i], %lds[%i] : f32, memref<64xf32>, memref<64xf32, 3>
    lds.wave_load %buffer[%i], %lds[%i] offset(256) : f32, memref<64xf32, #amdgpu.address_space<fat_raw_buffer>>, memref<64xf32, 3>
    gpu.return
  }
}
