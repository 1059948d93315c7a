//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What AliasScopePlan.h starts from: the kernels of a module and what they do.
///
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/AliasScopePlan.h"
#include "lodestone/Analysis/DeviceLayout.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace lodestone;

SmallVector<Operation *> lodestone::collectDeviceModules(Operation *root) {
  SmallVector<Operation *> modules;
  if (root->getNumRegions() != 1 || root->getRegion(0).empty())
    return modules;
  if (!root->getRegion(0).getOps<LLVM::LLVMFuncOp>().empty())
    modules.push_back(root);
  if (!isa<gpu::GPUModuleOp>(root))
    for (auto module : root->getRegion(0).getOps<gpu::GPUModuleOp>())
      modules.push_back(module);
  return modules;
}

/// The functions of `module` with bodies, in groups that call each other, each
/// with callers before callees where there is no recursion.
static std::vector<SmallVector<LLVM::LLVMFuncOp>>
groupByCalls(Operation *module, const LDSProvenance &provenance) {
  llvm::EquivalenceClasses<Operation *> classes;
  SmallVector<LLVM::LLVMFuncOp> all;
  for (auto function : module->getRegion(0).getOps<LLVM::LLVMFuncOp>()) {
    if (function.isExternal())
      continue;
    all.push_back(function);
    classes.insert(function);
  }
  llvm::DenseMap<Operation *, unsigned> callsLeft;
  for (LLVM::LLVMFuncOp callee : all)
    for (Operation *call : provenance.callsOf(callee)) {
      auto caller = call->getParentOfType<LLVM::LLVMFuncOp>();
      classes.unionSets(callee, caller);
      ++callsLeft[callee];
    }
  // Kahn's algorithm over the whole module; what recursion leaves over comes
  // last.
  llvm::SetVector<Operation *> sorted;
  for (LLVM::LLVMFuncOp function : all)
    if (!callsLeft.lookup(function))
      sorted.insert(function);
  llvm::DenseMap<Operation *, SmallVector<Operation *>> calleesOf;
  for (LLVM::LLVMFuncOp callee : all)
    for (Operation *call : provenance.callsOf(callee))
      calleesOf[call->getParentOfType<LLVM::LLVMFuncOp>()].push_back(callee);
  for (unsigned i = 0; i < sorted.size(); ++i)
    for (Operation *callee : calleesOf.lookup(sorted[i]))
      if (--callsLeft[callee] == 0)
        sorted.insert(callee);
  for (LLVM::LLVMFuncOp function : all)
    sorted.insert(function);

  llvm::MapVector<Operation *, SmallVector<LLVM::LLVMFuncOp>> groups;
  for (Operation *function : sorted)
    groups[classes.getLeaderValue(function)].push_back(
        cast<LLVM::LLVMFuncOp>(function));
  std::vector<SmallVector<LLVM::LLVMFuncOp>> result;
  for (auto &group : groups)
    result.push_back(std::move(group.second));
  return result;
}

namespace {

/// Sorts out what the functions of a module do, in one walk over it.
class KernelCollector {
public:
  explicit KernelCollector(unsigned waveSize) : waveSize(waveSize) {}

  void visit(LLVM::LLVMFuncOp function, Operation *op) {
    if (auto address = dyn_cast<LLVM::AddressOfOp>(op)) {
      if (isPointerInto(address.getType(), kLDSAddressSpace))
        contents[function].addresses.push_back(address);
      return;
    }
    if (isa<LLVM::FenceOp, ROCDL::BarrierOp>(op)) {
      contents[function].synchronization.push_back(op);
      return;
    }
    if (std::optional<LDSAccess> access = getLDSAccess(op, waveSize, layout)) {
      PlannedAccess &planned = contents[function].accesses.emplace_back();
      planned.access = std::move(*access);
      planned.function = function;
    }
  }

  std::vector<KernelPlan> plans(Operation *module,
                                const LDSProvenance &provenance);

private:
  struct Contents {
    std::vector<PlannedAccess> accesses;
    SmallVector<LLVM::AddressOfOp> addresses;
    SmallVector<Operation *> synchronization;
  };

  unsigned waveSize;
  DeviceLayout layout;
  llvm::DenseMap<Operation *, Contents> contents;
};

} // namespace

std::vector<KernelPlan>
KernelCollector::plans(Operation *module, const LDSProvenance &provenance) {
  std::vector<KernelPlan> plans;
  for (ArrayRef<LLVM::LLVMFuncOp> functions :
       groupByCalls(module, provenance)) {
    KernelPlan &plan = plans.emplace_back();
    plan.kernel = functions.front();
    plan.functions.assign(functions.begin(), functions.end());
    llvm::SetVector<Operation *> statics;
    for (LLVM::LLVMFuncOp function : functions) {
      Contents &found = contents[function];
      for (LLVM::AddressOfOp address : found.addresses) {
        auto global = dyn_cast_or_null<LLVM::GlobalOp>(
            provenance.lookupSymbol(address.getGlobalName()));
        if (global && global.getAddrSpace() == kLDSAddressSpace &&
            layout.sizeOf(global.getGlobalType()) != 0)
          statics.insert(global);
      }
      llvm::append_range(plan.synchronization, found.synchronization);
      if (plan.accesses.empty())
        plan.accesses = std::move(found.accesses);
      else
        llvm::move(found.accesses, std::back_inserter(plan.accesses));
    }
    plan.hasDMA = llvm::any_of(plan.accesses, [](const PlannedAccess &access) {
      return access.access.kind != LDSAccessKind::ordinary;
    });
    plan.staticGlobals.assign(statics.begin(), statics.end());
  }
  return plans;
}

CollectedKernels lodestone::collectKernels(Operation *module,
                                           unsigned waveSize) {
  KernelCollector collector(waveSize);
  auto provenance = std::make_unique<LDSProvenance>(
      module, waveSize, [&](LLVM::LLVMFuncOp function, Operation *op) {
        collector.visit(function, op);
      });
  std::vector<KernelPlan> plans = collector.plans(module, *provenance);
  return {std::move(provenance), std::move(plans)};
}
