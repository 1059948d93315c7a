//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DirectLoadBuilder.h"

#include "lodestone/Analysis/MemRefAccess.h"
#include "lodestone/Analysis/MemoryAccess.h"
#include "lodestone/Analysis/TileCopies.h"
#include "lodestone/Analysis/TrailingZeros.h"
#include "lodestone/Dialect/LDS/IR/LDSDialect.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace lodestone;

unsigned DirectLoadBuilder::getWidth(const DirectCopy &copy) const {
  unsigned best = 0;
  for (unsigned width : chip.dmaLaneBytes)
    if ((hasLaneAddresses() || isHoleFreeDMA(width)) &&
        copy.laneBytes % width == 0 && width % copy.elementBytes == 0)
      best = std::max(best, width);
  return best;
}

static bool refuse(DirectCopy &copy, StringRef name, std::string reason,
                   Operation *culprit = nullptr) {
  copy.refusal = Refusal{name, std::move(reason), culprit};
  return false;
}

/// The largest power of two, at most 16, that divides all places in LDS that
/// `copy` writes; `offsets` from the start of the target, if they are known.
static uint64_t
getTargetAlignment(const DirectCopy &copy,
                   const std::optional<SmallVector<ThreadForm, 1>> &offsets) {
  constexpr unsigned kMaxLog = 4;
  TrailingZeros zeros;
  uint64_t alignment = 1 << kMaxLog;
  auto include = [&](unsigned log) {
    alignment = std::min(alignment, uint64_t(1) << std::min(log, kMaxLog));
  };
  if (offsets) {
    for (const ThreadForm &offset : *offsets)
      alignment = std::min<uint64_t>(alignment, getFormAlignment(offset));
  } else {
    uint64_t stride = copy.elementBytes;
    for (auto [index, size] : llvm::reverse(llvm::zip_equal(
             copy.targetIndices, copy.target.getType().getShape()))) {
      include(std::min(zeros.of(index) + llvm::countr_zero(stride), kMaxLog));
      stride *= size;
    }
  }
  SmallVector<Operation *> views;
  if (!getLDSRoots(copy.target, &views))
    alignment = std::min<uint64_t>(alignment, copy.elementBytes);
  for (Operation *view : views)
    if (auto shifted = dyn_cast<memref::ViewOp>(view))
      include(zeros.of(shifted.getByteShift()));
  for (Value root : copy.allocations)
    if (auto region = root.getDefiningOp<lds::RegionOp>())
      alignment = std::min<uint64_t>(alignment, region.getAlign());
  return alignment;
}

/// Checks where in LDS the lanes' bytes go: at multiples of the width, and, if
/// the DMA has one address for the wave, side by side in the order of the
/// lanes.
bool DirectLoadBuilder::checkWindow(DirectCopy &copy, unsigned width) {
  Value unknown;
  std::optional<SmallVector<ThreadForm, 1>> offsets =
      evaluateTargetOffsets(values, copy, unknown);
  if (!hasLaneAddresses()) {
    if (!values.getUniformity().isUniform(copy.target))
      return refuse(copy, "offset-unknown",
                    "lanes may store to different memrefs",
                    copy.target.getDefiningOp());
    if (!offsets)
      return refuse(copy, "offset-unknown",
                    "the place in LDS isn't known for each thread",
                    unknown.getDefiningOp());
    for (const ThreadForm &offset : *offsets)
      if (std::optional<LaneConflict> conflict =
              findLaneConflict(offset, values, copy.laneBytes))
        return refuse(
            copy, "not-lane-linear",
            llvm::formatv("lane {0} of wave {1} stores to byte {2} and lane 0 "
                          "to byte {3}, but an LDS-DMA writes lane {0} {4} "
                          "bytes behind lane 0",
                          conflict->lane, conflict->wave, conflict->other,
                          conflict->first, conflict->lane * copy.laneBytes));
  }
  uint64_t alignment = getTargetAlignment(copy, offsets);
  if (alignment % width != 0)
    return refuse(copy, "misaligned",
                  llvm::formatv("offsets in LDS are multiples of {0} only, but "
                                "the DMA moves {1} bytes a lane",
                                alignment, width));
  return true;
}

