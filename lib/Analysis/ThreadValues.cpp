//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/ThreadValues.h"
#include "lodestone/Analysis/ThreadArithmetic.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace lodestone;

/// The most threads a workgroup has on any AMD GPU.
static constexpr uint64_t kMaxThreads = 1024;
/// Beyond this many numbers, values are unknown: 64 MiB.
static constexpr size_t kMaxEntries = size_t(1) << 23;
/// Beyond this many iterations a loop's trip count isn't worth knowing.
static constexpr int64_t kMaxTrips = 4096;

Lanes::Lanes(SmallVector<int64_t, 1> perThread) : values(std::move(perThread)) {
  if (llvm::all_equal(values))
    values.truncate(1);
}

bool ThreadForm::isUniform() const {
  return constant.isUniform() && llvm::all_of(terms, [](const Term &term) {
           return term.coefficient.isUniform();
         });
}

bool ThreadForm::hasTermsOf(const ThreadForm &other) const {
  return width == other.width && terms.size() == other.terms.size() &&
         llvm::all_of(terms, [&](const Term &term) {
           return llvm::any_of(other.terms, [&](const Term &its) {
             return term.value == its.value && term.instance == its.instance &&
                    term.coefficient == its.coefficient;
           });
         });
}

std::optional<ThreadValues> ThreadValues::get(FunctionOpInterface function,
                                              unsigned waveSize) {
  DenseI32ArrayAttr size;
  if (auto kernel = dyn_cast<gpu::GPUFuncOp>(function.getOperation()))
    size = kernel.getKnownBlockSizeAttr();
  if (!size)
    size = function->getAttrOfType<DenseI32ArrayAttr>(
        gpu::GPUDialect::KnownBlockSizeAttrHelper::getNameStr());
  if (!size)
    size = function->getAttrOfType<DenseI32ArrayAttr>(
        ROCDL::ROCDLDialect::ReqdWorkGroupSizeAttrHelper::getNameStr());
  if (!size || size.size() != 3)
    return std::nullopt;
  uint64_t threads = 1;
  std::array<unsigned, 3> sizes;
  for (auto [extent, to] : llvm::zip(size.asArrayRef(), sizes)) {
    if (extent <= 0 || static_cast<uint64_t>(extent) > kMaxThreads)
      return std::nullopt;
    to = extent;
    threads *= to;
  }
  if (threads > kMaxThreads)
    return std::nullopt;
  return ThreadValues(function, sizes, waveSize);
}

std::optional<int64_t> ThreadValues::getTripCount(scf::ForOp loop) {
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound());
  std::optional<int64_t> upper = getConstantIntValue(loop.getUpperBound());
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  // Bounds of 31 bits: the counter doesn't wrap.
  auto fits = [](int64_t v) { return v >= 0 && v <= INT32_MAX; };
  if (!lower || !upper || !step || !fits(*lower) || !fits(*upper) ||
      !fits(*step) || *step == 0)
    return std::nullopt;
  int64_t trips = *upper <= *lower ? 0 : (*upper - *lower - 1) / *step + 1;
  if (trips > kMaxTrips)
    return std::nullopt;
  return trips;
}

ThreadValues::Context ThreadValues::getContext(
    SmallVector<std::pair<Operation *, int64_t>> iterations) {
  if (iterations.empty())
    return 0;
  llvm::sort(iterations);
  auto [it, isNew] = contextNumbers.try_emplace(iterations, contexts.size());
  if (isNew)
    contexts.push_back(std::move(iterations));
  return it->second;
}

/// Only the iterations of loops around a value matter to it.
ThreadValues::Key ThreadValues::getKey(Value value, Context context) {
  if (context == 0)
    return {value, 0};
  SmallVector<std::pair<Operation *, int64_t>> around;
  for (auto &iteration : contexts[context])
    if (cast<scf::ForOp>(iteration.first)
            .getRegion()
            .isAncestor(value.getParentRegion()))
      around.push_back(iteration);
  return {value, getContext(std::move(around))};
}

/// The loop and its iteration in `context` if `value` is an argument of its
/// body.
static std::optional<std::pair<scf::ForOp, int64_t>>
findIteration(Value value,
              ArrayRef<std::pair<Operation *, int64_t>> iterations) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return std::nullopt;
  Operation *parent = argument.getOwner()->getParentOp();
  for (auto [loop, number] : iterations)
    if (loop == parent)
      return std::pair(cast<scf::ForOp>(loop), number);
  return std::nullopt;
}

/// An scf.if whose results are those of one branch or the other.
static scf::IfOp getCondition(Value value) {
  auto condition = value.getDefiningOp<scf::IfOp>();
  return condition && condition.elseBlock() ? condition : scf::IfOp();
}

