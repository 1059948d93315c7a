//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What may run after an op, up to the ops at which a question ends.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_ANALYSIS_PATHWALK_H
#define LODESTONE_ANALYSIS_PATHWALK_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace lodestone {

/// Shows `visit` every op of the function that may run after `start` on some
/// path; a path ends where `visit` returns true. Returns true if a path reaches
/// the end of the function.
///
/// Branches may go either way and loops may run any number of times. Ops in
/// regions that run in an order which isn't known are visited, but end no path.
bool walkPathsAfter(mlir::Operation *start,
                    llvm::function_ref<bool(mlir::Operation *)> visit);

} // namespace lodestone

#endif // LODESTONE_ANALYSIS_PATHWALK_H
