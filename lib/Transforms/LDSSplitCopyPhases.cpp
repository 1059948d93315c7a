//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

///
/// \file
/// Issues all loads of a tile's copy before its stores, as far as registers
/// go.
///
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/MemoryAccess.h"
#include "lodestone/Analysis/TileCopies.h"
#include "lodestone/Dialect/LDS/IR/LDSDialect.h"
#include "lodestone/Transforms/Passes.h"
#include "lodestone/Transforms/RelanePlan.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace lodestone {
#define GEN_PASS_DEF_LDSSPLITCOPYPHASES
#include "lodestone/Transforms/Passes.h.inc"
} // namespace lodestone

using namespace mlir;
using namespace lodestone;

namespace {

constexpr StringLiteral kCategory = "lds-split-copy-phases";

/// A store of a copy, or a condition around nothing but such stores: what moves
/// to the second phase as a whole.
struct StoreUnit {
  Operation *op;
  SmallVector<Value> roots;
  /// Registers of a lane that hold what was loaded until it is stored.
  unsigned registers = 0;
};

struct LDSSplitCopyPhases final
    : lodestone::impl::LDSSplitCopyPhasesBase<LDSSplitCopyPhases> {
  using Base::Base;
  void runOnOperation() override;

private:
  void unroll(scf::ForOp loop);
  void process(Block &block);
  void flush(SmallVectorImpl<StoreUnit> &group);
  remark::RemarkOpts named(StringRef name, Operation *op) {
    auto kernel = op->getParentOfType<gpu::GPUFuncOp>();
    return remark::RemarkOpts::name(name).category(kCategory).function(
        kernel.getName());
  }
};

} // namespace

/// Adds what `op` stores to `unit` if it is a copy's store of its loads' values
/// to a known allocation.
static bool addStore(Operation *op, StoreUnit &unit) {
  std::optional<LDSStore> store = LDSStore::match(op);
  if (!store)
    return false;
  bool isOnlyUse;
  std::optional<SmallVector<Value>> roots = getLDSRoots(store->memref);
  // The value that is split off a condition is loaded in it.
  if (findCopiedLoads(store->value, isOnlyUse).empty() || !roots)
    return false;
  unit.roots.append(*roots);
  unit.registers += llvm::divideCeil(store->cellBytes, 4);
  return true;
}

static std::optional<StoreUnit> matchUnit(Operation *op) {
  StoreUnit unit{op, {}, 0};
  if (addStore(op, unit))
    return unit;
  auto condition = dyn_cast<scf::IfOp>(op);
  if (!condition || condition.elseBlock() || condition.getNumResults())
    return std::nullopt;
  for (Operation &nested : condition.thenBlock()->without_terminator())
    if (!addStore(&nested, unit))
      return std::nullopt;
  if (unit.roots.empty())
    return std::nullopt;
  return unit;
}

/// Makes of a condition around loads and the stores of what they load one
/// around the loads and one around the stores. Where the condition doesn't
/// hold, the value between the two is poison, and nothing stores it.
static void splitGuard(scf::IfOp guard) {
  if (guard.elseBlock() || guard.getNumResults())
    return;
  SmallVector<Operation *> stores;
  bool loads = false;
  llvm::SmallPtrSet<Operation *, 8> inside;
  for (Operation &op : guard.thenBlock()->without_terminator()) {
    StoreUnit unit{&op, {}, 0};
    if (addStore(&op, unit)) {
      stores.push_back(&op);
      continue;
    }
    // What the stores' indices need is computed before, which must be harmless.
    bool isMovable = isPure(&op) && op.getNumRegions() == 0;
    for (Value operand : op.getOperands())
      isMovable &= !inside.count(operand.getDefiningOp());
    if (isMovable)
      continue;
    if (!isGlobalLoad(&op) && !isPure(&op))
      return;
    loads = true;
    inside.insert(&op);
  }
  if (stores.empty() || !loads)
    return;
  for (Operation *store : stores)
    for (Value operand : LDSStore::match(store)->indices)
      if (inside.count(operand.getDefiningOp()))
        return;

  for (Operation &op :
       llvm::make_early_inc_range(guard.thenBlock()->without_terminator()))
    if (!inside.count(&op) && !llvm::is_contained(stores, &op))
      op.moveBefore(guard);
  OpBuilder builder(guard);
  Location loc = guard.getLoc();
  SmallVector<Value> values;
  SmallVector<Type> types;
  for (Operation *store : stores) {
    values.push_back(LDSStore::match(store)->value);
    types.push_back(values.back().getType());
  }
  auto loading = scf::IfOp::create(builder, loc, types, guard.getCondition(),
                                   /*withElseRegion=*/true);
  Block *then = loading.thenBlock();
  for (Operation &op :
       llvm::make_early_inc_range(guard.thenBlock()->without_terminator()))
    if (inside.count(&op))
      op.moveBefore(then, then->end());
  builder.setInsertionPointToEnd(then);
  scf::YieldOp::create(builder, loc, values);
  builder.setInsertionPointToEnd(loading.elseBlock());
  SmallVector<Value> poison;
  for (Type type : types)
    poison.push_back(ub::PoisonOp::create(builder, loc, type));
  scf::YieldOp::create(builder, loc, poison);
  // The value is the stores' first operand, whichever they are.
  for (auto [store, value] : llvm::zip(stores, loading.getResults()))
    store->setOperand(0, value);
}

