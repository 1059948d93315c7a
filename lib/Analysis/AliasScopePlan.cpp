//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/AliasScopePlan.h"
#include "lodestone/Analysis/AddressBase.h"
#include "lodestone/Analysis/SlotCoverage.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace lodestone;

StringRef lodestone::getRemarkName(ScopeRefusal refusal) {
  switch (refusal) {
  case ScopeRefusal::none:
    return "scoped";
  case ScopeRefusal::unknownPointer:
    return "unknown-pointer";
  case ScopeRefusal::flatPointer:
    return "flat-pointer";
  case ScopeRefusal::outsideObject:
    return "outside-object";
  case ScopeRefusal::unprimedDMA:
    return "unprimed-dma";
  case ScopeRefusal::untaggableDMA:
    return "untaggable-dma";
  case ScopeRefusal::staticLDSConflict:
    return "static-lds-conflict";
  case ScopeRefusal::needsLaunder:
    return "needs-launder";
  }
  llvm_unreachable("all refusals have a name");
}

namespace {

/// Plans one kernel with the helpers that it calls.
class KernelPlanner {
public:
  KernelPlanner(KernelPlan &plan, const LDSProvenance &provenance,
                const AliasScopePlanOptions &options)
      : plan(plan), provenance(provenance), options(options) {}

  void run();

private:
  void computeFootprints();
  void findRanges();
  void mergeRanges();
  void internSets();
  void refuseWholeKernel();
  void checkSlots();
  void nameRanges();
  std::string rangeNames(unsigned set) const;

  /// The ranges that overlap `bytes`.
  SmallVector<unsigned, 2> rangesTouchedBy(ArrayRef<ByteRange> bytes) const;
  unsigned internSet(ArrayRef<unsigned> ranges);
  static void refuse(PlannedAccess &access, ScopeRefusal refusal,
                     std::string reason, Operation *culprit = nullptr);

  KernelPlan &plan;
  const LDSProvenance &provenance;
  const AliasScopePlanOptions &options;
  llvm::DenseMap<ArrayRef<unsigned>, unsigned> setIndex;
  /// Backs the keys of `setIndex`.
  std::deque<SmallVector<unsigned, 2>> setKeys;
};

bool comesBefore(const ByteRange &a, const ByteRange &b) {
  return std::tie(a.root, a.begin, a.end) < std::tie(b.root, b.begin, b.end);
}

} // namespace

void KernelPlanner::refuse(PlannedAccess &access, ScopeRefusal refusal,
                           std::string reason, Operation *culprit) {
  if (access.refusal != ScopeRefusal::none)
    return; // The first reason is the one to mend first.
  access.refusal = refusal;
  access.reason = std::move(reason);
  access.culprit = culprit;
}

void KernelPlanner::computeFootprints() {
  for (PlannedAccess &access : plan.accesses) {
    SmallVector<ByteRange, 1> bytes;
    bool known = !access.access.operands.empty();
    for (const LDSOperand &operand : access.access.operands) {
      auto part =
          provenance.footprint(operand.pointer, operand.offset, operand.size);
      if (!part) {
        known = false;
        break;
      }
      if (part->empty())
        refuse(access, ScopeRefusal::outsideObject,
               "every byte that it may touch lies outside its object");
      bytes.append(*part);
    }
    if (!known) {
      bool flat = access.access.throughFlatPointer;
      refuse(access,
             flat ? ScopeRefusal::flatPointer : ScopeRefusal::unknownPointer,
             flat ? "a flat pointer that may point into LDS"
             : access.access.operands.empty()
                 ? "what a call touches isn't known"
                 : "the pointer can't be traced to an LDS object");
      continue;
    }
    // A DMA that may write anywhere from some byte on is as good as untraced.
    if (access.isDMA() && llvm::any_of(bytes, [](const ByteRange &range) {
          return range.end == LDSObject::kUnbounded;
        })) {
      refuse(access, ScopeRefusal::unknownPointer,
             llvm::formatv("it may write any byte of dynamic LDS from byte {0} "
                           "on; no bound is known",
                           bytes.front().begin));
      continue;
    }
    access.footprint = std::move(bytes);
  }
}

/// Unites the DMAs' bytes to disjoint ranges, sorted.
void KernelPlanner::findRanges() {
  std::vector<ByteRange> bytes;
  for (const PlannedAccess &access : plan.accesses)
    if (access.isDMA() && access.isTagged())
      llvm::append_range(bytes, *access.footprint);
  llvm::sort(bytes, comesBefore);
  for (const ByteRange &next : bytes) {
    if (!plan.ranges.empty() && plan.ranges.back().bytes.overlaps(next))
      plan.ranges.back().bytes.end =
          std::max(plan.ranges.back().bytes.end, next.end);
    else
      plan.ranges.push_back({next, {}});
  }
}

