//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/TileCopies.h"
#include "lodestone/Analysis/BarrierReach.h"
#include "lodestone/Analysis/MemRefAccess.h"
#include "lodestone/Analysis/MemoryAccess.h"
#include "lodestone/Analysis/ThreadArithmetic.h"
#include "lodestone/Dialect/LDS/IR/LDSDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace lodestone;

static bool hasKnownStrides(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  return succeeded(type.getStridesAndOffset(strides, offset)) &&
         llvm::none_of(strides, ShapedType::isDynamic);
}

static bool hasUnitInnerStride(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  return succeeded(type.getStridesAndOffset(strides, offset)) &&
         !strides.empty() && strides.back() == 1;
}

std::optional<LDSStore> LDSStore::match(Operation *op) {
  if (!isa<memref::StoreOp, vector::StoreOp, vector::TransferWriteOp>(op))
    return std::nullopt;
  MemRefAccess access = *MemRefAccess::get(op);
  auto type = dyn_cast<MemRefType>(access.memref.getType());
  auto vector = dyn_cast<VectorType>(access.type);
  bool isOneRun = isa<memref::StoreOp>(op) || (vector && vector.getRank() == 1);
  if (!isOneRun || !access.isPlainTransfer() || !type ||
      !lds::isWorkgroupSpace(type.getMemorySpace()) || !hasKnownStrides(type))
    return std::nullopt;
  LDSStore store{op, access.stored, access.memref, access.operands};
  std::optional<uint64_t> element = lds::getElementBytes(type.getElementType());
  std::optional<uint64_t> cell = lds::getElementBytes(store.value.getType());
  // Vectors of three and the like have no size of their own in general.
  if (!cell && vector && element &&
      vector.getElementType() == type.getElementType())
    cell = *element * vector.getNumElements();
  if (!element || !cell || *cell % *element != 0)
    return std::nullopt;
  store.cellBytes = *cell;
  store.cellElements = *cell / *element;
  if (store.cellElements != 1 && !hasUnitInnerStride(type))
    return std::nullopt;
  return store;
}

SmallVector<ThreadValues::Iteration>
TileCopy::getIterations(int64_t step) const {
  SmallVector<ThreadValues::Iteration> iterations;
  for (auto [loop, trip] : llvm::zip(loops, trips)) {
    iterations.push_back({loop, step % trip});
    step /= trip;
  }
  return iterations;
}

int64_t TileCopy::getNumSteps() const {
  int64_t steps = 1;
  for (int64_t trip : trips)
    steps *= trip;
  return steps;
}

BlockArgument lodestone::getIterArg(Value value) {
  if (auto loop = value.getDefiningOp<scf::ForOp>())
    return loop.getTiedLoopRegionIterArg(cast<OpResult>(value));
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return {};
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  return loop && argument != loop.getInductionVar() ? argument
                                                    : BlockArgument();
}

SmallVector<Operation *> lodestone::findCopiedLoads(Value root,
                                                    bool &isOnlyUse) {
  SmallVector<Operation *> loads;
  SmallVector<Value> worklist{root};
  llvm::DenseSet<Value> seen;
  isOnlyUse = true;
  bool isCarried = false, isComputed = false;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    Operation *op = value.getDefiningOp();
    if (BlockArgument arg = getIterArg(value)) {
      auto loop = cast<scf::ForOp>(arg.getOwner()->getParentOp());
      worklist.push_back(loop.getTiedLoopInit(arg)->get());
      worklist.push_back(loop.getTiedLoopYieldedValue(arg)->get());
      isCarried = true;
    } else if (!op) {
      continue; // A fill.
    } else if (isGlobalLoad(op)) {
      loads.push_back(op);
    } else if (isa<vector::BitCastOp, vector::ShapeCastOp, arith::BitcastOp,
                   vector::ExtractOp, vector::ExtractStridedSliceOp>(op)) {
      worklist.push_back(op->getOperand(0));
    } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
      worklist.push_back(select.getTrueValue());
      worklist.push_back(select.getFalseValue());
    } else if (auto condition = dyn_cast<scf::IfOp>(op);
               condition && condition.elseBlock()) {
      unsigned number = cast<OpResult>(value).getResultNumber();
      worklist.push_back(condition.thenYield()->getOperand(number));
      worklist.push_back(condition.elseYield()->getOperand(number));
    } else {
      isComputed |= !op->hasTrait<OpTrait::ConstantLike>();
      continue; // A fill.
    }
    // A fill, such as a constant, may have other uses.
    isOnlyUse &= value.hasOneUse();
  }
  // A sum that starts with what is loaded isn't a copy of it.
  if (isCarried && isComputed)
    return {};
  return loads;
}

