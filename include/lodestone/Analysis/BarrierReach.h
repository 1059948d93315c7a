//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

///
/// \file
/// What may run after or before an operation, up to the next barrier or to
/// wherever a question ends.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_ANALYSIS_BARRIERREACH_H
#define LODESTONE_ANALYSIS_BARRIERREACH_H

#include "lodestone/Analysis/Barriers.h"
#include "lodestone/Analysis/BlockUniformity.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace lodestone {

/// True for a loop that is known to run at least once.
bool runsAtLeastOnce(mlir::Operation *op);

/// The paths between operations of a function: through branches, which may go
/// either way, and loops, which may run any number of times, or at least once
/// if that is known. Where an operation doesn't say how it runs its regions,
/// what is in them may run in any order and any number of times, so that
/// nothing in there ends all paths.
///
/// The answers hold as long as the function isn't changed.
class BarrierReach {
public:
  explicit BarrierReach(mlir::FunctionOpInterface function);

  /// Shows `visit` each operation that may run after `op` (`forward`) or
  /// before it; a path ends where `visit` returns true. `op` and what it
  /// contains are left out unless a path leads there again. Returns true if a
  /// path leads to the end (the start) of the function.
  bool walk(mlir::Operation *op, bool forward,
            llvm::function_ref<bool(mlir::Operation *)> visit) const;

  /// The operations that can run after `op` or before it with no barrier of
  /// `scope` on the way.
  llvm::SetVector<mlir::Operation *>
  reach(mlir::Operation *op, BarrierScope scope, bool forward) const;

private:
  /// Calls `callback` with each operation that may run next when `done` is
  /// done, with null for the end of the function.
  void forEachNext(mlir::Operation *done,
                   llvm::function_ref<void(mlir::Operation *)> callback) const;
  void addEdges(mlir::Operation *op);

  using Edges = llvm::DenseMap<mlir::Operation *,
                               llvm::SmallVector<mlir::Operation *, 2>>;
  mlir::FunctionOpInterface function;
  /// Null among them stands for what is outside the function.
  Edges successors, predecessors;
  bool hasDMA = false;
};

/// True if either all threads of a block run `op`, together, or none: the
/// conditions and loops around it are the same for all, or a barrier in the
/// same list of operations says so.
bool isConverged(mlir::Operation *op, const BlockUniformity &uniformity);

} // namespace lodestone

#endif // LODESTONE_ANALYSIS_BARRIERREACH_H
