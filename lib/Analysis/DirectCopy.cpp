//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/DirectCopy.h"
#include "lodestone/Analysis/BarrierReach.h"
#include "lodestone/Analysis/MemRefAccess.h"
#include "lodestone/Analysis/MemoryAccess.h"
#include "lodestone/Analysis/ThreadArithmetic.h"
#include "lodestone/Analysis/TileCopies.h"
#include "lodestone/Dialect/LDS/IR/LDSDialect.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/FormatVariadic.h"

#include <numeric>

using namespace mlir;
using namespace lodestone;

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// The load behind `value`, through an `scf.if` whose other branch yields zero.
static Operation *findLoad(Value value, scf::IfOp &zeroFill) {
  Operation *op = value.getDefiningOp();
  if (auto condition = dyn_cast_or_null<scf::IfOp>(op)) {
    if (condition.getNumResults() != 1)
      return nullptr;
    Value otherwise = condition.elseYield().getOperand(0);
    if (!matchPattern(otherwise, m_Zero()) &&
        !matchPattern(otherwise, m_PosZeroFloat()))
      return nullptr;
    zeroFill = condition;
    op = condition.thenYield().getOperand(0).getDefiningOp();
    if (!op || op->getBlock() != condition.thenBlock())
      return nullptr;
  }
  return op && isGlobalLoad(op) ? op : nullptr;
}

static void refuse(DirectCopy &copy, StringRef name, std::string reason,
                   Operation *culprit = nullptr) {
  copy.refusal = Refusal{name, std::move(reason), culprit};
}

/// Checks that a lane moves elements of both memrefs, side by side in each.
static bool checkElements(DirectCopy &copy, const MemRefAccess &load,
                          const MemRefAccess &store) {
  auto sourceType = cast<MemRefType>(copy.source.getType());
  MemRefType targetType = copy.target.getType();
  Type element = getElementTypeOrSelf(copy.type);
  auto vector = dyn_cast<VectorType>(copy.type);
  if (!lds::getElementBytes(element) ||
      (vector && (vector.getRank() != 1 || vector.isScalable())) ||
      targetType.getElementType() != element ||
      sourceType.getElementType() != element) {
    refuse(copy, "unsupported-element",
           llvm::formatv("{0} is not a scalar or vector of the elements, of a "
                         "power of two of bytes, of both memrefs",
                         copy.type));
    return false;
  }
  for (const MemRefAccess *access : {&load, &store})
    if (!isa<memref::LoadOp, memref::StoreOp, vector::LoadOp, vector::StoreOp,
             VectorTransferOpInterface>(access->op) ||
        !access->isPlainTransfer()) {
      refuse(copy, "unsupported-access",
             llvm::formatv("'{0}' permutes elements or leaves some out, or "
                           "isn't a load or store",
                           access->op->getName()),
             access->op);
      return false;
    }
  SmallVector<int64_t> strides;
  int64_t offset;
  if (vector && vector.getNumElements() != 1 &&
      (failed(sourceType.getStridesAndOffset(strides, offset)) ||
       strides.empty() || strides.back() != 1)) {
    refuse(copy, "source-layout",
           llvm::formatv("the {0} elements that a lane copies may not be side "
                         "by side in {1}",
                         vector.getNumElements(), sourceType));
    return false;
  }
  return true;
}

/// The copy that ends in `op`, if it is one.
static std::optional<DirectCopy> matchCopy(Operation *op) {
  std::optional<MemRefAccess> store = MemRefAccess::get(op);
  if (!store || !store->stored || isa<memref::AtomicRMWOp>(op) ||
      !isLDS(store->memref))
    return std::nullopt;
  scf::IfOp zeroFill;
  Operation *loadOp = findLoad(store->stored, zeroFill);
  bool isPlain = loadOp;
  if (!isPlain) {
    bool isOnlyUse;
    SmallVector<Operation *> loads = findCopiedLoads(store->stored, isOnlyUse);
    loadOp = loads.empty() ? nullptr : loads.front();
    zeroFill = {};
  }
  std::optional<MemRefAccess> load =
      loadOp ? MemRefAccess::get(loadOp) : std::nullopt;
  if (!load)
    return std::nullopt;

  DirectCopy copy{loadOp,
                  op,
                  load->memref,
                  llvm::to_vector(load->operands),
                  cast<TypedValue<MemRefType>>(store->memref),
                  llvm::to_vector(store->operands),
                  store->type,
                  0,
                  0,
                  zeroFill,
                  {},
                  {},
                  {},
                  std::nullopt};
  if (!isPlain) {
    refuse(
        copy, "value-changed",
        llvm::formatv("what is stored isn't what is loaded, or zeros where "
                      "an 'scf.if' loads nothing, but what '{0}' makes of it",
                      store->stored.getDefiningOp()->getName()));
    return copy;
  }
  if (!checkElements(copy, *load, *store))
    return copy;
  auto vector = dyn_cast<VectorType>(copy.type);
  copy.elementBytes = *lds::getElementBytes(getElementTypeOrSelf(copy.type));
  copy.laneBytes = copy.elementBytes * (vector ? vector.getNumElements() : 1);
  copy.allocations = getLDSRoots(copy.target).value_or(SmallVector<Value>());
  if (!store->stored.hasOneUse() || !loadOp->getResult(0).hasOneUse())
    refuse(copy, "value-used-elsewhere",
           "what is loaded has another use than the store");
  else if (MemRefType targetType = copy.target.getType();
           !lds::getMemRefBytes(targetType) || targetType.getRank() == 0)
    refuse(copy, "target-layout",
           llvm::formatv("{0} has no static shape and identity layout, of a "
                         "dimension at least",
                         targetType));
  else if (copy.sourceIndices.empty())
    refuse(copy, "source-layout", "the source has no dimension");
  else if ((zeroFill ? zeroFill : loadOp)->getBlock() != op->getBlock())
    refuse(copy, "guards-differ",
           "load and store are not in one block, so they may not run for the "
           "same lanes");
  return copy;
}

