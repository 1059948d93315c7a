//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Which functions a launch enters.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_ANALYSIS_KERNELS_H
#define LODESTONE_ANALYSIS_KERNELS_H

namespace mlir {
class Operation;
} // namespace mlir

namespace lodestone {

/// True for the entry point of a kernel, lowered or not: a `gpu.func kernel`,
/// or an `llvm.func` with `gpu.kernel`, `rocdl.kernel` or the calling
/// convention `amdgpu_kernelcc`.
bool isKernel(mlir::Operation *function);

} // namespace lodestone

#endif // LODESTONE_ANALYSIS_KERNELS_H
