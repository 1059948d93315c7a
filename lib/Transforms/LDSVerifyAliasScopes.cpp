//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Checks alias scopes that people or other compilers wrote against what the
/// accesses can be shown to touch, and against what LLVM's backend does with
/// them.
///
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/AddressBase.h"
#include "lodestone/Analysis/AliasScopePlan.h"
#include "lodestone/Analysis/SlotCoverage.h"
#include "lodestone/Transforms/LDSTransforms.h"
#include "lodestone/Transforms/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

namespace lodestone {
#define GEN_PASS_DEF_LDSVERIFYALIASSCOPES
#include "lodestone/Transforms/Passes.h.inc"
} // namespace lodestone

using namespace mlir;
using namespace lodestone;

namespace {

/// The alias metadata of an op.
struct Tags {
  ArrayAttr scopes;
  ArrayAttr noalias;
  ArrayAttr tbaa;

  static Tags of(Operation *op) {
    auto tagged = dyn_cast<LLVM::AliasAnalysisOpInterface>(op);
    if (!tagged)
      return {};
    return {tagged.getAliasScopesOrNull(), tagged.getNoAliasScopesOrNull(),
            tagged.getTBAATagsOrNull()};
  }
  bool any() const { return scopes || noalias || tbaa; }
};

/// The scopes of `list` by domain.
using ScopesByDomain = llvm::DenseMap<Attribute, llvm::DenseSet<Attribute>>;

ScopesByDomain groupByDomain(ArrayAttr list) {
  ScopesByDomain result;
  if (list)
    for (auto scope : list.getAsRange<LLVM::AliasScopeAttr>())
      result[scope.getDomain()].insert(scope);
  return result;
}

/// LLVM's rule (ScopedNoAliasAA): nothing in `scopes` aliases what is noalias
/// to `noalias` if, in some domain of `noalias`, `scopes` has members and all
/// of them are in it.
bool claimsNoAlias(ArrayAttr scopes, ArrayAttr noalias) {
  if (!scopes || !noalias)
    return false;
  ScopesByDomain inScopes = groupByDomain(scopes);
  for (auto &[domain, members] : groupByDomain(noalias)) {
    auto it = inScopes.find(domain);
    if (it != inScopes.end() &&
        llvm::all_of(it->second, [&, &members = members](Attribute scope) {
          return members.contains(scope);
        }))
      return true;
  }
  return false;
}

bool claimNoAlias(const Tags &a, const Tags &b) {
  return claimsNoAlias(a.scopes, b.noalias) ||
         claimsNoAlias(b.scopes, a.noalias);
}

struct LDSVerifyAliasScopes final
    : lodestone::impl::LDSVerifyAliasScopesBase<LDSVerifyAliasScopes> {
  using LDSVerifyAliasScopesBase::LDSVerifyAliasScopesBase;

  void runOnOperation() override;

private:
  void verifyKernel(const KernelPlan &plan, const LDSProvenance &provenance);
  void verifyEveryDMATagged(const KernelPlan &plan);
  void verifyClaims(const KernelPlan &plan);
  void verifySlots(const KernelPlan &plan, const LDSProvenance &provenance);
  void verifyLaundered(const KernelPlan &plan);

  /// What is wrong, and what can't be shown to be right. The second is a
  /// warning unless `strict`.
  InFlightDiagnostic wrong(Operation *op) {
    invalid = true;
    return op->emitOpError();
  }
  InFlightDiagnostic unverified(Operation *op) {
    if (strict)
      return wrong(op);
    InFlightDiagnostic diagnostic = op->emitWarning();
    diagnostic << "'" << op->getName() << "' op ";
    return diagnostic;
  }

  bool invalid = false;
};

/// The first ordinary access with any metadata, or null.
const PlannedAccess *firstTaggedAccess(const KernelPlan &plan) {
  for (const PlannedAccess &access : plan.accesses)
    if (access.access.kind == LDSAccessKind::ordinary &&
        Tags::of(access.access.op).any())
      return &access;
  return nullptr;
}

} // namespace

