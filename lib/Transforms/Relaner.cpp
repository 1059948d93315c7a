//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relaner.h"
#include "lodestone/Analysis/MemoryAccess.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace lodestone;

void Relaner::collect() {
  SmallVector<Value> roots;
  auto plan = [&](Operation *op, bool isFill) {
    auto matched = matchTileCopy(op, values, isFill);
    if (!matched)
      return;
    MaybePlan plan;
    if (auto *refusal = std::get_if<Refusal>(&*matched))
      plan = std::move(*refusal);
    else
      plan = planRelane(std::move(std::get<TileCopy>(*matched)), values);
    if (auto *refusal = std::get_if<Refusal>(&plan); refusal && !isFill)
      unplanned.push_back({op, *refusal});
    auto *found = std::get_if<RelanePlan>(&plan);
    if (!found || (isFill && !llvm::is_contained(roots, found->copy.root)))
      return;
    roots.push_back(found->copy.root);
    candidates.push_back(std::make_unique<Candidate>(
        Candidate{std::move(*found), isFill, std::nullopt, {}, {}}));
    candidateOf[op] = candidates.back().get();
  };
  SmallVector<Operation *> stores;
  DominanceInfo dominance(kernel);
  // In code that is never reached, values can depend on themselves.
  auto isReachable = [&](Operation *op) {
    for (; op != kernel; op = op->getParentOp())
      if (!dominance.isReachableFromEntry(op->getBlock()))
        return false;
    return true;
  };
  kernel.walk([&](Operation *op) {
    if (LDSStore::match(op) && isReachable(op))
      stores.push_back(op);
  });
  for (Operation *op : stores)
    plan(op, /*isFill=*/false);
  if (!candidates.empty())
    for (Operation *op : stores)
      if (!candidateOf.count(op))
        plan(op, /*isFill=*/true);
}

/// The innermost loop whose iterations decide who takes over for whom has to
/// be entered before that is known.
Operation *Relaner::getAnchor(const RelanePlan &plan) {
  for (auto [number, loop] : llvm::enumerate(plan.copy.loops))
    if (plan.movesSteps() || plan.permutation.dependsOn(number))
      return &loop->getRegion(0).front().front();
  return entry;
}

/// True if the same is cloned for both, wherever it stands: the other thread is
/// the same one.
bool Relaner::sharesClones(const RelanePlan &a, const RelanePlan &b) {
  Operation *anchor = getAnchor(a);
  return a.hasPermutationOf(b) && anchor == getAnchor(b) &&
         (anchor == entry || a.copy.loops == b.copy.loops);
}

IterArgTwins::Wanted Relaner::getWantedTwins() {
  SmallVector<const RelanePlan *> groups;
  SmallVector<llvm::SetVector<BlockArgument>> carried;
  for (auto &candidate : candidates) {
    if (candidate->refusal)
      continue;
    auto group = llvm::find_if(groups, [&](const RelanePlan *plan) {
      return sharesClones(*plan, candidate->plan);
    });
    size_t number = group - groups.begin();
    if (group == groups.end()) {
      groups.push_back(&candidate->plan);
      carried.emplace_back();
    }
    carried[number].set_union(candidate->carried);
  }
  IterArgTwins::Wanted wanted;
  for (auto &args : carried)
    for (BlockArgument arg : args)
      ++wanted[arg];
  return wanted;
}

std::optional<Refusal> Relaner::checkOne(Candidate &candidate) {
  const RelanePlan &plan = candidate.plan;
  CloneForThread cloner(values, getAnchor(plan), &twins, getMovedLoops(plan));
  SmallVector<Operation *> loads;
  SmallVector<Value> needed{plan.copy.store.value};
  for (scf::IfOp guard : plan.copy.guards)
    needed.push_back(guard.getCondition());
  for (Value value : needed)
    if (Value obstacle = cloner.findObstacle(value, loads, candidate.carried))
      return Refusal{"address-not-repeatable",
                     llvm::formatv("no other thread can compute {0}, which the "
                                   "copy depends on",
                                   describe(obstacle))
                         .str()};
  auto findPlan = [&](Operation *store) -> const RelanePlan * {
    auto it = candidateOf.find(store);
    return it == candidateOf.end() ? nullptr : &it->second->plan;
  };
  if (std::optional<Refusal> refusal =
          legality.check(plan, loads, findPlan, candidate.together))
    return refusal;
  return checkGuards(candidate);
}

