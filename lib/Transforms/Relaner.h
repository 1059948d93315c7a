//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

///
/// \file
/// Rewrites the copies of a kernel whose stores to LDS aren't linear.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_LIB_TRANSFORMS_RELANER_H
#define LODESTONE_LIB_TRANSFORMS_RELANER_H

#include "lodestone/Transforms/CloneForThread.h"
#include "lodestone/Transforms/RelanePlan.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace lodestone {

/// A copy on its way to being rewritten.
struct Candidate {
  RelanePlan plan;
  /// The store doesn't copy, but writes something else to a copy's cells.
  bool isFill;
  std::optional<Refusal> refusal;
  /// Stores that must be rewritten, too, if this one is.
  llvm::SmallVector<mlir::Operation *> together;
  /// What loops carry of which the rewritten copy needs a twin.
  llvm::SetVector<mlir::BlockArgument> carried;
};

/// Rewrites the copies of one kernel.
class Relaner {
public:
  Relaner(mlir::gpu::GPUFuncOp kernel, ThreadValues &values,
          IterArgTwins &twins)
      : kernel(kernel), values(values), twins(twins), legality(kernel, values),
        entry(&kernel.front().front()) {}

  /// Finds the copies that aren't linear, and settles for each which it is: to
  /// be rewritten or refused.
  void check();
  /// The stores of copies that can't be planned.
  llvm::ArrayRef<std::pair<mlir::Operation *, Refusal>> getUnplanned() const {
    return unplanned;
  }
  llvm::ArrayRef<std::unique_ptr<Candidate>> getCandidates() const {
    return candidates;
  }
  /// The twins that there must be before anything is rewritten.
  IterArgTwins::Wanted getWantedTwins();
  /// Moves conditions into the loops that they are around, if that is all that
  /// keeps a copy from being rewritten; true if there were any. Then everything
  /// has to be checked anew.
  bool sinkGuards();
  void rewrite(Candidate &candidate);
  /// Removes what is no longer needed. Nothing else may be called then.
  void eraseDead();

private:
  void collect();
  std::optional<Refusal> checkOne(Candidate &candidate);
  std::optional<Refusal> checkGuards(Candidate &candidate);
  mlir::Operation *getAnchor(const RelanePlan &plan);
  static llvm::ArrayRef<mlir::scf::ForOp>
  getMovedLoops(const RelanePlan &plan) {
    return plan.movesSteps() ? plan.copy.loops
                             : llvm::ArrayRef<mlir::scf::ForOp>();
  }
  bool sharesClones(const RelanePlan &a, const RelanePlan &b);
  mlir::Value getThread();
  mlir::Value getIteration(mlir::OpBuilder &builder, mlir::scf::ForOp loop);
  static mlir::Value getInductionVar(mlir::OpBuilder &builder,
                                     mlir::scf::ForOp loop,
                                     mlir::Value iteration);
  void setSource(CloneForThread &cloner, const RelanePlan &plan);
  CloneForThread &getCloner(const RelanePlan &plan);
  mlir::Value getStoreIndex(const RelanePlan &plan);

  mlir::gpu::GPUFuncOp kernel;
  ThreadValues &values;
  IterArgTwins &twins;
  RelaneLegality legality;
  /// The first operation; what belongs to all of the kernel comes before it.
  mlir::Operation *entry;
  mlir::Value thread;
  llvm::SmallVector<std::pair<mlir::Operation *, Refusal>> unplanned;
  llvm::SmallVector<std::unique_ptr<Candidate>> candidates;
  llvm::DenseMap<mlir::Operation *, Candidate *> candidateOf;
  /// With the first of the plans that share each.
  llvm::SmallVector<
      std::pair<const RelanePlan *, std::unique_ptr<CloneForThread>>>
      cloners;
  llvm::SetVector<mlir::scf::IfOp> sinkable;
  llvm::DenseSet<mlir::Operation *> movedGuards;
  void eraseMaybeDead();
  llvm::SmallVector<mlir::Value> maybeDead;
  /// Erased in the end: one may be an anchor.
  llvm::SmallVector<mlir::Operation *> replaced;
};

} // namespace lodestone

#endif // LODESTONE_LIB_TRANSFORMS_RELANER_H