/// An LDS-DMA without a scope is in no slot, and a tagged access asks only the
/// slots.
void LDSVerifyAliasScopes::verifyEveryDMATagged(const KernelPlan &plan) {
  const PlannedAccess *tagged = firstTaggedAccess(plan);
  if (!tagged)
    return;
  for (const PlannedAccess &access : plan.accesses) {
    bool untaggable = access.access.kind == LDSAccessKind::untaggableDMA;
    if (!untaggable && !(access.isDMA() && !Tags::of(access.access.op).scopes))
      continue;
    InFlightDiagnostic diagnostic = wrong(access.access.op);
    diagnostic << (untaggable ? "is an LDS-DMA that can't carry alias scopes"
                              : "is an LDS-DMA without alias scopes")
               << " in a kernel with tagged accesses, which don't wait for it";
    diagnostic.attachNote(tagged->access.op->getLoc())
        << "the first tagged access is here";
  }
}

/// Where metadata says that an access and a DMA are disjoint, their bytes must
/// be.
void LDSVerifyAliasScopes::verifyClaims(const KernelPlan &plan) {
  // Accesses with equal metadata make equal claims; compare classes of them.
  using Key = std::pair<Attribute, Attribute>;
  llvm::MapVector<Key, SmallVector<const PlannedAccess *>> dmas, accesses;
  for (const PlannedAccess &access : plan.accesses) {
    Tags tags = Tags::of(access.access.op);
    if (access.isDMA() && tags.any())
      dmas[{tags.scopes, tags.noalias}].push_back(&access);
    else if (access.access.kind == LDSAccessKind::ordinary && tags.any())
      accesses[{tags.scopes, tags.noalias}].push_back(&access);
  }
  for (auto &[dmaTags, dmaClass] : dmas)
    for (auto &[accessTags, accessClass] : accesses) {
      if (!claimNoAlias(Tags::of(dmaClass.front()->access.op),
                        Tags::of(accessClass.front()->access.op)))
        continue;
      for (const PlannedAccess *access : accessClass) {
        // One finding an access is enough.
        for (const PlannedAccess *dma : dmaClass) {
          const PlannedAccess *unknown = !access->footprint ? access
                                         : !dma->footprint  ? dma
                                                            : nullptr;
          if (unknown) {
            InFlightDiagnostic diagnostic = unverified(access->access.op);
            diagnostic << "is noalias to an LDS-DMA, which can't be verified: "
                       << unknown->reason;
            diagnostic.attachNote(dma->access.op->getLoc())
                << "the DMA is here";
            break;
          }
          const ByteRange *overlap = nullptr, *with = nullptr;
          for (const ByteRange &a : *access->footprint)
            for (const ByteRange &b : *dma->footprint)
              if (a.overlaps(b))
                overlap = &a, with = &b;
          if (!overlap)
            continue;
          auto bytes = [](const ByteRange &range) -> std::string {
            if (range.end == LDSObject::kUnbounded)
              return llvm::formatv("from byte {0} on", range.begin);
            return llvm::formatv("bytes [{0}, {1})", range.begin, range.end);
          };
          InFlightDiagnostic diagnostic = wrong(access->access.op);
          diagnostic << "is noalias to an LDS-DMA but may touch its bytes: "
                     << bytes(*overlap) << " here, " << bytes(*with)
                     << " there";
          diagnostic.attachNote(dma->access.op->getLoc()) << "the DMA is here";
          break;
        }
      }
    }
}