/// The loop that is all that a condition is around, but for what may be
/// computed where the condition doesn't hold, too: the condition can as well be
/// tested in each iteration. Null if there is something else.
static scf::ForOp findOnlyLoop(scf::IfOp guard) {
  scf::ForOp loop;
  if (guard.elseBlock() || guard.getNumResults())
    return loop;
  for (Operation &op : guard.thenBlock()->without_terminator()) {
    if (isPure(&op) && op.getNumRegions() == 0)
      continue;
    auto found = dyn_cast<scf::ForOp>(op);
    if (!found || loop || found.getNumResults())
      return {};
    loop = found;
  }
  return loop;
}

std::optional<Refusal> Relaner::checkGuards(Candidate &candidate) {
  for (scf::IfOp guard : candidate.plan.copy.guards) {
    Operation *other = guard.getNumResults() ? guard : nullptr;
    guard.walk([&](Operation *op) {
      auto it = candidateOf.find(op);
      if (it != candidateOf.end() &&
          sharesClones(it->second->plan, candidate.plan))
        candidate.together.push_back(op);
      else if (!isMemoryEffectFree(op) && !isGlobalLoad(op) &&
               !op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
        other = op;
    });
    if (other)
      return Refusal{"shared-guard",
                     llvm::formatv("the condition of {0} around the store also "
                                   "holds for {1}",
                                   describe(guard), describe(other))
                         .str()};
    if (guard->isProperAncestor(getAnchor(candidate.plan))) {
      if (findOnlyLoop(guard))
        sinkable.insert(guard);
      return Refusal{"shared-guard",
                     llvm::formatv("the condition of {0} holds for all "
                                   "iterations of a loop, in which the copy "
                                   "would be that of different threads",
                                   describe(guard))
                         .str()};
    }
  }
  return std::nullopt;
}

bool Relaner::sinkGuards() {
  for (scf::IfOp guard : sinkable) {
    scf::ForOp loop = findOnlyLoop(guard);
    for (Operation &op :
         llvm::make_early_inc_range(guard.thenBlock()->without_terminator()))
      op.moveBefore(guard);
    Block *body = loop.getBody();
    OpBuilder builder = OpBuilder::atBlockBegin(body);
    auto inside =
        scf::IfOp::create(builder, guard.getLoc(), guard.getCondition(),
                          /*withElseRegion=*/false);
    Operation *end = inside.thenYield();
    for (Operation &op : llvm::make_early_inc_range(
             llvm::drop_begin(body->without_terminator())))
      op.moveBefore(end);
    guard.erase();
  }
  return !sinkable.empty();
}

void Relaner::check() {
  collect();
  for (auto &candidate : candidates)
    candidate->refusal = checkOne(*candidate);
  // A fill moves with a copy or not at all.
  for (auto &candidate : candidates)
    if (candidate->isFill && !candidate->refusal &&
        llvm::none_of(candidate->together,
                      [&](Operation *op) { return !candidateOf[op]->isFill; }))
      candidate->refusal = Refusal{};
  // One refusal may bring about others.
  for (bool changed = true; changed;) {
    changed = false;
    for (auto &candidate : candidates) {
      if (candidate->refusal)
        continue;
      for (Operation *op : candidate->together)
        if (candidateOf[op]->refusal) {
          candidate->refusal = Refusal{
              "shared-guard",
              llvm::formatv("{0}, which has to move along, can't", describe(op))
                  .str()};
          changed = true;
          break;
        }
    }
  }
}
