//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Transforms/RelanePlan.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace lodestone;
using llvm::formatv;

std::string lodestone::describe(Operation *op) {
  std::string text = formatv("'{0}'", op->getName()).str();
  if (auto loc = op->getLoc()->findInstanceOf<FileLineColLoc>())
    text += formatv(" in line {0}", loc.getLine());
  return text;
}

std::string lodestone::describe(Value value) {
  if (Operation *op = value.getDefiningOp())
    return "the result of " + describe(op);
  Operation *parent = cast<BlockArgument>(value).getOwner()->getParentOp();
  return "an argument of " + describe(parent);
}

static Refusal refuse(StringRef name, std::string reason) {
  return {name, std::move(reason)};
}

bool TouchedElements::isDisjointFrom(const TouchedElements &other) const {
  if (!terms.hasTermsOf(other.terms))
    return false;
  for (auto [base, extent] : llvm::zip(bases, extents))
    for (auto [itsBase, itsExtent] : llvm::zip(other.bases, other.extents)) {
      int64_t distance =
          llvm::SignExtend64(uint64_t(itsBase) - uint64_t(base), terms.width);
      if (distance < extent && distance > -itsExtent)
        return false;
    }
  return true;
}

std::variant<TouchedElements, Refusal>
lodestone::getTouchedElements(Value memref, ValueRange indices,
                              int64_t cellElements, const TileCopy &copy,
                              ThreadValues &values,
                              SmallVectorImpl<Lanes> &offsets) {
  TouchedElements touched;
  for (int64_t step = 0; step < copy.getNumSteps(); ++step) {
    Value unknown;
    std::optional<ThreadForm> form = getElementOffset(
        memref, indices, values, copy.getIterations(step), unknown);
    if (!form)
      return refuse("unknown-store-offset",
                    formatv("the offset depends on {0}, whose value in each "
                            "thread isn't known",
                            describe(unknown)));
    // In bounds, these bits say it all: no chip's LDS has as many bytes.
    if (form->width < kLDSOffsetBits)
      return refuse("unknown-store-offset",
                    formatv("of the offset, only the low {0} bits are known",
                            form->width));
    for (const ThreadForm::Term &term : form->terms)
      if (!term.coefficient.isUniform())
        return refuse("unknown-store-offset",
                      formatv("the offset has {0} times a number that differs "
                              "between threads",
                              describe(term.value)));
    if (step && !form->hasTermsOf(touched.terms))
      return refuse("uneven-steps",
                    "what is added to the offset in all threads differs "
                    "between iterations and isn't known");
    int64_t base = INT64_MAX, end = INT64_MIN;
    for (size_t i = 0; i < form->constant.getNumEntries(); ++i) {
      base = std::min(base, form->constant[i]);
      end = std::max(end, form->constant[i] + cellElements);
    }
    touched.bases.push_back(base);
    touched.extents.push_back(end - base);
    offsets.push_back(std::move(form->constant));
    touched.terms = std::move(*form);
  }
  return touched;
}

/// For each step, the permutation of the threads (or, of all steps together, of
/// what threads do in them) that makes the stores linear.
using Table = SmallVector<SmallVector<unsigned>>;

/// Who stored where thread t should, added to `table`, and whether threads
/// store in order anyway, but for gaps.
static std::optional<Refusal> invert(const Lanes &offsets, int64_t base,
                                     int64_t cell, unsigned numThreads,
                                     int64_t elementBytes, Table &table,
                                     bool &isInOrder) {
  SmallVector<std::pair<int64_t, unsigned>> sorted;
  for (unsigned thread = 0; thread < numThreads; ++thread)
    sorted.push_back({offsets[thread], thread});
  llvm::sort(sorted);
  std::optional<Refusal> refusal;
  table.emplace_back();
  for (auto [slot, entry] : llvm::enumerate(sorted)) {
    auto [offset, thread] = entry;
    table.back().push_back(thread);
    int64_t before = slot ? sorted[slot - 1].first : base - cell;
    bool collides = slot && offset < before + cell;
    isInOrder &= thread == slot && !collides;
    if (refusal)
      continue;
    if (collides)
      refusal = refuse(
          "colliding-cells",
          formatv("threads {0} and {1} store {2} bytes each at bytes {3} and "
                  "{4} of the same window",
                  sorted[slot - 1].second, thread, cell * elementBytes,
                  (before - base) * elementBytes,
                  (offset - base) * elementBytes));
    else if (offset != before + cell)
      refusal = refuse(
          "no-contiguous-window",
          formatv("the {0} cells of {1} bytes of one step leave {2} bytes free "
                  "before thread {3}'s",
                  numThreads, cell * elementBytes,
                  (offset - before - cell) * elementBytes, thread));
  }
  return refusal;
}

