// RUN: lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-binary{chip=gfx950 format=isa})' | FileCheck %s --check-prefix=ISA
// RUN: lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-binary{chip=gfx950})' | FileCheck %s --check-prefix=HSACO
// RUN: lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-binary{chip=gfx950 format=fatbin features=+xnack})' | FileCheck %s --check-prefix=FATBIN
// RUN: lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-binary{chip=gfx90a})' | FileCheck %s --check-prefix=GFX90A
// RUN: lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-binary{chip=gfx942})' | FileCheck %s --check-prefix=GFX942
// RUN: lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-binary{chip=gfx1250})' | FileCheck %s --check-prefix=GFX1250

// Each format is a gpu.binary in the place of the gpu.module. What is around it
// stays.
// ISA: func.func @host
// ISA: gpu.binary @kernels [#gpu.object<#rocdl.target<O = 3, chip = "gfx950">
// ISA-SAME: assembly = "{{.*}}.amdgcn_target \22amdgcn-amd-amdhsa--gfx950\22
// ISA-SAME: s_endpgm

// A code object is an ELF, and its kernels are listed with what they take: LDS
// from a region is dynamic, LDS from a global static.
// HSACO: gpu.binary @kernels [#gpu.object<#rocdl.target<O = 3, chip = "gfx950">
// HSACO-SAME: #gpu.kernel_metadata<"copy"
// HSACO-SAME: dynamic_lds_size = 32768 : i64
// HSACO-SAME: group_segment_fixed_size = 0 : i64
// HSACO-SAME: max_flat_workgroup_size = 256 : i64, occupancy = 5 : i64, occupancy_limit = "lds"
// HSACO-SAME: reqd_workgroup_size = array<i32: 256, 1, 1>
// HSACO-SAME: bin = "\7FELF

// A HIP fat binary names the target with its features.
// FATBIN: gpu.binary @kernels
// FATBIN-SAME: "__CLANG_OFFLOAD_BUNDLE__\02\00\00\00\00\00\00\00\00\10
// FATBIN-SAME: host-x86_64-unknown-linux-gnu-
// FATBIN-SAME: hipv4-amdgcn-amd-amdhsa--gfx950:xnack+
// FATBIN-SAME: \7FELF

// GFX90A: chip = "gfx90a"{{.*}}wavefront_size = 64{{.*}}bin = "\7FELF
// GFX942: chip = "gfx942"{{.*}}wavefront_size = 64{{.*}}bin = "\7FELF
// GFX1250: chip = "gfx1250"{{.*}}wavefront_size = 32{{.*}}bin = "\7FELF
module attributes {gpu.container_module} {
  func.func @host() {
    return
  }
  gpu.module @kernels {
    gpu.func @copy(%a: memref<8192xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %region = lds.region @buffer : memref<8192xf32, #gpu.address_space<workgroup>>
      %t = gpu.thread_id x
      %v = memref.load %a[%t] : memref<8192xf32>
      memref.store %v, %region[%t] : memref<8192xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %c255 = arith.constant 255 : index
      %r = arith.subi %c255, %t : index
      %w = memref.load %region[%r] : memref<8192xf32, #gpu.address_space<workgroup>>
      memref.store %w, %a[%t] : memref<8192xf32>
      gpu.return
    }
  }
}
