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

const SlotList *SlotLists::appendUnknown(const SlotList *prefix,
                                         const void *place) {
  std::unique_ptr<SlotList> &longer = unknownTails[{prefix, place}];
  if (!longer)
    longer = std::make_unique<SlotList>(
        SlotList{prefix, prefix->depth + 1, prefix->members, place});
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
  return {lists.empty(), /*open=*/true, /*frozen=*/false, {}};
}

SlotState SlotState::unknown(const SlotLists &lists) {
  return {lists.empty(), /*open=*/false, /*frozen=*/false,
          llvm::BitVector(lists.numSlots(), true)};
}

void SlotState::issue(SlotLists &lists, unsigned slot) {
  if (!frozen)
    list = lists.append(list, slot);
  if (!open)
    issued.set(slot);
}

void SlotState::issueInCall(SlotLists &lists, const llvm::BitVector &slots,
                            const void *place) {
  if (slots.none())
    return;
  if (open)
    issued = list->members;
  open = false;
  issued |= slots;
  list = lists.appendUnknown(list, place);
}

void SlotState::meet(SlotLists &lists, const SlotState &other,
                     const void *place, bool isBackEdge) {
  bool same = list == other.list;
  frozen |= other.frozen || !(same || isBackEdge);
  if (same && open && other.open)
    return;
  llvm::BitVector all = open ? list->members : issued;
  all |= other.open ? other.list->members : other.issued;
  open = false;
  issued = std::move(all);
  if (same)
    return;
  const SlotList *prefix = list->place == place ? list->parent : list;
  list =
      lists.appendUnknown(SlotLists::commonPrefix(prefix, other.list), place);
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
      state.issueInCall(lists, *event.called, event.place);
  }
}

llvm::DenseMap<Block *, SlotState> lodestone::solveSlots(
    SlotLists &lists, Region &body, const SlotState &entry,
    const llvm::DenseMap<Block *, std::vector<SlotEvent>> &events) {
  llvm::DenseMap<Block *, SlotState> in, out;
  if (body.empty())
    return in;
  in.try_emplace(&body.front(), entry);
  // Most functions are one block.
  if (body.hasOneBlock())
    return in;
  llvm::ReversePostOrderTraversal<Region *> order(&body);
  llvm::DenseMap<Block *, unsigned> position;
  for (Block *block : order)
    position.try_emplace(block, position.size());
  // A block's state is what its predecessors end with now, not what they ended
  // with in earlier sweeps, when less was known. That settles within a few
  // sweeps (the depth of the loops); if it doesn't, earlier states are kept,
  // and then lists only get shorter and sets only grow.
  constexpr unsigned kFreeSweeps = 16;
  bool changed = true;
  for (unsigned sweep = 0; changed; ++sweep) {
    changed = false;
    for (Block *block : order) {
      std::optional<SlotState> state;
      if (block->isEntryBlock())
        state = entry;
      // What leads in from above first, then what comes around.
      for (bool backEdges : {false, true})
        for (Block *predecessor : block->getPredecessors()) {
          auto it = out.find(predecessor);
          bool isBackEdge =
              position.lookup(predecessor) >= position.lookup(block);
          if (it == out.end() || isBackEdge != backEdges)
            continue; // If not reached yet, a later sweep comes back.
          if (state)
            state->meet(lists, it->second, block, isBackEdge);
          else
            state = it->second;
        }
      auto [at, isNew] = in.try_emplace(block, *state);
      if (!isNew && sweep >= kFreeSweeps) {
        SlotState kept = at->second;
        kept.meet(lists, *state, block, /*isBackEdge=*/false);
        state = std::move(kept);
      }
      if (!isNew && sweep != 0 && at->second == *state)
        continue;
      changed = true;
      at->second = *state;
      if (auto it = events.find(block); it != events.end())
        apply(lists, *state, it->second);
      out.insert_or_assign(block, std::move(*state));
    }
  }
  return in;
}
