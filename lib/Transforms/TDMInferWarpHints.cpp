//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Chooses the warps that issue TDM loads.
///
//===----------------------------------------------------------------------===//

#include "TDMRuns.h"

#include "lodestone/Analysis/WarpStagger.h"
#include "lodestone/Dialect/TDM/IR/TDMCopy.h"
#include "lodestone/Transforms/LDSTransforms.h"
#include "lodestone/Transforms/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Threading.h"

#include <algorithm>

namespace lodestone {
#define GEN_PASS_DEF_TDMINFERWARPHINTS
#include "lodestone/Transforms/Passes.h.inc"
} // namespace lodestone

using namespace mlir;
using namespace lodestone;
using namespace lodestone::tdm;
using llvm::formatv;

namespace {

constexpr StringLiteral kCategory = "tdm-infer-warp-hints";

/// A load and the warps that it is to have.
struct Choice {
  LoadOp load;
  WarpSet warps;
  /// The rules that led there.
  SmallVector<std::string, 2> reasons = {};
  /// A remark has said why a rule didn't.
  bool isRefused = false;
};

struct TDMInferWarpHints final
    : lodestone::impl::TDMInferWarpHintsBase<TDMInferWarpHints> {
  using TDMInferWarpHintsBase::TDMInferWarpHintsBase;
  void runOnOperation() override;

private:
  LogicalResult inferIn(Operation *function);
  void refuse(LoadOp load, StringRef name, const Twine &reason);
  SmallVector<Run> selectCandidates(const Run &run);
  std::optional<Choice> startFrom(LoadOp load, Operation *function,
                                  uint64_t numWarps);
  void decide(ArrayRef<LoadOp> loads, Operation *function, uint64_t numWarps);
  void divide(MutableArrayRef<Choice> choices);
  void limitToSIMDs(Choice &choice);
  void apply(MutableArrayRef<Choice> choices);

  /// Of the chip that the function is for.
  unsigned simds = 0;
  /// The stagger of the function's outermost loops.
  llvm::DenseMap<Operation *, WarpStagger> staggers;
};

} // namespace

void TDMInferWarpHints::refuse(LoadOp load, StringRef name,
                               const Twine &reason) {
  ++numRefused;
  remark::missed(load.getLoc(),
                 remark::RemarkOpts::name(name).category(kCategory))
      << remark::reason("{0}", reason.str());
}

/// The loads of `run` that a hint may be given to, in groups that may become
/// one instruction: neighbours of one rank.
SmallVector<Run> TDMInferWarpHints::selectCandidates(const Run &run) {
  SmallVector<Run> groups;
  bool isNew = true;
  for (LoadOp load : run) {
    if (load.getWarpUsedHintAttr()) {
      remark::analysis(
          load.getLoc(),
          remark::RemarkOpts::name("hint-kept").category(kCategory))
          << remark::reason("this load has a hint already");
      isNew = true;
      continue;
    }
    if (load.getBarrier()) {
      refuse(
          load, "has-barrier",
          "each warp that moves data arrives at the barrier of this load, so "
          "a hint would change how often it is arrived at");
      isNew = true;
      continue;
    }
    if (isNew || groups.back().back().getGlobal().getType().getRank() !=
                     load.getGlobal().getType().getRank())
      groups.emplace_back();
    groups.back().push_back(load);
    isNew = false;
  }
  return groups;
}

/// The warps that `load` has before its neighbours are looked at.
std::optional<Choice> TDMInferWarpHints::startFrom(LoadOp load,
                                                   Operation *function,
                                                   uint64_t numWarps) {
  WarpSetError error;
  std::optional<WarpSet> all = WarpSet::all(numWarps, error);
  // The verifier has refused such a load.
  if (!all)
    return std::nullopt;
  Choice choice{load, *all};
  Operation *loop = leadingGroup ? getOutermostLoop(load, function) : nullptr;
  if (!loop)
    return choice;
  auto [it, isNew] = staggers.try_emplace(loop);
  if (isNew)
    it->second = findWarpStagger(loop, function, numWarps, kWarpLanes);
  const WarpStagger &stagger = it->second;
  if (!stagger.unknown.empty()) {
    refuse(load, "unknown-stagger",
           "it isn't known which warps lead here: " + stagger.unknown);
    choice.isRefused = true;
    return choice;
  }
  if (!stagger.leading)
    return choice;
  std::optional<WarpSet> leading =
      WarpSet::fromMask(*stagger.leading, numWarps, error);
  if (!leading) {
    refuse(load, "leading-group-not-legal", error.message);
    choice.isRefused = true;
    return choice;
  }
  choice.warps = *leading;
  choice.reasons.push_back("the leading group of a warp-pipelined loop");
  return choice;
}

/// Gives each choice its part of the warps that they all have now. The highest
/// free bit is divided first: neighbouring warps, on different SIMDs, stay
/// together. Precondition: there are enough warps.
static void split(MutableArrayRef<Choice> choices, WarpSet warps) {
  if (choices.size() == 1) {
    choices.front().warps = warps;
    return;
  }
  unsigned bit = llvm::Log2_32(warps.free());
  size_t half = choices.size() / 2;
  split(choices.take_front(half), warps.half(bit, false));
  split(choices.drop_front(half), warps.half(bit, true));
}

static uint64_t bytesOf(LoadOp load) {
  CopyShape shape = CopyShape::of(load);
  uint64_t bytes = shape.elementBytes;
  for (int64_t size : shape.block)
    bytes *= size;
  return bytes;
}

