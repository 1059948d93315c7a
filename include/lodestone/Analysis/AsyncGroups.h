//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// How many instructions a wave may leave outstanding at an `lds.wait_group`.
///
/// The hardware counts instructions in flight, not copies, and those that one
/// counter tracks complete in order. A copy is done when no more are
/// outstanding than were issued after it. So the state at a point of the
/// program is, for each group of copies, the *age* of its youngest one: the
/// number of instructions issued since. A wait for a group allows as many
/// outstanding as the smallest age of the copies it is for.
///
/// ## What must hold
///
/// - An age is never above the true one, on any path: where paths meet the
///   smaller one is kept, and only what is certainly issued adds to it. Where
///   lanes of a wave part ways the wave runs both paths one after the other, so
///   it issues more than either path alone.
/// - A loop that is known to run counts as one turn, however many it takes:
///   where its turns join, the smallest ages are kept. A wait behind a loop
///   that only issues copies may so be stricter than it had to be.
/// - Groups are counted back from the one committed last, separately on each
///   path. Groups that no wait tells apart share an entry.
/// - Copies of one group stay between its neighbours' in the machine code
///   (`lds-lower-async-groups` sees to that), and no copy passes a wait.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_ANALYSIS_ASYNCGROUPS_H
#define LODESTONE_ANALYSIS_ASYNCGROUPS_H

#include "lodestone/Analysis/CopyPhases.h"
#include "lodestone/Dialect/LDS/IR/LDSDialect.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

#include <array>
#include <optional>

namespace lodestone {

/// The counters that copies are tracked by.
inline constexpr std::array<DMACounter, 3> kCopyCounters = {
    DMACounter::vmcnt, DMACounter::asynccnt, DMACounter::tensorcnt};

/// What an `lds.wait_group` comes to.
struct GroupWait {
  /// For each of kCopyCounters: how many instructions may stay outstanding, at
  /// most kMaxVmcntWait; nothing if no copy that it tracks has to be waited
  /// for.
  std::array<std::optional<unsigned>, kCopyCounters.size()> outstanding;
  /// A group that is waited for may hold ordinary stores to LDS.
  bool waitsForStores = false;

  bool isEmpty() const;
};

struct AsyncGroups {
  llvm::DenseMap<mlir::Operation *, GroupWait> waits;
  /// The `lds.commit_group`s that may close a group with asynchronous copies.
  llvm::DenseSet<mlir::Operation *> commitsOfCopies;
  /// The ops that read or write elements of a memref in LDS, and the copies
  /// that aren't done for the workgroup there on some path. Copies that
  /// something else than a group may wait for count as waited for.
  llvm::MapVector<mlir::Operation *, CopyPhases> accesses;
};

/// Solves for the groups of `kernel`. Emits an error if control flow can't be
/// followed: a copy or group op below an op whose regions run in an order that
/// isn't known, or a call to a function of the module with such ops in it.
mlir::FailureOr<AsyncGroups>
analyzeAsyncGroups(mlir::FunctionOpInterface kernel);

} // namespace lodestone

#endif // LODESTONE_ANALYSIS_ASYNCGROUPS_H
