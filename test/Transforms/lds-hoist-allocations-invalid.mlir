// Allocations of LDS that aren't the same as LDS that the kernel has from its start.
// RUN: lodestone-opt %s --split-input-file --verify-diagnostics --lds-hoist-allocations
// RUN: not lodestone-opt %s --split-input-file --pass-pipeline='builtin.module(lodestone-to-rocdl{chip=gfx950})' 2>&1 | FileCheck %s
// CHECK: 'memref.alloc' op of LDS may run more than once

gpu.module @m {
  // A slow thread may still use the last iteration's.
  gpu.func @loop(%x: f32, %out: memref<64xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // expected-note @+1 {{repeated by 'scf.for' here}}
    scf.for %i = %c0 to %n step %c1 {
      // expected-error @+1 {{'memref.alloc' op of LDS may run more than once, each time for other bytes; move it to the kernel's start}}
      %a = memref.alloc() : memref<64xf32, #gpu.address_space<workgroup>>
      memref.store %x, %a[%i] : memref<64xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %y = memref.load %a[%c0] : memref<64xf32, #gpu.address_space<workgroup>>
      memref.store %y, %out[%i] : memref<64xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  // The same in a graph of blocks.
  // expected-note @+1 {{repeated by 'gpu.func' here}}
  gpu.func @blocks(%c: i1) kernel {
    cf.br ^again
  ^again:
    // expected-error @+1 {{may run more than once}}
    %a = memref.alloca() : memref<64xf32, 3>
    cf.cond_br %c, ^again, ^end
  ^end:
    gpu.return
  }
}

// -----

gpu.module @m {
  // Each call has its own.
  func.func @helper() {
    // expected-error @+1 {{of LDS is in no gpu.func that is a kernel; inline the function around it first}}
    %a = memref.alloc() : memref<64xf32, 3>
    return
  }
}

// -----

gpu.module @m {
  gpu.func @size(%n: index) kernel {
    // expected-error @+1 {{of LDS must have a static shape, an identity layout and a size, but is of 'memref<?xf32, 3>'}}
    %a = memref.alloc(%n) : memref<?xf32, 3>
    // expected-error @+1 {{but is of 'memref<0xf32, 3>'}}
    %b = memref.alloc() : memref<0xf32, 3>
    // expected-error @+1 {{but is of 'memref<4x4xf32, strided<[8, 1]>, 3>'}}
    %c = memref.alloc() : memref<4x4xf32, strided<[8, 1]>, 3>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @swizzled() kernel {
    // expected-error @+1 {{still has its 'lds.swizzle'; run lds-apply-swizzles first}}
    %a = memref.alloc() {lds.swizzle = #lds.xor<bits = 3, base = 4, shift = 3>} : memref<64x64xf16, 3>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @freed() workgroup(%a : memref<64xf32, #gpu.address_space<workgroup>>) kernel {
    // expected-error @+1 {{'memref.dealloc' op of LDS may be of what no memref.alloc made}}
    memref.dealloc %a : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}
