//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Applies DMASlots.h to a kernel: which accesses LLVM may look at with an
/// incomplete list of LDS-DMAs.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_ANALYSIS_SLOTCOVERAGE_H
#define LODESTONE_ANALYSIS_SLOTCOVERAGE_H

#include "lodestone/Analysis/AliasScopePlan.h"
#include "lodestone/Analysis/DMASlots.h"

namespace lodestone {

struct UncoveredAccess {
  /// Index into KernelPlan::accesses.
  unsigned access;
  /// A slot that the access overlaps and that may be missing from the list.
  unsigned slot;
};

/// Follows the kernel and its helpers, callers first. `slotOf` gives the slot
/// of a DMA, `slotsOf` the slots that an access must find in the list, or null
/// for an access that waits for all DMAs anyway. A call is taken to issue what
/// its callee issues at an unknown place: it may be inlined later.
std::vector<UncoveredAccess> findUncoveredAccesses(
    const KernelPlan &plan, const LDSProvenance &provenance, SlotLists lists,
    llvm::function_ref<unsigned(const PlannedAccess &)> slotOf,
    llvm::function_ref<const llvm::BitVector *(const PlannedAccess &)> slotsOf);

} // namespace lodestone

#endif // LODESTONE_ANALYSIS_SLOTCOVERAGE_H
