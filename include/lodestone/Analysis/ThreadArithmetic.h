//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

///
/// \file
/// What integer operations do with the values that a block's threads have.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_ANALYSIS_THREADARITHMETIC_H
#define LODESTONE_ANALYSIS_THREADARITHMETIC_H

#include "lodestone/Analysis/ThreadValues.h"

namespace lodestone {

/// The block that the threads are in.
struct ThreadGeometry {
  std::array<unsigned, 3> size;
  /// 0 if not known.
  unsigned waveSize;

  unsigned getNumThreads() const { return size[0] * size[1] * size[2]; }
};

/// Bits of `type` in a ThreadForm; nothing for types that have none.
std::optional<unsigned> getThreadFormWidth(mlir::Type type);

/// `value` itself as an unknown number that is the same for all threads.
ThreadForm makeUnknownForm(mlir::Value value, unsigned instance);

/// a + b * factor.
ThreadForm addScaled(const ThreadForm &a, const ThreadForm &b, Lanes factor,
                     unsigned numThreads);

/// `ifTrue` in the threads in which `condition` isn't 0, else `ifFalse`.
/// Nothing if the condition isn't known.
std::optional<ThreadForm> select(const ThreadForm &condition,
                                 const ThreadForm &ifTrue,
                                 const ThreadForm &ifFalse,
                                 unsigned numThreads);

/// The value of `result`, given its operation's operands in order; nothing if
/// it isn't known.
std::optional<ThreadForm>
evaluateOp(mlir::OpResult result, llvm::ArrayRef<const ThreadForm *> operands,
           const ThreadGeometry &geometry);

} // namespace lodestone

#endif // LODESTONE_ANALYSIS_THREADARITHMETIC_H
