//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/BarrierReach.h"
#include "lodestone/Analysis/AsyncCopy.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace lodestone;

bool lodestone::runsAtLeastOnce(Operation *op) {
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  std::optional<APInt> trips =
      loop ? loop.getStaticTripCount() : std::optional<APInt>();
  return trips && !trips->isZero();
}

BarrierReach::BarrierReach(FunctionOpInterface function) : function(function) {
  function->walk([&](Operation *op) {
    std::optional<AsyncIssue> issue = getAsyncIssue(op);
    hasDMA |= issue && issue->isCopy;
    if (op != function)
      addEdges(op);
  });
  if (!function.isExternal() && !function.getFunctionBody().front().empty())
    predecessors[&function.getFunctionBody().front().front()].push_back(
        nullptr);
}

/// Calls `callback` with what runs first in `block`. One without operations
/// stands for the operation around it.
static void enter(Block &block, function_ref<void(Operation *)> callback) {
  callback(block.empty() ? block.getParentOp() : &block.front());
}

void BarrierReach::forEachNext(Operation *done,
                               function_ref<void(Operation *)> callback) const {
  if (Operation *next = done->getNextNode())
    return callback(next);
  for (Block *successor : done->getSuccessors())
    enter(*successor, callback);
  if (done->getNumSuccessors())
    return;
  Operation *parent = done->getParentOp();
  if (parent == function)
    return callback(nullptr);
  auto branch = dyn_cast<RegionBranchOpInterface>(parent);
  auto end = dyn_cast<RegionBranchTerminatorOpInterface>(done);
  if (!branch || !end) {
    // In what order its regions run isn't known: again from its start, from
    // where there is a way past it.
    callback(parent);
    if (branch)
      forEachNext(parent, callback);
    return;
  }
  SmallVector<RegionSuccessor> regions;
  branch.getSuccessorRegions(end, regions);
  for (const RegionSuccessor &successor : regions) {
    if (successor.isParent())
      forEachNext(branch, callback);
    else if (!successor.getSuccessor()->empty())
      enter(successor.getSuccessor()->front(), callback);
  }
}

void BarrierReach::addEdges(Operation *op) {
  auto addEdge = [&](Operation *from, Operation *to) {
    successors[from].push_back(to);
    if (to)
      predecessors[to].push_back(from);
  };
  auto addEdgeTo = [&](Operation *to) { addEdge(op, to); };
  auto branch = dyn_cast<RegionBranchOpInterface>(op);
  if (!branch) {
    for (Region &region : op->getRegions())
      for (Operation &nested : region.getOps()) {
        addEdge(op, &nested);
        addEdge(&nested, op);
      }
    return forEachNext(op, addEdgeTo);
  }
  SmallVector<RegionSuccessor> regions;
  branch.getSuccessorRegions(RegionBranchPoint::parent(), regions);
  for (const RegionSuccessor &successor : regions) {
    if (!successor.isParent()) {
      if (!successor.getSuccessor()->empty())
        enter(successor.getSuccessor()->front(), addEdgeTo);
    } else if (!runsAtLeastOnce(op)) {
      forEachNext(op, addEdgeTo);
    }
  }
}

bool BarrierReach::walk(Operation *op, bool forward,
                        function_ref<bool(Operation *)> visit) const {
  const Edges &edges = forward ? successors : predecessors;
  llvm::DenseSet<Operation *> seen;
  SmallVector<Operation *> worklist;
  auto follow = [&](Operation *next) {
    if (seen.insert(next).second && next && !visit(next))
      worklist.push_back(next);
  };
  // Forward, what follows `op` as a whole; its own regions are passed over.
  if (forward && op->getNumRegions())
    forEachNext(op, follow);
  else if (auto it = edges.find(op); it != edges.end())
    llvm::for_each(it->second, follow);
  while (!worklist.empty()) {
    auto it = edges.find(worklist.pop_back_val());
    if (it != edges.end())
      llvm::for_each(it->second, follow);
  }
  return seen.contains(nullptr);
}

llvm::SetVector<Operation *>
BarrierReach::reach(Operation *op, BarrierScope scope, bool forward) const {
  llvm::SetVector<Operation *> reached;
  walk(op, forward, [&](Operation *next) {
    // A wait for LDS accesses isn't one for LDS-DMAs.
    bool stops =
        isBarrier(next, scope) && !(hasDMA && isa<ROCDL::SBarrierOp>(next));
    if (!stops)
      reached.insert(next);
    return stops;
  });
  return reached;
}

bool lodestone::isConverged(Operation *op, const BlockUniformity &uniformity) {
  for (;;) {
    Block *block = op->getBlock();
    if (llvm::any_of(*block, [](Operation &other) {
          return isBarrier(&other, BarrierScope::lds);
        }))
      return true;
    Operation *parent = block->getParentOp();
    if (isa<FunctionOpInterface>(parent))
      return block->isEntryBlock();
    if (!uniformity.entersUniformly(*block->getParent()))
      return false;
    op = parent;
  }
}