/// Unrolls a loop that only copies, as far as registers go.
void LDSSplitCopyPhases::unroll(scf::ForOp loop) {
  std::optional<int64_t> trips = ThreadValues::getTripCount(loop);
  unsigned registers = 0;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (std::optional<StoreUnit> unit = matchUnit(&op)) {
      registers += unit->registers;
      continue;
    }
    WalkResult others = op.walk([](Operation *nested) {
      return isMemoryEffectFree(nested) || isGlobalLoad(nested) ||
                     nested->hasTrait<OpTrait::HasRecursiveMemoryEffects>()
                 ? WalkResult::advance()
                 : WalkResult::interrupt();
    });
    if (others.wasInterrupted())
      return;
  }
  if (!trips || *trips < 2 || registers == 0)
    return;
  int64_t factor = std::min<int64_t>(*trips, registerBudget / registers);
  if (factor < 2) {
    remark::missed(loop.getLoc(), named("split-over-budget", loop))
        << remark::reason("two iterations would take {0} registers of {1}",
                          2 * registers, registerBudget.getValue());
    return;
  }
  if (factor == *trips)
    (void)loopUnrollFull(loop);
  else
    (void)loopUnrollByFactor(loop, factor);
}

/// True if a store to one of `roots` may not move past `op`.
static bool blocks(Operation *op, ArrayRef<StoreUnit> group) {
  return op
      ->walk([&](Operation *nested) {
        // A store that left its group wouldn't be waited for with it.
        if (isa<lds::CommitGroupOp, lds::WaitGroupOp>(nested))
          return WalkResult::interrupt();
        // Barriers, waits, atomics: what may tell others that LDS was written.
        bool hasKnownEffects =
            isa<MemoryEffectOpInterface>(nested) ||
            nested->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
            nested->hasTrait<OpTrait::IsTerminator>();
        MemoryAccess access = MemoryAccess::of(nested);
        if (!hasKnownEffects || access.writesGlobal)
          return WalkResult::interrupt();
        for (const StoreUnit &unit : group)
          for (Value root : unit.roots)
            if (access.mayTouchLDS(root))
              return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

/// Moves the stores of `group` down to the last one.
void LDSSplitCopyPhases::flush(SmallVectorImpl<StoreUnit> &group) {
  if (group.size() > 1) {
    unsigned registers = 0;
    for (StoreUnit &unit : group) {
      registers += unit.registers;
      if (unit.op != group.back().op)
        unit.op->moveBefore(group.back().op);
    }
    ++numGroups;
    remark::passed(group.back().op->getLoc(),
                   named("copy-phases-split", group.back().op))
        << remark::metric("Stores", group.size())
        << remark::metric("Registers", registers);
  }
  group.clear();
}

void LDSSplitCopyPhases::process(Block &block) {
  SmallVector<StoreUnit> group;
  unsigned registers = 0;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    std::optional<StoreUnit> unit = matchUnit(&op);
    if (!unit) {
      if (!group.empty() && blocks(&op, group))
        flush(group), registers = 0;
      continue;
    }
    if (!group.empty() && registers + unit->registers > registerBudget) {
      remark::missed(op.getLoc(), named("split-over-budget", &op))
          << remark::reason("one more store would take {0} registers of {1}",
                            registers + unit->registers,
                            registerBudget.getValue());
      flush(group);
      registers = 0;
    }
    registers += unit->registers;
    group.push_back(std::move(*unit));
  }
  flush(group);
}

void LDSSplitCopyPhases::runOnOperation() {
  SmallVector<gpu::GPUFuncOp> kernels;
  getOperation()->walk([&](gpu::GPUFuncOp kernel) {
    if (!kernel.isExternal())
      kernels.push_back(kernel);
  });
  for (gpu::GPUFuncOp kernel : kernels) {
    SmallVector<scf::IfOp> guards;
    kernel.walk([&](scf::IfOp guard) { guards.push_back(guard); });
    llvm::for_each(guards, splitGuard);
    SmallVector<scf::ForOp> loops;
    kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      unroll(loop);
    SmallVector<Block *> blocks;
    kernel.walk([&](Block *block) { blocks.push_back(block); });
    for (Block *block : blocks)
      process(*block);
  }
}