std::optional<std::variant<TileCopy, Refusal>>
lodestone::matchTileCopy(Operation *op, ThreadValues &values, bool mayBeFill) {
  std::optional<LDSStore> store = LDSStore::match(op);
  bool isOnlyUse = true;
  SmallVector<Operation *> loads;
  if (store)
    loads = findCopiedLoads(store->value, isOnlyUse);
  if (!store || (loads.empty() && !mayBeFill))
    return std::nullopt;
  if (!isOnlyUse && !loads.empty())
    return Refusal{"value-used-elsewhere",
                   "what is copied is also used by another operation"};
  std::optional<SmallVector<Value>> roots = getLDSRoots(store->memref);
  if (!roots || roots->size() != 1)
    return Refusal{
        "unknown-allocation",
        "the LDS that is stored to may be one of several allocations"};

  TileCopy copy;
  copy.store = *store;
  copy.loads = std::move(loads);
  copy.root = roots->front();
  copy.unit = op;
  const BlockUniformity &uniformity = values.getUniformity();
  SmallVector<scf::IfOp> uniformConditions;
  for (Operation *parent = op->getParentOp();
       parent && !isa<FunctionOpInterface>(parent);
       parent = parent->getParentOp()) {
    if (containsBarrier(parent, BarrierScope::lds))
      break;
    if (auto condition = dyn_cast<scf::IfOp>(parent)) {
      if (uniformity.isUniform(condition.getCondition())) {
        uniformConditions.push_back(condition);
        continue;
      }
      copy.guards.push_back(condition);
    } else if (auto loop = dyn_cast<scf::ForOp>(parent)) {
      std::optional<int64_t> trips = ThreadValues::getTripCount(loop);
      if (!trips || *trips == 0)
        return Refusal{"unknown-trip-count",
                       "a loop around the copy, without a barrier in it, "
                       "doesn't run a constant number of times"};
      copy.loops.push_back(loop);
      copy.trips.push_back(*trips);
      copy.uniformConditions = uniformConditions;
      if (copy.getNumSteps() > TileCopy::kMaxSteps)
        return Refusal{"unknown-trip-count",
                       llvm::formatv("the loops around the copy have more than "
                                     "{0} iterations",
                                     TileCopy::kMaxSteps)
                           .str()};
    } else {
      break;
    }
    copy.unit = parent;
  }
  return copy;
}

std::optional<ThreadForm> lodestone::getElementOffset(
    Value memref, ValueRange indices, ThreadValues &values,
    ThreadValues::Iterations iterations, Value &unknown) {
  SmallVector<int64_t> strides;
  int64_t offset;
  unknown = memref;
  if (failed(cast<MemRefType>(memref.getType())
                 .getStridesAndOffset(strides, offset)) ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return std::nullopt;
  ThreadForm sum;
  for (auto [index, stride] : llvm::zip(indices, strides)) {
    const ThreadForm *form = values.evaluate(index, iterations);
    if (!form) {
      unknown = values.getUnknown(index, iterations);
      return std::nullopt;
    }
    sum = addScaled(sum, *form, stride, values.getNumThreads());
  }
  return sum;
}
