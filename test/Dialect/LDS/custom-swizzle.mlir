// A swizzle of somebody else's is checked byte by byte, applied like ours, and survives
// canonicalization.
// RUN: lodestone-swizzle-test %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(canonicalize,lds-apply-swizzles{strict},canonicalize))' | FileCheck %s

gpu.module @m {
  // CHECK-LABEL: gpu.func @three_cells
  gpu.func @three_cells() -> (vector<8xf16>, f16) {
    // Row 1, cell 1 goes to cell 0: byte 48. Its third element is at byte 52.
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c10 = arith.constant 10 : index
    // CHECK-DAG: %[[C24:.*]] = arith.constant 24 : index
    // CHECK-DAG: %[[C26:.*]] = arith.constant 26 : index
    // CHECK: %[[A:.*]] = lds.region @a : memref<192xf16, 3>
    %a = lds.region @a swizzle(array<i64: 2, 0, 1>) : memref<8x24xf16, 3>
    // CHECK: vector.load %[[A]][%[[C24]]]
    %x = vector.load %a[%c1, %c8] : memref<8x24xf16, 3>, vector<8xf16>
    // CHECK: memref.load %[[A]][%[[C26]]]
    %y = memref.load %a[%c1, %c10] : memref<8x24xf16, 3>
    gpu.return %x, %y : vector<8xf16>, f16
  }
}

// -----

gpu.module @m {
  gpu.func @collision() {
    // expected-error @+1 {{swizzle array<i64: 0, 0> does not fit 'memref<8x16xf16, 3>': offsets 0 and 16 both go to 0}}
    %a = lds.region @a swizzle(array<i64: 0, 0>) : memref<8x16xf16, 3>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @outside() {
    // expected-error @+1 {{swizzle array<i64: 0, 2> does not fit 'memref<8x16xf16, 3>'}}
    %a = lds.region @a swizzle(array<i64: 0, 2>) : memref<8x16xf16, 3>
    gpu.return
  }
}