std::vector<DirectCopy>
lodestone::findDirectCopies(FunctionOpInterface kernel) {
  std::vector<DirectCopy> copies;
  kernel->walk([&](Operation *op) {
    if (std::optional<DirectCopy> copy = matchCopy(op))
      copies.push_back(std::move(*copy));
  });
  return copies;
}

//===----------------------------------------------------------------------===//
// Synchronization
//===----------------------------------------------------------------------===//

static bool mayTouchTarget(const MemoryAccess &access, const DirectCopy &copy) {
  if (copy.allocations.empty())
    return access.anyLDS || !access.ldsRoots.empty();
  return llvm::any_of(copy.allocations,
                      [&](Value root) { return access.mayTouchLDS(root); });
}

namespace {
/// Checks the copies of one kernel. Copies that are refused count as accesses
/// for the others.
class SynchronizationCheck {
public:
  SynchronizationCheck(std::vector<DirectCopy> &copies,
                       FunctionOpInterface kernel)
      : copies(copies), paths(kernel) {}

  void run();

private:
  bool checkAfter(DirectCopy &copy);
  bool checkBefore(DirectCopy &copy);
  bool isPartOfCopy(Operation *op) { return stores.contains(op); }

  std::vector<DirectCopy> &copies;
  BarrierReach paths;
  llvm::DenseSet<Operation *> stores;
};
} // namespace

/// Looks at what comes after the copy, up to the next barrier or commit.
bool SynchronizationCheck::checkAfter(DirectCopy &copy) {
  copy.barriers.clear();
  Operation *commit = nullptr;
  // Between the load and the store, in their block.
  Operation *first = copy.zeroFill ? copy.zeroFill : copy.load;
  for (Operation *op = first; op != copy.store; op = op->getNextNode()) {
    WalkResult walk = op->walk([&](Operation *nested) {
      if (!MemoryAccess::of(nested).writesGlobal)
        return WalkResult::advance();
      refuse(copy, "source-written",
             "the source may be written between the load and the store",
             nested);
      return WalkResult::interrupt();
    });
    if (walk.wasInterrupted())
      return false;
  }

  Operation *touches = nullptr, *writes = nullptr;
  bool reachesEnd =
      paths.walk(copy.store, /*forward=*/true, [&](Operation *op) {
        if (isa<lds::CommitGroupOp>(op)) {
          commit = op;
          return true;
        }
        // The wait for the copy will stand in front of it, so that it need not
        // order LDS by itself. Of one in halves, others may go on before a wait
        // in front of the second half, and a named one isn't for all.
        if (isBarrier(op, BarrierScope::execution)) {
          copy.barriers.push_back(op);
          return true;
        }
        MemoryAccess access = MemoryAccess::of(op);
        if (!isPartOfCopy(op) && mayTouchTarget(access, copy))
          touches = op;
        if (access.writesGlobal)
          writes = op;
        return false;
      });
  if (commit && copy.barriers.empty() && !reachesEnd)
    return true;
  if (commit) {
    refuse(copy, "group-on-some-paths",
           reachesEnd ? "lds.commit_group closes its group on some paths only"
                      : "a barrier comes before lds.commit_group on some paths",
           commit);
    return false;
  }
  // A store of zeros is done before a DMA of an earlier copy to the same bytes.
  // In a group there is none.
  if (!copy.noBuffer.empty()) {
    refuse(copy, "zero-fill-needs-buffer",
           copy.noBuffer + "; in a group, lanes could store zeros instead");
    return false;
  }
  if (reachesEnd) {
    refuse(copy, "no-barrier",
           "no workgroup barrier or lds.commit_group follows on some path");
    return false;
  }
  if (touches) {
    refuse(copy, "accessed-before-barrier",
           "the allocation may be accessed before the next barrier", touches);
    return false;
  }
  if (writes) {
    refuse(copy, "source-written",
           "the source may be written before the next barrier", writes);
    return false;
  }
  return true;
}

