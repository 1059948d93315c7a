// Kernels with regions go through upstream's conversions down to ISA, in stock mlir-opt, in
// both forms and with both widths of an index, and use the same addresses each time.
// DEFINE: %{options} = separate-globals=false
// DEFINE: %{index} = 0
// DEFINE: %{to-isa} = mlir-opt %s --load-dialect-plugin=%lodestone_plugin --load-pass-plugin=%lodestone_plugin --pass-pipeline='builtin.module(rocdl-attach-target{chip=gfx950},gpu.module(lds-lower-regions{%{options} index-bitwidth=%{index}},convert-gpu-to-rocdl{chipset=gfx950 index-bitwidth=%{index}},reconcile-unrealized-casts,canonicalize,cse),gpu-module-to-binary{format=isa})'
// RUN: %{to-isa} | FileCheck %s
// REDEFINE: %{options} = separate-globals=true
// RUN: %{to-isa} | FileCheck %s
// REDEFINE: %{index} = 32
// RUN: %{to-isa} | FileCheck %s
// REDEFINE: %{options} = separate-globals=false
// RUN: %{to-isa} | FileCheck %s

module attributes {gpu.container_module} {
  // A store to one region and loads from two others, with the regions' offsets in the
  // instructions. No static LDS: the launch passes all of it.
  // CHECK: gpu.binary @m
  // CHECK: memrefs:
  // CHECK: ds_write_b32 {{v[0-9]+, v[0-9]+}} offset:1024
  // CHECK: ds_read_b32 {{v[0-9]+, v[0-9]+}} offset:2048
  // CHECK: .amdhsa_group_segment_fixed_size 0
  gpu.module @m {
    gpu.func @memrefs(%in: memref<256xf32>, %out: memref<256xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %a = lds.region @a size(1024) : !llvm.ptr<3>
      %b = lds.region @b : memref<256xf32, #gpu.address_space<workgroup>>
      %c = lds.region @c : memref<256xf32, 3>
      %t = gpu.thread_id x
      %x = memref.load %in[%t] : memref<256xf32>
      memref.store %x, %b[%t] : memref<256xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %y = memref.load %c[%t] : memref<256xf32, 3>
      memref.store %y, %out[%t] : memref<256xf32>
      gpu.return
    }

    // The kernel of the LLVM dialect.
    // CHECK: pointers:
    // CHECK: ds_write_b32 {{v[0-9]+, v[0-9]+}} offset:512
    llvm.func @pointers(%x: f32) attributes {gpu.kernel, rocdl.kernel} {
      %a = lds.region @a offset(512) size(16) : !llvm.ptr<3>
      llvm.store volatile %x, %a : f32, !llvm.ptr<3>
      llvm.return
    }
  }
}
