//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Transforms/CloneForThread.h"
#include "lodestone/Analysis/MemoryAccess.h"

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
  return values.isBlockUniform(value);
}

Value CloneForThread::findObstacle(Value root,
                                   SmallVectorImpl<Operation *> &loads) {
  SmallVector<Value> worklist{root};
  llvm::DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!seen.insert(value).second || isReused(value))
      continue;
    Operation *op = value.getDefiningOp();
    if (!op)
      return value;
    bool stays = op == anchor || dominance.properlyDominates(anchor, op);
    WalkResult walk = op->walk([&](Operation *nested) {
      bool loadsHere = isGlobalLoad(nested);
      if (loadsHere)
        loads.push_back(nested);
      // A load that doesn't stay would move down to the anchor, past stores.
      return isRepeatable(nested, values.getWaveSize()) && (stays || !loadsHere)
                 ? WalkResult::advance()
                 : WalkResult::interrupt();
    });
    if (walk.wasInterrupted())
      return value;
    for (Value used : getUsed(op))
      worklist.push_back(used);
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

Value CloneForThread::clone(Value root) {
  // Operands first; not recursive, as a chain can be longer than the stack.
  SmallVector<Value> stack{root};
  while (!stack.empty()) {
    Value value = stack.back();
    if (mapping.contains(value) || isReused(value)) {
      stack.pop_back();
      continue;
    }
    Operation *op = value.getDefiningOp();
    size_t waiting = stack.size();
    if (!isThreadNumber(op))
      for (Value used : getUsed(op))
        if (!mapping.contains(used) && !isReused(used))
          stack.push_back(used);
    if (stack.size() != waiting)
      continue;
    cloneOp(op);
    stack.pop_back();
  }
  return mapping.lookupOrDefault(root);
}
