//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/DMASlots.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/Region.h"
#include "mlir/IR/RegionGraphTraits.h"
#include "llvm/ADT/PostOrderIterator.h"

using namespace mlir;
using namespace lodestone;

SlotLists::SlotLists(unsigned numSlots)
    : root{nullptr, 0, llvm::BitVector(numSlots)} {}

const SlotList *SlotLists::append(const SlotList *list, unsigned slot) {
  if (list->members.test(slot))
    return list;
  std::unique_ptr<SlotList> &longer = lists[{list, slot}];
  if (!longer) {
    longer = std::make_unique<SlotList>(
        SlotList{list, list->depth + 1, list->members});
    longer->members.set(slot);
  }
  return longer.get();
}

const SlotList *SlotLists::commonPrefix(const SlotList *a, const SlotList *b) {
  while (a != b) {
    if (a->depth < b->depth)
      std::swap(a, b);
    a = a->parent;
  }
  return a;
}

SlotState SlotState::atKernelEntry(const SlotLists &lists) {
  return {lists.empty(), /*open=*/true, {}};
}

SlotState SlotState::unknown(const SlotLists &lists) {
  return {lists.empty(), /*open=*/false,
          llvm::BitVector(lists.numSlots(), true)};
}

void SlotState::issue(SlotLists &lists, unsigned slot) {
  if (open)
    list = lists.append(list, slot);
  else
    issued.set(slot);
}

void SlotState::issueInCall(const llvm::BitVector &slots) {
  if (slots.none())
    return;
  if (open) {
    issued = list->members;
    open = false;
  }
  issued |= slots;
}

void SlotState::meet(const SlotState &other) {
  if (open && other.open && list == other.list)
    return;
  llvm::BitVector all = open ? list->members : issued;
  all |= other.open ? other.list->members : other.issued;
  list = SlotLists::commonPrefix(list, other.list);
  open = false;
  issued = std::move(all);
}

int SlotState::firstUncovered(const llvm::BitVector &slots) const {
  if (open)
    return -1;
  llvm::BitVector missing = slots;
  missing &= issued;
  missing.reset(list->members);
  return missing.find_first();
}

bool SlotState::covers(const llvm::BitVector &slots) const {
  return firstUncovered(slots) == -1;
}

static void apply(SlotLists &lists, SlotState &state,
                  const std::vector<SlotEvent> &events) {
  for (const SlotEvent &event : events) {
    if (event.slot >= 0)
      state.issue(lists, event.slot);
    else
      state.issueInCall(*event.called);
  }
}

llvm::DenseMap<Block *, SlotState> lodestone::solveSlots(
    SlotLists &lists, Region &body, const SlotState &entry,
    const llvm::DenseMap<Block *, std::vector<SlotEvent>> &events) {
  llvm::DenseMap<Block *, SlotState> in;
  if (body.empty())
    return in;
  in.try_emplace(&body.front(), entry);
  // Most functions are one block.
  if (body.hasOneBlock())
    return in;
  llvm::ReversePostOrderTraversal<Region *> order(&body);
  // Lists only get shorter and sets only grow, so this ends.
  bool changed = true;
  while (changed) {
    changed = false;
    for (Block *block : order) {
      auto at = in.find(block);
      if (at == in.end())
        continue; // Not reached yet; a later sweep comes back.
      SlotState out = at->second;
      if (auto it = events.find(block); it != events.end())
        apply(lists, out, it->second);
      for (Block *successor : block->getSuccessors()) {
        auto [it, isNew] = in.try_emplace(successor, out);
        if (isNew) {
          changed = true;
          continue;
        }
        SlotState before = it->second;
        it->second.meet(out);
        changed |= !(it->second == before);
      }
    }
  }
  return in;
}
