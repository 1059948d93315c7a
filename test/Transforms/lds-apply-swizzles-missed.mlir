// Why a swizzle is not applied: by name, with the values. The swizzle stays.
// RUN: lodestone-opt %s --split-input-file --lds-apply-swizzles --remarks-filter=lds-apply-swizzles --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s
// RUN: lodestone-opt %s --split-input-file --lds-apply-swizzles | FileCheck %s --check-prefix=STAYS
// RUN: not lodestone-opt %s --split-input-file --lds-apply-swizzles=strict -o /dev/null 2>&1 | FileCheck %s --check-prefix=STRICT
// RUN: lodestone-opt %s --split-input-file --lds-apply-swizzles=drop-refused | FileCheck %s --check-prefix=DROPPED

// DROPPED-NOT: #lds.

// The allocation is passed to a call.
// CHECK: [Missed] swizzle-escapes | Category:lds-apply-swizzles | Function=call{{.*}} Reason="swizzle #lds.xor<bits = 3, base = 4, shift = 3> of region '@A' is not applied: its address goes to func.call, which may access its bytes without the swizzle"
// STRICT: error: swizzle #lds.xor<bits = 3, base = 4, shift = 3> of region '@A' is not applied: its address goes to func.call
// STRICT: note: the allocation is here
// STAYS-LABEL: gpu.func @call
// STAYS: lds.region @A swizzle
gpu.module @m {
  func.func private @other(memref<64x64xf16, 3>)
  gpu.func @call(%i: index) kernel {
    %a = lds.region @A swizzle(#lds.xor<bits = 3, base = 4, shift = 3>) : memref<64x64xf16, 3>
    %x = memref.load %a[%i, %i] : memref<64x64xf16, 3>
    func.call @other(%a) : (memref<64x64xf16, 3>) -> ()
    gpu.return
  }
}

// -----

// A view of it goes round a loop.
// CHECK: [Missed] swizzle-escapes {{.*}} of this allocation is not applied: its address goes to scf.for
gpu.module @m {
  gpu.func @loop(%n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = memref.alloca() {lds.swizzle = #lds.xor<bits = 3, base = 4, shift = 3>} : memref<64x64xf16, 3>
    %b = scf.for %i = %c0 to %n step %c1 iter_args(%v = %a) -> memref<64x64xf16, 3> {
      scf.yield %v : memref<64x64xf16, 3>
    }
    gpu.return
  }
}

// -----

// The pointer itself.
// CHECK: [Missed] swizzle-escapes {{.*}} of workgroup attribution 1 is not applied: its address goes to memref.extract_aligned_pointer_as_index
gpu.module @m {
  gpu.func @pointer() workgroup(%o : memref<4xf16, 3>, %w : memref<64x64xf16, 3> {lds.swizzle = #lds.xor<bits = 3, base = 4, shift = 3>}) kernel {
    %p = memref.extract_aligned_pointer_as_index %w : memref<64x64xf16, 3> -> index
    gpu.return
  }
}

// -----

// A memref that is stored, not stored to.
// CHECK: [Missed] swizzle-escapes {{.*}} its address goes to memref.store
gpu.module @m {
  gpu.func @stored(%where: memref<memref<64x64xf16, 3>>) kernel {
    %a = memref.alloc() {lds.swizzle = #lds.xor<bits = 3, base = 4, shift = 3>} : memref<64x64xf16, 3>
    memref.store %a, %where[] : memref<memref<64x64xf16, 3>>
    gpu.return
  }
}

// -----

// Another function may fill the global.
// CHECK: [Missed] swizzle-escapes {{.*}} of global '@g' is not applied: it has an initial value
gpu.module @m {
  memref.global "private" @g : memref<64x64xf16, 3> = dense<1.0> {lds.swizzle = #lds.xor<bits = 3, base = 4, shift = 3>}
}

// -----

// A stride that isn't known.
// CHECK: [Missed] swizzle-unsupported-view {{.*}} a view of it by memref.subview is not supported: the stride of dimension 0 is no constant
gpu.module @m {
  gpu.func @stride(%s: index) kernel {
    %a = lds.region @A swizzle(#lds.xor<bits = 3, base = 4, shift = 3>) : memref<64x64xf16, 3>
    %v = memref.subview %a[0, 0] [8, 8] [%s, 1] : memref<64x64xf16, 3> to memref<8x8xf16, strided<[?, 1]>, 3>
    gpu.return
  }
}

// -----

// A layout made from nothing.
// CHECK: [Missed] swizzle-unsupported-view {{.*}} a view of it by memref.reinterpret_cast is not supported: its layout isn't followed
gpu.module @m {
  gpu.func @reinterpret(%s: index) kernel {
    %a = lds.region @A swizzle(#lds.xor<bits = 3, base = 4, shift = 3>) : memref<64x64xf16, 3>
    %v = memref.reinterpret_cast %a to offset: [0], sizes: [8, 8], strides: [8, 1] : memref<64x64xf16, 3> to memref<8x8xf16, strided<[8, 1]>, 3>
    gpu.return
  }
}

// -----

// An LDS-DMA writes bytes in a row.
// CHECK: [Missed] swizzle-unsupported-access {{.*}} amdgpu.gather_to_lds writes the lanes' bytes one after the other, whatever the swizzle
gpu.module @m {
  gpu.func @dma(%src: memref<64x64xf16, 1>, %i: index) kernel {
    %a = lds.region @A swizzle(#lds.xor<bits = 3, base = 4, shift = 3>) : memref<64x64xf16, 3>
    amdgpu.gather_to_lds %src[%i, %i], %a[%i, %i] : vector<8xf16>, memref<64x64xf16, 1>, memref<64x64xf16, 3>
    gpu.return
  }
}

// -----

// 16 bytes a lane over a granule of 8: what other lanes get can't be split.
// CHECK: [Missed] swizzle-unsupported-access {{.*}} it moves 8 bytes of each lane at offsets aligned to 4294967296, over a granule of 4 bytes, and can't be split
gpu.module @m {
  gpu.func @transposed() -> vector<4xf16> {
    %c0 = arith.constant 0 : index
    %a = lds.region @A swizzle(#lds.xor<bits = 3, base = 2, shift = 5>) : memref<64x64xf16, 3>
    %x = amdgpu.transpose_load %a[%c0, %c0] : memref<64x64xf16, 3> -> vector<4xf16>
    gpu.return %x : vector<4xf16>
  }
}

// -----

// And where nothing is known of the offset.
// CHECK: [Missed] swizzle-unsupported-access {{.*}} it moves 8 bytes of each lane at offsets aligned to 2, over a granule of 16 bytes
gpu.module @m {
  gpu.func @unaligned(%i: index) -> vector<4xf16> {
    %a = lds.region @A swizzle(#lds.xor<bits = 3, base = 4, shift = 3>) : memref<64x64xf16, 3>
    %x = amdgpu.transpose_load %a[%i, %i] : memref<64x64xf16, 3> -> vector<4xf16>
    gpu.return %x : vector<4xf16>
  }
}

// -----

// An element at any byte.
// CHECK: [Missed] swizzle-unsupported-access {{.*}} an element of 4 bytes may be at any multiple of 1
gpu.module @m {
  gpu.func @odd(%b: index) -> f32 {
    %a = lds.region @A swizzle(#lds.xor<bits = 3, base = 4, shift = 3>) : memref<8192xi8, 3>
    %v = memref.view %a[%b][] : memref<8192xi8, 3> to memref<32xf32, 3>
    %x = memref.load %v[%b] : memref<32xf32, 3>
    gpu.return %x : f32
  }
}

// -----

// Elements of the view that are wider than the granule.
// CHECK: [Missed] swizzle-unsupported-access {{.*}} its element of 8 bytes does not divide the granule of 4 bytes
gpu.module @m {
  gpu.func @torn(%i: index) -> f64 {
    %c0 = arith.constant 0 : index
    %a = lds.region @A swizzle(#lds.xor<bits = 3, base = 2, shift = 5>) : memref<8192xi8, 3>
    %v = memref.view %a[%c0][] : memref<8192xi8, 3> to memref<32xf64, 3>
    %x = memref.load %v[%i] : memref<32xf64, 3>
    gpu.return %x : f64
  }
}

// -----

// Several rows at once, columns, and what goes over the edge.
// CHECK: [Missed] swizzle-unsupported-access {{.*}} it moves a vector of several dimensions
gpu.module @m {
  gpu.func @rows(%i: index) -> vector<2x8xf16> {
    %a = lds.region @A swizzle(#lds.xor<bits = 3, base = 4, shift = 3>) : memref<64x64xf16, 3>
    %x = vector.load %a[%i, %i] : memref<64x64xf16, 3>, vector<2x8xf16>
    gpu.return %x : vector<2x8xf16>
  }
}

// -----

// CHECK: [Missed] swizzle-unsupported-access {{.*}} it is masked, permuted or out of bounds
gpu.module @m {
  gpu.func @guarded(%i: index) -> vector<8xf16> {
    %zero = arith.constant 0.0 : f16
    %a = lds.region @A swizzle(#lds.xor<bits = 3, base = 4, shift = 3>) : memref<64x64xf16, 3>
    %x = vector.transfer_read %a[%i, %i], %zero : memref<64x64xf16, 3>, vector<8xf16>
    gpu.return %x : vector<8xf16>
  }
}

// -----

// CHECK: [Missed] swizzle-unsupported-access {{.*}} the elements that it moves are not consecutive
gpu.module @m {
  gpu.func @column(%i: index) -> vector<8xf16> {
    %zero = arith.constant 0.0 : f16
    %a = lds.region @A swizzle(#lds.xor<bits = 3, base = 4, shift = 3>) : memref<64x64xf16, 3>
    %v = memref.subview %a[0, 0] [64, 32] [1, 2] : memref<64x64xf16, 3> to memref<64x32xf16, strided<[64, 2]>, 3>
    %x = vector.transfer_read %v[%i, %i], %zero {in_bounds = [true]} : memref<64x32xf16, strided<[64, 2]>, 3>, vector<8xf16>
    gpu.return %x : vector<8xf16>
  }
}

// -----

// What is applied, and how many accesses had to be split.
// CHECK: [Analysis] swizzle-splits-access {{.*}} Reason="16 bytes become accesses of 8"
// CHECK: [Passed] swizzle-applied {{.*}}Accesses=2{{.*}}#lds.xor<bits = 4, base = 3, shift = 4> of region '@A'{{.*}}Split=1
gpu.module @m {
  gpu.func @applied(%i: index) -> vector<8xf16> {
    %c0 = arith.constant 0 : index
    %a = lds.region @A swizzle(#lds.xor<bits = 4, base = 3, shift = 4>) : memref<64x64xf16, 3>
    %x = vector.load %a[%i, %c0] : memref<64x64xf16, 3>, vector<8xf16>
    %y = memref.load %a[%i, %i] : memref<64x64xf16, 3>
    gpu.return %x : vector<8xf16>
  }
}
