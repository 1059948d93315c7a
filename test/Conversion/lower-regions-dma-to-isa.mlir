// An LDS-DMA into a region compiles to ISA with upstream's conversions, in both forms.
// (convert-amdgpu-to-rocdl has indices of 64 bits only.)
// DEFINE: %{options} = separate-globals=false
// DEFINE: %{to-isa} = mlir-opt %s --load-dialect-plugin=%lodestone_plugin --load-pass-plugin=%lodestone_plugin --pass-pipeline='builtin.module(rocdl-attach-target{chip=gfx950},gpu.module(lds-lower-regions{%{options}},convert-amdgpu-to-rocdl{chipset=gfx950},convert-gpu-to-rocdl{chipset=gfx950},reconcile-unrealized-casts,canonicalize,cse),gpu-module-to-binary{format=isa})'
// RUN: %{to-isa} | FileCheck %s
// REDEFINE: %{options} = separate-globals=true
// RUN: %{to-isa} | FileCheck %s

module attributes {gpu.container_module} {
  gpu.module @m {
    // M0 gets its offset.
    // CHECK: dma:
    // CHECK: m0, 0, 0x1000
    // CHECK: global_load_lds_dword
    // CHECK: ds_read_b32 {{v[0-9]+, v[0-9]+}} offset:4096
    gpu.func @dma(%in: memref<256xf32, #gpu.address_space<global>>, %out: memref<256xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %a = lds.region @a offset(4096) : memref<256xf32, #gpu.address_space<workgroup>>
      %c0 = arith.constant 0 : index
      %t = gpu.thread_id x
      amdgpu.gather_to_lds %in[%t], %a[%c0] : f32, memref<256xf32, #gpu.address_space<global>>, memref<256xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %y = memref.load %a[%t] : memref<256xf32, #gpu.address_space<workgroup>>
      memref.store %y, %out[%t] : memref<256xf32>
      gpu.return
    }
  }
}