/// The low bits that are zero of `value * factor`, or of `value` alone if the
/// factor isn't known.
static unsigned getProductZeros(unsigned zerosOfValue, int64_t factor) {
  if (ShapedType::isDynamic(factor))
    return zerosOfValue;
  if (factor == 0)
    return TrailingZeros::kAll;
  return zerosOfValue + llvm::countr_zero<uint64_t>(factor);
}

/// The low bits that are zero of the elements from a memref's base to its
/// start.
static unsigned getStartZeros(Value memref, TrailingZeros &zeros) {
  unsigned low = TrailingZeros::kAll;
  for (;;) {
    SmallVector<int64_t> strides;
    int64_t start;
    if (failed(cast<MemRefType>(memref.getType())
                   .getStridesAndOffset(strides, start)))
      return 0;
    if (!ShapedType::isDynamic(start))
      return std::min(low, getProductZeros(0, start));
    auto view = memref.getDefiningOp<memref::SubViewOp>();
    if (!view ||
        failed(view.getSourceType().getStridesAndOffset(strides, start)))
      return 0;
    for (auto [offset, stride] :
         llvm::zip_equal(view.getMixedOffsets(), strides)) {
      std::optional<int64_t> constant = getConstantIntValue(offset);
      low = std::min(low,
                     getProductZeros(constant ? getProductZeros(0, *constant)
                                              : zeros.of(cast<Value>(offset)),
                                     stride));
    }
    memref = view.getSource();
  }
}

/// Checks that a DMA of dwords reads at multiples of four bytes: a buffer drops
/// the low bits of an address. The memref's base is taken to be at one.
static bool checkSourceAlignment(DirectCopy &copy, unsigned width) {
  constexpr uint64_t dword = 4;
  if (width < dword || copy.elementBytes % dword == 0)
    return true;
  MemRefAccess access = *MemRefAccess::get(copy.load);
  SmallVector<int64_t> strides;
  int64_t start;
  uint64_t alignment = copy.elementBytes;
  if (succeeded(cast<MemRefType>(copy.source.getType())
                    .getStridesAndOffset(strides, start))) {
    TrailingZeros zeros;
    unsigned low = getStartZeros(copy.source, zeros);
    for (auto [dim, stride] : llvm::enumerate(strides))
      low = std::min(
          low, getProductZeros(access.map ? zeros.of(access.map.getResult(dim),
                                                     access.operands,
                                                     access.map.getNumDims())
                                          : zeros.of(access.operands[dim]),
                               stride));
    alignment <<= std::min(low, 2u);
  }
  if (std::max(alignment, access.alignment.value_or(1)) % dword == 0)
    return true;
  return refuse(copy, "source-misaligned",
                llvm::formatv("addresses in memory are multiples of {0} bytes "
                              "only, but an LDS-DMA of dwords needs {1}",
                              alignment, dword));
}

scf::IfOp DirectLoadBuilder::getGuard(const DirectCopy &copy) const {
  auto condition = dyn_cast<scf::IfOp>(copy.store->getParentOp());
  if (condition &&
      !values.getUniformity().entersUniformly(*copy.store->getParentRegion()))
    return condition;
  return {};
}

/// Checks that `condition` does nothing but what may be done without it, and
/// copies. Else `culprit`.
static bool isPlainGuard(scf::IfOp condition, Operation *&culprit) {
  for (Region *region : condition.getRegions())
    for (Operation &op : region->getOps())
      if (!isPure(&op) && !isGlobalLoad(&op) && !LDSStore::match(&op) &&
          !isa<scf::YieldOp>(op)) {
        culprit = &op;
        return false;
      }
  return condition.getElseRegion().empty() ||
         condition.elseBlock()->without_terminator().empty();
}

