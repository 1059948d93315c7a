//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/WarpStagger.h"
#include "lodestone/Analysis/Barriers.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

#include "llvm/ADT/DenseMap.h"

#include <algorithm>
#include <array>

using namespace mlir;
using namespace lodestone;

/// A condition that takes more values than this is not looked into.
static constexpr unsigned kMaxValues = 256;

namespace {

/// Computes values that depend on the thread's id and constants alone, for each
/// thread of a workgroup.
class ThreadValues {
public:
  ThreadValues(std::array<int64_t, 3> shape, unsigned warpLanes)
      : shape(shape), warpLanes(warpLanes) {}

  /// The value that each thread has, in the order of their ids; empty if that
  /// depends on something else.
  ArrayRef<Attribute> of(Value value) {
    auto [it, isNew] = known.try_emplace(value);
    if (isNew) {
      SmallVector<Attribute> result = compute(value);
      it = known.find(value);
      it->second = std::move(result);
    }
    return it->second;
  }

private:
  SmallVector<Attribute> compute(Value value);
  SmallVector<Attribute> fold(OpResult result);

  template <typename Function>
  SmallVector<Attribute> forEachThread(Type type, Function function) {
    SmallVector<Attribute> result;
    for (int64_t thread = 0; thread < shape[0] * shape[1] * shape[2]; ++thread)
      result.push_back(IntegerAttr::get(type, function(thread)));
    return result;
  }

  std::array<int64_t, 3> shape;
  unsigned warpLanes;
  llvm::DenseMap<Value, SmallVector<Attribute>> known;
};

} // namespace

SmallVector<Attribute> ThreadValues::compute(Value value) {
  Operation *op = value.getDefiningOp();
  // Bounds the recursion, too.
  if (!op || known.size() > kMaxValues)
    return {};
  if (auto id = dyn_cast<gpu::ThreadIdOp>(op)) {
    auto dimension = static_cast<unsigned>(id.getDimension());
    return forEachThread(value.getType(), [&](int64_t thread) {
      for (unsigned i = 0; i < dimension; ++i)
        thread /= shape[i];
      return thread % shape[dimension];
    });
  }
  if (isa<gpu::SubgroupIdOp>(op))
    return forEachThread(value.getType(),
                         [&](int64_t thread) { return thread / warpLanes; });
  // All lanes of a warp get what its first one has.
  if (isa<ROCDL::ReadfirstlaneOp>(op)) {
    SmallVector<Attribute> result(of(op->getOperand(0)));
    for (size_t i = 0; i < result.size(); ++i)
      result[i] = result[i / warpLanes * warpLanes];
    return result;
  }
  return fold(cast<OpResult>(value));
}

/// By the folder of the operation, so that no operation has to be known here.
SmallVector<Attribute> ThreadValues::fold(OpResult result) {
  Operation *op = result.getOwner();
  if (op->getNumRegions() != 0 || op->getNumResults() != 1)
    return {};
  SmallVector<ArrayRef<Attribute>> operands;
  for (Value operand : op->getOperands()) {
    if (of(operand).empty())
      return {};
  }
  // Only now do the references stay valid.
  for (Value operand : op->getOperands())
    operands.push_back(of(operand));
  // A folder may change its operation, so it gets a copy.
  Operation *copy = op->clone();
  SmallVector<Attribute> values;
  for (int64_t thread = 0; thread < shape[0] * shape[1] * shape[2]; ++thread) {
    SmallVector<Attribute> constants;
    for (ArrayRef<Attribute> operand : operands)
      constants.push_back(operand[thread]);
    SmallVector<OpFoldResult> folded;
    Attribute value;
    if (succeeded(copy->fold(constants, folded)) && folded.size() == 1) {
      value = dyn_cast<Attribute>(folded[0]);
      // "This operand" stands for its value.
      if (auto same = dyn_cast_if_present<Value>(folded[0]))
        for (auto [operand, constant] :
             llvm::zip_equal(op->getOperands(), constants))
          if (operand == same)
            value = constant;
    }
    if (!value) {
      values.clear();
      break;
    }
    values.push_back(value);
  }
  copy->erase();
  return values;
}

/// The warps for whose threads `condition` holds; nothing if it isn't known, or
/// not the same for all threads of a warp.
static std::optional<uint32_t> warpsWhere(Value condition, ThreadValues &values,
                                          unsigned numWarps,
                                          unsigned warpLanes) {
  ArrayRef<Attribute> threads = values.of(condition);
  if (threads.size() != size_t(numWarps) * warpLanes)
    return std::nullopt;
  uint32_t mask = 0;
  for (unsigned warp = 0; warp < numWarps; ++warp) {
    ArrayRef<Attribute> lanes = threads.slice(warp * warpLanes, warpLanes);
    auto value = dyn_cast<IntegerAttr>(lanes.front());
    if (!value || !llvm::all_equal(lanes))
      return std::nullopt;
    if (!value.getValue().isZero())
      mask |= 1u << warp;
  }
  return mask;
}

