//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Carries out the plan of AliasScopePlan.h: hides the DMAs' addresses, sets
/// the metadata, and says what it did and what it refused.
///
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/AliasScopePlan.h"
#include "lodestone/Analysis/ExpectedWaits.h"
#include "lodestone/Support/Chip.h"
#include "lodestone/Transforms/LDSTransforms.h"
#include "lodestone/Transforms/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Remarks.h"

namespace lodestone {
#define GEN_PASS_DEF_LDSATTACHALIASSCOPES
#include "lodestone/Transforms/Passes.h.inc"
} // namespace lodestone

using namespace mlir;
using namespace lodestone;

namespace {

constexpr StringLiteral kCategory = "lds-attach-alias-scopes";

/// The metadata of one set of DMA ranges: the scopes that accesses with this
/// set are in, and those that they don't alias.
struct ScopeLists {
  ArrayAttr scopes;
  ArrayAttr noalias;
};

struct LDSAttachAliasScopes final
    : lodestone::impl::LDSAttachAliasScopesBase<LDSAttachAliasScopes> {
  using LDSAttachAliasScopesBase::LDSAttachAliasScopesBase;

  void runOnOperation() override;

private:
  LogicalResult processModule(Operation *module);
  LogicalResult processKernel(KernelPlan &plan);
  std::vector<ScopeLists> createScopes(const KernelPlan &plan);
  void tag(const PlannedAccess &access, const ScopeLists &lists);
  void strip(const PlannedAccess &access);
  void dropNoAliasArguments(const KernelPlan &plan);
  LogicalResult report(const KernelPlan &plan, const PlannedAccess &access);
  void warnAboutDrains(const KernelPlan &plan);

  remark::RemarkOpts named(StringRef name, const PlannedAccess &access) const {
    LLVM::LLVMFuncOp function = access.function;
    return remark::RemarkOpts::name(name).category(kCategory).function(
        function.getSymName());
  }

  const ChipInfo *chipInfo = nullptr;
  LLVM::AliasScopeDomainAttr domainAttr;
  /// Of the kernel at hand; computed if anybody listens to remarks.
  std::optional<llvm::DenseMap<Operation *, unsigned>> expectedWaits;
};

} // namespace

//===----------------------------------------------------------------------===//
// Scopes
//===----------------------------------------------------------------------===//

std::vector<ScopeLists>
LDSAttachAliasScopes::createScopes(const KernelPlan &plan) {
  MLIRContext *context = &getContext();
  // Names, not distinct attributes: a second run makes the same scopes.
  auto scopeNamed = [&](const Twine &name) -> Attribute {
    auto description = StringAttr::get(context, name);
    auto id = StringAttr::get(context, Twine(domain) + "." + name);
    return LLVM::AliasScopeAttr::get(context, id, domainAttr, description);
  };
  LLVM::LLVMFuncOp function = plan.kernel;
  StringRef kernel = function.getSymName();
  SmallVector<Attribute> scopes;
  for (const DMARange &range : plan.ranges)
    scopes.push_back(scopeNamed(kernel + "." + range.name));

  std::vector<ScopeLists> lists;
  for (const RangeSet &set : plan.sets) {
    SmallVector<Attribute> inside, outside;
    auto next = set.ranges.begin();
    for (auto [index, scope] : llvm::enumerate(scopes)) {
      if (next != set.ranges.end() && *next == index) {
        inside.push_back(scope);
        ++next;
      } else {
        outside.push_back(scope);
      }
    }
    lists.push_back(
        {ArrayAttr::get(context, inside), ArrayAttr::get(context, outside)});
  }
  // Last, the wildcard: no noalias list holds it.
  lists.push_back({ArrayAttr::get(context, {scopeNamed(kernel + ".wildcard")}),
                   ArrayAttr::get(context, {})});
  return lists;
}

/// The scopes of `list` that aren't in `domain`.
static SmallVector<Attribute> scopesOutside(LLVM::AliasScopeDomainAttr domain,
                                            ArrayAttr list) {
  SmallVector<Attribute> result;
  if (list)
    for (Attribute attribute : list)
      if (auto scope = dyn_cast<LLVM::AliasScopeAttr>(attribute);
          !scope || scope.getDomain() != domain)
        result.push_back(attribute);
  return result;
}