SmallVector<unsigned, 2>
KernelPlanner::rangesTouchedBy(ArrayRef<ByteRange> bytes) const {
  SmallVector<unsigned, 2> touched;
  for (const ByteRange &range : bytes) {
    // The ranges are disjoint and sorted: those that end after `range` begins.
    auto it = llvm::partition_point(plan.ranges, [&](const DMARange &other) {
      return std::tie(other.bytes.root, other.bytes.end) <=
             std::tie(range.root, range.begin);
    });
    for (; it != plan.ranges.end() && it->bytes.overlaps(range); ++it)
      touched.push_back(it - plan.ranges.begin());
  }
  llvm::sort(touched);
  touched.erase(llvm::unique(touched), touched.end());
  return touched;
}

unsigned KernelPlanner::internSet(ArrayRef<unsigned> ranges) {
  if (auto it = setIndex.find(ranges); it != setIndex.end())
    return it->second;
  setKeys.emplace_back(ranges.begin(), ranges.end());
  unsigned index = plan.sets.size();
  plan.sets.push_back({setKeys.back()});
  setIndex[setKeys.back()] = index;
  return index;
}

void KernelPlanner::internSets() {
  plan.sets.clear();
  setIndex.clear();
  setKeys.clear();
  for (PlannedAccess &access : plan.accesses) {
    if (!access.footprint)
      continue;
    access.set = internSet(rangesTouchedBy(*access.footprint));
    if (!access.isDMA() && access.footprint->size() == 1 &&
        plan.sets[access.set].ranges.size() > 1)
      plan.sets[access.set].contiguous = true;
  }
}

/// Merges neighbouring ranges that no ordinary access tells apart. If more are
/// left than LLVM has slots for, also those of one region or static global that
/// one access may run across: a buffer that several DMAs fill is one range
/// then, so that all of them carry the same lists. Outside of regions accesses
/// that overlap two buffers, since their bounds aren't known, must not unite
/// them.
void KernelPlanner::mergeRanges() {
  if (plan.ranges.empty())
    return;
  std::vector<SmallVector<unsigned>> readers(plan.ranges.size());
  llvm::BitVector seen(plan.sets.size());
  for (const PlannedAccess &access : plan.accesses) {
    if (access.isDMA() || !access.footprint || seen.test(access.set))
      continue;
    seen.set(access.set);
    for (unsigned range : plan.sets[access.set].ranges)
      readers[range].push_back(access.set);
  }
  // For each range but the first: an access runs across it from the one before.
  llvm::BitVector bridged(plan.ranges.size());
  for (const RangeSet &set : plan.sets)
    if (set.contiguous)
      for (unsigned range : ArrayRef(set.ranges).drop_front())
        bridged.set(range);
  auto merge = [&](bool acrossBridges) {
    std::vector<DMARange> merged = {plan.ranges.front()};
    for (unsigned i = 1, e = plan.ranges.size(); i != e; ++i) {
      const ByteRange &next = plan.ranges[i].bytes;
      ByteRange &last = merged.back().bytes;
      auto inOneObject = [&] {
        const LDSObject *object = provenance.boundedObjectOf(last);
        return object && object == provenance.boundedObjectOf(next);
      };
      if (last.root == next.root &&
          (readers[i - 1] == readers[i] ||
           (acrossBridges && bridged.test(i) && inOneObject())))
        last.end = next.end;
      else
        merged.push_back(plan.ranges[i]);
    }
    return merged;
  };
  std::vector<DMARange> merged = merge(/*acrossBridges=*/false);
  if (merged.size() > kMaxSlots)
    merged = merge(/*acrossBridges=*/true);
  if (merged.size() == plan.ranges.size())
    return;
  plan.ranges = std::move(merged);
  internSets();
}

/// Gives each range a name of its own. Scopes are told apart by their names
/// alone, and regions may share one, or be called what the wildcard is.
void KernelPlanner::nameRanges() {
  llvm::StringSet<> taken;
  taken.insert("wildcard");
  for (auto [index, range] : llvm::enumerate(plan.ranges)) {
    range.name = provenance.describe(range.bytes);
    if (taken.insert(range.name).second)
      continue;
    range.name +=
        llvm::formatv("[{0}, {1})", range.bytes.begin, range.bytes.end);
    while (!taken.insert(range.name).second)
      range.name += llvm::formatv("#{0}", index);
  }
}

