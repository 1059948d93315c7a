//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Transforms/IterArgTwins.h"

#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace lodestone;

/// Puts a loop with the body of `loop` and other inits in its place. The body
/// has the arguments and yields the values that belong to these inits.
/// `kept[i]` is the old number of the new result `i`, up to what is new.
static void replaceLoop(scf::ForOp loop, ValueRange inits,
                        ArrayRef<unsigned> kept) {
  OpBuilder builder(loop);
  OperationState state(loop.getLoc(), loop->getName());
  state.addOperands(
      {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
  state.addOperands(inits);
  state.addTypes(inits.getTypes());
  state.addAttributes(loop->getAttrs());
  state.addRegion()->takeBody(loop.getRegion());
  Operation *replacement = builder.create(state);
  for (auto [number, old] : llvm::enumerate(kept))
    loop.getResult(old).replaceAllUsesWith(replacement->getResult(number));
  loop.erase();
}

bool IterArgTwins::add(const Wanted &wanted) {
  llvm::MapVector<Block *, SmallVector<BlockArgument>> missing;
  for (auto [arg, count] : wanted)
    for (unsigned &has = numTwins[arg]; has < count; ++has)
      missing[arg.getOwner()].push_back(arg);
  for (auto &[body, args] : missing) {
    auto loop = cast<scf::ForOp>(body->getParentOp());
    auto kept = llvm::to_vector(llvm::seq<unsigned>(0, loop.getNumResults()));
    SmallVector<Value> inits(loop.getInits());
    OpBuilder builder(loop);
    for (BlockArgument arg : args) {
      inits.push_back(
          ub::PoisonOp::create(builder, loop.getLoc(), arg.getType()));
      BlockArgument twin = body->addArgument(arg.getType(), arg.getLoc());
      free[arg].push_back(twin);
      Operation *yield = body->getTerminator();
      yield->insertOperands(yield->getNumOperands(), twin);
    }
    replaceLoop(loop, inits, kept);
    bodies.insert(body);
  }
  return !missing.empty();
}

void IterArgTwins::set(BlockArgument twin, Value init, Value yielded) {
  auto loop = cast<scf::ForOp>(twin.getOwner()->getParentOp());
  loop.getTiedLoopInit(twin)->set(init);
  loop.getTiedLoopYieldedValue(twin)->set(yielded);
}

/// Adds to `slice` the operations of `body` that use `arg`, and those that use
/// their results. False if one of them has an effect; `yielded` gets the
/// numbers of the iter_args that one of these values is yielded to.
static bool collectUsers(Block *body, Value arg,
                         llvm::SetVector<Operation *> &slice,
                         llvm::SetVector<unsigned> &yielded) {
  SmallVector<Value> worklist{arg};
  while (!worklist.empty())
    for (OpOperand &use : worklist.pop_back_val().getUses()) {
      if (use.getOwner() == body->getTerminator()) {
        yielded.insert(use.getOperandNumber());
        continue;
      }
      Operation *user = body->findAncestorOpInBlock(*use.getOwner());
      if (!user || !wouldOpBeTriviallyDead(user))
        return false;
      if (slice.insert(user))
        llvm::append_range(worklist, user->getResults());
    }
  return true;
}

/// The iter_args of `loop` that lead to each other only. `slice` gets what is
/// computed from them.
static llvm::SetVector<unsigned> findDead(scf::ForOp loop,
                                          llvm::SetVector<Operation *> &slice) {
  llvm::SetVector<unsigned> dead;
  for (OpResult result : loop.getResults())
    if (result.use_empty())
      dead.insert(result.getResultNumber());
  // All of these, until what isn't dead is no longer among them.
  auto isLive = [&](unsigned number) {
    llvm::SetVector<unsigned> yielded;
    return !collectUsers(loop.getBody(), loop.getRegionIterArg(number), slice,
                         yielded) ||
           !llvm::all_of(yielded, [&](unsigned n) { return dead.contains(n); });
  };
  do
    slice.clear();
  while (dead.remove_if(isLive));
  return dead;
}

void IterArgTwins::removeDead(Operation *root,
                              SmallVectorImpl<Value> &maybeDead) {
  // Inner loops first: what they start with may be an outer one's.
  root->walk([&](scf::ForOp loop) {
    Block *body = loop.getBody();
    if (!bodies.contains(body))
      return;
    llvm::SetVector<Operation *> slice;
    llvm::SetVector<unsigned> dead = findDead(loop, slice);
    if (dead.empty())
      return;
    for (Operation *op : slice)
      llvm::append_range(maybeDead, op->getResults());
    SmallVector<Value> inits;
    SmallVector<unsigned> kept;
    llvm::BitVector removed(loop.getNumResults());
    for (auto [number, init] : llvm::enumerate(loop.getInits())) {
      if (!dead.contains(number)) {
        kept.push_back(number);
        inits.push_back(init);
        continue;
      }
      removed.set(number);
      // No arguments: they may be about to go themselves.
      for (Value value : {init, loop.getYieldedValues()[number]})
        if (value.getDefiningOp())
          maybeDead.push_back(value);
      OpBuilder builder(loop);
      BlockArgument arg = loop.getRegionIterArg(number);
      arg.replaceAllUsesWith(
          ub::PoisonOp::create(builder, loop.getLoc(), arg.getType()));
    }
    body->getTerminator()->eraseOperands(removed);
    body->eraseArguments([&](BlockArgument arg) {
      return arg.getArgNumber() > 0 && removed.test(arg.getArgNumber() - 1);
    });
    replaceLoop(loop, inits, kept);
  });
  root->walk([&](ub::PoisonOp poison) {
    if (poison->use_empty())
      maybeDead.push_back(poison);
  });
}
