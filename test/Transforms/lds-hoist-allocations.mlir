// Allocations of LDS become workgroup attributions of their kernel.
// RUN: lodestone-opt %s --lds-hoist-allocations | FileCheck %s

#lds = #gpu.address_space<workgroup>
gpu.module @m {
  // The alignment goes along, deallocation goes away, and other memory stays.
  // CHECK-LABEL: gpu.func @kernel(
  // CHECK-SAME: workgroup(%[[A:.*]] : memref<64xf32, #gpu.address_space<workgroup>> {llvm.align = 64 : i64}, %[[B:.*]] : memref<4x4xi8, 3>)
  gpu.func @kernel(%c: i1, %x: f32, %y: i8, %i: index) kernel {
    // CHECK-NOT: memref.alloc()
    %a = memref.alloc() {alignment = 64} : memref<64xf32, #lds>
    // CHECK: memref.alloca() : memref<2xf32, 5>
    %private = memref.alloca() : memref<2xf32, 5>
    memref.store %x, %private[%i] : memref<2xf32, 5>
    // CHECK: memref.store %{{.*}}, %[[A]]
    memref.store %x, %a[%i] : memref<64xf32, #lds>
    // A branch is taken once at most.
    scf.if %c {
      %b = memref.alloca() : memref<4x4xi8, 3>
      // CHECK: memref.store %{{.*}}, %[[B]]
      memref.store %y, %b[%i, %i] : memref<4x4xi8, 3>
    }
    // CHECK-NOT: memref.dealloc
    memref.dealloc %a : memref<64xf32, #lds>
    gpu.return
  }

  // It goes away, too, where it is of either of two, or of a view.
  // CHECK-LABEL: gpu.func @either(
  gpu.func @either(%c: i1) kernel {
    %a = memref.alloc() : memref<64xf32, #lds>
    %b = memref.alloc() : memref<64xf32, #lds>
    %first = arith.select %c, %a, %b : memref<64xf32, #lds>
    %second = arith.select %c, %b, %a : memref<64xf32, #lds>
    %view = memref.cast %second : memref<64xf32, #lds> to memref<?xf32, #lds>
    // CHECK-NOT: memref.dealloc
    memref.dealloc %first : memref<64xf32, #lds>
    memref.dealloc %view : memref<?xf32, #lds>
    gpu.return
  }
}
