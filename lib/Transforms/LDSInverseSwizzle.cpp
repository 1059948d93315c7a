//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

///
/// \file
/// Moves the swizzle of a tile's copy from the store to the load: each thread
/// does the work of the thread that stored where it now stores itself.
///
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/MemoryAccess.h"
#include "lodestone/Dialect/LDS/IR/LDSDialect.h"
#include "lodestone/Transforms/CloneForThread.h"
#include "lodestone/Transforms/LDSTransforms.h"
#include "lodestone/Transforms/Passes.h"
#include "lodestone/Transforms/RelanePlan.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/FormatVariadic.h"

namespace lodestone {
#define GEN_PASS_DEF_LDSINVERSESWIZZLE
#include "lodestone/Transforms/Passes.h.inc"
} // namespace lodestone

using namespace mlir;
using namespace lodestone;

namespace {

constexpr StringLiteral kCategory = "lds-inverse-swizzle";

struct LDSInverseSwizzle final
    : lodestone::impl::LDSInverseSwizzleBase<LDSInverseSwizzle> {
  using Base::Base;
  void runOnOperation() override;

private:
  void rewrite(gpu::GPUFuncOp kernel, unsigned waveSize);
  void refuse(gpu::GPUFuncOp kernel, Operation *op, const Refusal &refusal);
};

/// A copy on its way to being rewritten.
struct Candidate {
  RelanePlan plan;
  /// The store doesn't copy, but writes something else to a copy's cells.
  bool isFill;
  std::optional<Refusal> refusal;
  /// Stores that must be rewritten, too, if this one is.
  SmallVector<Operation *> together;
};

/// Rewrites the copies of one kernel.
class Relaner {
public:
  Relaner(gpu::GPUFuncOp kernel, ThreadValues &values)
      : kernel(kernel), values(values), legality(kernel, values),
        entry(&kernel.front().front()) {}

  /// Finds the copies that aren't linear; reports those that can't be planned.
  void collect(function_ref<void(Operation *, const Refusal &)> refuse);
  /// Settles for each which it is: to be rewritten or refused.
  void check();
  ArrayRef<std::unique_ptr<Candidate>> getCandidates() const {
    return candidates;
  }
  void rewrite(Candidate &candidate);
  void eraseDead();

private:
  std::optional<Refusal> checkOne(Candidate &candidate);
  std::optional<Refusal> checkGuards(Candidate &candidate);
  Operation *getAnchor(const RelanePlan &plan);
  Value getThread();
  Value getIteration(OpBuilder &builder, scf::ForOp loop);
  CloneForThread &getCloner(const RelanePlan &plan);
  Value getStoreIndex(const RelanePlan &plan);

  gpu::GPUFuncOp kernel;
  ThreadValues &values;
  RelaneLegality legality;
  /// The first operation; what belongs to all of the kernel comes before it.
  Operation *entry;
  Value thread;
  SmallVector<std::unique_ptr<Candidate>> candidates;
  llvm::DenseMap<Operation *, Candidate *> candidateOf;
  struct Cloner {
    ThreadPermutation permutation;
    Operation *anchor;
    SmallVector<scf::ForOp> loops;
    std::unique_ptr<CloneForThread> clone;
  };
  SmallVector<Cloner> cloners;
  llvm::DenseSet<Operation *> movedGuards;
  SmallVector<Value> maybeDead;
  /// Erased in the end: one may be an anchor.
  SmallVector<Operation *> replaced;
};

} // namespace

