//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

///
/// \file
/// Makes a thread compute what another thread of its block computed.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_TRANSFORMS_CLONEFORTHREAD_H
#define LODESTONE_TRANSFORMS_CLONEFORTHREAD_H

#include "lodestone/Analysis/ThreadValues.h"
#include "lodestone/Transforms/IterArgTwins.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"

namespace lodestone {

/// Clones the part of a computation that depends on the thread, with the
/// thread's number replaced.
///
/// What is the same in all threads of the block is used as it is. The rest must
/// be a function of thread numbers, of uniform values and of global memory:
/// pure arithmetic, loads from global memory, and `scf.if` and loops of such
/// operations. Each clone stands right before its original, or at the anchor if
/// that comes later. A load sees what its original saw if the original thread
/// may not have written that memory itself since the last barrier, which the
/// caller has to know.
///
/// What an `scf.for` carries from iteration to iteration counts as well if all
/// threads run the same iterations:
/// - of a loop behind the anchor, a twin carries what the other thread has: its
///   init and what is yielded are cloned;
/// - in a loop around the anchor, the other thread may be another one in each
///   iteration. There it must be an integer to which the iterations add numbers
///   that are the same in all threads: it is the other thread's init, and as
///   much more as this thread has more than its own init.
///
/// The other thread may be taken in other iterations of some loops around the
/// anchor. Then nothing computed in these loops is the same without being
/// cloned, and what they carry must grow by the same number in each iteration.
class CloneForThread {
public:
  /// `anchor` is the place from which on the replaced thread number is known.
  /// It must dominate every operation whose operands are to be cloned. Without
  /// `twins`, nothing is cloned that needs one. `moved` are the loops of which
  /// other iterations are cloned, innermost first, one in the other.
  CloneForThread(ThreadValues &values, mlir::Operation *anchor,
                 IterArgTwins *twins = nullptr,
                 llvm::ArrayRef<mlir::scf::ForOp> moved = {})
      : values(values), anchor(anchor), twins(twins), moved(moved),
        dominance(anchor->getParentOfType<mlir::FunctionOpInterface>()) {}

  /// The value that keeps `value` from being cloned: what is loaded from memory
  /// that isn't global, carried by a loop otherwise than above, or made by an
  /// operation that isn't one of the above. Null if there is none; `loads` then
  /// has the loads that will be cloned, and `carried` the iter_args of which
  /// `clone` will take a twin. Changes nothing.
  mlir::Value findObstacle(mlir::Value value,
                           llvm::SmallVectorImpl<mlir::Operation *> &loads,
                           llvm::SetVector<mlir::BlockArgument> &carried);
  /// The same where nothing needs a twin.
  mlir::Value findObstacle(mlir::Value value,
                           llvm::SmallVectorImpl<mlir::Operation *> &loads) {
    llvm::SetVector<mlir::BlockArgument> carried;
    return findObstacle(value, loads, carried);
  }

  /// Sets what stands for the thread: `thread`, an index below the number of
  /// threads, counted as ThreadValues does. It must be defined before the
  /// anchor. Forgets earlier clones.
  void setThread(mlir::Value thread);

  /// Sets the iteration of a moved loop, an index counted from 0, and the value
  /// of its induction variable, after the thread is set. Both must be defined
  /// before the anchor.
  void setIteration(mlir::scf::ForOp loop, mlir::Value number,
                    mlir::Value inductionVar) {
    mapping.map(loop.getInductionVar(), inductionVar);
    iterations[loop] = number;
  }

  /// Replaces `value`, which isn't a thread's number, in what is cloned next.
  void replace(mlir::Value value, mlir::Value by) { mapping.map(value, by); }

  /// `value` as the other thread has it. `findObstacle` must have found none.
  mlir::Value clone(mlir::Value value);

private:
  bool isReused(mlir::Value value);
  bool isClonedWhole(mlir::Operation *op,
                     llvm::SmallVectorImpl<mlir::Operation *> &loads);
  bool isFixedIn(mlir::scf::ForOp loop);
  bool mayMoveDown(mlir::Operation *op);
  /// A number that an iteration adds to an iter_arg, or subtracts from it.
  struct Addend {
    mlir::Value value;
    bool isSubtracted;
  };
  std::optional<llvm::SmallVector<Addend>>
  getAddends(mlir::BlockArgument iterArg);
  mlir::Value getThreadNumber(mlir::Operation *op);
  void cloneOp(mlir::Operation *op);
  void cloneCarried(mlir::Value value);
  mlir::Value cloneTree(mlir::Value root);

  ThreadValues &values;
  mlir::Operation *anchor;
  IterArgTwins *twins;
  llvm::SmallVector<mlir::scf::ForOp> moved;
  mlir::DominanceInfo dominance;
  mlir::Value thread;
  mlir::IRMapping mapping;
  llvm::DenseMap<mlir::Operation *, mlir::Value> iterations;
  /// Twins whose init and yielded value aren't cloned yet, with their
  /// originals.
  llvm::SmallVector<std::pair<mlir::BlockArgument, mlir::BlockArgument>> open;
};

} // namespace lodestone

#endif // LODESTONE_TRANSFORMS_CLONEFORTHREAD_H
