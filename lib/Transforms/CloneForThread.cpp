//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Transforms/CloneForThread.h"
#include "lodestone/Analysis/BarrierReach.h"
#include "lodestone/Analysis/MemoryAccess.h"
#include "lodestone/Analysis/ThreadArithmetic.h"
#include "lodestone/Analysis/TileCopies.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace lodestone;

static bool isThreadNumber(Operation *op) {
  return isa<gpu::ThreadIdOp, gpu::LaneIdOp, gpu::SubgroupIdOp,
             ROCDL::ThreadIdXOp, ROCDL::ThreadIdYOp, ROCDL::ThreadIdZOp>(op);
}

/// True if another thread can do what `op` itself does.
static bool isRepeatable(Operation *op, unsigned waveSize) {
  if (isa<gpu::LaneIdOp, gpu::SubgroupIdOp>(op) && waveSize == 0)
    return false;
  return isFunctionOfOperands(op) || isGlobalLoad(op) || isThreadNumber(op) ||
         isa<scf::IfOp, scf::ForOp, scf::WhileOp, scf::YieldOp,
             scf::ConditionOp>(op);
}

/// The values from outside `op` that it uses, nested operations included.
static llvm::SetVector<Value> getUsed(Operation *op) {
  llvm::SetVector<Value> used;
  op->walk([&](Operation *nested) {
    for (Value operand : nested->getOperands())
      if (!op->isAncestor(operand.getParentRegion()->getParentOp()))
        used.insert(operand);
  });
  return used;
}

bool CloneForThread::isReused(Value value) {
  if (!values.isBlockUniform(value))
    return false;
  if (moved.empty() || moved.back().isDefinedOutsideOfLoop(value))
    return true;
  // Numbers of the block and the like, but nothing that counts.
  Operation *op = value.getDefiningOp();
  return op && op->getNumOperands() == 0 && op->getNumRegions() == 0;
}

/// True if no barrier stands between `op` and the anchor, with the loops around
/// that: it loads the same there if nothing writes between barriers.
bool CloneForThread::mayMoveDown(Operation *op) {
  Operation *last = op->getBlock()->findAncestorOpInBlock(*anchor);
  return last && isInOnePhase(op, last);
}

/// True if `op` can be cloned as it is, with all that is in it; `loads` gets
/// the loads that are then cloned.
bool CloneForThread::isClonedWhole(Operation *op,
                                   SmallVectorImpl<Operation *> &loads) {
  SmallVector<Operation *> found;
  WalkResult walk = op->walk([&](Operation *nested) {
    if (isGlobalLoad(nested))
      found.push_back(nested);
    return isRepeatable(nested, values.getWaveSize()) ? WalkResult::advance()
                                                      : WalkResult::interrupt();
  });
  if (walk.wasInterrupted())
    return false;
  bool stays = op == anchor || dominance.properlyDominates(anchor, op);
  if (!stays && !found.empty() && !mayMoveDown(op))
    return false;
  llvm::append_range(loads, found);
  return true;
}

//===----------------------------------------------------------------------===//
// What loops carry
//===----------------------------------------------------------------------===//

static scf::ForOp getLoop(BlockArgument iterArg) {
  return cast<scf::ForOp>(iterArg.getOwner()->getParentOp());
}

/// True if the other thread is the same one in all iterations.
bool CloneForThread::isFixedIn(scf::ForOp loop) {
  return loop == anchor || dominance.properlyDominates(anchor, loop);
}

