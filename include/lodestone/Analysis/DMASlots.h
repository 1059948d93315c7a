//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Which LDS-DMA slots SIInsertWaitcnts knows at each point of a program.
///
/// LLVM 22 gives each distinct set of alias metadata on an LDS-DMA a slot, in
/// the order in which it meets them, and keeps the list of slots beside the
/// scores that it waits by. Where two paths join it merges the scores index by
/// index, but keeps one path's list. So an index means the same DMA only if all
/// paths have met the same DMAs first, in the same order.
///
/// Past a join of different lists it isn't known which one LLVM kept; but it is
/// one and the same list for all that follows. So a DMA that is issued (again)
/// after the join is in it from there on, with its latest score, whichever it
/// was: this is how a loop gets exact waits for buffers that its prologue
/// doesn't fill. What was issued before the join, on one path only, is lost.
/// That holds for the join at a loop's header. A join of branches isn't relied
/// on: where several branches test one condition, LLVM's jump threading moves
/// the join down, past DMAs that are issued after it here; then the list is
/// *frozen*, and what isn't in it stays out.
///
/// This data-flow analysis computes that: a state is what is known of the list,
/// and all DMAs that may have been issued. A tagged access is safe where each
/// DMA that it overlaps, and that may have been issued, is in the list.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_ANALYSIS_DMASLOTS_H
#define LODESTONE_ANALYSIS_DMASLOTS_H

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"

#include <memory>
#include <vector>

namespace mlir {
class Block;
class Region;
} // namespace mlir

namespace lodestone {

/// DMAs with different scopes that LLVM's SIInsertWaitcnts tells apart; others
/// share a slot that every access waits for.
inline constexpr unsigned kMaxSlots = 8;

/// A list of slots, as a node of the tree of all lists: its parent is the list
/// without the last slot. Where different lists join, a node stands for slots
/// that aren't known, the same for everything below it.
struct SlotList {
  const SlotList *parent;
  unsigned depth;
  /// All slots that are in the list for certain.
  llvm::BitVector members;
  /// If the last entry stands for unknown slots: the place they depend on.
  const void *place = nullptr;
};

/// Interns lists. Slots are numbered 0 .. numSlots - 1.
class SlotLists {
public:
  explicit SlotLists(unsigned numSlots);
  const SlotList *empty() const { return &root; }
  const SlotList *append(const SlotList *list, unsigned slot);
  /// `prefix` and then slots that aren't known, but depend on `place` only.
  const SlotList *appendUnknown(const SlotList *prefix, const void *place);
  /// The longest list that both start with.
  static const SlotList *commonPrefix(const SlotList *a, const SlotList *b);
  unsigned numSlots() const { return root.members.size(); }

private:
  SlotList root;
  llvm::DenseMap<std::pair<const SlotList *, unsigned>,
                 std::unique_ptr<SlotList>>
      lists;
  llvm::DenseMap<std::pair<const SlotList *, const void *>,
                 std::unique_ptr<SlotList>>
      unknownTails;
};

/// What is known at a program point.
struct SlotState {
  const SlotList *list;
  /// The list is known in full, and is all that was issued.
  bool open = true;
  /// Branches with different lists have joined: nothing can be added.
  bool frozen = false;
  /// If not open: the slots whose DMAs may have been issued.
  llvm::BitVector issued;

  /// No DMA issued yet.
  static SlotState atKernelEntry(const SlotLists &lists);
  /// Nothing known: any DMA may be outstanding.
  static SlotState unknown(const SlotLists &lists);

  void issue(SlotLists &lists, unsigned slot);
  /// The call `place` that may issue `slots` in an order that isn't known.
  void issueInCall(SlotLists &lists, const llvm::BitVector &slots,
                   const void *place);
  /// What is known at `place` if it is reached in this state or in `other`,
  /// which may come around a loop.
  void meet(SlotLists &lists, const SlotState &other, const void *place,
            bool isBackEdge);
  /// True if an access that overlaps the DMAs of `slots` gets all its waits.
  bool covers(const llvm::BitVector &slots) const;
  /// A slot of `slots` that isn't covered, or -1.
  int firstUncovered(const llvm::BitVector &slots) const;

  bool operator==(const SlotState &other) const {
    return list == other.list && open == other.open && frozen == other.frozen &&
           issued == other.issued;
  }
};

/// What happens in a block, in order: one slot issued, or a call.
struct SlotEvent {
  /// The slot, or -1 for a call.
  int slot;
  /// For a call: what it may issue, and which call it is.
  const llvm::BitVector *called = nullptr;
  const void *place = nullptr;
};

/// Solves forward over the blocks of `body` from `entry`; `events` holds the
/// blocks that issue anything. Returns the state at the start of each block
/// that can be reached.
llvm::DenseMap<mlir::Block *, SlotState>
solveSlots(SlotLists &lists, mlir::Region &body, const SlotState &entry,
           const llvm::DenseMap<mlir::Block *, std::vector<SlotEvent>> &events);

} // namespace lodestone

#endif // LODESTONE_ANALYSIS_DMASLOTS_H