/// Applies what forbids metadata in the whole kernel.
void KernelPlanner::refuseWholeKernel() {
  for (const PlannedAccess &dma : plan.accesses) {
    if (dma.access.kind != LDSAccessKind::untaggableDMA)
      continue;
    for (PlannedAccess &access : plan.accesses)
      if (access.access.kind == LDSAccessKind::ordinary)
        refuse(
            access, ScopeRefusal::untaggableDMA,
            llvm::formatv("'{0}' is an LDS-DMA that can't carry alias scopes",
                          dma.access.op->getName()),
            dma.access.op);
    break;
  }
  if (plan.staticGlobals.size() > 1)
    for (PlannedAccess &access : plan.accesses)
      refuse(access, ScopeRefusal::staticLDSConflict,
             llvm::formatv("the kernel uses {0} static LDS globals, and the "
                           "backend replaces the metadata on their accesses",
                           plan.staticGlobals.size()),
             plan.staticGlobals[1]);
  if (options.launder)
    return;
  for (const PlannedAccess &dma : plan.accesses) {
    if (!dma.isDMA() || isLaundered(dma.access.operands.front().pointer))
      continue;
    for (PlannedAccess &access : plan.accesses)
      if (access.access.kind == LDSAccessKind::ordinary)
        refuse(access, ScopeRefusal::needsLaunder,
               "LLVM's alias analysis sees through the address of an LDS-DMA, "
               "and takes it to write one lane's bytes",
               dma.access.op);
    return;
  }
}

/// Refuses the accesses for which LLVM's list of slots isn't complete.
void KernelPlanner::checkSlots() {
  // One slot for each set that a DMA has, and one for all that aren't traced.
  unsigned numSlots = 0;
  for (const PlannedAccess &access : plan.accesses)
    if (access.isDMA() && access.isTagged() && plan.sets[access.set].slot < 0)
      plan.sets[access.set].slot = numSlots++;
  unsigned wildcard = numSlots++;
  auto slotOf = [&](const PlannedAccess &dma) -> unsigned {
    return dma.isTagged() ? plan.sets[dma.set].slot : wildcard;
  };

  // The slots whose DMAs each set overlaps.
  std::vector<llvm::BitVector> slotsOfRange(plan.ranges.size(),
                                            llvm::BitVector(numSlots));
  for (const RangeSet &set : plan.sets)
    if (set.slot >= 0)
      for (unsigned range : set.ranges)
        slotsOfRange[range].set(set.slot);
  std::vector<llvm::BitVector> slotsOfSet(plan.sets.size(),
                                          llvm::BitVector(numSlots));
  for (auto [slots, set] : llvm::zip_equal(slotsOfSet, plan.sets)) {
    slots.set(wildcard);
    for (unsigned range : set.ranges)
      slots |= slotsOfRange[range];
  }

  auto slotsOf = [&](const PlannedAccess &access) {
    return access.isTagged() ? &slotsOfSet[access.set] : nullptr;
  };
  for (auto [access, slot] : findUncoveredAccesses(
           plan, provenance, SlotLists(numSlots), slotOf, slotsOf)) {
    const PlannedAccess &dma = *llvm::find_if(
        plan.accesses, [&, slot = slot](const PlannedAccess &other) {
          return other.isDMA() && slotOf(other) == slot;
        });
    refuse(plan.accesses[access], ScopeRefusal::unprimedDMA,
           llvm::formatv("a DMA of {0} may have been issued, but not on every "
                         "path that leads here",
                         dma.isTagged() ? rangeNames(dma.set)
                                        : std::string("unknown bytes")),
           dma.access.op);
  }
}

std::string KernelPlanner::rangeNames(unsigned set) const {
  std::string names;
  for (unsigned range : plan.sets[set].ranges)
    names += (names.empty() ? "" : ", ") + plan.ranges[range].name;
  return names;
}

void KernelPlanner::run() {
  computeFootprints();
  findRanges();
  internSets();
  mergeRanges();
  nameRanges();
  refuseWholeKernel();
  checkSlots();
}

std::vector<KernelPlan>
lodestone::planAliasScopes(Operation *module,
                           const AliasScopePlanOptions &options) {
  auto [provenance, plans] = collectKernels(module, options.waveSize);
  SmallVector<Value> pointers;
  for (KernelPlan &plan : plans) {
    // Without DMAs there is nothing to wait for.
    if (!plan.hasDMA)
      plan.accesses.clear();
    for (const PlannedAccess &access : plan.accesses)
      for (const LDSOperand &operand : access.access.operands)
        pointers.push_back(operand.pointer);
  }
  provenance->solve(pointers);
  for (KernelPlan &plan : plans)
    if (plan.hasDMA)
      KernelPlanner(plan, *provenance, options).run();
  return plans;
}
