//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// How far asynchronous copies into or out of LDS have come at a point of a
/// program. A copy is seen by the whole workgroup once its wave has waited for
/// it and all waves have then met at a barrier.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_ANALYSIS_COPYPHASES_H
#define LODESTONE_ANALYSIS_COPYPHASES_H

#include "lodestone/Analysis/BarrierReach.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace lodestone {

/// The copies that aren't done for the whole workgroup: the union over all
/// paths that lead to a point, each at the earliest phase of these.
class CopyPhases {
public:
  enum class Phase {
    /// Not known to be done on this wave.
    running,
    /// Done on this wave.
    waited,
    /// And this wave has told the others (the first half of a barrier).
    signalled
  };

  /// The youngest instance of a copy operation.
  struct Copy {
    Phase phase = Phase::running;
    /// The groups that were closed after the copy's own, at least; kOpen if
    /// that isn't closed.
    int younger = kOpen;

    bool operator==(const Copy &other) const {
      return phase == other.phase && younger == other.younger;
    }
  };
  static constexpr int kOpen = -1;

  void start(mlir::Operation *copy) { copies[copy] = {}; }
  /// Closes the group of the copies that have been started. More than `most`
  /// younger groups make no difference.
  void closeGroup(int most);
  /// The wave waits until only the copies of the `inFlight` youngest groups,
  /// and those in no group yet, are running.
  void wait(int inFlight);
  /// The wave waits for all copies of which `isWaitedFor` is true.
  void waitFor(llvm::function_ref<bool(mlir::Operation *)> isWaitedFor);
  /// Nothing is known any more, so nothing is claimed to be running.
  void clear() { copies.clear(); }
  /// For a workgroup of one wave, which needs no barriers.
  void dropWaited();
  /// `op` runs, which may be a barrier or half of one.
  void meetAt(mlir::Operation *op);

  /// Adds the copies of another path; true if that changed anything.
  bool join(const CopyPhases &other);

  auto begin() const { return copies.begin(); }
  auto end() const { return copies.end(); }
  size_t size() const { return copies.size(); }

private:
  llvm::SmallMapVector<mlir::Operation *, Copy, 4> copies;
};

/// True if on the way from `first` to `last` there are a wait or barrier under
/// a condition and a copy under another, or one of these in a loop that may not
/// run: the two may go together, which a union over all paths doesn't see.
bool maySynchronize(const BarrierReach &paths, mlir::Operation *first,
                    mlir::Operation *last);

/// Starts what is reported of `op`, an access or copy that another may
/// overtake: an error, or a warning if that isn't certain.
mlir::InFlightDiagnostic reportAccess(mlir::Operation *op, bool isCertain);

} // namespace lodestone

#endif // LODESTONE_ANALYSIS_COPYPHASES_H
