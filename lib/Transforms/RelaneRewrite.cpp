//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relaner.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace lodestone;

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

/// The number of a loop's iteration, counted from 0.
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

/// The opposite: what the loop counts up to in an iteration.
Value Relaner::getInductionVar(OpBuilder &builder, scf::ForOp loop,
                               Value iteration) {
  Location loc = loop.getLoc();
  int64_t first = *getConstantIntValue(loop.getLowerBound());
  int64_t step = *getConstantIntValue(loop.getStep());
  Value number = iteration;
  if (step != 1)
    number = arith::MulIOp::create(
        builder, loc, number,
        arith::ConstantIndexOp::create(builder, loc, step));
  if (first != 0)
    number = arith::AddIOp::create(
        builder, loc, number,
        arith::ConstantIndexOp::create(builder, loc, first));
  Type type = loop.getInductionVar().getType();
  if (type != number.getType())
    number = arith::IndexCastOp::create(builder, loc, type, number);
  return number;
}

/// Computes whose work is done, and in which iterations, in front of the
/// anchor.
void Relaner::setSource(CloneForThread &cloner, const RelanePlan &plan) {
  Location loc = plan.copy.store.op->getLoc();
  OpBuilder outer(entry), inner(getAnchor(plan));
  auto constant = [&](int64_t v) -> Value {
    return arith::ConstantIndexOp::create(inner, loc, v);
  };
  Value source = getThread();
  SmallVector<Value> iterations;
  if (plan.mode == RelanePlan::Mode::cellsByNumber) {
    int64_t stride = plan.numThreads;
    for (auto [loop, trips] : llvm::zip(plan.copy.loops, plan.copy.trips)) {
      Value before = arith::MulIOp::create(
          inner, loc, getIteration(inner, loop), constant(stride));
      source = arith::AddIOp::create(inner, loc, source, before);
      stride *= trips;
    }
    source = plan.permutation.emit(inner, inner, loc, source, {});
  } else {
    for (auto [loop, op] : llvm::enumerate(plan.copy.loops))
      iterations.push_back(
          plan.permutation.dependsOn(loop) ? getIteration(inner, op) : Value());
    source = plan.permutation.emit(outer, inner, loc, source, iterations);
  }
  if (!plan.movesSteps())
    return cloner.setThread(source);

  Value steps = constant(plan.copy.getNumSteps());
  cloner.setThread(arith::DivUIOp::create(inner, loc, source, steps));
  Value step = arith::RemUIOp::create(inner, loc, source, steps);
  for (auto [number, op] : llvm::enumerate(plan.copy.loops)) {
    scf::ForOp loop = op;
    Value iteration = step;
    if (number + 1 < plan.copy.loops.size()) {
      Value trips = constant(plan.copy.trips[number]);
      iteration = arith::RemUIOp::create(inner, loc, step, trips);
      step = arith::DivUIOp::create(inner, loc, step, trips);
    }
    cloner.setIteration(loop, iteration,
                        getInductionVar(inner, loop, iteration));
  }
}

/// Copies that move in the same way share what is cloned.
CloneForThread &Relaner::getCloner(const RelanePlan &plan) {
  for (auto &[first, cloner] : cloners)
    if (sharesClones(*first, plan))
      return *cloner;
  cloners.push_back(
      {&plan, std::make_unique<CloneForThread>(values, getAnchor(plan), &twins,
                                               getMovedLoops(plan))});
  setSource(*cloners.back().second, plan);
  return *cloners.back().second;
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

  // What isn't known in 64 bits is computed in 32, or as many of them as are
  // known: in bounds, it is exact.
  const ThreadForm &terms = plan.touched.terms;
  Type type = builder.getIndexType();
  if (terms.width < 64)
    type = builder.getI32Type();
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
    if (!type.isIndex())
      v = llvm::SignExtend64<32>(v);
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
  if (terms.width < 32)
    sum = arith::AndIOp::create(
        builder, loc, sum,
        constant(llvm::maskTrailingOnes<uint64_t>(terms.width)));
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
  eraseMaybeDead();
  twins.removeDead(kernel, maybeDead);
  eraseMaybeDead();
}

void Relaner::eraseMaybeDead() {
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
