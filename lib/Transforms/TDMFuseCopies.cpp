//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Makes one tensor instruction of adjacent TDM loads.
///
//===----------------------------------------------------------------------===//

#include "TDMRuns.h"

#include "lodestone/Analysis/TDMInFlight.h"
#include "lodestone/Dialect/TDM/IR/TDMCopy.h"
#include "lodestone/Transforms/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseSet.h"

namespace lodestone {
#define GEN_PASS_DEF_TDMFUSECOPIES
#include "lodestone/Transforms/Passes.h.inc"
} // namespace lodestone

using namespace mlir;
using namespace lodestone;
using namespace lodestone::tdm;

namespace {

constexpr StringLiteral kCategory = "tdm-fuse-copies";

/// How far back waits are looked at; more than TENSORcnt can hold.
constexpr unsigned kMaxTracked = 64;

/// Loads that can be one instruction, in program order, at least two.
using Group = SmallVector<LoadOp>;

/// What the waits of a function become when groups are fused.
using WaitCounts = llvm::MapVector<WaitOp, unsigned>;

struct TDMFuseCopies final : lodestone::impl::TDMFuseCopiesBase<TDMFuseCopies> {
  void runOnOperation() override;

private:
  LogicalResult fuseIn(Operation *function);
  LogicalResult collectGroups(const Run &run, SmallVectorImpl<Group> &groups);
  void refuse(LoadOp load, StringRef name, const Twine &reason);
  void fuse(const Group &group);
};

} // namespace

void TDMFuseCopies::refuse(LoadOp load, StringRef name, const Twine &reason) {
  ++numRefused;
  remark::missed(load.getLoc(),
                 remark::RemarkOpts::name(name).category(kCategory))
      << remark::reason("{0}", reason.str());
}

/// Divides a run into groups, each as long as it can be.
LogicalResult TDMFuseCopies::collectGroups(const Run &run,
                                           SmallVectorImpl<Group> &groups) {
  Group group;
  // Why the load that `group` begins with doesn't go with the one before it.
  StringRef beforeName;
  std::string before;
  auto close = [&](StringRef name, std::string next) {
    if (group.size() > 1)
      groups.push_back(group);
    else if (!group.empty() && !next.empty())
      refuse(group.front(), name, "with the next load: " + next);
    else if (!group.empty() && !before.empty())
      refuse(group.front(), beforeName, "with the load before: " + before);
    else if (!group.empty())
      refuse(group.front(), "no-adjacent-load",
             "no other load stands next to this one");
    group.clear();
    before = std::move(next);
    beforeName = name;
  };
  for (LoadOp load : run) {
    if (group.size() == kMaxFusedLoads)
      close("", "");
    FailureOr<std::optional<FuseObstacle>> alone = findFuseObstacle({}, load);
    FailureOr<std::optional<FuseObstacle>> together =
        findFuseObstacle(group, load);
    if (failed(alone) || failed(together))
      return failure();
    if (*together)
      close((*together)->name, "a fused load " + (*together)->message);
    if (*alone)
      refuse(load, (*alone)->name, "a fused load " + (*alone)->message);
    else
      group.push_back(load);
  }
  close("", "");
  return success();
}

