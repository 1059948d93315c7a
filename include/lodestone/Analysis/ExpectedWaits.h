//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The wait on vmcnt that each LDS access should get, for remarks. It counts
/// the operations of the LLVM dialect; LLVM may still reorder them, so the
/// machine code has the last word.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_ANALYSIS_EXPECTEDWAITS_H
#define LODESTONE_ANALYSIS_EXPECTEDWAITS_H

#include "lodestone/Analysis/AliasScopePlan.h"

namespace lodestone {

/// For each tagged access of `plan` that overlaps a DMA issued before it on
/// some path: the N of the `s_waitcnt vmcnt(N)` that it needs, the least
/// number, over all paths, of vector-memory operations issued after that DMA.
/// At most `maxVmcnt`.
llvm::DenseMap<mlir::Operation *, unsigned>
computeExpectedWaits(const KernelPlan &plan, unsigned maxVmcnt);

} // namespace lodestone

#endif // LODESTONE_ANALYSIS_EXPECTEDWAITS_H
