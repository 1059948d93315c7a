//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/AsyncGroups.h"
#include "lodestone/Analysis/AsyncCopy.h"
#include "lodestone/Analysis/BarrierReach.h"
#include "lodestone/Analysis/MemRefAccess.h"
#include "lodestone/Analysis/MemoryAccess.h"

#include "mlir/Analysis/DataFlow/DenseAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Interfaces/CallInterfaces.h"

using namespace mlir;
using namespace lodestone;

bool GroupWait::isEmpty() const {
  return !waitsForStores && llvm::none_of(outstanding, [](auto count) {
    return count.has_value();
  });
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

namespace {

/// The copies of one group, or of several that no wait tells apart.
struct GroupAge {
  static constexpr uint8_t kNone = 0xff;
  /// Instructions of each counter issued since the youngest copy; kNone without
  /// copies. Ages above kMaxVmcntWait make no difference.
  std::array<uint8_t, kCopyCounters.size()> ages = {kNone, kNone, kNone};
  bool stores = false;

  bool hasCopies() const {
    return llvm::any_of(ages, [](uint8_t age) { return age != kNone; });
  }
  bool join(const GroupAge &other) {
    GroupAge old = *this;
    for (auto [mine, theirs] : llvm::zip_equal(ages, other.ages))
      mine = std::min(mine, theirs);
    stores |= other.stores;
    return ages != old.ages || stores != old.stores;
  }
};

/// Entry 0: copies not committed yet. Entry 1 + n: the n-th youngest group. The
/// last entry: all groups from there on. No entries yet: not reached.
using GroupAges = SmallVector<GroupAge, 4>;

class GroupState : public dataflow::AbstractDenseLattice {
public:
  using AbstractDenseLattice::AbstractDenseLattice;

  ChangeResult join(const AbstractDenseLattice &rhs) override {
    const auto &other = static_cast<const GroupState &>(rhs);
    return join(other.groups, other.copies);
  }
  ChangeResult join(ArrayRef<GroupAge> other, const CopyPhases &otherCopies) {
    if (groups.size() < other.size())
      groups.resize(other.size());
    bool changed = copies.join(otherCopies);
    for (auto [mine, theirs] : llvm::zip(groups, other))
      changed |= mine.join(theirs);
    return changed ? ChangeResult::Change : ChangeResult::NoChange;
  }
  void print(raw_ostream &os) const override {
    for (const GroupAge &group : groups) {
      os << '[';
      llvm::interleaveComma(group.ages, os,
                            [&](uint8_t age) { os << unsigned(age); });
      os << (group.stores ? " stores]" : "]");
    }
  }

  GroupAges groups;
  CopyPhases copies;
};

class GroupAnalysis
    : public dataflow::DenseForwardDataFlowAnalysis<GroupState> {
public:
  GroupAnalysis(DataFlowSolver &solver, unsigned numGroups)
      : DenseForwardDataFlowAnalysis(solver), numEntries(numGroups + 2) {}

  LogicalResult visitOperation(Operation *op, const GroupState &before,
                               GroupState *after) override {
    GroupAges groups = before.groups;
    groups.resize(numEntries);
    step(op, groups);
    CopyPhases copies = before.copies;
    step(op, copies);
    propagateIfChanged(after, after->join(groups, copies));
    return success();
  }

  void visitRegionBranchControlFlowTransfer(RegionBranchOpInterface branch,
                                            std::optional<unsigned> from,
                                            std::optional<unsigned> to,
                                            const GroupState &before,
                                            GroupState *after) override {
    // A loop that certainly runs isn't left without having run.
    if (from || to || !runsAtLeastOnce(branch))
      join(after, before);
  }

  /// A call doesn't change what is known: see checkCalls.
  void visitCallControlFlowTransfer(CallOpInterface call,
                                    dataflow::CallControlFlowAction,
                                    const GroupState &before,
                                    GroupState *after) override {
    (void)visitOperation(call, before, after);
  }

  /// Nothing is in flight when a kernel starts; it is the only entry there is.
  void setToEntryState(GroupState *lattice) override {
    propagateIfChanged(lattice, lattice->join(GroupAges(numEntries), {}));
  }

private:
  static void step(Operation *op, GroupAges &groups);
  void step(Operation *op, CopyPhases &copies);

  unsigned numEntries;
};

} // namespace

void GroupAnalysis::step(Operation *op, GroupAges &groups) {
  if (isa<lds::CommitGroupOp>(op)) {
    GroupAge oldest = groups.back();
    std::move_backward(groups.begin(), std::prev(groups.end()), groups.end());
    groups.back().join(oldest);
    groups.front() = GroupAge();
    return;
  }
  if (auto wait = dyn_cast<lds::WaitGroupOp>(op)) {
    for (GroupAge &group :
         MutableArrayRef(groups).drop_front(1 + wait.getInFlight()))
      group = GroupAge();
    return;
  }
  if (mayStoreToLDS(op))
    groups.front().stores = true;
  std::optional<AsyncIssue> issue = getAsyncIssue(op);
  if (!issue)
    return;
  const auto *it = llvm::find(kCopyCounters, issue->counter);
  if (it == kCopyCounters.end())
    return;
  unsigned counter = it - kCopyCounters.begin();
  for (GroupAge &group : groups)
    if (uint8_t &age = group.ages[counter]; age != GroupAge::kNone)
      age = std::min(kMaxVmcntWait, age + issue->atLeast);
  if (issue->isCopy)
    groups.front().ages[counter] = 0;
}

static bool isCopy(Operation *op) {
  std::optional<AsyncIssue> issue = getAsyncIssue(op);
  return issue && issue->isCopy;
}

/// The counter that an op other than lds.wait_group waits for, with whatever
/// count.
static std::optional<DMACounter> getCounterWaitedFor(Operation *op) {
  if (auto wait = dyn_cast<amdgpu::MemoryCounterWaitOp>(op);
      wait && wait.getLoad())
    return DMACounter::vmcnt;
  if (isa<ROCDL::SWaitcntOp, ROCDL::WaitLoadcntOp>(op))
    return DMACounter::vmcnt;
  if (isa<ROCDL::WaitAsynccntOp>(op))
    return DMACounter::asynccnt;
  if (isa<ROCDL::WaitTensorcntOp>(op))
    return DMACounter::tensorcnt;
  // The fences of all barriers but this one wait for LDS-DMAs.
  if (isBarrier(op, BarrierScope::lds) && !isa<ROCDL::SBarrierOp>(op))
    return DMACounter::vmcnt;
  return std::nullopt;
}

void GroupAnalysis::step(Operation *op, CopyPhases &copies) {
  // Who waits by other means than groups and barriers is taken to wait for
  // enough.
  if (isOpaque(op))
    return copies.clear();
  if (maySynchronizeOtherwise(op))
    copies.dropWaited();
  if (std::optional<DMACounter> counter = getCounterWaitedFor(op))
    copies.waitFor([&](Operation *copy) {
      return getAsyncIssue(copy)->counter == *counter;
    });
  if (isa<lds::CommitGroupOp>(op))
    copies.closeGroup(numEntries);
  else if (auto wait = dyn_cast<lds::WaitGroupOp>(op))
    copies.wait(wait.getInFlight());
  else if (isCopy(op))
    copies.start(op);
  else
    copies.meetAt(op);
}

//===----------------------------------------------------------------------===//
// What can't be followed
//===----------------------------------------------------------------------===//

static bool isGroupOp(Operation *op) {
  return isa<lds::CommitGroupOp, lds::WaitGroupOp>(op);
}

/// Checks that each op between `op` and `kernel` says how control flows through
/// its regions.
static LogicalResult checkNesting(Operation *op, Operation *kernel) {
  for (Operation *parent = op->getParentOp(); parent != kernel;
       parent = parent->getParentOp()) {
    if (isa<RegionBranchOpInterface>(parent))
      continue;
    InFlightDiagnostic diag = op->emitOpError()
                              << "is below '" << parent->getName()
                              << "', through which control flow can't be "
                                 "followed, so that groups can't be counted";
    diag.attachNote(parent->getLoc()) << "the op around it is here";
    return diag;
  }
  return success();
}

/// Checks that `op`, if it ends a block, says where control goes on.
static LogicalResult checkBranch(Operation *op) {
  if (op->getNumSuccessors() == 0 || isa<BranchOpInterface>(op))
    return success();
  return op->emitOpError("branches in a way that can't be followed, so that "
                         "groups of copies can't be counted");
}

/// The first op that counts for groups in `function` or in what it calls.
static Operation *findGroupOrCopy(FunctionOpInterface function,
                                  SymbolTableCollection &symbols,
                                  llvm::SmallPtrSetImpl<Operation *> &seen) {
  if (!seen.insert(function).second)
    return nullptr;
  Operation *found = nullptr;
  function->walk([&](Operation *op) {
    if (isGroupOp(op) || isCopy(op)) {
      found = op;
    } else if (auto call = dyn_cast<CallOpInterface>(op)) {
      if (auto callee = dyn_cast_or_null<FunctionOpInterface>(
              call.resolveCallableInTable(&symbols)))
        found = findGroupOrCopy(callee, symbols, seen);
    }
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

/// Checks that the functions that `call` may call have nothing to do with
/// groups. One without a body is code of another compiler, which knows no
/// groups.
static LogicalResult checkCall(CallOpInterface call,
                               SymbolTableCollection &symbols) {
  auto callee = dyn_cast_or_null<FunctionOpInterface>(
      call.resolveCallableInTable(&symbols));
  if (!callee) {
    if (isa<SymbolRefAttr>(call.getCallableForCallee()))
      return success();
    return call.emitOpError("calls a function that isn't known, in which "
                            "groups of copies can't be followed");
  }
  llvm::SmallPtrSet<Operation *, 4> seen;
  Operation *found = findGroupOrCopy(callee, symbols, seen);
  if (!found)
    return success();
  InFlightDiagnostic diag =
      call.emitOpError("calls a function with copies or groups in it, which "
                       "can't be followed; inline it first");
  diag.attachNote(found->getLoc()) << "'" << found->getName() << "' is here";
  return diag;
}

FailureOr<AsyncGroups>
lodestone::analyzeAsyncGroups(FunctionOpInterface kernel) {
  int64_t numGroups = 0;
  bool hasGroupOps = false;
  kernel->walk([&](Operation *op) {
    hasGroupOps |= isGroupOp(op);
    if (auto wait = dyn_cast<lds::WaitGroupOp>(op))
      numGroups = std::max<int64_t>(numGroups, wait.getInFlight());
  });
  AsyncGroups result;
  if (!hasGroupOps)
    return result;

  SymbolTableCollection symbols;
  WalkResult walk = kernel->walk<WalkOrder::PreOrder>([&](Operation *op) {
    LogicalResult checked = success();
    if (isGroupOp(op) || isCopy(op)) {
      // A copy's parts are its own.
      if (failed(checkNesting(op, kernel)))
        return WalkResult::interrupt();
      return WalkResult::skip();
    }
    if (auto call = dyn_cast<CallOpInterface>(op))
      checked = checkCall(call, symbols);
    else
      checked = checkBranch(op);
    return failed(checked) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();

  // Calls are not entered, so the kernel is all there is to solve.
  DataFlowSolver solver(DataFlowConfig().setInterprocedural(false));
  dataflow::loadBaselineAnalyses(solver);
  solver.load<GroupAnalysis>(numGroups);
  if (failed(solver.initializeAndRun(kernel)))
    return kernel.emitError("the analysis of groups of copies failed");

  kernel->walk([&](Operation *op) {
    std::optional<MemRefAccess> access = MemRefAccess::get(op);
    if (!isGroupOp(op) && !(access && isLDS(access->memref)))
      return;
    // Nothing is known of a place that is never reached, nor need it be.
    GroupAges groups(numGroups + 2);
    const auto *state =
        solver.lookupState<GroupState>(solver.getProgramPointBefore(op));
    if (state && !state->groups.empty())
      groups = state->groups;
    if (access) {
      if (state && state->copies.size())
        result.accesses[op] = state->copies;
      return;
    }
    auto wait = dyn_cast<lds::WaitGroupOp>(op);
    if (!wait) {
      if (groups.front().hasCopies())
        result.commitsOfCopies.insert(op);
      return;
    }
    GroupAge oldest;
    for (const GroupAge &group :
         ArrayRef(groups).drop_front(1 + wait.getInFlight()))
      oldest.join(group);
    GroupWait &needed = result.waits[op];
    needed.waitsForStores = oldest.stores;
    for (auto [age, outstanding] :
         llvm::zip_equal(oldest.ages, needed.outstanding))
      if (age != GroupAge::kNone)
        outstanding = age;
  });
  return result;
}