/// What each iteration adds to an iter_arg, if that is all that it does to it
/// and, taken in another iteration, adds there, too. Nothing but integers that
/// are the same in all threads.
std::optional<SmallVector<CloneForThread::Addend>>
CloneForThread::getAddends(BlockArgument iterArg) {
  if (!getThreadFormWidth(iterArg.getType()))
    return std::nullopt;
  scf::ForOp loop = getLoop(iterArg);
  bool isMoved = llvm::is_contained(moved, loop);
  SmallVector<Addend> addends;
  Value value = loop.getTiedLoopYieldedValue(iterArg)->get();
  llvm::DenseSet<Value> seen;
  while (value != iterArg) {
    Operation *op = value.getDefiningOp();
    bool isSubtracted = isa_and_nonnull<arith::SubIOp>(op);
    if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op) ||
        !seen.insert(value).second)
      return std::nullopt;
    Value left = op->getOperand(0), right = op->getOperand(1);
    if (!isReused(right)) {
      std::swap(left, right);
      if (isSubtracted || !isReused(right))
        return std::nullopt;
    }
    if (isMoved && !moved.back().isDefinedOutsideOfLoop(right) &&
        !getConstantIntValue(right))
      return std::nullopt;
    addends.push_back({right, isSubtracted});
    value = left;
  }
  return addends;
}

void CloneForThread::cloneCarried(Value value) {
  BlockArgument arg = getIterArg(value);
  scf::ForOp loop = getLoop(arg);
  OpOperand *init = loop.getTiedLoopInit(arg);
  if (isFixedIn(loop)) {
    BlockArgument twin = twins->take(arg);
    mapping.map(arg, twin);
    mapping.map(loop.getTiedLoopResult(init),
                loop.getTiedLoopResult(loop.getTiedLoopInit(twin)));
    open.push_back({twin, arg});
    return;
  }
  OpBuilder builder(anchor);
  Location loc = loop.getLoc();
  Value sum = mapping.lookupOrDefault(init->get());
  Value iteration = iterations.lookup(loop);
  if (!iteration) {
    Value more = arith::SubIOp::create(builder, loc, arg, init->get());
    mapping.map(arg, arith::AddIOp::create(builder, loc, sum, more));
    return;
  }
  if (iteration.getType() != arg.getType())
    iteration =
        arith::IndexCastOp::create(builder, loc, arg.getType(), iteration);
  std::optional<SmallVector<Addend>> addends = getAddends(arg);
  for (const Addend &addend : *addends) {
    // A constant may be behind the anchor.
    Value by = addend.value;
    if (std::optional<int64_t> constant = getConstantIntValue(by))
      by = arith::ConstantOp::create(
          builder, loc, builder.getIntegerAttr(arg.getType(), *constant));
    by = arith::MulIOp::create(builder, loc, iteration, by);
    sum = addend.isSubtracted
              ? arith::SubIOp::create(builder, loc, sum, by).getResult()
              : arith::AddIOp::create(builder, loc, sum, by).getResult();
  }
  mapping.map(arg, sum);
}

//===----------------------------------------------------------------------===//
// What is cloned
//===----------------------------------------------------------------------===//

Value CloneForThread::findObstacle(Value root,
                                   SmallVectorImpl<Operation *> &loads,
                                   llvm::SetVector<BlockArgument> &carried) {
  SmallVector<Value> worklist{root};
  llvm::DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!seen.insert(value).second || isReused(value))
      continue;
    Operation *op = value.getDefiningOp();
    if (op && isClonedWhole(op, loads)) {
      llvm::append_range(worklist, getUsed(op));
      continue;
    }
    if (llvm::any_of(moved, [&](scf::ForOp loop) {
          return value == loop.getInductionVar();
        }))
      continue;
    BlockArgument arg = getIterArg(value);
    if (!arg)
      return value;
    // As many iterations, with the same numbers.
    scf::ForOp loop = getLoop(arg);
    if (!isReused(loop.getLowerBound()) || !isReused(loop.getUpperBound()) ||
        !isReused(loop.getStep()))
      return value;
    worklist.push_back(loop.getTiedLoopInit(arg)->get());
    if (isFixedIn(loop)) {
      if (!twins)
        return value;
      carried.insert(arg);
      worklist.push_back(loop.getTiedLoopYieldedValue(arg)->get());
    } else if (value != arg || !getAddends(arg)) {
      return value;
    }
  }
  return Value();
}

void CloneForThread::setThread(Value number) {
  thread = number;
  mapping.clear();
}

