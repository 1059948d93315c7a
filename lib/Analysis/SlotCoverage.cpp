//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/SlotCoverage.h"
#include "lodestone/Analysis/Kernels.h"

using namespace mlir;
using namespace lodestone;

namespace {

/// A call or an access, in program order.
struct Step {
  Operation *op;
  /// Index of the access, or -1 for a call.
  int access;
};

class CoverageWalk {
public:
  CoverageWalk(
      const KernelPlan &plan, const LDSProvenance &provenance, SlotLists &lists,
      llvm::function_ref<unsigned(const PlannedAccess &)> slotOf,
      llvm::function_ref<const llvm::BitVector *(const PlannedAccess &)>
          slotsOf)
      : plan(plan), provenance(provenance), lists(lists), slotOf(slotOf),
        slotsOf(slotsOf) {}

  std::vector<UncoveredAccess> run();

private:
  void sumUpCalls();
  SlotState entryOf(LLVM::LLVMFuncOp function) const;
  void visit(LLVM::LLVMFuncOp function, ArrayRef<unsigned> accesses);

  const KernelPlan &plan;
  const LDSProvenance &provenance;
  SlotLists &lists;
  llvm::function_ref<unsigned(const PlannedAccess &)> slotOf;
  llvm::function_ref<const llvm::BitVector *(const PlannedAccess &)> slotsOf;

  /// What a function and its callees issue.
  llvm::DenseMap<Operation *, llvm::BitVector> issuedIn;
  /// The functions of the plan that a call may call; an indirect one may call
  /// several.
  llvm::DenseMap<Operation *, SmallVector<Operation *, 1>> calleesOf;
  /// The functions that make such calls.
  llvm::DenseSet<Operation *> callers;
  /// The meet of the states at the calls of a function, as far as visited.
  llvm::DenseMap<Operation *, SlotState> entries;
  llvm::DenseSet<Operation *> visited;
  std::vector<UncoveredAccess> uncovered;
};

} // namespace

void CoverageWalk::sumUpCalls() {
  for (LLVM::LLVMFuncOp function : plan.functions)
    issuedIn.try_emplace(function, lists.numSlots());
  for (const PlannedAccess &access : plan.accesses)
    if (access.isDMA())
      issuedIn[access.function].set(slotOf(access));
  for (LLVM::LLVMFuncOp callee : plan.functions)
    for (Operation *call : provenance.callsOf(callee)) {
      calleesOf[call].push_back(callee);
      callers.insert(call->getParentOfType<LLVM::LLVMFuncOp>());
    }
  for (bool changed = true; changed;) {
    changed = false;
    for (auto &[call, callees] : calleesOf)
      for (Operation *callee : callees) {
        llvm::BitVector &outer =
            issuedIn.find(call->getParentOfType<LLVM::LLVMFuncOp>())->second;
        const llvm::BitVector &inner = issuedIn.find(callee)->second;
        if (!inner.test(outer))
          continue; // Nothing that the caller doesn't have.
        outer |= inner;
        changed = true;
      }
  }
}

SlotState CoverageWalk::entryOf(LLVM::LLVMFuncOp function) const {
  if (isKernel(function))
    return SlotState::atKernelEntry(lists);
  bool known = !provenance.mayBeCalledFromOutside(function);
  for (Operation *call : provenance.callsOf(function))
    known &= visited.contains(call->getParentOfType<LLVM::LLVMFuncOp>());
  auto it = entries.find(function);
  return known && it != entries.end() ? it->second : SlotState::unknown(lists);
}

void CoverageWalk::visit(LLVM::LLVMFuncOp function,
                         ArrayRef<unsigned> accesses) {
  llvm::DenseMap<Block *, std::vector<Step>> steps;
  llvm::DenseMap<Block *, std::vector<SlotEvent>> events;
  auto addAccess = [&](unsigned index) {
    const PlannedAccess &access = plan.accesses[index];
    Block *block = access.access.op->getBlock();
    steps[block].push_back({access.access.op, static_cast<int>(index)});
    if (access.isDMA())
      events[block].push_back({static_cast<int>(slotOf(access))});
  };
  if (!callers.contains(function)) {
    for (unsigned index : accesses)
      addAccess(index);
  } else {
    // Bring calls and accesses into one order.
    function.walk([&](Operation *op) {
      if (auto it = calleesOf.find(op); it != calleesOf.end()) {
        steps[op->getBlock()].push_back({op, -1});
        for (Operation *callee : it->second)
          events[op->getBlock()].push_back(
              {-1, &issuedIn.find(callee)->second, op});
      }
      if (!accesses.empty() &&
          plan.accesses[accesses.front()].access.op == op) {
        addAccess(accesses.front());
        accesses = accesses.drop_front();
      }
    });
  }

  SlotState entry = entryOf(function);
  visited.insert(function);
  auto states = solveSlots(lists, function.getBody(), entry, events);
  for (auto &[block, inBlock] : steps) {
    auto it = states.find(block);
    if (it == states.end())
      continue; // Never reached.
    SlotState state = it->second;
    for (const Step &step : inBlock) {
      if (step.access < 0) {
        ArrayRef<Operation *> callees = calleesOf.find(step.op)->second;
        for (Operation *callee : callees) {
          auto [atEntry, isNew] = entries.try_emplace(callee, state);
          if (!isNew)
            atEntry->second.meet(lists, state, callee, /*isBackEdge=*/false);
        }
        for (Operation *callee : callees)
          state.issueInCall(lists, issuedIn.find(callee)->second, step.op);
        continue;
      }
      const PlannedAccess &access = plan.accesses[step.access];
      if (access.isDMA()) {
        state.issue(lists, slotOf(access));
        continue;
      }
      if (const llvm::BitVector *slots = slotsOf(access)) {
        int missing = state.firstUncovered(*slots);
        if (missing >= 0)
          uncovered.push_back({static_cast<unsigned>(step.access),
                               static_cast<unsigned>(missing)});
      }
    }
  }
}

std::vector<UncoveredAccess> CoverageWalk::run() {
  sumUpCalls();
  llvm::DenseMap<Operation *, std::vector<unsigned>> accessesOf;
  for (auto [index, access] : llvm::enumerate(plan.accesses))
    accessesOf[access.function].push_back(index);
  for (LLVM::LLVMFuncOp function : plan.functions)
    visit(function, accessesOf[function]);
  llvm::sort(uncovered, [](const UncoveredAccess &a, const UncoveredAccess &b) {
    return a.access < b.access;
  });
  return std::move(uncovered);
}

std::vector<UncoveredAccess> lodestone::findUncoveredAccesses(
    const KernelPlan &plan, const LDSProvenance &provenance, SlotLists lists,
    llvm::function_ref<unsigned(const PlannedAccess &)> slotOf,
    llvm::function_ref<const llvm::BitVector *(const PlannedAccess &)>
        slotsOf) {
  return CoverageWalk(plan, provenance, lists, slotOf, slotsOf).run();
}
