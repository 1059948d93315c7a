// RUN: lodestone-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(lodestone-to-rocdl{chip=gfx950})'

// An op that no conversion knows is named where it stands.
gpu.module @left_over {
  llvm.func @kernel(%a: !llvm.ptr) attributes {rocdl.kernel} {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{op 'tensor.empty' has no lowering to the LLVM dialect in this pipeline; lower it before}}
    %t = tensor.empty() : tensor<4xf32>
    // expected-error @+1 {{op 'tensor.extract' has no lowering to the LLVM dialect in this pipeline; lower it before}}
    %x = tensor.extract %t[%c0] : tensor<4xf32>
    llvm.store %x, %a : f32, !llvm.ptr
    llvm.return
  }
}

// -----

// A module for another chip is not compiled for this one in silence.
// expected-error @+1 {{gpu.module @other has a target for gfx942, but chip is gfx950; drop the target or compile for gfx942}}
gpu.module @other [#rocdl.target<chip = "gfx942">] {
}

// -----

// expected-error @+1 {{the module has no gpu.module; put kernels into one, or outline gpu.launch ops with 'gpu-kernel-outlining' first}}
module {
  func.func @host() {
    return
  }
}