/// Complementary hints for loads that have the same warps now.
void TDMInferWarpHints::divide(MutableArrayRef<Choice> choices) {
  for (auto [i, choice] : llvm::enumerate(choices))
    choice.reasons.push_back(
        formatv("{0} of {1} adjacent loads", i + 1, choices.size()));
  SmallVector<Choice> order(choices.begin(), choices.end());
  // Of three, the first one gets half of the warps: that with the most bytes.
  if (order.size() == 3) {
    auto *most = std::max_element(order.begin(), order.end(),
                                  [](const Choice &a, const Choice &b) {
                                    return bytesOf(a.load) < bytesOf(b.load);
                                  });
    std::rotate(order.begin(), most, most + 1);
  }
  split(order, choices.front().warps);
  for (const Choice &placed : order)
    for (Choice &choice : choices)
      if (choice.load == placed.load)
        choice.warps = placed.warps;
}

/// What is wrong with the hint that `load` has; empty if nothing.
static std::string checkHint(LoadOp load, uint64_t numWarps) {
  std::string error;
  ScopedDiagnosticHandler handler(
      load.getContext(),
      [&, thread = llvm::get_threadid()](Diagnostic &diagnostic) {
        // Another thread's errors are none of ours.
        if (llvm::get_threadid() != thread)
          return failure();
        error = diagnostic.str();
        return success();
      });
  (void)distribute(load, numWarps);
  StringRef message = error;
  message.consume_front("'tdm.load' op ");
  return message.str();
}

/// Sets the hints of loads that were decided together: all or none.
void TDMInferWarpHints::apply(MutableArrayRef<Choice> choices) {
  for (Choice &choice : choices) {
    const WarpSet &warps = choice.warps;
    choice.load.setWarpUsedHintAttr(WarpsAttr::get(
        &getContext(), warps.free(), warps.anchor(), warps.numWarps()));
    std::string error = checkHint(choice.load, warps.numWarps());
    if (error.empty())
      continue;
    for (Choice &other : choices) {
      other.load.removeWarpUsedHintAttr();
      refuse(other.load, "hint-not-legal",
             (other.load == choice.load ? "" : "of a load beside this one, ") +
                 WarpSet::formatMask(warps.mask()) + ": " + error);
    }
    return;
  }
  for (Choice &choice : choices) {
    ++numInferred;
    remark::passed(
        choice.load.getLoc(),
        remark::RemarkOpts::name("hint-inferred").category(kCategory))
        << remark::metric("Hint", WarpSet::formatMask(choice.warps.mask()))
        << remark::metric("Warps", choice.warps.pair())
        << remark::reason("{0}", llvm::join(choice.reasons, "; "));
  }
}

/// Decides on adjacent candidates of one rank.
void TDMInferWarpHints::decide(ArrayRef<LoadOp> loads, Operation *function,
                               uint64_t numWarps) {
  SmallVector<Choice> choices;
  for (LoadOp load : loads)
    if (std::optional<Choice> choice = startFrom(load, function, numWarps))
      choices.push_back(*choice);
  if (choices.empty())
    return;

  // They are in one block, so have the same warps here.
  size_t most = complementary
                    ? std::min(kMaxFusedLoads, choices.front().warps.count())
                    : 1;
  MutableArrayRef<Choice> rest = choices;
  while (!rest.empty()) {
    // As even as can be: five are three and two.
    size_t groups = llvm::divideCeil(rest.size(), most);
    MutableArrayRef<Choice> group =
        rest.take_front(llvm::divideCeil(rest.size(), groups));
    rest = rest.drop_front(group.size());
    if (group.size() > 1)
      divide(group);
    SmallVector<Choice> changed;
    for (Choice &choice : group) {
      limitToSIMDs(choice);
      if (!choice.reasons.empty())
        changed.push_back(choice);
      else if (!choice.isRefused)
        refuse(choice.load, "no-rule-applies",
               "no rule that is switched on gives this load fewer warps");
    }
    apply(changed);
  }
}

/// Leaves one warp for each SIMD: the hardware places consecutive warps on
/// different ones.
void TDMInferWarpHints::limitToSIMDs(Choice &choice) {
  if (!onePerSimd || choice.warps.count() <= simds)
    return;
  while (choice.warps.count() > simds)
    choice.warps = choice.warps.half(llvm::Log2_32(choice.warps.free()), false);
  choice.reasons.push_back(formatv("one warp for each of {0} SIMDs", simds));
}

LogicalResult TDMInferWarpHints::inferIn(Operation *function) {
  if (onePerSimd) {
    FailureOr<const ChipInfo *> info = resolveChip(function, chip, "gfx1250");
    if (failed(info))
      return failure();
    simds = (*info)->simdsPerCU;
  }
  staggers.clear();
  for (const Run &run : collectRuns(function)) {
    FailureOr<std::optional<uint64_t>> numWarps =
        getNumWarps(LoadOp(run.front()));
    if (failed(numWarps))
      return failure();
    for (const Run &candidates : selectCandidates(run)) {
      if (*numWarps) {
        decide(candidates, function, **numWarps);
        continue;
      }
      for (LoadOp load : candidates)
        refuse(load, "unknown-warps",
               "the size of the workgroup is unknown; give the kernel a "
               "known_block_size");
    }
  }
  return success();
}

void TDMInferWarpHints::runOnOperation() {
  if (!complementary && !leadingGroup && !onePerSimd)
    return markAllAnalysesPreserved();
  for (Operation *function : getFunctionsWithLoads(getOperation()))
    if (failed(inferIn(function)))
      return signalPassFailure();
}