/// Looks at what comes before the copy, back to the last barrier: accesses that
/// an earlier write by a DMA could overtake.
bool SynchronizationCheck::checkBefore(DirectCopy &copy) {
  if (copy.barriers.empty())
    return true; // In a group.
  for (Operation *op :
       paths.reach(copy.store, BarrierScope::lds, /*forward=*/false)) {
    if (isPartOfCopy(op) || !mayTouchTarget(MemoryAccess::of(op), copy))
      continue;
    refuse(copy, "accessed-before-copy",
           "the allocation may be accessed between the last barrier and the "
           "copy",
           op);
    return false;
  }
  return true;
}

void SynchronizationCheck::run() {
  // What is refused is an access to what others copy: again until none is.
  for (bool changed = true; changed;) {
    changed = false;
    stores.clear();
    for (const DirectCopy &copy : copies)
      if (!copy.refusal)
        stores.insert(copy.store);
    for (DirectCopy &copy : copies)
      if (!copy.refusal)
        changed |= !checkAfter(copy) || !checkBefore(copy);
  }
}

void lodestone::checkSynchronization(std::vector<DirectCopy> &copies,
                                     FunctionOpInterface kernel) {
  SynchronizationCheck(copies, kernel).run();
}

//===----------------------------------------------------------------------===//
// Offsets
//===----------------------------------------------------------------------===//

std::optional<ThreadForm>
lodestone::evaluateOffset(ThreadValues &values, Value memref,
                          ValueRange indices, Value &unknown,
                          ThreadValues::Iterations iterations) {
  std::optional<ThreadForm> elements =
      getElementOffset(memref, indices, values, iterations, unknown);
  std::optional<uint64_t> bytes =
      lds::getElementBytes(cast<MemRefType>(memref.getType()).getElementType());
  if (!elements || !bytes)
    return std::nullopt;
  ThreadForm offset =
      addScaled(ThreadForm(), *elements, *bytes, values.getNumThreads());
  if (offset.width >= kLDSOffsetBits)
    return offset;
  unknown = indices.empty() ? memref : indices.front();
  return std::nullopt;
}

std::optional<SmallVector<ThreadForm, 1>>
lodestone::evaluateTargetOffsets(ThreadValues &values, const DirectCopy &copy,
                                 Value &unknown) {
  SmallVector<ThreadForm, 1> offsets;
  auto evaluate = [&](ThreadValues::Iterations iterations) {
    std::optional<ThreadForm> offset = evaluateOffset(
        values, copy.target, copy.targetIndices, unknown, iterations);
    if (offset)
      offsets.push_back(std::move(*offset));
    return offset.has_value();
  };
  if (evaluate({}))
    return offsets;
  // What isn't known of all iterations at once may be known of each.
  TileCopy loops;
  for (Operation *parent = copy.store->getParentOp();
       !isa<FunctionOpInterface>(parent); parent = parent->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(parent);
    std::optional<int64_t> trips =
        loop ? ThreadValues::getTripCount(loop) : std::nullopt;
    if (!trips || *trips == 0)
      continue;
    loops.loops.push_back(loop);
    loops.trips.push_back(*trips);
    if (loops.getNumSteps() <= TileCopy::kMaxSteps)
      continue;
    loops.loops.pop_back();
    loops.trips.pop_back();
    break;
  }
  if (loops.loops.empty())
    return std::nullopt;
  for (int64_t step = 0, e = loops.getNumSteps(); step < e; ++step)
    if (!evaluate(loops.getIterations(step)))
      return std::nullopt;
  return offsets;
}

std::optional<LaneConflict>
lodestone::findLaneConflict(const ThreadForm &form, const ThreadValues &values,
                            int64_t bytesPerLane) {
  auto differs = [&](const Lanes &lanes, unsigned thread, unsigned first,
                     int64_t step) {
    uint64_t difference = uint64_t(lanes[thread]) - uint64_t(lanes[first]) -
                          uint64_t(step) * (thread - first);
    return (difference & llvm::maskTrailingOnes<uint64_t>(form.width)) != 0;
  };
  unsigned waveSize = values.getWaveSize();
  for (unsigned thread = 0; thread < values.getNumThreads(); ++thread) {
    unsigned first = thread - thread % waveSize;
    if (differs(form.constant, thread, first, bytesPerLane) ||
        llvm::any_of(form.terms, [&](const ThreadForm::Term &term) {
          return differs(term.coefficient, thread, first, 0);
        }))
      return LaneConflict{thread / waveSize, thread - first,
                          form.constant[first], form.constant[thread]};
  }
  return std::nullopt;
}

unsigned lodestone::getFormAlignment(const ThreadForm &form) {
  uint64_t common = 16;
  auto add = [&](const Lanes &lanes) {
    for (size_t i = 0; i < lanes.getNumEntries(); ++i)
      common = std::gcd(common, uint64_t(lanes[i]));
  };
  add(form.constant);
  for (const ThreadForm::Term &term : form.terms)
    add(term.coefficient);
  return common;
}
