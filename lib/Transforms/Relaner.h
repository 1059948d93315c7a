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
};

/// Rewrites the copies of one kernel.
class Relaner {
public:
  Relaner(mlir::gpu::GPUFuncOp kernel, ThreadValues &values)
      : kernel(kernel), values(values), legality(kernel, values),
        entry(&kernel.front().front()) {}

  /// Finds the copies that aren't linear; reports those that can't be planned.
  void
  collect(llvm::function_ref<void(mlir::Operation *, const Refusal &)> refuse);
  /// Settles for each which it is: to be rewritten or refused.
  void check();
  llvm::ArrayRef<std::unique_ptr<Candidate>> getCandidates() const {
    return candidates;
  }
  void rewrite(Candidate &candidate);
  void eraseDead();

private:
  std::optional<Refusal> checkOne(Candidate &candidate);
  std::optional<Refusal> checkGuards(Candidate &candidate);
  mlir::Operation *getAnchor(const RelanePlan &plan);
  mlir::Value getThread();
  mlir::Value getIteration(mlir::OpBuilder &builder, mlir::scf::ForOp loop);
  CloneForThread &getCloner(const RelanePlan &plan);
  mlir::Value getStoreIndex(const RelanePlan &plan);

  mlir::gpu::GPUFuncOp kernel;
  ThreadValues &values;
  RelaneLegality legality;
  /// The first operation; what belongs to all of the kernel comes before it.
  mlir::Operation *entry;
  mlir::Value thread;
  llvm::SmallVector<std::unique_ptr<Candidate>> candidates;
  llvm::DenseMap<mlir::Operation *, Candidate *> candidateOf;
  struct Cloner {
    ThreadPermutation permutation;
    mlir::Operation *anchor;
    llvm::SmallVector<mlir::scf::ForOp> loops;
    std::unique_ptr<CloneForThread> clone;
  };
  llvm::SmallVector<Cloner> cloners;
  llvm::DenseSet<mlir::Operation *> movedGuards;
  llvm::SmallVector<mlir::Value> maybeDead;
  /// Erased in the end: one may be an anchor.
  llvm::SmallVector<mlir::Operation *> replaced;
};

} // namespace lodestone

#endif // LODESTONE_LIB_TRANSFORMS_RELANER_H