/// Completes a plan in which threads take over from each other, step by step,
/// as `table` says.
static std::optional<Refusal> planSteps(RelanePlan &plan, const Table &table) {
  const TouchedElements &touched = plan.touched;
  int64_t elementBytes =
      plan.copy.store.cellBytes / plan.copy.store.cellElements;
  // Each loop moves the window by a constant, and no two windows overlap.
  plan.base = touched.bases[0];
  int64_t stepOfLoop = 1;
  for (int64_t trips : plan.copy.trips) {
    plan.strides.push_back(trips == 1 ? 0
                                      : touched.bases[stepOfLoop] - plan.base);
    stepOfLoop *= trips;
  }
  for (auto [step, base] : llvm::enumerate(touched.bases)) {
    int64_t expected = plan.base;
    for (auto [iteration, stride] :
         llvm::zip(plan.copy.getIterations(step), plan.strides))
      expected += iteration.number * stride;
    if (base != expected)
      return refuse("uneven-steps",
                    formatv("step {0} stores at byte {1}, where even steps "
                            "would lead to {2}",
                            step, base * elementBytes,
                            expected * elementBytes));
  }
  SmallVector<int64_t> sorted(touched.bases);
  llvm::sort(sorted);
  for (size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i] < sorted[i - 1] + touched.extents[0])
      return refuse("overlapping-steps",
                    formatv("steps store {0} bytes each, at bytes {1} and {2}",
                            touched.extents[0] * elementBytes,
                            sorted[i - 1] * elementBytes,
                            sorted[i] * elementBytes));

  std::optional<ThreadPermutation> permutation =
      ThreadPermutation::fit(table, plan.copy.trips);
  if (!permutation)
    return refuse("no-closed-form",
                  formatv("no xor of shifted bits of its number gives the "
                          "thread that stores where thread t of {0} would",
                          table[0].size()));
  plan.permutation = std::move(*permutation);
  return std::nullopt;
}

/// Completes a plan in which cells may move to other steps, too. That it is
/// needed is because of `otherwise`, which remains if the cells of all steps
/// together aren't one window.
static std::optional<Refusal> planWindow(RelanePlan &plan,
                                         ArrayRef<Lanes> offsets,
                                         const Refusal &otherwise) {
  int64_t numSteps = offsets.size(), cell = plan.copy.store.cellElements;
  unsigned numThreads = plan.numThreads;
  SmallVector<std::pair<int64_t, unsigned>> sorted;
  for (auto [step, lanes] : llvm::enumerate(offsets))
    for (unsigned thread = 0; thread < numThreads; ++thread)
      sorted.push_back({lanes[thread], thread * numSteps + step});
  llvm::sort(sorted);
  plan.base = sorted.front().first;
  Table table(numSteps);
  for (auto [slot, entry] : llvm::enumerate(sorted)) {
    if (entry.first != plan.base + static_cast<int64_t>(slot) * cell)
      return otherwise;
    table[slot / numThreads].push_back(entry.second);
  }
  plan.mode = RelanePlan::Mode::cells;
  std::optional<ThreadPermutation> permutation =
      ThreadPermutation::fit(table, plan.copy.trips);
  if (!permutation) {
    plan.mode = RelanePlan::Mode::cellsByNumber;
    Table row(1);
    for (const SmallVector<unsigned> &step : table)
      llvm::append_range(row[0], step);
    permutation = ThreadPermutation::fit(row, {});
  }
  if (!permutation)
    return refuse("no-closed-form",
                  formatv("no xor of shifted bits of its number gives what "
                          "cell n of the {0} of all steps comes from",
                          sorted.size()));
  plan.permutation = std::move(*permutation);

  int64_t stride = cell * numThreads;
  for (int64_t trips : plan.copy.trips) {
    plan.strides.push_back(stride);
    stride *= trips;
  }
  // A condition that is the same for all threads may differ between steps.
  for (scf::IfOp condition : plan.copy.uniformConditions)
    if (!plan.copy.loops.back().isDefinedOutsideOfLoop(
            condition.getCondition()))
      plan.copy.guards.push_back(condition);
  return std::nullopt;
}

