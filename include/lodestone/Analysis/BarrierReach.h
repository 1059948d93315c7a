//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

///
/// \file
/// Which operations a workgroup's barriers keep apart.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_ANALYSIS_BARRIERREACH_H
#define LODESTONE_ANALYSIS_BARRIERREACH_H

#include "lodestone/Analysis/BlockUniformity.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace lodestone {

/// What a barrier makes visible to the other threads of the block.
enum class BarrierScope {
  /// At least LDS.
  lds,
  /// Global memory, too.
  global
};

/// True if all threads of a block wait here for each other and then see what
/// they wrote before. `rocdl.s.barrier` orders no memory; it is one for LDS if
/// an `amdgpu.memory_counter_wait ds(0)` stands right before it, which LDS-DMAs
/// don't wait for.
bool isBarrier(mlir::Operation *op, BarrierScope scope);

/// The paths between operations of a function, through branches and loops.
/// Paths that a run can't take are taken to be possible.
class BarrierReach {
public:
  explicit BarrierReach(mlir::FunctionOpInterface function);

  /// The operations that can run after `op` (`forward`) or before it, with no
  /// barrier on the way. `op` and what it contains are left out unless a path
  /// leads there again.
  llvm::SetVector<mlir::Operation *>
  reach(mlir::Operation *op, BarrierScope scope, bool forward) const;

private:
  void addEdge(mlir::Operation *from, mlir::Operation *to);
  void addEdgesAfter(mlir::Operation *from, mlir::Operation *done);
  void addEdges(mlir::Operation *op);

  using Edges = llvm::DenseMap<mlir::Operation *,
                               llvm::SmallVector<mlir::Operation *, 2>>;
  Edges successors, predecessors;
  bool hasDMA = false;
};

/// True if either all threads of a block run `op`, together, or none: the
/// conditions and loops around it are the same for all, or a barrier in the
/// same list of operations says so.
bool isConverged(mlir::Operation *op, const BlockUniformity &uniformity);

} // namespace lodestone

#endif // LODESTONE_ANALYSIS_BARRIERREACH_H
