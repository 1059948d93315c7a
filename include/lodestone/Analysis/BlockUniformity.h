//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Which values are the same in every thread of a block, from the structure of
/// the IR alone.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_ANALYSIS_BLOCKUNIFORMITY_H
#define LODESTONE_ANALYSIS_BLOCKUNIFORMITY_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseSet.h"

namespace lodestone {

/// True if `op` has no regions and its results are a function of its operands
/// alone, not of the thread or of memory. Not all such operations are known.
bool isFunctionOfOperands(mlir::Operation *op);

/// The lattice has two points: uniform and divergent. A value is *uniform* if
/// all threads of a block that compute it in the same iteration of the loops
/// around it get the same bits. What isn't known to be uniform is divergent:
/// thread and lane numbers, what is loaded, what calls and atomics return,
/// results of branches that threads may take differently, arguments of a
/// function that isn't a kernel, and arguments of the blocks of a CFG.
///
/// A value computed in a loop which threads may leave at different times is
/// uniform inside it, not as the loop's result.
class BlockUniformity {
public:
  /// Linear in the number of uses in `function`.
  explicit BlockUniformity(mlir::FunctionOpInterface function);

  bool isUniform(mlir::Value value) const { return !divergent.contains(value); }

  /// True if all threads of a block that reach the operation around `region` (a
  /// loop or a condition) enter `region` the same number of times.
  bool entersUniformly(mlir::Region &region) const;

private:
  llvm::DenseSet<mlir::Value> divergent;
};

} // namespace lodestone

#endif // LODESTONE_ANALYSIS_BLOCKUNIFORMITY_H
