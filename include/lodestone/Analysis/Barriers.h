//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Which operations are barriers of the workgroup.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_ANALYSIS_BARRIERS_H
#define LODESTONE_ANALYSIS_BARRIERS_H

namespace mlir {
class Operation;
} // namespace mlir

namespace lodestone {

/// Whether `op` is a barrier of the workgroup in one piece: what stands in
/// front of it is done before any warp goes on behind it.
bool isWholeBarrier(mlir::Operation *op);

/// Whether a warp tells the others at `op` that it has come to the barrier of
/// the workgroup: a whole barrier, or the first half of one.
bool arrivesAtBarrier(mlir::Operation *op);

/// Whether a warp waits at `op` until all others have: a whole barrier, or the
/// second half of one.
bool waitsAtBarrier(mlir::Operation *op);

} // namespace lodestone

#endif // LODESTONE_ANALYSIS_BARRIERS_H
