// Regions become offsets into one external global; the extents stay on the addresses.
// RUN: lodestone-opt %s --split-input-file --lds-lower-regions | FileCheck %s
// Running the pass again changes nothing.
// RUN: lodestone-opt %s --split-input-file --lds-lower-regions -o %t.once
// RUN: lodestone-opt %t.once --split-input-file --lds-lower-regions | diff %t.once -
// The pass reports the layout of each kernel.
// RUN: lodestone-opt %s --split-input-file --lds-lower-regions --remarks-filter='lds-lower-.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// Extents survive what is run before and after the conversion to LLVM.
// RUN: lodestone-opt %s --split-input-file --lds-lower-regions --canonicalize --cse | FileCheck %s --check-prefix=CSE

// A pointer at offset 0 keeps its own address operation: it carries the extent.
gpu.module @pointers {
  // CHECK: llvm.mlir.global external @lds_dynamic() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  // CHECK-LABEL: gpu.func @given_offsets
  // CHECK-SAME: lds.dynamic_size = 768 : i64
  // REMARK: remark: [Passed] lds-layout | Category:lds-lower-regions | Function=given_offsets | Remark="2 regions in 768 bytes of dynamic LDS"
  // CSE-LABEL: gpu.func @given_offsets
  gpu.func @given_offsets(%x: f32) kernel {
    // CHECK: %[[LDS:.*]] = llvm.mlir.addressof @lds_dynamic : !llvm.ptr<3>
    // CHECK: %[[A:.*]] = llvm.getelementptr %[[LDS]][0, 0] {lds.extent = #lds.extent<"A", offset = 0, size = 256>} : (!llvm.ptr<3>) -> !llvm.ptr<3>, !llvm.array<0 x i8>
    // CHECK: %[[B:.*]] = llvm.getelementptr %[[LDS]][0, 512] {lds.extent = #lds.extent<"B", offset = 512, size = 256>}
    // CSE: getelementptr {{.*}}[0, 0] {lds.extent = #lds.extent<"A", offset = 0, size = 256>}
    // CSE: getelementptr {{.*}}[0, 512] {lds.extent = #lds.extent<"B", offset = 512, size = 256>}
    %b = lds.region @A offset(0) size(256) : !llvm.ptr<3>
    %a = lds.region @B offset(512) align(128) size(256) : !llvm.ptr<3>
    // CHECK: llvm.store %{{.*}}, %[[A]]
    // CHECK: llvm.store %{{.*}}, %[[B]]
    llvm.store %x, %b : f32, !llvm.ptr<3>
    llvm.store %x, %a : f32, !llvm.ptr<3>
    gpu.return
  }

  // Another kernel of the module shares the global. Regions without an offset fill the
  // gaps between those that have one, also if these come later.
  // CHECK-LABEL: gpu.func @first_fit
  // CHECK-SAME: lds.dynamic_size = 512 : i64
  gpu.func @first_fit() kernel {
    // CHECK: lds.extent<"small", offset = 0, size = 100>
    %0 = lds.region @small size(100) : !llvm.ptr<3>
    // CHECK: lds.extent<"big", offset = 256, size = 256>
    %1 = lds.region @big size(256) : !llvm.ptr<3>
    // CHECK: lds.extent<"fixed", offset = 128, size = 128>
    %2 = lds.region @fixed offset(128) size(128) : !llvm.ptr<3>
    // CHECK: lds.extent<"gap", offset = 112, size = 16>
    %3 = lds.region @gap size(16) : !llvm.ptr<3>
    // CHECK: lds.extent<"bytes", offset = 100, size = 3>
    %4 = lds.region @bytes size(3) align(1) : !llvm.ptr<3>
    gpu.return
  }

  // An overlay without an offset starts where the first of those it overlays starts;
  // regions without an offset stay off it.
  // CHECK-LABEL: gpu.func @overlay
  // CHECK-SAME: lds.dynamic_size = 144 : i64
  gpu.func @overlay() kernel {
    // CHECK: lds.extent<"a", offset = 0, size = 32>
    %0 = lds.region @a size(32) : !llvm.ptr<3>
    // CHECK: lds.extent<"b", offset = 32, size = 32>
    %1 = lds.region @b size(32) : !llvm.ptr<3>
    // CHECK: lds.extent<"c", offset = 64, size = 64>
    %2 = lds.region @c align(64) size(64) overlays @b : !llvm.ptr<3>
    // CHECK: lds.extent<"d", offset = 128, size = 16>
    %3 = lds.region @d size(16) : !llvm.ptr<3>
    gpu.return
  }
}

