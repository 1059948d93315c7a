//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/PathWalk.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace lodestone;

namespace {
/// The places still to be looked at, each a block and its first op to visit.
class PathWalk {
public:
  explicit PathWalk(function_ref<bool(Operation *)> visit) : visit(visit) {}

  bool run(Operation *start) {
    runFrom(start->getNextNode(), start->getBlock());
    while (!blocks.empty()) {
      Block *block = blocks.pop_back_val();
      runFrom(block->empty() ? nullptr : &block->front(), block);
    }
    return reachesEnd;
  }

private:
  void enter(Block *block) {
    if (seen.insert(block).second)
      blocks.push_back(block);
  }

  /// Goes on after `op`, which has regions or ends a region of such an op.
  void follow(RegionBranchOpInterface branch, RegionBranchPoint point) {
    SmallVector<RegionSuccessor> successors;
    branch.getSuccessorRegions(point, successors);
    for (const RegionSuccessor &successor : successors) {
      Region *region = successor.getSuccessor();
      if (region && !successor.isParent()) {
        if (!region->empty())
          enter(&region->front());
      } else if (after.insert(branch).second) {
        runFrom(branch->getNextNode(), branch->getBlock());
      }
    }
  }

  void runFrom(Operation *op, Block *block) {
    for (; op; op = op->getNextNode()) {
      if (visit(op))
        return;
      if (op->getNumRegions() == 0)
        continue;
      if (auto branch = dyn_cast<RegionBranchOpInterface>(op))
        return follow(branch, RegionBranchPoint::parent());
      op->walk([&](Operation *nested) {
        if (nested != op)
          (void)visit(nested);
      });
    }
    leave(block);
  }

  void leave(Block *block) {
    Operation *last = block->empty() ? nullptr : &block->back();
    if (last && last->getNumSuccessors() != 0) {
      for (Block *successor : last->getSuccessors())
        enter(successor);
      return;
    }
    Operation *parent = block->getParentOp();
    if (!parent || isa<FunctionOpInterface>(parent)) {
      reachesEnd = true;
    } else if (auto branch = dyn_cast<RegionBranchOpInterface>(parent)) {
      if (auto end =
              dyn_cast_or_null<RegionBranchTerminatorOpInterface>(last)) {
        follow(branch, RegionBranchPoint(end));
        return;
      }
      for (Region &region : parent->getRegions())
        if (!region.empty())
          enter(&region.front());
      if (after.insert(parent).second)
        runFrom(parent->getNextNode(), parent->getBlock());
    } else {
      // Regions in an order that isn't known.
      for (Region &region : parent->getRegions())
        for (Block &other : region)
          enter(&other);
      if (after.insert(parent).second)
        runFrom(parent->getNextNode(), parent->getBlock());
    }
  }

  function_ref<bool(Operation *)> visit;
  SmallVector<Block *> blocks;
  llvm::DenseSet<Block *> seen;
  /// The ops with regions after which the walk has gone on.
  llvm::DenseSet<Operation *> after;
  bool reachesEnd = false;
};
} // namespace

bool lodestone::walkPathsAfter(Operation *start,
                               function_ref<bool(Operation *)> visit) {
  return PathWalk(visit).run(start);
}
