// RUN: lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-rocdl{chip=gfx950})' | FileCheck %s
// RUN: lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-rocdl{chip=gfx950 index-bitwidth=32})' | FileCheck %s --check-prefix=I32
// RUN: lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-rocdl{chip=gfx950 bare-pointers=true})' | FileCheck %s --check-prefix=BARE
// RUN: lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-rocdl{chip=gfx950 separate-globals=true})' | FileCheck %s --check-prefix=SEPARATE

// The pipeline leaves nothing but the LLVM and ROCDL dialects.
// CHECK-NOT: {{ (affine|amdgpu|arith|builtin.unrealized|cf|lds.region|memref|scf|vector)\.}}

// A memref argument is a descriptor, with integers of index width, or one
// pointer. The known size of the workgroup reaches the backend.
// CHECK: llvm.func @upstream(%{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: i64, %{{[^:]*}}: i64, %{{[^:]*}}: i64, %{{[^:]*}}: f32)
// CHECK-SAME: rocdl.flat_work_group_size = "128,128", rocdl.kernel, rocdl.reqd_work_group_size = array<i32: 128, 1, 1>
// I32: llvm.func @upstream(%{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: i32, %{{[^:]*}}: i32, %{{[^:]*}}: i32, %{{[^:]*}}: f32)
// BARE: llvm.func @upstream(%{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: f32)
// CHECK: rocdl.workitem.id.x range <i32, 0, 128>
// CHECK: rocdl.mfma.f32.16x16x16f16
gpu.module @upstream_dialects {
  gpu.func @upstream(%a: memref<1024xf32>, %scale: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %t = gpu.thread_id x
    %wave = affine.apply affine_map<(d0) -> (d0 floordiv 64)>(%t)
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %ab = vector.transfer_read %a[%t], %scale {in_bounds = [true]} : memref<1024xf32>, vector<4xf32>
    %half = arith.truncf %ab : vector<4xf32> to vector<4xf16>
    %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%acc = %zero) -> vector<4xf32> {
      %next = amdgpu.mfma 16x16x16 %half * %half + %acc blgp = none : vector<4xf16>, vector<4xf16>, vector<4xf32>
      scf.yield %next : vector<4xf32>
    }
    %tile = vector.shape_cast %sum : vector<4xf32> to vector<2x2xf32>
    %turned = vector.transpose %tile, [1, 0] : vector<2x2xf32> to vector<2x2xf32>
    %view = memref.subview %a[512] [512] [1] : memref<1024xf32> to memref<512xf32, strided<[1], offset: 512>>
    %wide = memref.expand_shape %view [[0, 1]] output_shape [256, 2] : memref<512xf32, strided<[1], offset: 512>> into memref<256x2xf32, strided<[2, 1], offset: 512>>
    vector.transfer_write %turned, %wide[%wave, %c0] {in_bounds = [true, true]} : vector<2x2xf32>, memref<256x2xf32, strided<[2, 1], offset: 512>>
    gpu.return
  }
}

// A region of the dynamic LDS becomes an address with its extent, and the
// kernel says how much a launch must pass.
// CHECK-DAG: llvm.mlir.global external @lds_dynamic() {addr_space = 3 : i32
// CHECK-DAG: llvm.func @regions{{.*}}lds.dynamic_size = 1280
// CHECK: lds.extent = #lds.extent<"B", offset = 1024, size = 256>
// SEPARATE: llvm.mlir.global external @B() {{.*}}lds.extent = #lds.extent<"B", offset = 1024, size = 256>
gpu.module @dynamic_lds {
  gpu.func @regions(%a: memref<64xf32>) kernel {
    %first = lds.region @A size(1024) : !llvm.ptr<3>
    %second = lds.region @B : memref<64xf32, #gpu.address_space<workgroup>>
    %t = gpu.thread_id x
    %v = memref.load %a[%t] : memref<64xf32>
    memref.store %v, %second[%t] : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// A kernel that is in the LLVM dialect from the start may hold upstream ops.
// CHECK-LABEL: llvm.func @lowered
// CHECK: rocdl.s.waitcnt
gpu.module @llvm_dialect {
  llvm.func @lowered() attributes {rocdl.kernel} {
    amdgpu.memory_counter_wait load(0)
    llvm.return
  }
}
