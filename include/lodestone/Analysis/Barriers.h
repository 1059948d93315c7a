//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

///
/// \file
/// Which operations are barriers of the workgroup, and what they order.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_ANALYSIS_BARRIERS_H
#define LODESTONE_ANALYSIS_BARRIERS_H

namespace mlir {
class Operation;
} // namespace mlir

namespace lodestone {

/// What a barrier makes visible to the other threads of the block. Each scope
/// includes those before it.
enum class BarrierScope {
  /// Nothing: all warps have come here, but their accesses may be on their way.
  execution,
  /// What ordinary instructions did to LDS.
  lds,
  /// Global memory, too.
  global
};

/// True if all threads of a block wait at `op` for each other, in one piece,
/// and then see what they did before to the memory of `scope`.
///
/// No barrier orders copies that complete later, on a counter of their own:
/// those need a wait in front of it.
bool isBarrier(mlir::Operation *op, BarrierScope scope);

/// Whether `op`, or something in it, is a barrier of `scope`.
bool containsBarrier(mlir::Operation *op, BarrierScope scope);

/// Whether nothing from `first` on to `last`, which is the same or comes later
/// in the same block, contains a barrier for LDS; false if it doesn't come.
bool isInOnePhase(mlir::Operation *first, mlir::Operation *last);

/// Whether a warp tells the others at `op` that it has come to the barrier of
/// the workgroup: a whole barrier, or the first half of one.
bool arrivesAtBarrier(mlir::Operation *op);

/// Whether a warp waits at `op` until all others have: a whole barrier, or the
/// second half of one.
bool waitsAtBarrier(mlir::Operation *op);

/// Whether control flow inside of `op` can't be looked into: a call, assembly,
/// or regions that run in an order which isn't known.
bool isOpaque(mlir::Operation *op);

/// Whether waves may wait for each other at `op` in another way: at a named
/// barrier, by an atomic, or in what can't be looked into.
bool maySynchronizeOtherwise(mlir::Operation *op);

} // namespace lodestone

#endif // LODESTONE_ANALYSIS_BARRIERS_H