/// The operation around a load of `function` whose control flow is not known,
/// or null.
static Operation *findUnknownFlow(Operation *function) {
  Operation *unknown = nullptr;
  function->walk([&](Operation *op) {
    if (!isCopy(op) && !isa<WaitOp>(op))
      return WalkResult::advance();
    for (Operation *parent = op->getParentOp(); parent != function;
         parent = parent->getParentOp())
      if (!isa<RegionBranchOpInterface>(parent)) {
        unknown = parent;
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return unknown;
}

/// The new counts of the waits that change, if each group is one copy; nothing
/// if a wait would wait for more than now on some path.
///
/// A wait with count n lets the last n copies be in flight. On each path these
/// must hold whole groups only, and as many of them everywhere. With `firsts`
/// the copies that aren't a later member of a group (one for each new copy that
/// is there as a whole), and `rests` those that aren't the last member of one:
/// on a path, n - rests is the number of new copies that are there in whole or
/// in part. So the smallest `firsts` and the largest n - `rests` of all paths
/// must be the same; that is the new count.
static FailureOr<std::optional<WaitCounts>> recount(Operation *function,
                                                    ArrayRef<Group> groups) {
  llvm::DenseSet<Operation *> laterMembers, earlierMembers;
  for (const Group &group : groups)
    for (auto [i, load] : llvm::enumerate(group)) {
      if (i != 0)
        laterMembers.insert(load);
      if (i + 1 != group.size())
        earlierMembers.insert(load);
    }
  auto firsts = weighWaits(function, kMaxTracked, [&](Operation *copy) {
    return !laterMembers.contains(copy);
  });
  auto rests = weighWaits(function, kMaxTracked, [&](Operation *copy) {
    return earlierMembers.contains(copy);
  });
  if (failed(firsts) || failed(rests))
    return failure();
  WaitCounts counts;
  for (auto [wait, whole] : *firsts) {
    // No path has so many copies: there's nothing to wait for.
    if (!whole)
      continue;
    unsigned count = std::min(wait.getCount(), kMaxTracked);
    if (*whole != count - *rests->lookup(wait))
      return std::optional<WaitCounts>();
    if (*whole != count)
      counts[wait] = *whole;
  }
  return std::optional(counts);
}

/// Makes one operation of the group, where its last member stands.
void TDMFuseCopies::fuse(const Group &group) {
  SmallVector<Location> locations;
  for (LoadOp load : group)
    locations.push_back(load.getLoc());
  OpBuilder builder(group.back());
  auto fused = FusedLoadOp::create(builder, builder.getFusedLoc(locations));
  Block &body = fused.getBody().emplaceBlock();
  for (LoadOp load : group)
    load->moveBefore(&body, body.end());
  ++numFused;
  remark::passed(locations.front(),
                 remark::RemarkOpts::name("loads-fused").category(kCategory))
      << remark::metric("Loads", group.size())
      << remark::reason("one instruction does these loads");
}

LogicalResult TDMFuseCopies::fuseIn(Operation *function) {
  SmallVector<Group> groups;
  for (const Run &run : collectRuns(function))
    if (failed(collectGroups(run, groups)))
      return failure();
  if (groups.empty())
    return success();

  auto refuseAll = [&](StringRef name, const Twine &reason) {
    for (const Group &group : groups)
      for (LoadOp load : group)
        refuse(load, name, reason);
  };
  if (std::string foreign = findForeignCount(function); !foreign.empty()) {
    refuseAll("counted-elsewhere",
              "fused loads are one copy for waits, but " + foreign);
    return success();
  }
  if (Operation *unknown = findUnknownFlow(function)) {
    refuseAll("unknown-control-flow",
              "'" + unknown->getName().getStringRef() +
                  "' is around copies, and it isn't known how it runs them");
    return success();
  }

  // All groups together, or else one by one.
  FailureOr<std::optional<WaitCounts>> counts = recount(function, groups);
  if (succeeded(counts) && !*counts) {
    SmallVector<Group> kept;
    for (const Group &group : groups) {
      kept.push_back(group);
      counts = recount(function, kept);
      if (failed(counts))
        return failure();
      if (*counts)
        continue;
      kept.pop_back();
      for (LoadOp load : group)
        refuse(load, "cuts-counted-wait",
               "a tdm.wait that lets some of these loads be in flight would "
               "have to wait for more than now");
    }
    groups = std::move(kept);
    counts = recount(function, groups);
  }
  if (failed(counts))
    return failure();

  for (auto [wait, count] : **counts) {
    remark::passed(
        wait.getLoc(),
        remark::RemarkOpts::name("wait-recounted").category(kCategory))
        << remark::metric("Before", wait.getCount())
        << remark::metric("After", count);
    wait.setCount(count);
  }
  for (const Group &group : groups)
    fuse(group);
  return success();
}

void TDMFuseCopies::runOnOperation() {
  SmallVector<Operation *> functions = getFunctionsWithLoads(getOperation());
  for (Operation *function : functions)
    if (failed(fuseIn(function)))
      return signalPassFailure();
  if (functions.empty())
    markAllAnalysesPreserved();
}
