//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Transforms/LDSTransforms.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;
using namespace lodestone;

FailureOr<const ChipInfo *>
lodestone::resolveChip(Operation *op, StringRef option, StringRef fallback) {
  auto module = dyn_cast<gpu::GPUModuleOp>(op);
  if (!module)
    module = op->getParentOfType<gpu::GPUModuleOp>();
  StringRef name = option.empty() ? fallback : option;
  if (option.empty() && module)
    if (ArrayAttr targets = module.getTargetsAttr())
      for (Attribute target : targets)
        if (auto rocdl = dyn_cast<ROCDL::ROCDLTargetAttr>(target))
          name = rocdl.getChip();
  if (const ChipInfo *chip = lookupChip(name))
    return chip;
  return (module ? module.getOperation() : op)->emitError()
         << unknownChipMessage(name);
}

FailureOr<unsigned> lodestone::resolveWaveSize(Operation *kernel,
                                               StringRef option) {
  auto module = kernel->getParentOfType<gpu::GPUModuleOp>();
  bool hasTarget = module && module.getTargetsAttr() &&
                   llvm::any_of(module.getTargetsAttr(),
                                llvm::IsaPred<ROCDL::ROCDLTargetAttr>);
  if (option.empty() && !hasTarget)
    return 0u;
  FailureOr<const ChipInfo *> chip = resolveChip(kernel, option, "");
  if (failed(chip))
    return failure();
  return (*chip)->waveSize;
}
