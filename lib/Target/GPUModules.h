
///
/// \file
/// Questions about modules that the pipeline passes and compile() share.
/// Private to lib/Target.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_LIB_TARGET_GPUMODULES_H
#define LODESTONE_LIB_TARGET_GPUMODULES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace lodestone {

/// The first `#rocdl.target` of `module`, or null.
mlir::ROCDL::ROCDLTargetAttr getROCDLTarget(mlir::gpu::GPUModuleOp module);

/// Each of these emits an error that says what to do, and fails.
mlir::LogicalResult checkChip(mlir::Operation *op, llvm::StringRef chip);
mlir::LogicalResult checkHasGPUModule(mlir::ModuleOp module);
mlir::LogicalResult checkGPUModule(mlir::gpu::GPUModuleOp module,
                                   llvm::StringRef chip, bool requireKernels);

} // namespace lodestone

#endif // LODESTONE_LIB_TARGET_GPUMODULES_H
