//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Unrolls loops that go round a number of buffers, so that each access has the
/// buffer that it is for as a constant.
///
//===----------------------------------------------------------------------===//

#include "Residues.h"

#include "lodestone/Analysis/AsyncCopy.h"
#include "lodestone/Analysis/MemoryAccess.h"
#include "lodestone/Analysis/TileCopies.h"
#include "lodestone/Transforms/LDSTransforms.h"
#include "lodestone/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <numeric>

namespace lodestone {
#define GEN_PASS_DEF_LDSUNROLLBUFFERS
#include "lodestone/Transforms/Passes.h.inc"
} // namespace lodestone

using namespace mlir;
using namespace lodestone;

namespace {

constexpr StringLiteral kCategory = "lds-unroll-buffers";

struct LDSUnrollBuffers final
    : lodestone::impl::LDSUnrollBuffersBase<LDSUnrollBuffers> {
  using Base::Base;
  void runOnOperation() override;

private:
  bool run(gpu::GPUFuncOp kernel);
  bool hasCopies(scf::ForOp loop);
};

} // namespace

//===----------------------------------------------------------------------===//
// How many buffers
//===----------------------------------------------------------------------===//

/// After how many iterations each LDS memref that the loop carries is back in
/// its place: the loop hands them on in a ring.
static int64_t getRotation(scf::ForOp loop) {
  int64_t period = 1;
  for (BlockArgument argument : loop.getRegionIterArgs()) {
    if (!isLDS(argument))
      continue;
    BlockArgument at = argument;
    int64_t length = 0;
    do {
      auto from =
          dyn_cast<BlockArgument>(loop.getTiedLoopYieldedValue(at)->get());
      if (!from || from.getOwner() != loop.getBody() ||
          from == loop.getInductionVar())
        return 1;
      at = from;
      ++length;
    } while (at != argument && length <= loop.getNumRegionIterArgs());
    if (at != argument)
      return 1;
    period = std::lcm(period, length);
  }
  return period;
}

static bool isSameForm(const ThreadForm &a, const ThreadForm &b) {
  // What is unknown differs between iterations; here it is as good as equal.
  auto hasTerm = [&](const ThreadForm::Term &term) {
    return llvm::any_of(b.terms, [&](const ThreadForm::Term &other) {
      return term.value == other.value && term.coefficient == other.coefficient;
    });
  };
  return a.width == b.width && a.constant == b.constant &&
         a.terms.size() == b.terms.size() && llvm::all_of(a.terms, hasTerm);
}

/// After how many iterations an index is what it was, as far as a few of them
/// tell; 1 if it isn't, or always is. That it is so forever isn't shown, nor
/// needed: unrolling is right by any factor.
static int64_t getPeriod(Value index, scf::ForOp loop, ThreadValues &values,
                         int64_t longest) {
  SmallVector<const ThreadForm *> forms;
  for (int64_t i = 0; i < 2 * longest; ++i) {
    forms.push_back(values.evaluate(index, ThreadValues::Iteration{loop, i}));
    if (!forms.back())
      return 1;
  }
  for (int64_t period = 1; period <= longest; ++period) {
    bool repeats = true;
    for (size_t i = period; i < forms.size(); ++i)
      repeats &= isSameForm(*forms[i], *forms[i - period]);
    if (repeats)
      return period;
  }
  return 1;
}

static int64_t getNumBuffers(scf::ForOp loop, ThreadValues *values,
                             int64_t longest) {
  int64_t period = getRotation(loop);
  if (!values)
    return period;
  loop.getBody()->walk([&](Operation *op) {
    if (!llvm::any_of(op->getOperands(), isLDS))
      return;
    for (Value operand : op->getOperands())
      if (operand.getType().isIndex())
        period = std::lcm(period, getPeriod(operand, loop, *values, longest));
  });
  return period;
}

//===----------------------------------------------------------------------===//
// Unrolling
//===----------------------------------------------------------------------===//