void Relaner::collect(function_ref<void(Operation *, const Refusal &)> refuse) {
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
      refuse(op, *refusal);
    auto *found = std::get_if<RelanePlan>(&plan);
    if (!found || (isFill && !llvm::is_contained(roots, found->copy.root)))
      return;
    roots.push_back(found->copy.root);
    candidates.push_back(std::make_unique<Candidate>(
        Candidate{std::move(*found), isFill, std::nullopt, {}}));
    candidateOf[op] = candidates.back().get();
  };
  SmallVector<Operation *> stores;
  DominanceInfo dominance(kernel);
  kernel.walk([&](Operation *op) {
    if (LDSStore::match(op) && dominance.isReachableFromEntry(op->getBlock()))
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
    if (plan.permutation.dependsOn(number))
      return &loop->getRegion(0).front().front();
  return entry;
}

std::optional<Refusal> Relaner::checkOne(Candidate &candidate) {
  const RelanePlan &plan = candidate.plan;
  CloneForThread cloner(values, getAnchor(plan));
  SmallVector<Operation *> loads;
  SmallVector<Value> needed{plan.copy.store.value};
  for (scf::IfOp guard : plan.copy.guards)
    needed.push_back(guard.getCondition());
  for (Value value : needed)
    if (Value obstacle = cloner.findObstacle(value, loads))
      return Refusal{"address-not-repeatable",
                     llvm::formatv("no other thread can compute {0}, which the "
                                   "copy depends on",
                                   describe(obstacle))
                         .str()};
  auto movesAlong = [&](Operation *op) {
    auto it = candidateOf.find(op);
    if (it == candidateOf.end() || !it->second->plan.movesWith(plan))
      return false;
    candidate.together.push_back(op);
    return true;
  };
  if (std::optional<Refusal> refusal = legality.check(plan, loads, movesAlong))
    return refusal;
  return checkGuards(candidate);
}

std::optional<Refusal> Relaner::checkGuards(Candidate &candidate) {
  for (scf::IfOp guard : candidate.plan.copy.guards) {
    Operation *other = guard.getNumResults() ? guard : nullptr;
    guard.walk([&](Operation *op) {
      auto it = candidateOf.find(op);
      if (it != candidateOf.end() &&
          it->second->plan.permutation == candidate.plan.permutation &&
          getAnchor(it->second->plan) == getAnchor(candidate.plan))
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
  }
  return std::nullopt;
}

void Relaner::check() {
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

/// The number of the thread, counted as ThreadValues does.
Value Relaner::getThread() {
  if (thread)
    return thread;
  OpBuilder builder(entry);
  Location loc = kernel.getLoc();
  std::array<unsigned, 3> size = values.getBlockSize();
  unsigned stride = 1;
  for (auto [dim, extent] : llvm::zip(
           ArrayRef{gpu::Dimension::x, gpu::Dimension::y, gpu::Dimension::z},
           size)) {
    if (extent == 1 && thread)
      continue;
    Value id = gpu::ThreadIdOp::create(builder, loc, dim);
    if (stride != 1)
      id = arith::MulIOp::create(
          builder, loc, id,
          arith::ConstantIndexOp::create(builder, loc, stride));
    thread = thread ? arith::AddIOp::create(builder, loc, thread, id) : id;
    stride *= extent;
  }
  return thread;
}

Value Relaner::getIteration(OpBuilder &builder, scf::ForOp loop) {
  Location loc = loop.getLoc();
  Value number = loop.getInductionVar();
  if (!number.getType().isIndex())
    number = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                        number);
  auto constant = [&](Value bound) -> Value {
    return arith::ConstantIndexOp::create(builder, loc,
                                          *getConstantIntValue(bound));
  };
  if (getConstantIntValue(loop.getLowerBound()) != 0)
    number = arith::SubIOp::create(builder, loc, number,
                                   constant(loop.getLowerBound()));
  if (getConstantIntValue(loop.getStep()) != 1)
    number =
        arith::DivUIOp::create(builder, loc, number, constant(loop.getStep()));
  return number;
}

/// Copies that move in the same way share what is cloned.
CloneForThread &Relaner::getCloner(const RelanePlan &plan) {
  Operation *anchor = getAnchor(plan);
  for (Cloner &cloner : cloners)
    if (cloner.permutation == plan.permutation && cloner.anchor == anchor &&
        (anchor == entry || cloner.loops == plan.copy.loops))
      return *cloner.clone;
  Location loc = plan.copy.store.op->getLoc();
  Value number = getThread();
  OpBuilder outer(entry), inner(anchor);
  SmallVector<Value> iterations;
  for (auto [loop, op] : llvm::enumerate(plan.copy.loops))
    iterations.push_back(
        plan.permutation.dependsOn(loop) ? getIteration(inner, op) : Value());
  Value source = plan.permutation.emit(outer, inner, loc, number, iterations);
  cloners.push_back({plan.permutation, anchor, plan.copy.loops,
                     std::make_unique<CloneForThread>(values, anchor)});
  cloners.back().clone->setThread(source);
  return *cloners.back().clone;
}

/// The element that a thread stores at, counted from the start of the memref.
Value Relaner::getStoreIndex(const RelanePlan &plan) {
  const LDSStore &store = plan.copy.store;
  Location loc = store.op->getLoc();
  OpBuilder builder(entry);
  Value index = getThread();
  if (store.cellElements != 1)
    index = arith::MulIOp::create(
        builder, loc, index,
        arith::ConstantIndexOp::create(builder, loc, store.cellElements));

  // What is known modulo 2^32 is computed in 32 bits: in bounds, it is exact.
  const ThreadForm &terms = plan.touched.terms;
  Type type = builder.getIndexType();
  if (terms.width < 64)
    type = builder.getIntegerType(terms.width);
  builder.setInsertionPoint(store.op);
  auto convert = [&](Value value, Type to) -> Value {
    Type from = value.getType();
    if (from == to)
      return value;
    if (isa<IndexType>(from) || isa<IndexType>(to))
      return arith::IndexCastOp::create(builder, loc, to, value);
    if (from.getIntOrFloatBitWidth() > to.getIntOrFloatBitWidth())
      return arith::TruncIOp::create(builder, loc, to, value);
    return arith::ExtSIOp::create(builder, loc, to, value);
  };
  auto constant = [&](int64_t v) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getIntegerAttr(type, v));
  };
  Value uniform;
  auto add = [&](Value value, int64_t factor) {
    if (factor == 0)
      return;
    value = convert(value, type);
    if (factor != 1)
      value = arith::MulIOp::create(builder, loc, value, constant(factor));
    uniform =
        uniform ? arith::AddIOp::create(builder, loc, uniform, value) : value;
  };
  for (const ThreadForm::Term &term : terms.terms)
    add(term.value, term.coefficient[0]);
  for (auto [loop, stride] : llvm::zip(plan.copy.loops, plan.strides))
    if (stride)
      add(getIteration(builder, loop), stride);
  if (plan.base)
    add(constant(plan.base), 1);
  if (!uniform)
    return index;
  if (type == builder.getIndexType())
    return arith::AddIOp::create(builder, loc, index, uniform);
  Value sum =
      arith::AddIOp::create(builder, loc, convert(index, type), uniform);
  return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                      sum);
}

