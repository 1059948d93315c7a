//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The range of a counted loop's induction variable at the level of
/// control-flow graphs, where `scf.for` is gone.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_ANALYSIS_INDUCTIONRANGE_H
#define LODESTONE_ANALYSIS_INDUCTIONRANGE_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"

#include <optional>

namespace lodestone {

/// A loop counter: it enters its loop as `init`, grows by the positive constant
/// `step` each time around, and goes around only while `counter < bound` (or
/// `<=`, `!=`).
struct InductionRange {
  mlir::Value init;
  mlir::Value bound;
  int64_t step;
  mlir::LLVM::ICmpPredicate predicate;
  /// The largest value of the argument, counted from the largest value `last`
  /// that satisfies the comparison: `last + slack`. Zero if every use of the
  /// argument that matters runs only after the comparison held.
  int64_t slack;

  /// Recognises `argument` as the counter of a loop with one entry value and
  /// one latch, in the form that scf-to-cf gives (test in the header) or that
  /// loop rotation gives (test in the latch).
  static std::optional<InductionRange> match(mlir::BlockArgument argument,
                                             mlir::DominanceInfo &dominance);

  /// The values of the counter, for these ranges of its entry value and bound;
  /// nothing if it may wrap around.
  std::optional<mlir::ConstantIntRanges>
  rangeFor(const mlir::ConstantIntRanges &init,
           const mlir::ConstantIntRanges &bound) const;
};

} // namespace lodestone

#endif // LODESTONE_ANALYSIS_INDUCTIONRANGE_H
