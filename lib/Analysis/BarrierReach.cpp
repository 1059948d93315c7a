//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/BarrierReach.h"
#include "lodestone/Analysis/AsyncCopy.h"
#include "lodestone/Dialect/LDS/IR/LDSDialect.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace lodestone;

/// True if nothing but waits, one of them for the wave's LDS accesses, is right
/// before `op`.
static bool followsLDSWait(Operation *op) {
  for (Operation *wait = op->getPrevNode();
       isa_and_nonnull<amdgpu::MemoryCounterWaitOp, lds::WaitGroupOp>(wait);
       wait = wait->getPrevNode())
    if (auto counters = dyn_cast<amdgpu::MemoryCounterWaitOp>(wait);
        counters && counters.getDs() == 0)
      return true;
  return false;
}

bool lodestone::isBarrier(Operation *op, BarrierScope scope) {
  if (isa<gpu::BarrierOp, ROCDL::BarrierOp>(op))
    return true;
  if (scope != BarrierScope::lds)
    return false;
  return isa<amdgpu::LDSBarrierOp>(op) ||
         (isa<ROCDL::SBarrierOp>(op) && followsLDSWait(op));
}

BarrierReach::BarrierReach(FunctionOpInterface function) {
  function->walk([&](Operation *op) {
    std::optional<AsyncIssue> issue = getAsyncIssue(op);
    hasDMA |= issue && issue->isCopy;
    if (op != function)
      addEdges(op);
  });
}

void BarrierReach::addEdge(Operation *from, Operation *to) {
  successors[from].push_back(to);
  predecessors[to].push_back(from);
}

/// From `from` to what follows `done`.
void BarrierReach::addEdgesAfter(Operation *from, Operation *done) {
  if (Operation *next = done->getNextNode())
    addEdge(from, next);
}

void BarrierReach::addEdges(Operation *op) {
  auto addSuccessors = [&](RegionBranchOpInterface branch,
                           RegionBranchPoint point) {
    SmallVector<RegionSuccessor> regions;
    branch.getSuccessorRegions(point, regions);
    for (const RegionSuccessor &successor : regions) {
      if (successor.isParent())
        addEdgesAfter(op, branch);
      else if (!successor.getSuccessor()->empty() &&
               !successor.getSuccessor()->front().empty())
        addEdge(op, &successor.getSuccessor()->front().front());
    }
  };
  for (Block *successor : op->getSuccessors())
    if (!successor->empty())
      addEdge(op, &successor->front());
  if (auto branch = dyn_cast<RegionBranchOpInterface>(op))
    addSuccessors(branch, RegionBranchPoint::parent());
  else if (auto end = dyn_cast<RegionBranchTerminatorOpInterface>(op);
           end && isa<RegionBranchOpInterface>(op->getParentOp()))
    addSuccessors(cast<RegionBranchOpInterface>(op->getParentOp()), end);
  else
    addEdgesAfter(op, op);
}

llvm::SetVector<Operation *>
BarrierReach::reach(Operation *op, BarrierScope scope, bool forward) const {
  const Edges &edges = forward ? successors : predecessors;
  llvm::SetVector<Operation *> reached;
  SmallVector<Operation *> worklist;
  auto visit = [&](Operation *next) {
    // A wait for LDS accesses isn't one for LDS-DMAs.
    bool stops =
        isBarrier(next, scope) && !(hasDMA && isa<ROCDL::SBarrierOp>(next));
    if (!stops && reached.insert(next))
      worklist.push_back(next);
  };
  // Forward, what follows `op` as a whole; its own regions are passed over.
  if (forward && op->getNumRegions()) {
    if (Operation *next = op->getNextNode())
      visit(next);
  } else if (auto it = edges.find(op); it != edges.end()) {
    llvm::for_each(it->second, visit);
  }
  while (!worklist.empty()) {
    auto it = edges.find(worklist.pop_back_val());
    if (it != edges.end())
      llvm::for_each(it->second, visit);
  }
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