/// LLVM must know every DMA that a tagged access overlaps on every path to it.
void LDSVerifyAliasScopes::verifySlots(const KernelPlan &plan,
                                       const LDSProvenance &provenance) {
  llvm::MapVector<std::pair<Attribute, Attribute>, unsigned> slots;
  auto slotKey = [](const PlannedAccess &dma) {
    Tags tags = Tags::of(dma.access.op);
    return std::pair<Attribute, Attribute>(tags.scopes, tags.noalias);
  };
  SmallVector<const PlannedAccess *> firstDMA;
  for (const PlannedAccess &access : plan.accesses)
    if (access.isDMA() && slots.insert({slotKey(access), slots.size()}).second)
      firstDMA.push_back(&access);
  auto slotOf = [&](const PlannedAccess &dma) {
    return slots.lookup(slotKey(dma));
  };
  // An access must find the slots of which metadata doesn't say that they are
  // disjoint from it; whether that is true is verifyClaims' business.
  std::deque<llvm::BitVector> storage;
  llvm::DenseMap<std::pair<Attribute, Attribute>, const llvm::BitVector *> memo;
  auto slotsOf = [&](const PlannedAccess &access) -> const llvm::BitVector * {
    Tags tags = Tags::of(access.access.op);
    if (!tags.any())
      return nullptr;
    const llvm::BitVector *&needed = memo[{tags.scopes, tags.noalias}];
    if (!needed) {
      llvm::BitVector &mask = storage.emplace_back(slots.size());
      for (auto [slot, dma] : llvm::enumerate(firstDMA))
        if (!claimNoAlias(Tags::of(dma->access.op), tags))
          mask.set(slot);
      needed = &mask;
    }
    return needed;
  };
  for (auto [index, slot] : findUncoveredAccesses(
           plan, provenance, SlotLists(slots.size()), slotOf, slotsOf)) {
    InFlightDiagnostic diagnostic = wrong(plan.accesses[index].access.op);
    diagnostic << "carries alias metadata where an LDS-DMA that it may overlap "
                  "isn't issued first on every path, so the wait is lost";
    diagnostic.attachNote(firstDMA[slot]->access.op->getLoc())
        << "the DMA is here";
  }
}

void LDSVerifyAliasScopes::verifyLaundered(const KernelPlan &plan) {
  if (!firstTaggedAccess(plan))
    return;
  for (const PlannedAccess &access : plan.accesses)
    if (access.isDMA() &&
        !isLaundered(access.access.operands.front().pointer)) {
      unverified(access.access.op)
          << "writes the bytes of all lanes, but LLVM takes it to write those "
             "of one, and its address isn't laundered; an access at a constant "
             "distance may not wait for it";
      return; // One is enough: the cure is one option for all of them.
    }
}

void LDSVerifyAliasScopes::verifyKernel(const KernelPlan &plan,
                                        const LDSProvenance &provenance) {
  if (!plan.hasDMA)
    return;
  if (plan.staticGlobals.size() > 1 && firstTaggedAccess(plan)) {
    InFlightDiagnostic diagnostic = wrong(plan.staticGlobals[1]);
    diagnostic << "is one of " << plan.staticGlobals.size()
               << " static LDS globals of a kernel with alias scopes; the "
                  "backend replaces the scopes";
    diagnostic.attachNote(plan.staticGlobals[0]->getLoc()) << "another is here";
  }
  verifyEveryDMATagged(plan);
  verifyClaims(plan);
  verifySlots(plan, provenance);
  verifyLaundered(plan);
}

void LDSVerifyAliasScopes::runOnOperation() {
  for (Operation *module : collectDeviceModules(getOperation())) {
    FailureOr<const ChipInfo *> found = resolveChip(module, chip, "gfx950");
    if (failed(found))
      return signalPassFailure();
    if (!(*found)->scopesSteerWaits)
      continue;
    AliasScopePlanOptions options;
    options.waveSize = (*found)->waveSize;
    LDSProvenance provenance(module, options.waveSize);
    for (const KernelPlan &plan : planAliasScopes(module, options))
      verifyKernel(plan, provenance);
  }
  if (invalid)
    return signalPassFailure();
  markAllAnalysesPreserved();
}