MaybePlan lodestone::planRelane(TileCopy copy, ThreadValues &values) {
  const LDSStore store = copy.store;
  if (!values.getUniformity().isUniform(store.memref))
    return refuse("unknown-store-offset",
                  "the memref that is stored to differs between threads");
  SmallVector<Lanes> offsets;
  auto result = getTouchedElements(store.memref, store.indices,
                                   store.cellElements, copy, values, offsets);
  if (auto *refusal = std::get_if<Refusal>(&result))
    return std::move(*refusal);
  auto &touched = std::get<TouchedElements>(result);

  Table table;
  std::optional<Refusal> refusal;
  bool isInOrder = true;
  for (auto [step, lanes] : llvm::enumerate(offsets)) {
    std::optional<Refusal> here = invert(
        lanes, touched.bases[step], store.cellElements, values.getNumThreads(),
        store.cellBytes / store.cellElements, table, isInOrder);
    if (!refusal)
      refusal = here;
  }
  bool isOneStep = offsets.size() == 1;
  if (isInOrder && (!refusal || isOneStep))
    return std::monostate();

  RelanePlan plan;
  plan.copy = std::move(copy);
  plan.touched = std::move(touched);
  plan.numThreads = values.getNumThreads();
  RelanePlan ofSteps = plan;
  if (!refusal)
    refusal = planSteps(ofSteps, table);
  if (!refusal)
    plan = std::move(ofSteps);
  else if (!isOneStep)
    refusal = planWindow(plan, offsets, *refusal);
  if (refusal && isInOrder)
    return std::monostate();
  if (refusal)
    return *refusal;
  auto type = cast<MemRefType>(plan.copy.store.memref.getType());
  if (!type.hasStaticShape() ||
      !memref::CollapseShapeOp::isGuaranteedCollapsible(
          type, {llvm::to_vector<2>(llvm::seq<int64_t>(type.getRank()))}))
    return refuse("layout-not-contiguous",
                  formatv("the store is to {0}, whose elements may have gaps "
                          "between them",
                          type));
  return plan;
}

/// True if in all iterations a window starts at a multiple of its size, but for
/// a part of `base` that is the same in all of them.
static bool hasAlignedWindows(const RelanePlan &plan) {
  // Sums that wrap keep their remainder for powers of two.
  int64_t extent = plan.touched.extents[0];
  auto isMultiple = [&](int64_t v) { return v % extent == 0; };
  return llvm::isPowerOf2_64(extent) &&
         llvm::all_of(plan.strides, isMultiple) &&
         llvm::all_of(plan.touched.terms.terms,
                      [&](const ThreadForm::Term &term) {
                        return isMultiple(term.coefficient[0]);
                      });
}

static bool storesLike(const RelanePlan &a, const RelanePlan &b) {
  return a.copy.store.memref == b.copy.store.memref &&
         a.copy.store.cellBytes == b.copy.store.cellBytes;
}

bool RelanePlan::hasPermutationOf(const RelanePlan &other) const {
  return mode == other.mode && permutation == other.permutation;
}

bool RelanePlan::movesWith(const RelanePlan &other) const {
  return storesLike(*this, other) && copy.trips == other.copy.trips &&
         hasPermutationOf(other) &&
         touched.terms.hasTermsOf(other.touched.terms) &&
         touched.bases == other.touched.bases;
}

bool RelanePlan::alwaysMovesWith(const RelanePlan &other) const {
  return storesLike(*this, other) && !movesSteps() && !other.movesSteps() &&
         permutation.isSameInAllIterations(other.permutation) &&
         hasAlignedWindows(*this) && hasAlignedWindows(other) &&
         (base - other.base) % touched.extents[0] == 0;
}

std::string RelanePlan::getFormula() const {
  std::string number = "t";
  if (mode == Mode::cellsByNumber) {
    int64_t stride = numThreads;
    for (auto [loop, trips] : llvm::enumerate(copy.trips)) {
      number += formatv(" + {0} * n{1}", stride, loop);
      stride *= trips;
    }
    number = "(" + number + ")";
  }
  return permutation.str(number);
}