/// Clones the body for one iteration, at the builder's place. Returns what it
/// hands on.
static SmallVector<Value> cloneBody(OpBuilder &builder, scf::ForOp loop,
                                    Value counter, ValueRange carried) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), counter);
  mapping.map(loop.getRegionIterArgs(), carried);
  for (Operation &op : loop.getBody()->without_terminator())
    builder.clone(op, mapping);
  return llvm::map_to_vector(loop.getYieldedValues(), [&](Value value) {
    return mapping.lookupOrDefault(value);
  });
}

static Value addSteps(OpBuilder &builder, scf::ForOp loop, Value counter,
                      int64_t steps) {
  if (steps == 0)
    return counter;
  int64_t distance = steps * *getConstantIntValue(loop.getStep());
  Value constant = arith::ConstantOp::create(
      builder, loop.getLoc(),
      builder.getIntegerAttr(counter.getType(), distance));
  return arith::AddIOp::create(builder, loop.getLoc(), counter, constant);
}

/// The iterations from `counter` on: at most `left`, or as many if `allRun`.
static SmallVector<Value> emitRest(OpBuilder &builder, scf::ForOp loop,
                                   Value counter, ValueRange carried,
                                   int64_t left, bool allRun) {
  if (left == 0)
    return llvm::to_vector(carried);
  Location loc = loop.getLoc();
  auto emitFrom = [&](OpBuilder &inner) {
    SmallVector<Value> next = cloneBody(inner, loop, counter, carried);
    Value after = left > 1 ? addSteps(inner, loop, counter, 1) : counter;
    return emitRest(inner, loop, after, next, left - 1, allRun);
  };
  if (allRun)
    return emitFrom(builder);
  Value runs = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                     counter, loop.getUpperBound());
  auto condition =
      scf::IfOp::create(builder, loc, carried.getTypes(), runs,
                        /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder then = OpBuilder::atBlockEnd(condition.thenBlock());
  SmallVector<Value> last = emitFrom(then);
  scf::YieldOp::create(then, loc, last);
  OpBuilder otherwise = OpBuilder::atBlockEnd(condition.elseBlock());
  scf::YieldOp::create(otherwise, loc, carried);
  return llvm::to_vector<4>(ValueRange(condition.getResults()));
}

/// `factor` iterations at a time as long as there are as many, and then the
/// rest one by one. The bounds are such that nothing wraps that didn't before:
/// a constant start that isn't negative, a constant step.
static void unroll(scf::ForOp loop, int64_t factor) {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  Type type = loop.getInductionVar().getType();
  int64_t step = *getConstantIntValue(loop.getStep());
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getIntegerAttr(type, value));
  };
  // An iteration runs here if the last of its round would have run.
  Value end = arith::MaxSIOp::create(builder, loc, loop.getUpperBound(),
                                     loop.getLowerBound());
  end = arith::SubIOp::create(builder, loc, end, constant((factor - 1) * step),
                              arith::IntegerOverflowFlags::nsw);
  SmallVector<Value> inits = llvm::to_vector(loop.getInitArgs());
  inits.push_back(loop.getLowerBound());
  auto rounds = scf::ForOp::create(builder, loc, loop.getLowerBound(), end,
                                   constant(factor * step), inits);
  OpBuilder inside = OpBuilder::atBlockEnd(rounds.getBody());
  SmallVector<Value> carried =
      llvm::to_vector_of<Value>(rounds.getRegionIterArgs().drop_back());
  for (int64_t i = 0; i < factor; ++i)
    carried =
        cloneBody(inside, loop,
                  addSteps(inside, loop, rounds.getInductionVar(), i), carried);
  carried.push_back(addSteps(inside, loop, rounds.getInductionVar(), factor));
  scf::YieldOp::create(inside, loc, carried);

  std::optional<int64_t> trips = ThreadValues::getTripCount(loop);
  loop.replaceAllUsesWith(emitRest(builder, loop, rounds.getResults().back(),
                                   rounds.getResults().drop_back(),
                                   trips ? *trips % factor : factor - 1,
                                   /*allRun=*/trips.has_value()));
  loop.erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Copies of which LLVM tracks what they write: those that count in vmcnt, and