void LDSAttachAliasScopes::tag(const PlannedAccess &access,
                               const ScopeLists &lists) {
  auto op = dyn_cast<LLVM::AliasAnalysisOpInterface>(access.access.op);
  if (!op)
    return;
  auto emptyAsNull = [](ArrayAttr list) {
    return list && list.empty() ? ArrayAttr() : list;
  };
  ArrayAttr oldScopes = op.getAliasScopesOrNull();
  ArrayAttr oldNoAlias = op.getNoAliasScopesOrNull();
  ArrayAttr scopes = emptyAsNull(lists.scopes);
  ArrayAttr noalias = emptyAsNull(lists.noalias);
  if (oldScopes || oldNoAlias || op.getTBAATagsOrNull()) {
    SmallVector<Attribute> foreignScopes = scopesOutside(domainAttr, oldScopes);
    SmallVector<Attribute> foreignNoAlias =
        scopesOutside(domainAttr, oldNoAlias);
    if (access.isDMA()) {
      // Lists that differ between DMAs of one buffer would split its slot, and
      // a claim about a DMA that nobody checked could hide it from a read.
      if (!foreignScopes.empty() || !foreignNoAlias.empty() ||
          op.getTBAATagsOrNull())
        remark::analysis(access.access.op->getLoc(),
                         named("foreign-dma-tags-replaced", access))
            << remark::reason("an LDS-DMA carries only the scopes of the bytes "
                              "that it writes");
      op.setTBAATags({});
    } else if (!foreignScopes.empty() || !foreignNoAlias.empty()) {
      // No DMA is in a foreign scope now, so these don't affect waits; they
      // still order the access among ordinary ones.
      auto merge = [&](SmallVector<Attribute> foreign, ArrayAttr ours) {
        llvm::append_range(foreign, ours);
        return emptyAsNull(ArrayAttr::get(&getContext(), foreign));
      };
      scopes = merge(std::move(foreignScopes), lists.scopes);
      noalias = merge(std::move(foreignNoAlias), lists.noalias);
    }
  }
  if (scopes != oldScopes)
    op.setAliasScopes(scopes);
  if (noalias != oldNoAlias)
    op.setNoAliasScopes(noalias);
}

void LDSAttachAliasScopes::strip(const PlannedAccess &access) {
  auto op = dyn_cast<LLVM::AliasAnalysisOpInterface>(access.access.op);
  if (!op || !(op.getAliasScopesOrNull() || op.getNoAliasScopesOrNull() ||
               op.getTBAATagsOrNull()))
    return;
  remark::missed(access.access.op->getLoc(), named("tags-dropped", access))
      << remark::reason("metadata on this access would make the backend look "
                        "at a list of LDS-DMAs that isn't complete");
  op.setAliasScopes({});
  op.setNoAliasScopes({});
  op.setTBAATags({});
}

/// LLVM's inliner turns a helper's noalias arguments into scopes on everything
/// in the helper. DMAs of one buffer would then carry different lists, and
/// reads claims that nobody checked.
void LDSAttachAliasScopes::dropNoAliasArguments(const KernelPlan &plan) {
  StringRef noalias = LLVM::LLVMDialect::getNoAliasAttrName();
  for (LLVM::LLVMFuncOp function : plan.functions) {
    if (function->hasAttr(ROCDL::ROCDLDialect::getKernelFuncAttrName()))
      continue; // A kernel isn't inlined.
    for (unsigned i = 0, e = function.getNumArguments(); i != e; ++i) {
      if (!function.getArgAttr(i, noalias))
        continue;
      function.removeArgAttr(i, noalias);
      remark::analysis(function.getLoc(),
                       remark::RemarkOpts::name("noalias-argument-dropped")
                           .category(kCategory)
                           .function(function.getSymName()))
          << remark::metric("Argument", i)
          << remark::reason("inlining would turn it into alias scopes on "
                            "LDS-DMAs");
    }
  }
}

//===----------------------------------------------------------------------===//
// Telling the user
//===----------------------------------------------------------------------===//

LogicalResult LDSAttachAliasScopes::report(const KernelPlan &plan,
                                           const PlannedAccess &access) {
  Operation *op = access.access.op;
  if (access.isTagged()) {
    if (access.isDMA())
      ++numTaggedDMAs;
    else
      ++numTaggedAccesses;
    if (auto remark = remark::passed(
            op->getLoc(),
            named(access.isDMA() ? "scoped-dma" : "scoped-access", access))) {
      std::string names;
      for (unsigned range : plan.sets[access.set].ranges)
        names += (names.empty() ? "" : ", ") + plan.ranges[range].name;
      remark << remark::metric("Op", op->getName().getStringRef())
             << remark::metric("Region",
                               names.empty() ? "none written by a DMA" : names);
      if (!expectedWaits)
        expectedWaits = computeExpectedWaits(plan, chipInfo->maxVmcnt);
      if (auto it = expectedWaits->find(op); it != expectedWaits->end())
        remark << remark::metric("Vmcnt", it->second);
    }
    return success();
  }
  if (access.isDMA())
    ++numWildcardDMAs;
  else
    ++numRefusedAccesses;
  StringRef name = getRemarkName(access.refusal);
  StringRef effect = access.isDMA() ? "every LDS access waits for this DMA"
                                    : "it waits for every LDS-DMA";
  if (strict) {
    InFlightDiagnostic diagnostic = op->emitOpError()
                                    << "gets no alias scope (" << name
                                    << "): " << access.reason << "; " << effect;
    if (access.culprit)
      diagnostic.attachNote(access.culprit->getLoc()) << "because of this";
    return failure();
  }
  remark::missed(op->getLoc(), named(name, access))
      << remark::metric("Op", op->getName().getStringRef())
      << remark::reason("{0}; {1}", access.reason, effect);
  return success();
}

