// Nobody who doesn't ask for it gets other warps or fewer instructions.
// RUN: lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-rocdl{chip=gfx1250})' | FileCheck %s --check-prefix=NONE
// NONE-NOT: llvm.icmp "eq"
// NONE-COUNT-2: rocdl.tensor.load.to.lds.d2

// The warps are divided, and the loads stay two.
// RUN: lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-rocdl{chip=gfx1250 tdm-hints=complementary})' | FileCheck %s --check-prefix=HINTS
// HINTS: llvm.icmp "eq"
// HINTS-COUNT-2: rocdl.tensor.load.to.lds.d2

// Several rules, and one instruction; in the pipeline to a binary, too.
// RUN: lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-rocdl{chip=gfx1250 tdm-hints=one-per-simd,complementary tdm-fuse})' | FileCheck %s --check-prefix=FUSED
// RUN: lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-binary{chip=gfx1250 format=isa tdm-hints=complementary tdm-fuse})' | FileCheck %s --check-prefix=ISA
// FUSED-COUNT-1: rocdl.tensor.load.to.lds.d2
// FUSED-NOT: rocdl.tensor.load.to.lds
// ISA-COUNT-1: tensor_load_to_lds s
// ISA-NOT: tensor_load_to_lds s

// The options are printed as they are read.
// RUN: lodestone-opt %s --dump-pass-pipeline --pass-pipeline='builtin.module(lodestone-to-rocdl{chip=gfx1250 tdm-hints=one-per-simd,leading-group})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=RULES
// RULES: tdm-infer-warp-hints{{.*}}leading-group=true one-per-simd=true

// A rule that there isn't is named, with those that there are.
// RUN: not lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-rocdl{chip=gfx1250 tdm-hints=complementary,all})' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: 'all' is no rule for hints; rules are complementary, leading-group, one-per-simd
gpu.module @kernels {
  gpu.func @tiles(%a: memref<?x64xf16>, %b: memref<?x64xf16>, %i: index) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %tileA = lds.region @A : memref<256x64xf16, 3>
    %tileB = lds.region @B : memref<128x64xf16, 3>
    tdm.load %a[%i, %c0] to %tileA : memref<?x64xf16> to memref<256x64xf16, 3>
    tdm.load %b[%i, %c0] to %tileB : memref<?x64xf16> to memref<128x64xf16, 3>
    tdm.wait 0
    gpu.return
  }
}