void ThreadValues::getDependencies(Key key, SmallVectorImpl<Key> &result) {
  auto [value, context] = key;
  auto need = [&](Value v, Context in) { result.push_back(getKey(v, in)); };
  if (auto iteration = findIteration(value, contexts[context])) {
    auto [loop, number] = *iteration;
    if (value == loop.getInductionVar()) {
      need(loop.getLowerBound(), context);
      need(loop.getStep(), context);
    } else if (number == 0) {
      need(loop.getTiedLoopInit(cast<BlockArgument>(value))->get(), context);
    } else {
      SmallVector<std::pair<Operation *, int64_t>> before = contexts[context];
      for (auto &[op, n] : before)
        n -= op == loop;
      need(loop.getTiedLoopYieldedValue(cast<BlockArgument>(value))->get(),
           getContext(std::move(before)));
    }
    return;
  }
  if (scf::IfOp condition = getCondition(value)) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    need(condition.getCondition(), context);
    need(condition.thenYield()->getOperand(number), context);
    need(condition.elseYield()->getOperand(number), context);
    return;
  }
  Operation *op = value.getDefiningOp();
  if (op && op->getNumRegions() == 0)
    for (Value operand : op->getOperands())
      need(operand, context);
}

ThreadValues::Entry ThreadValues::compute(Key key, ArrayRef<Key> dependencies) {
  auto [value, context] = key;
  unsigned numThreads = getNumThreads();
  SmallVector<const ThreadForm *> operands;
  Value unknown;
  for (const Key &dependency : dependencies) {
    auto entry = cache.find(dependency);
    // Values can depend on themselves in code that is never reached.
    if (entry == cache.end())
      return {nullptr, value};
    if (!entry->second.form && !unknown)
      unknown = getThreadFormWidth(dependency.first.getType())
                    ? entry->second.unknown
                    : value;
    operands.push_back(entry->second.form.get());
  }

  std::optional<ThreadForm> form;
  if (!getThreadFormWidth(value.getType()) || numEntries > kMaxEntries) {
    unknown = value;
  } else if (!unknown) {
    if (auto iteration = findIteration(value, contexts[context])) {
      auto [loop, number] = *iteration;
      form = value == loop.getInductionVar()
                 ? addScaled(*operands[0], *operands[1], number, numThreads)
                 : *operands[0];
    } else if (getCondition(value)) {
      form = select(*operands[0], *operands[1], *operands[2], numThreads);
    } else if (auto result = dyn_cast<OpResult>(value)) {
      form = evaluateOp(result, operands, {size, waveSize});
    }
  }
  if (!form && getThreadFormWidth(value.getType()) &&
      uniformity.isUniform(value))
    form = makeUnknownForm(value, context);
  if (!form)
    return {nullptr, unknown ? unknown : value};

  numEntries += form->constant.getNumEntries();
  for (const ThreadForm::Term &term : form->terms)
    numEntries += term.coefficient.getNumEntries();
  return {std::make_unique<ThreadForm>(std::move(*form)), Value()};
}

const ThreadValues::Entry &ThreadValues::lookUp(Key key) {
  // Not recursive: a chain of operations can be longer than the stack.
  SmallVector<Key> stack{key};
  llvm::DenseSet<Key> visited;
  while (!stack.empty()) {
    Key top = stack.back();
    if (cache.count(top)) {
      stack.pop_back();
      continue;
    }
    SmallVector<Key> dependencies;
    getDependencies(top, dependencies);
    size_t waiting = stack.size();
    if (visited.insert(top).second)
      for (const Key &dependency : dependencies)
        if (!cache.count(dependency))
          stack.push_back(dependency);
    if (stack.size() != waiting)
      continue;
    stack.pop_back();
    cache.try_emplace(top, compute(top, dependencies));
  }
  return cache.find(key)->second;
}

static SmallVector<std::pair<Operation *, int64_t>>
toPairs(ThreadValues::Iterations iterations) {
  SmallVector<std::pair<Operation *, int64_t>> pairs;
  for (const ThreadValues::Iteration &iteration : iterations)
    pairs.push_back({iteration.loop, iteration.number});
  return pairs;
}

const ThreadForm *ThreadValues::evaluate(Value value, Iterations iterations) {
  return lookUp(getKey(value, getContext(toPairs(iterations)))).form.get();
}

Value ThreadValues::getUnknown(Value value, Iterations iterations) {
  return lookUp(getKey(value, getContext(toPairs(iterations)))).unknown;
}

bool ThreadValues::isBlockUniform(Value value, Iterations iterations) {
  if (uniformity.isUniform(value))
    return true;
  const ThreadForm *form = evaluate(value, iterations);
  return form && form->isUniform() &&
         form->width == getThreadFormWidth(value.getType());
}

bool ThreadValues::isWaveUniform(Value value, Iterations iterations) {
  if (isBlockUniform(value, iterations))
    return true;
  const ThreadForm *form = waveSize ? evaluate(value, iterations) : nullptr;
  if (!form || form->width != getThreadFormWidth(value.getType()))
    return false;
  auto isSameInWaves = [&](const Lanes &lanes) {
    for (unsigned thread = 0; thread < getNumThreads(); ++thread)
      if (lanes[thread] != lanes[thread - thread % waveSize])
        return false;
    return true;
  };
  return isSameInWaves(form->constant) &&
         llvm::all_of(form->terms, [&](const ThreadForm::Term &term) {
           return isSameInWaves(term.coefficient);
         });
}
