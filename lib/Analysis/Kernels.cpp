//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/Kernels.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;

bool lodestone::isKernel(Operation *function) {
  if (auto gpuFunction = dyn_cast<gpu::GPUFuncOp>(function))
    return gpuFunction.isKernel();
  auto llvmFunction = dyn_cast<LLVM::LLVMFuncOp>(function);
  return llvmFunction &&
         (llvmFunction.getCConv() == LLVM::CConv::AMDGPU_KERNEL ||
          llvmFunction->hasAttr(gpu::GPUDialect::getKernelFuncAttrName()) ||
          llvmFunction->hasAttr(
              ROCDL::ROCDLDialect::KernelAttrHelper::getNameStr()));
}
