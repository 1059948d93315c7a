//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/MemoryAccess.h"
#include "lodestone/Transforms/RelanePlan.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace lodestone;
using llvm::formatv;

/// False if `access` is known to touch none of the elements that the copy
/// stores.
bool RelaneLegality::mayCollide(const RelanePlan &plan, Operation *access) {
  Value memref;
  ValueRange indices;
  int64_t elements = 1;
  TileCopy copy;
  if (auto matched = matchTileCopy(access, values, /*mayBeFill=*/true)) {
    if (!std::holds_alternative<TileCopy>(*matched))
      return true;
    copy = std::get<TileCopy>(*matched);
    memref = copy.store.memref;
    indices = copy.store.indices;
    elements = copy.store.cellElements;
  } else if (auto load = dyn_cast<memref::LoadOp>(access)) {
    memref = load.getMemref();
    indices = load.getIndices();
  } else if (auto load = dyn_cast<vector::LoadOp>(access)) {
    memref = load.getBase();
    indices = load.getIndices();
    elements = load.getVectorType().getNumElements();
    if (load.getVectorType() == load.getMemRefType().getElementType())
      elements = 1;
  }
  // Offsets into different views can't be compared.
  if (memref != plan.copy.store.memref)
    return true;
  SmallVector<Lanes> offsets;
  auto touched =
      getTouchedElements(memref, indices, elements, copy, values, offsets);
  return !std::holds_alternative<TouchedElements>(touched) ||
         !plan.touched.isDisjointFrom(std::get<TouchedElements>(touched));
}

/// What runs before or after the copy, without a barrier in between, when one
/// of the numbers in the copy's offsets is another one: in another iteration of
/// a loop. The same number in its offset says nothing there.
llvm::DenseSet<Operation *>
RelaneLegality::getOtherIterations(const RelanePlan &plan) const {
  llvm::DenseSet<Operation *> result;
  for (bool forward : {true, false}) {
    llvm::SetVector<Operation *> reached =
        reach.reach(plan.copy.unit, BarrierScope::lds, forward);
    for (const ThreadForm::Term &term : plan.touched.terms.terms) {
      Operation *definition = term.value.getDefiningOp();
      if (!definition)
        definition = &cast<BlockArgument>(term.value).getOwner()->front();
      if (!reached.contains(definition))
        continue;
      result.insert_range(reach.reach(definition, BarrierScope::lds, forward));
      // An argument of its block changes before it runs.
      if (forward)
        result.insert(definition);
    }
  }
  return result;
}

std::optional<Refusal>
RelaneLegality::checkLDS(const RelanePlan &plan, FindPlan findPlan,
                         SmallVectorImpl<Operation *> &together) {
  Operation *unit = plan.copy.unit, *store = plan.copy.store.op;
  llvm::SetVector<Operation *> others;
  for (bool forward : {true, false})
    others.set_union(reach.reach(unit, BarrierScope::lds, forward));
  if ((others.contains(store) || others.contains(unit)) &&
      !plan.alwaysMovesWith(plan))
    return Refusal{"no-barrier",
                   "the copy can run again without a barrier in between"};
  unit->walk([&](Operation *op) {
    if (op != store)
      others.insert(op);
  });
  llvm::DenseSet<Operation *> otherIterations = getOtherIterations(plan);
  auto staysInOrder = [&](Operation *other) {
    bool isOtherIteration = otherIterations.contains(other);
    const RelanePlan *its = findPlan(other);
    if (its && (its->alwaysMovesWith(plan) ||
                (!isOtherIteration && its->movesWith(plan)))) {
      together.push_back(other);
      return true;
    }
    return !isOtherIteration && !mayCollide(plan, other);
  };
  for (Operation *other : others)
    if (other != store && other != unit &&
        MemoryAccess::of(other).mayTouchLDS(plan.copy.root) &&
        !staysInOrder(other))
      return Refusal{
          "no-barrier",
          formatv("no barrier stands between the copy and {0}, which "
                  "may touch the same bytes",
                  describe(other))};
  return std::nullopt;
}

/// True if what is stored depends on what `load` loaded right before, not on
/// what it did in an earlier iteration.
static bool dependsOn(Operation *load, const TileCopy &copy) {
  SmallVector<Value> worklist{copy.store.value};
  for (scf::IfOp guard : copy.guards)
    worklist.push_back(guard.getCondition());
  llvm::DenseSet<Operation *> seen;
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op || isa<scf::ForOp>(op) || !seen.insert(op).second)
      continue;
    if (op == load)
      return true;
    llvm::append_range(worklist, op->getOperands());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::append_range(worklist, block.back().getOperands());
  }
  return false;
}

/// True if no barrier can come between the two.
static bool isStoredInOnePhase(Operation *load, Operation *store) {
  Operation *first = load;
  while (first && !first->getBlock()->findAncestorOpInBlock(*store))
    first = first->getParentOp();
  return first &&
         isInOnePhase(first, first->getBlock()->findAncestorOpInBlock(*store));
}

std::optional<Refusal> RelaneLegality::checkSource(const RelanePlan &plan,
                                                   Operation *load) {
  // What was loaded is there when it is stored to LDS. So who comes to write
  // it from behind a barrier for that store is too late, even if the barrier
  // doesn't order global memory.
  BarrierScope after =
      dependsOn(load, plan.copy) && isStoredInOnePhase(load, plan.copy.store.op)
          ? BarrierScope::lds
          : BarrierScope::global;
  for (bool forward : {true, false})
    for (Operation *op :
         reach.reach(load, forward ? after : BarrierScope::global, forward))
      if (MemoryAccess::of(op).writesGlobal && !isKnownDistinct(load, op))
        return Refusal{
            "source-written",
            formatv("no barrier stands between {0} and {1}, which may "
                    "write what is loaded",
                    describe(load), describe(op))};
  return std::nullopt;
}

std::optional<Refusal>
RelaneLegality::check(const RelanePlan &plan, ArrayRef<Operation *> loads,
                      FindPlan findPlan,
                      SmallVectorImpl<Operation *> &together) {
  if (!isConverged(plan.copy.unit, values.getUniformity()))
    return Refusal{"divergent-control-flow",
                   formatv("some threads may reach {0} and others not",
                           describe(plan.copy.unit))};
  if (std::optional<Refusal> refusal = checkLDS(plan, findPlan, together))
    return refusal;
  for (Operation *load : loads)
    if (std::optional<Refusal> refusal = checkSource(plan, load))
      return refusal;
  return std::nullopt;
}