/// Checks what a copy must fulfil to be made of several DMAs, in which a lane
/// moves other lanes' bytes.
bool DirectLoadBuilder::checkNarrowing(DirectCopy &copy) {
  if (values.getNumThreads() % values.getWaveSize() != 0)
    return refuse(copy, "partial-wave",
                  llvm::formatv("the last wave has {0} of {1} lanes, and no "
                                "lane for the others' bytes",
                                values.getNumThreads() % values.getWaveSize(),
                                values.getWaveSize()));
  SmallVector<Value> cloned(copy.sourceIndices);
  cloned.push_back(copy.source);
  auto divergent = [&](Operation *culprit) {
    return refuse(copy, "divergent-copy",
                  "lanes would copy for others, which may not get there",
                  culprit);
  };
  Region *region = copy.store->getParentRegion();
  if (scf::IfOp guard = getGuard(copy)) {
    Operation *culprit = guard;
    if (guard.getNumResults() != 0 || region != &guard.getThenRegion() ||
        !isPlainGuard(guard, culprit))
      return divergent(culprit);
    cloned.push_back(guard.getCondition());
    region = guard->getParentRegion();
  }
  for (;; region = region->getParentRegion()) {
    if (!region->hasOneBlock())
      return divergent(region->getParentOp());
    if (region->getParentOp() == kernel)
      break;
    if (!values.getUniformity().entersUniformly(*region))
      return divergent(region->getParentOp());
  }
  if (copy.zeroFill)
    cloned.push_back(copy.zeroFill.getCondition());
  CloneForThread cloner(values, anchor);
  for (Value value : cloned) {
    SmallVector<Operation *> loads;
    if (Value obstacle = cloner.findObstacle(value, loads))
      return refuse(copy, "not-relaned",
                    "another lane can't compute where this one reads",
                    obstacle.getDefiningOp());
    if (loads.empty())
      continue;
    // What is under the guard stays there, and nothing may change what is
    // loaded.
    if (scf::IfOp guard = getGuard(copy);
        guard && llvm::any_of(loads, [&](Operation *op) {
          return guard->isAncestor(op);
        }))
      return refuse(copy, "not-relaned",
                    "the address is loaded under the condition", loads[0]);
    WalkResult walk = kernel.getFunctionBody().walk([&](Operation *op) {
      bool mayWrite = MemoryAccess::of(op).writesGlobal &&
                      !llvm::all_of(loads, [&](Operation *load) {
                        return isKnownDistinct(load, op);
                      });
      return mayWrite ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return refuse(copy, "not-relaned",
                    "the address is loaded from global memory, which the "
                    "kernel may write",
                    loads.front());
  }
  return true;
}

/// Why the source of `copy` can't be read through a buffer of exactly its
/// bytes; empty if it can.
std::string DirectLoadBuilder::whyNoBuffer(const DirectCopy &copy) const {
  if (hasLaneAddresses())
    return llvm::formatv("{0} has no LDS-DMA through buffers", chip.name);
  if (std::string reason = FlatBuffer::whyNot(
          cast<MemRefType>(copy.source.getType()), options.assumeSmallBuffers);
      !reason.empty())
    return reason;
  if (!values.getUniformity().isUniform(copy.source))
    return "the memref isn't the same for all lanes";
  return "";
}

/// Checks that a guard can be folded into an offset that is out of a buffer's
/// range, or that lanes can store the zeros that there are instead.
bool DirectLoadBuilder::checkZeroFill(DirectCopy &copy, unsigned width) {
  auto no = [&](std::string reason, Operation *culprit = nullptr) {
    return refuse(copy, "zero-fill-needs-buffer", std::move(reason), culprit);
  };
  copy.noBuffer = whyNoBuffer(copy);
  if (!copy.noBuffer.empty() && width != copy.laneBytes)
    return no(copy.noBuffer);
  for (Operation &op : copy.zeroFill.thenBlock()->without_terminator())
    if (&op != copy.load && !isPure(&op))
      return no("the address is computed under the condition", &op);
  return true;
}

void DirectLoadBuilder::check(DirectCopy &copy) {
  if (copy.refusal)
    return;
  unsigned width = getWidth(copy);
  if (chip.dmaCounter == DMACounter::none || width == 0) {
    refuse(
        copy, "width-not-supported",
        llvm::formatv("{0} has no LDS-DMA that {1} bytes a lane, in elements "
                      "of {2}, can be made of",
                      chip.name, copy.laneBytes, copy.elementBytes));
    return;
  }
  bool narrower = width != copy.laneBytes;
  if (narrower && (!options.narrow || hasLaneAddresses())) {
    refuse(copy, "only-narrower-copies",
           llvm::formatv("{0} has no LDS-DMA of {1} bytes a lane", chip.name,
                         copy.laneBytes));
    return;
  }
  (void)(checkWindow(copy, width) &&
         (!copy.zeroFill || checkZeroFill(copy, width)) &&
         (!narrower || checkNarrowing(copy)) &&
         checkSourceAlignment(copy, width));
}
