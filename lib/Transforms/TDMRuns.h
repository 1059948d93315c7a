//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What the passes on TDM loads share: which loads stand together.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_LIB_TRANSFORMS_TDMRUNS_H
#define LODESTONE_LIB_TRANSFORMS_TDMRUNS_H

#include "lodestone/Dialect/TDM/IR/TDMDialect.h"

namespace lodestone::tdm {

/// The most loads that one instruction does.
inline constexpr unsigned kMaxFusedLoads = 4;

/// Loads of one block, in order, between which nothing stands that reads or
/// writes memory, waits, or has any other effect: they may change places with
/// all that is between them.
using Run = llvm::SmallVector<LoadOp>;

/// The functions below `root` that have TDM loads; each gpu.launch is one of
/// its own.
llvm::SmallVector<mlir::Operation *>
getFunctionsWithLoads(mlir::Operation *root);

/// All runs in `function` but for the members of fused loads, in program order.
llvm::SmallVector<Run> collectRuns(mlir::Operation *function);

/// Why somebody may count the tensor instructions, or the copies, of `function`
/// where a pass on it doesn't see it; empty if nobody does.
std::string findForeignCount(mlir::Operation *function);

} // namespace lodestone::tdm

#endif // LODESTONE_LIB_TRANSFORMS_TDMRUNS_H
