//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/ExpectedWaits.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/RegionGraphTraits.h"
#include "llvm/ADT/PostOrderIterator.h"

using namespace mlir;
using namespace lodestone;

/// True for what the hardware counts in vmcnt: memory accesses that aren't to
/// LDS alone. (CDNA3 ISA 4.4: vector-memory reads and writes, LDS-DMA
/// included.)
static bool countsInVmcnt(Operation *op) {
  auto access = dyn_cast<LLVM::AliasAnalysisOpInterface>(op);
  return access &&
         llvm::any_of(access.getAccessedOperands(), [](Value pointer) {
           return !isPointerInto(pointer.getType(), kLDSAddressSpace);
         });
}

namespace {

/// For each DMA range, then for DMAs that aren't traced: how many counted
/// operations were issued after the last DMA, or kNone if there was none.
struct Ages {
  static constexpr unsigned kNone = std::numeric_limits<unsigned>::max();
  SmallVector<unsigned> counts;

  /// Keeps the younger one of each; true if something changed.
  bool meet(const Ages &other) {
    bool changed = false;
    for (auto [mine, theirs] : llvm::zip_equal(counts, other.counts))
      if (theirs < mine) {
        mine = theirs;
        changed = true;
      }
    return changed;
  }
};

} // namespace

llvm::DenseMap<Operation *, unsigned>
lodestone::computeExpectedWaits(const KernelPlan &plan, unsigned maxVmcnt) {
  llvm::DenseMap<Operation *, const PlannedAccess *> accessOf;
  for (const PlannedAccess &access : plan.accesses)
    accessOf[access.access.op] = &access;
  unsigned numRanges = plan.ranges.size();
  auto step = [&](Operation &op, Ages &ages) {
    if (countsInVmcnt(&op))
      for (unsigned &age : ages.counts)
        if (age < maxVmcnt)
          ++age;
    const PlannedAccess *access = accessOf.lookup(&op);
    if (!access || !access->isDMA())
      return;
    if (!access->isTagged())
      ages.counts[numRanges] = 0;
    else
      for (unsigned range : plan.sets[access->set].ranges)
        ages.counts[range] = 0;
  };

  llvm::DenseMap<Operation *, unsigned> waits;
  for (LLVM::LLVMFuncOp function : plan.functions) {
    llvm::DenseMap<Block *, Ages> in;
    in[&function.front()].counts.assign(numRanges + 1, Ages::kNone);
    llvm::ReversePostOrderTraversal<Region *> order(&function.getBody());
    for (bool changed = true; changed;) {
      changed = false;
      for (Block *block : order) {
        Ages ages = in[block];
        for (Operation &op : *block)
          step(op, ages);
        for (Block *successor : block->getSuccessors()) {
          auto [it, isNew] = in.try_emplace(successor, ages);
          changed |= isNew || it->second.meet(ages);
        }
      }
    }
    for (Block *block : order) {
      Ages ages = in[block];
      for (Operation &op : *block) {
        step(op, ages);
        const PlannedAccess *access = accessOf.lookup(&op);
        if (!access || access->isDMA() || !access->isTagged())
          continue;
        unsigned wait = ages.counts[numRanges];
        for (unsigned range : plan.sets[access->set].ranges)
          wait = std::min(wait, ages.counts[range]);
        if (wait != Ages::kNone)
          waits[&op] = wait;
      }
    }
  }
  return waits;
}