void Relaner::rewrite(Candidate &candidate) {
  const RelanePlan &plan = candidate.plan;
  const LDSStore &store = plan.copy.store;
  Location loc = store.op->getLoc();
  CloneForThread &cloner = getCloner(plan);
  Value value = cloner.clone(store.value);
  for (scf::IfOp guard : plan.copy.guards)
    if (movedGuards.insert(guard).second) {
      maybeDead.push_back(guard.getCondition());
      guard.getConditionMutable().assign(cloner.clone(guard.getCondition()));
    }

  Value index = getStoreIndex(plan);
  OpBuilder builder(store.op);
  Value memref = store.memref;
  int64_t rank = cast<MemRefType>(memref.getType()).getRank();
  if (rank > 1)
    memref = memref::CollapseShapeOp::create(
        builder, loc, memref,
        SmallVector<ReassociationIndices>{
            llvm::to_vector<2>(llvm::seq<int64_t>(rank))});
  maybeDead.push_back(store.value);
  llvm::append_range(maybeDead, store.indices);
  if (isa<vector::TransferWriteOp>(store.op)) {
    vector::StoreOp::create(builder, loc, value, memref, index);
    replaced.push_back(store.op);
  } else {
    // Attributes, such as the alignment, stay: all threads together store where
    // they did.
    store.op->setOperands({value, memref, index});
  }
}