// -----

// A memref becomes a descriptor, with a cast that the rest of the conversion removes.
gpu.module @memrefs {
  // CHECK-LABEL: gpu.func @memref
  // CHECK-SAME: lds.dynamic_size = 2048 : i64
  gpu.func @memref(%i: index, %x: f32) kernel {
    // CHECK: %[[A:.*]] = llvm.getelementptr %{{.*}}[0, 1024] {lds.extent = #lds.extent<"a", offset = 1024, size = 1024>}
    // CHECK: llvm.insertvalue %[[A]], %{{.*}}[0] : !llvm.struct<(ptr<3>, ptr<3>, i64, array<2 x i64>, array<2 x i64>)>
    // CHECK: llvm.insertvalue %[[A]], %{{.*}}[1]
    // CHECK: %[[M:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<8x32xf32, #gpu.address_space<workgroup>>
    %a = lds.region @a offset(1024) : memref<8x32xf32, #gpu.address_space<workgroup>>
    // CHECK: memref.store %{{.*}}, %[[M]]
    memref.store %x, %a[%i, %i] : memref<8x32xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

// Kernels of the LLVM dialect, outside of any gpu.module; each way to mark one. A global
// that is there is used, and gets the larger alignment.
// CHECK: llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 64 : i64} : !llvm.array<0 x i8>
// CHECK-NOT: @lds_dynamic
llvm.mlir.global external @shared() {addr_space = 3 : i32} : !llvm.array<0 x i8>
// CHECK-LABEL: llvm.func @marked_rocdl
llvm.func @marked_rocdl() attributes {rocdl.kernel} {
  // CHECK: llvm.mlir.addressof @shared
  // CHECK: lds.extent<"a", offset = 0, size = 16>
  %a = lds.region @a size(16) align(64) : !llvm.ptr<3>
  llvm.return
}
// CHECK-LABEL: llvm.func @marked_gpu
llvm.func @marked_gpu() attributes {gpu.kernel} {
  // CHECK: lds.extent<"a", offset = 0, size = 16>
  %a = lds.region @a size(16) : !llvm.ptr<3>
  llvm.return
}
// CHECK-LABEL: llvm.func amdgpu_kernelcc @marked_by_convention
llvm.func amdgpu_kernelcc @marked_by_convention() {
  // CHECK: lds.extent<"a", offset = 0, size = 16>
  %a = lds.region @a size(16) : !llvm.ptr<3>
  llvm.return
}

// -----

// Static LDS and an internal global are no global that can be shared; a symbol of the
// name that the pass uses is kept.
// CHECK: llvm.mlir.global external @lds_dynamic_0()
// CHECK: llvm.mlir.global internal @static()
// CHECK: llvm.func @lds_dynamic()
llvm.mlir.global internal @static() {addr_space = 3 : i32} : !llvm.array<16 x i8>
llvm.func @lds_dynamic()
llvm.func @name_taken() attributes {rocdl.kernel} {
  // CHECK: llvm.mlir.addressof @lds_dynamic_0
  %a = lds.region @a size(16) : !llvm.ptr<3>
  llvm.return
}

// -----

// A kernel without regions, and whatever it does with dynamic LDS, is left alone.
// CHECK-LABEL: gpu.module @none
gpu.module @none {
  // CHECK-NOT: llvm.mlir.global
  // CHECK-LABEL: gpu.func @no_regions
  // CHECK-NOT: lds.dynamic_size
  gpu.func @no_regions() kernel {
    // CHECK: gpu.dynamic_shared_memory
    %0 = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    gpu.return
  }
}