/// The barriers that stand in `region` itself; nothing if there are others
/// further in.
static std::optional<unsigned> countBarriers(Region &region) {
  unsigned direct = 0, all = 0;
  if (!region.empty())
    direct = llvm::count_if(region.front(),
                            [](Operation &op) { return waitsAtBarrier(&op); });
  region.walk([&](Operation *op) { all += waitsAtBarrier(op); });
  if (direct != all)
    return std::nullopt;
  return direct;
}

static bool containsBarrier(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return waitsAtBarrier(inner) ? WalkResult::interrupt()
                                     : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The sizes of the workgroup, if the kernel says them and they are `threads`.
static std::optional<std::array<int64_t, 3>> getShape(Operation *kernel,
                                                      int64_t threads) {
  auto function = dyn_cast<gpu::GPUFuncOp>(kernel);
  if (!function || !function.getKnownBlockSize())
    return std::nullopt;
  ArrayRef<int32_t> sizes = *function.getKnownBlockSize();
  std::array<int64_t, 3> shape = {1, 1, 1};
  for (unsigned i = 0; i < 3; ++i) {
    // Keeps the product small, too.
    if (sizes[i] < 1 || sizes[i] > threads)
      return std::nullopt;
    shape[i] = sizes[i];
  }
  if (shape[0] * shape[1] * shape[2] != threads)
    return std::nullopt;
  return shape;
}

namespace {

/// Counts the extra barriers of each warp.
class StaggerCounter {
public:
  StaggerCounter(std::array<int64_t, 3> shape, unsigned numWarps,
                 unsigned warpLanes)
      : values(shape, warpLanes), numWarps(numWarps), warpLanes(warpLanes) {}

  /// Adds what is executed before `op` in its block.
  bool addBefore(Operation *op) {
    if (!op->getParentRegion()->hasOneBlock())
      return fail(op, "the control flow is not structured");
    for (Operation &other : *op->getBlock()) {
      if (&other == op)
        break;
      if (!add(&other, /*inLoop=*/false))
        return false;
    }
    return true;
  }

  /// Adds `op`. In a loop nothing may set warps apart: they would drift with
  /// each iteration.
  bool add(Operation *op, bool inLoop);

  /// What was found; `result.unknown` is set if something failed.
  WarpStagger result;
  std::array<unsigned, 32> extra = {};

private:
  bool fail(Operation *op, std::string why) {
    result.unknown = std::move(why);
    result.obstacle = op;
    return false;
  }

  ThreadValues values;
  unsigned numWarps, warpLanes;
};

} // namespace

bool StaggerCounter::add(Operation *op, bool inLoop) {
  if (op->getNumRegions() == 0 || !containsBarrier(op))
    return true;
  // All warps run a loop equally often, but mustn't be set apart in it.
  if (isa<LoopLikeOpInterface>(op)) {
    for (Region &region : op->getRegions())
      for (Operation &inner : region.getOps())
        if (!add(&inner, /*inLoop=*/true))
          return false;
    return true;
  }
  auto branch = dyn_cast<scf::IfOp>(op);
  if (!branch)
    return fail(op, "this operation has a barrier inside");
  std::optional<unsigned> inThen = countBarriers(branch.getThenRegion());
  std::optional<unsigned> inElse = countBarriers(branch.getElseRegion());
  if (!inThen || !inElse)
    return fail(op, "the barriers of this branch are in a loop or branch");
  if (*inThen == *inElse)
    return true;
  if (inLoop)
    return fail(op, "this branch has a barrier and is in a loop");
  std::optional<uint32_t> taken =
      warpsWhere(branch.getCondition(), values, numWarps, warpLanes);
  if (!taken)
    return fail(op, "the condition of this barrier is not a constant of each "
                    "warp");
  for (unsigned warp = 0; warp < numWarps; ++warp)
    extra[warp] += *taken >> warp & 1 ? *inThen : *inElse;
  return true;
}

Operation *lodestone::getOutermostLoop(Operation *op, Operation *kernel) {
  Operation *loop = nullptr;
  for (op = op->getParentOp(); op && op != kernel; op = op->getParentOp())
    if (isa<LoopLikeOpInterface>(op))
      loop = op;
  return loop;
}

WarpStagger lodestone::findWarpStagger(Operation *loop, Operation *kernel,
                                       unsigned numWarps, unsigned warpLanes) {
  std::optional<std::array<int64_t, 3>> shape =
      getShape(kernel, int64_t(numWarps) * warpLanes);
  if (!shape)
    return {std::nullopt, "the kernel has no known_block_size", kernel};

  StaggerCounter counter(*shape, numWarps, warpLanes);
  for (Operation *at = loop; at && at != kernel; at = at->getParentOp())
    if (!counter.addBefore(at))
      return counter.result;
  if (!counter.add(loop, /*inLoop=*/false))
    return counter.result;
  auto extra = ArrayRef(counter.extra).take_front(numWarps);
  unsigned least = *std::min_element(extra.begin(), extra.end());
  if (llvm::all_equal(extra))
    return {};
  uint32_t leading = 0;
  for (unsigned warp = 0; warp < numWarps; ++warp)
    if (extra[warp] == least)
      leading |= 1u << warp;
  return {leading, "", nullptr};
}
