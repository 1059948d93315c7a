//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

///
/// \file
/// Second iter_args beside those of a kernel's loops.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_TRANSFORMS_ITERARGTWINS_H
#define LODESTONE_TRANSFORMS_ITERARGTWINS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace lodestone {

/// Iter_args that were added to loops, each beside another one of the same
/// type: a place for what that one would be in another thread.
///
/// A loop's number of iter_args can't be changed in place, so they are added
/// before anything keeps hold of the loops, and what wasn't used is removed in
/// the end. Until it is used, a twin is poison in all iterations.
class IterArgTwins {
public:
  /// How many twins each iter_arg of an `scf.for` is to have.
  using Wanted = llvm::MapVector<mlir::BlockArgument, unsigned>;

  /// Adds what isn't there yet; true if that was anything. Then the loops
  /// concerned and their results are new ones; their bodies, with all
  /// operations and arguments in it, are the same.
  bool add(const Wanted &wanted);

  /// A twin that wasn't taken yet; `add` must have been asked for it.
  mlir::BlockArgument take(mlir::BlockArgument arg) {
    return free[arg].pop_back_val();
  }

  /// Sets what a twin starts with and what it is in the next iteration, once.
  static void set(mlir::BlockArgument twin, mlir::Value init,
                  mlir::Value yielded);

  /// Removes, from the loops in `root` that have twins, iter_args that serve
  /// nothing but their own next value. What was only computed for these may be
  /// dead now and is added to `maybeDead`. Loops and their results are new
  /// ones, as above.
  void removeDead(mlir::Operation *root,
                  llvm::SmallVectorImpl<mlir::Value> &maybeDead);

private:
  llvm::DenseMap<mlir::BlockArgument, llvm::SmallVector<mlir::BlockArgument>>
      free;
  llvm::DenseMap<mlir::BlockArgument, unsigned> numTwins;
  /// The bodies of the loops that have twins.
  llvm::SetVector<mlir::Block *> bodies;
};

} // namespace lodestone

#endif // LODESTONE_TRANSFORMS_ITERARGTWINS_H
