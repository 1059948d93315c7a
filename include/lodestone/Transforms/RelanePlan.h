//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

///
/// \file
/// Which thread would have to do a copy's work for its stores to be linear, and
/// whether it may.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_TRANSFORMS_RELANEPLAN_H
#define LODESTONE_TRANSFORMS_RELANEPLAN_H

#include "lodestone/Analysis/BarrierReach.h"
#include "lodestone/Analysis/TileCopies.h"
#include "lodestone/Transforms/ThreadPermutation.h"

namespace lodestone {

/// The elements that a copy's store touches: in step `s`, those of all threads
/// together are [bases[s], bases[s] + extents[s]) plus the terms.
struct TouchedElements {
  /// Terms and width; the same for all steps. The constant isn't used.
  ThreadForm terms;
  llvm::SmallVector<int64_t> bases;
  llvm::SmallVector<int64_t> extents;

  /// True if no element is touched by both, or their terms can't be compared.
  bool isDisjointFrom(const TouchedElements &other) const;
};

/// The elements that all threads touch with an access at `indices`, in the
/// steps of `copy`, and in `offsets`, for each step, where each thread's start.
std::variant<TouchedElements, Refusal>
getTouchedElements(mlir::Value memref, mlir::ValueRange indices,
                   int64_t cellElements, const TileCopy &copy,
                   ThreadValues &values, llvm::SmallVectorImpl<Lanes> &offsets);

/// A copy whose stores are linear once each thread does, in each step, what
/// `permutation` says: thread t then stores at
///   base + sum of strides[loop] * iteration + terms + t * cellElements.
struct RelanePlan {
  enum class Mode {
    /// In each step, that of another thread: `permutation` is a function of t
    /// and of the iterations.
    threads,
    /// That of another thread in another step, thread * steps + step: the steps
    /// don't fill a window each, but one together.
    cells,
    /// The same, as a function of one number, t + threads * step.
    cellsByNumber
  };

  TileCopy copy;
  Mode mode = Mode::threads;
  ThreadPermutation permutation;
  TouchedElements touched;
  int64_t base = 0;
  llvm::SmallVector<int64_t> strides;
  unsigned numThreads = 0;

  bool movesSteps() const { return mode != Mode::threads; }
  bool hasPermutationOf(const RelanePlan &other) const;

  /// True if both store the same cells, and the same thread takes over each
  /// from the same thread: what one thread does first it still does first.
  bool movesWith(const RelanePlan &other) const;
  /// True if that holds for whichever cells both store, in any iteration of
  /// each: windows are aligned to their size, so that a cell's place in its
  /// window follows from its address, and from that its thread.
  bool alwaysMovesWith(const RelanePlan &other) const;

  /// Whose work thread t does, for a reader.
  std::string getFormula() const;
};

/// No value if the stores are in order as they are.
using MaybePlan = std::variant<std::monostate, RelanePlan, Refusal>;

/// Computes the offsets of all threads in all steps, and from these the plan.
MaybePlan planRelane(TileCopy copy, ThreadValues &values);

/// Decides whether a plan may be carried out. The answers hold as long as the
/// function isn't changed.
class RelaneLegality {
public:
  using FindPlan =
      llvm::function_ref<const RelanePlan *(mlir::Operation *store)>;

  RelaneLegality(mlir::FunctionOpInterface function, ThreadValues &values)
      : function(function), values(values), reach(function) {}

  /// All rules but the one about guards. `loads` are the loads from global
  /// memory that another thread would do. `findPlan` gives the plan of another
  /// copy; those that have to move along for the answer to hold are added to
  /// `together`.
  std::optional<Refusal>
  check(const RelanePlan &plan, llvm::ArrayRef<mlir::Operation *> loads,
        FindPlan findPlan, llvm::SmallVectorImpl<mlir::Operation *> &together);

private:
  std::optional<Refusal>
  checkLDS(const RelanePlan &plan, FindPlan findPlan,
           llvm::SmallVectorImpl<mlir::Operation *> &together);
  std::optional<Refusal> checkSource(const RelanePlan &plan,
                                     mlir::Operation *load);
  bool mayCollide(const RelanePlan &plan, mlir::Operation *access);
  llvm::DenseSet<mlir::Operation *>
  getOtherIterations(const RelanePlan &plan) const;

  mlir::FunctionOpInterface function;
  ThreadValues &values;
  BarrierReach reach;
};

/// A value as a reader of a remark finds it: by what makes it, and the line.
std::string describe(mlir::Value value);
std::string describe(mlir::Operation *op);

} // namespace lodestone

#endif // LODESTONE_TRANSFORMS_RELANEPLAN_H