void Relaner::eraseDead() {
  for (Operation *op : replaced)
    op->erase();
  while (!maybeDead.empty()) {
    Operation *op = maybeDead.pop_back_val().getDefiningOp();
    if (!op || !isOpTriviallyDead(op))
      continue;
    op->walk([&](Operation *nested) {
      llvm::append_range(maybeDead, nested->getOperands());
    });
    // Values that go with it must not be looked at again.
    llvm::erase_if(maybeDead, [&](Value v) {
      return op->isAncestor(v.getParentRegion()->getParentOp()) ||
             v.getDefiningOp() == op;
    });
    op->erase();
  }
}

void LDSInverseSwizzle::refuse(gpu::GPUFuncOp kernel, Operation *op,
                               const Refusal &refusal) {
  ++numRefused;
  if (strict) {
    op->emitError() << refusal.name << ": " << refusal.reason;
    signalPassFailure();
  }
  remark::missed(op->getLoc(), remark::RemarkOpts::name(refusal.name)
                                   .category(kCategory)
                                   .function(kernel.getName()))
      << remark::reason("{0}", refusal.reason);
}

void LDSInverseSwizzle::rewrite(gpu::GPUFuncOp kernel, unsigned waveSize) {
  std::optional<ThreadValues> values = ThreadValues::get(kernel, waveSize);
  if (!values) {
    WalkResult copies = kernel.walk([](Operation *op) {
      bool isOnlyUse;
      std::optional<LDSStore> store = LDSStore::match(op);
      return store && !findCopiedLoads(store->value, isOnlyUse).empty()
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (copies.wasInterrupted())
      refuse(kernel, kernel,
             {"unknown-block-size",
              "the kernel copies to LDS, but has no known_block_size"});
    return;
  }
  Relaner relaner(kernel, *values);
  relaner.collect([&](Operation *op, const Refusal &refusal) {
    refuse(kernel, op, refusal);
  });
  relaner.check();
  for (auto &candidate : relaner.getCandidates()) {
    Operation *op = candidate->plan.copy.store.op;
    if (candidate->refusal) {
      if (!candidate->isFill)
        refuse(kernel, op, *candidate->refusal);
      continue;
    }
    const RelanePlan &plan = candidate->plan;
    int64_t cellBytes = plan.copy.store.cellBytes;
    remark::passed(op->getLoc(),
                   remark::RemarkOpts::name("inverse-swizzle-applied")
                       .category(kCategory)
                       .function(kernel.getName()))
        << remark::metric("Threads", values->getNumThreads())
        << remark::metric("CellBytes", cellBytes)
        << remark::metric("WindowBytes", cellBytes * values->getNumThreads())
        << remark::metric("Steps", plan.copy.getNumSteps())
        << remark::metric("Thread", plan.permutation.str());
    ++numRewritten;
    relaner.rewrite(*candidate);
  }
  relaner.eraseDead();
}

void LDSInverseSwizzle::runOnOperation() {
  // What an attribute says about an allocation becomes arithmetic first.
  ApplySwizzlesOptions options;
  options.category = kCategory;
  options.strict = strict;
  if (failed(applySwizzles(getOperation(), options)))
    return signalPassFailure();
  SmallVector<gpu::GPUFuncOp> kernels;
  getOperation()->walk([&](gpu::GPUFuncOp kernel) {
    if (!kernel.isExternal() && kernel.isKernel())
      kernels.push_back(kernel);
  });
  for (gpu::GPUFuncOp kernel : kernels) {
    FailureOr<unsigned> waveSize = resolveWaveSize(kernel, chip);
    if (failed(waveSize))
      return signalPassFailure();
    rewrite(kernel, *waveSize);
  }
}