/// What `op`, a thread number, is for the thread that stands in. Built at the
/// anchor, once for each number.
Value CloneForThread::getThreadNumber(Operation *op) {
  OpBuilder builder(anchor);
  Location loc = op->getLoc();
  auto constant = [&](int64_t v) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, v);
  };
  std::array<unsigned, 3> size = values.getBlockSize();
  auto coordinate = [&](unsigned dim) -> Value {
    unsigned before = 1;
    for (unsigned i = 0; i < dim; ++i)
      before *= size[i];
    Value number = thread;
    if (size[dim] == 1)
      return constant(0);
    if (before != 1)
      number = arith::DivUIOp::create(builder, loc, number, constant(before));
    if (before * size[dim] != values.getNumThreads())
      number =
          arith::RemUIOp::create(builder, loc, number, constant(size[dim]));
    return number;
  };
  Value number;
  if (auto id = dyn_cast<gpu::ThreadIdOp>(op))
    number = coordinate(static_cast<unsigned>(id.getDimension()));
  else if (isa<ROCDL::ThreadIdXOp>(op))
    number = coordinate(0);
  else if (isa<ROCDL::ThreadIdYOp>(op))
    number = coordinate(1);
  else if (isa<ROCDL::ThreadIdZOp>(op))
    number = coordinate(2);
  else if (isa<gpu::LaneIdOp>(op))
    number = arith::RemUIOp::create(builder, loc, thread,
                                    constant(values.getWaveSize()));
  else
    number = arith::DivUIOp::create(builder, loc, thread,
                                    constant(values.getWaveSize()));
  Type type = op->getResult(0).getType();
  if (type != number.getType())
    number = arith::IndexCastOp::create(builder, loc, type, number);
  return number;
}

void CloneForThread::cloneOp(Operation *op) {
  if (isThreadNumber(op)) {
    mapping.map(op->getResult(0), getThreadNumber(op));
    return;
  }
  bool stays = op == anchor || dominance.properlyDominates(anchor, op);
  OpBuilder builder(stays ? op : anchor);
  Operation *clone = builder.clone(*op, mapping);
  SmallVector<Operation *> numbers;
  clone->walk([&](Operation *nested) {
    if (isThreadNumber(nested))
      numbers.push_back(nested);
  });
  for (Operation *number : numbers) {
    number->getResult(0).replaceAllUsesWith(getThreadNumber(number));
    number->erase();
  }
}

Value CloneForThread::cloneTree(Value root) {
  // Operands first; not recursive, as a chain can be longer than the stack.
  SmallVector<Value> stack{root};
  while (!stack.empty()) {
    Value value = stack.back();
    if (mapping.contains(value) || isReused(value)) {
      stack.pop_back();
      continue;
    }
    Operation *op = value.getDefiningOp();
    SmallVector<Operation *> loads;
    bool isCarried = getIterArg(value) && !(op && isClonedWhole(op, loads));
    llvm::SetVector<Value> needed;
    if (isCarried) {
      scf::ForOp loop = getLoop(getIterArg(value));
      if (!isFixedIn(loop))
        needed.insert(loop.getTiedLoopInit(getIterArg(value))->get());
    } else if (!isThreadNumber(op)) {
      needed = getUsed(op);
    }
    size_t waiting = stack.size();
    for (Value used : needed)
      if (!mapping.contains(used) && !isReused(used))
        stack.push_back(used);
    if (stack.size() != waiting)
      continue;
    if (isCarried)
      cloneCarried(value);
    else
      cloneOp(op);
    stack.pop_back();
  }
  return mapping.lookupOrDefault(root);
}

Value CloneForThread::clone(Value root) {
  Value result = cloneTree(root);
  while (!open.empty()) {
    auto [twin, arg] = open.pop_back_val();
    scf::ForOp loop = getLoop(arg);
    Value init = cloneTree(loop.getTiedLoopInit(arg)->get());
    Value yielded = cloneTree(loop.getTiedLoopYieldedValue(arg)->get());
    IterArgTwins::set(twin, init, yielded);
  }
  return result;
}