/// Points out what waits for all DMAs whatever the scopes say.
void LDSAttachAliasScopes::warnAboutDrains(const KernelPlan &plan) {
  if (!getContext().getRemarkEngine())
    return;
  for (const PlannedAccess &access : plan.accesses)
    if (isa<ROCDL::GlobalLoadLDSOp>(access.access.op))
      remark::analysis(access.access.op->getLoc(),
                       named("global-load-lds-miscounted", access))
          << remark::reason(
                 "LLVM 22 counts global_load_lds in lgkmcnt as well, which the "
                 "hardware doesn't, so LDS reads before it may be waited for "
                 "too weakly; use the buffer form");
  for (Operation *op : plan.synchronization) {
    StringRef what = "rocdl.barrier, whose fences wait for all of memory";
    if (auto fence = dyn_cast<LLVM::FenceOp>(op)) {
      what = "a release fence";
      StringRef scope = fence.getSyncscope().value_or("");
      if (fence.getOrdering() == LLVM::AtomicOrdering::acquire ||
          fence.getOrdering() == LLVM::AtomicOrdering::monotonic ||
          scope == "wavefront" || scope == "singlethread")
        continue;
    }
    remark::analysis(
        op->getLoc(),
        remark::RemarkOpts::name("drains-vmcnt")
            .category(kCategory)
            .function(op->getParentOfType<LLVM::LLVMFuncOp>().getSymName()))
        << remark::reason("{0} waits for every LDS-DMA; rocdl.s.barrier "
                          "after a counted wait doesn't",
                          what.str());
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

LogicalResult LDSAttachAliasScopes::processKernel(KernelPlan &plan) {
  if (!plan.hasDMA)
    return success();
  std::vector<ScopeLists> lists = createScopes(plan);
  expectedWaits.reset();
  dropNoAliasArguments(plan);
  LaunderedAddresses laundered;
  LogicalResult result = success();
  for (PlannedAccess &access : plan.accesses) {
    switch (access.access.kind) {
    case LDSAccessKind::untaggableDMA:
    case LDSAccessKind::otherCounterDMA:
      continue;
    case LDSAccessKind::dma:
      if (launder)
        laundered.apply(access.access.op,
                        access.access.operands.front().pointer);
      tag(access, access.isTagged() ? lists[access.set] : lists.back());
      break;
    case LDSAccessKind::ordinary:
      if (access.isTagged())
        tag(access, lists[access.set]);
      else
        strip(access);
      break;
    }
    if (failed(report(plan, access)))
      result = failure();
  }
  laundered.eraseUnused();
  warnAboutDrains(plan);
  return result;
}

LogicalResult LDSAttachAliasScopes::processModule(Operation *module) {
  AliasScopePlanOptions options;
  options.waveSize = chipInfo->waveSize;
  options.launder = launder;
  for (KernelPlan &plan : planAliasScopes(module, options))
    if (failed(processKernel(plan)))
      return failure();
  return success();
}

void LDSAttachAliasScopes::runOnOperation() {
  Operation *root = getOperation();
  domainAttr = LLVM::AliasScopeDomainAttr::get(
      &getContext(), StringAttr::get(&getContext(), domain),
      StringAttr::get(&getContext(), domain));
  for (Operation *module : collectDeviceModules(root)) {
    FailureOr<const ChipInfo *> found = resolveChip(module, chip, "gfx950");
    if (failed(found))
      return signalPassFailure();
    chipInfo = *found;
    if (!chipInfo->scopesSteerWaits) {
      remark::missed(module->getLoc(),
                     remark::RemarkOpts::name("scopes-change-no-waits")
                         .category(kCategory))
          << remark::reason("on {0} the backend inserts no waits for copies to "
                            "LDS, so alias scopes would change none",
                            chipInfo->name.str());
      continue;
    }
    if (failed(processModule(module)))
      return signalPassFailure();
  }
}