/// if `stores` also what may become one.
bool LDSUnrollBuffers::hasCopies(scf::ForOp loop) {
  return loop.getBody()
      ->walk([&](Operation *op) {
        std::optional<AsyncIssue> issue = getAsyncIssue(op);
        bool isCopy =
            issue && issue->isCopy && issue->counter == DMACounter::vmcnt;
        std::optional<LDSStore> store;
        if (!isCopy && stores)
          store = LDSStore::match(op);
        bool isOnlyUse;
        if (store)
          isCopy = !findCopiedLoads(store->value, isOnlyUse).empty();
        return isCopy ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool LDSUnrollBuffers::run(gpu::GPUFuncOp kernel) {
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) {
    if (hasCopies(loop))
      loops.push_back(loop);
  });
  // What is unrolled is another function to what was known of it.
  SmallVector<std::pair<scf::ForOp, int64_t>> found;
  {
    std::optional<ThreadValues> values = ThreadValues::get(kernel, 0);
    for (scf::ForOp loop : loops) {
      int64_t buffers =
          getNumBuffers(loop, values ? &*values : nullptr, maxFactor);
      if (buffers > 1)
        found.push_back({loop, buffers});
    }
  }
  bool changed = false;
  for (auto [loop, buffers] : found) {
    auto options = [&](StringRef name) {
      return remark::RemarkOpts::name(name).category(kCategory).function(
          kernel.getName());
    };
    std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound());
    std::optional<int64_t> step = getConstantIntValue(loop.getStep());
    std::string reason;
    if (buffers > maxFactor)
      reason = llvm::formatv("the loop uses {0} buffers in turn, more than {1}",
                             buffers, maxFactor.getValue());
    else if (loop.getUnsignedCmp())
      reason = "the loop's counter is unsigned";
    else if (!lower || *lower < 0 || !step || *step <= 0 ||
             *lower > INT32_MAX || *step > INT32_MAX / (buffers + 1))
      reason = "the loop's start and step are no constants of 31 bits";
    if (!reason.empty()) {
      remark::missed(loop.getLoc(), options("buffers-not-unrolled"))
          << remark::reason("{0}", reason);
      continue;
    }
    remark::passed(loop.getLoc(), options("buffers-unrolled"))
        << remark::metric("Buffers", buffers);
    ++numUnrolled;
    unroll(loop, buffers);
    changed = true;
  }
  if (!changed)
    return false;
  kernel.walk([&](Operation *op) {
    std::optional<uint64_t> remainder = foldRemainder(op);
    if (!remainder)
      return;
    OpBuilder builder(op);
    op->getResult(0).replaceAllUsesWith(arith::ConstantOp::create(
        builder, op->getLoc(),
        builder.getIntegerAttr(op->getResult(0).getType(), *remainder)));
  });
  return true;
}

void LDSUnrollBuffers::runOnOperation() {
  FailureOr<const ChipInfo *> info =
      resolveChip(getOperation(), chip, "gfx950");
  if (failed(info))
    return signalPassFailure();
  // Elsewhere there is nothing to win.
  if (maxFactor < 2 || !(*info)->scopesSteerWaits)
    return markAllAnalysesPreserved();
  SmallVector<gpu::GPUFuncOp> kernels;
  getOperation()->walk([&](gpu::GPUFuncOp kernel) {
    if (!kernel.isExternal() && kernel.isKernel())
      kernels.push_back(kernel);
  });
  bool changed = false;
  for (gpu::GPUFuncOp kernel : kernels)
    changed |= run(kernel);
  if (!changed)
    return markAllAnalysesPreserved();
  // Numbers of buffers that the loop carries become constants, and memrefs
  // that it hands on in a ring stay in their places.
  OpPassManager cleanup(getOperation()->getName());
  cleanup.addPass(createSCCPPass());
  cleanup.addPass(createCanonicalizerPass());
  cleanup.addPass(createCSEPass());
  if (failed(runPipeline(cleanup, getOperation())))
    signalPassFailure();
}
