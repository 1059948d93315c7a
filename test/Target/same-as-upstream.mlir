// An untagged kernel comes out byte for byte as from upstream's
// gpu-module-to-binary, text and code object: what differs with Lodestone is due
// to the alias scopes alone, or to loads that LLVM would move over a barrier (barrier-guard.mlir).

// RUN: mkdir -p %t.rocm/llvm/bin && ln -sf %llvm_tools/ld.lld %t.rocm/llvm/bin/ld.lld
// RUN: lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-rocdl{chip=gfx950 alias-scopes=false})' -o %t.rocdl.mlir
// RUN: mlir-opt %t.rocdl.mlir --pass-pipeline='builtin.module(rocdl-attach-target{chip=gfx950 O=3},gpu-module-to-binary{format=isa})' | sed 's/.*assembly = //' > %t.upstream.isa
// RUN: lodestone-opt %t.rocdl.mlir --pass-pipeline='builtin.module(lodestone-to-binary{chip=gfx950 format=isa alias-scopes=false})' | sed 's/.*assembly = //' > %t.ours.isa
// RUN: grep -q v_mfma %t.ours.isa
// RUN: diff %t.upstream.isa %t.ours.isa
// RUN: mlir-opt %t.rocdl.mlir --pass-pipeline='builtin.module(rocdl-attach-target{chip=gfx950 O=3},gpu-module-to-binary{format=bin toolkit=%t.rocm})' | sed 's/.*bin = //' > %t.upstream.bin
// RUN: lodestone-opt %t.rocdl.mlir --pass-pipeline='builtin.module(lodestone-to-binary{chip=gfx950 alias-scopes=false})' | sed 's/.*bin = //' > %t.ours.bin
// RUN: diff %t.upstream.bin %t.ours.bin

gpu.module @kernels {
  gpu.func @gemm(%a: memref<65536xf16>, %c: memref<65536xf32>) workgroup(%lds: memref<16384xf16, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %t = gpu.thread_id x
    %at = arith.muli %t, %c8 : index
    %from = vector.load %a[%at] : memref<65536xf16>, vector<8xf16>
    vector.store %from, %lds[%at] : memref<16384xf16, #gpu.address_space<workgroup>>, vector<8xf16>
    gpu.barrier
    %sum = scf.for %k = %c0 to %c8 step %c1 iter_args(%acc = %zero) -> vector<4xf32> {
      %next = arith.muli %k, %c8 : index
      %x = vector.load %lds[%next] : memref<16384xf16, #gpu.address_space<workgroup>>, vector<8xf16>
      %y = vector.load %lds[%at] : memref<16384xf16, #gpu.address_space<workgroup>>, vector<8xf16>
      %r = amdgpu.mfma 16x16x32 %x * %y + %acc blgp = none : vector<8xf16>, vector<8xf16>, vector<4xf32>
      scf.yield %r : vector<4xf32>
    }
    vector.store %sum, %c[%at] : memref<65536xf32>, vector<4xf32>
    gpu.return
  }
}
