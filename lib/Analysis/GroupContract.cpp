//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/GroupContract.h"
#include "lodestone/Analysis/BarrierReach.h"
#include "lodestone/Analysis/LDSPlace.h"
#include "lodestone/Analysis/MemRefAccess.h"
#include "lodestone/Analysis/MemoryAccess.h"
#include "lodestone/Analysis/ThreadArithmetic.h"
#include "lodestone/Analysis/TileCopies.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"

using namespace mlir;
using namespace lodestone;

namespace {

/// The bytes of an object in LDS that each thread touches: as many, from an
/// offset that is the thread's in `begins`, plus `terms`.
struct Footprint {
  Value root;
  int64_t bytes = 0;
  std::vector<int64_t> begins;
  SmallVector<ThreadForm::Term, 1> terms;
  /// The offsets in order, each with its thread; of copies only.
  std::vector<std::pair<int64_t, unsigned>> sorted;
};

/// A thread that touches a byte which another (or the same) thread's lane of a
/// copy writes.
struct Collision {
  unsigned thread;
  unsigned copier;
};

class ContractCheck {
public:
  ContractCheck(FunctionOpInterface kernel, ThreadValues &values)
      : kernel(kernel), values(values), paths(kernel) {}

  /// Checks an access that is reached while `copy` may not be done.
  LogicalResult checkAfter(Operation *access, Operation *copy,
                           CopyPhases::Copy state);
  /// Checks the accesses from which `copy` is reached without a barrier.
  LogicalResult checkBefore(Operation *copy);

  GroupContractCheck result;

private:
  using MaybeFootprint = std::optional<Footprint>;
  MaybeFootprint getFootprint(Value memref, ValueRange indices, Type type,
                              ThreadValues::Iterations iterations);
  MaybeFootprint computeCopied(Operation *copy);
  const MaybeFootprint &getCopied(Operation *copy);
  MaybeFootprint getTouched(Operation *access, Operation *copy, bool isAfter);
  std::optional<Collision> findCollision(Operation *access, Operation *copy,
                                         bool isAfter, bool otherWavesOnly);
  bool isRunByAll(Operation *op) const;
  unsigned waveOf(unsigned thread) const {
    return thread / values.getWaveSize();
  }

  FunctionOpInterface kernel;
  ThreadValues &values;
  BarrierReach paths;
  llvm::DenseMap<Operation *, MaybeFootprint> copied;
};

} // namespace

/// True if all threads of the block run `op` if one does.
bool ContractCheck::isRunByAll(Operation *op) const {
  for (; op->getParentOp() != kernel; op = op->getParentOp())
    if (!op->getParentRegion()->hasOneBlock() ||
        !values.getUniformity().entersUniformly(*op->getParentRegion()))
      return false;
  return kernel->getRegion(0).hasOneBlock();
}

std::optional<Footprint>
ContractCheck::getFootprint(Value memref, ValueRange indices, Type type,
                            ThreadValues::Iterations iterations) {
  if (!isLDS(memref) || !isa<MemRefType>(memref.getType()))
    return std::nullopt;
  LDSPlace place = LDSPlace::of(memref);
  auto vector = dyn_cast<VectorType>(type);
  std::optional<uint64_t> bytes =
      lds::getElementBytes(getElementTypeOrSelf(type));
  std::optional<uint64_t> step =
      lds::getElementBytes(cast<MemRefType>(memref.getType()).getElementType());
  Value unknown;
  if (!place.isObject || !place.bytes || !bytes || !step ||
      (vector && (vector.getRank() > 1 || vector.isScalable())))
    return std::nullopt;
  std::optional<ThreadForm> offset =
      getElementOffset(memref, indices, values, iterations, unknown);
  // LDS addresses have 32 bits.
  if (!offset || offset->width < 32)
    return std::nullopt;
  Footprint result;
  result.root = place.root;
  result.bytes = *bytes * (vector ? vector.getNumElements() : 1);
  ThreadForm inBytes =
      addScaled(ThreadForm(), *offset, *step, values.getNumThreads());
  result.terms = inBytes.terms;
  for (unsigned thread = 0; thread < values.getNumThreads(); ++thread)
    result.begins.push_back(place.bytes->begin + inBytes.constant[thread]);
  return result;
}

/// What `copy` writes; nothing if that isn't known.
std::optional<Footprint> ContractCheck::computeCopied(Operation *copy) {
  if (auto load = dyn_cast<lds::AsyncLoadOp>(copy))
    return getFootprint(load.getTarget(), load.getTargetIndices(),
                        load.getType(), {});
  auto dma = dyn_cast<amdgpu::GatherToLDSOp>(copy);
  if (!dma)
    return std::nullopt;
  std::optional<Footprint> result = getFootprint(
      dma.getDst(), dma.getDstIndices(), dma.getTransferType(), {});
  if (!result)
    return std::nullopt;
  // One address for the wave, that of its first lane; the next lane's bytes are
  // 4 behind it, or 16 for the wider forms (CDNA3 ISA 10.3, CDNA4 ISA 10.3).
  int64_t stride = result->bytes <= 4 ? 4 : 16;
  for (unsigned thread = 0; thread < values.getNumThreads(); ++thread) {
    unsigned lane = thread % values.getWaveSize();
    result->begins[thread] = result->begins[thread - lane] + lane * stride;
  }
  return result;
}

const std::optional<Footprint> &ContractCheck::getCopied(Operation *copy) {
  auto [it, isNew] = copied.try_emplace(copy);
  if (isNew && isRunByAll(copy) && (it->second = computeCopied(copy))) {
    for (auto [thread, begin] : llvm::enumerate(it->second->begins))
      it->second->sorted.emplace_back(begin, thread);
    llvm::sort(it->second->sorted);
  }
  return it->second;
}

/// What `access` touches in the first iteration (the last, if the copy comes
/// after it) of the loops that are around it but not around `copy`.
std::optional<Footprint>
ContractCheck::getTouched(Operation *access, Operation *copy, bool isAfter) {
  if (!isRunByAll(access))
    return std::nullopt;
  std::optional<MemRefAccess> element = MemRefAccess::get(access);
  if (!element || element->mask || !element->isPlainTransfer() ||
      (element->map && !element->map.isIdentity()))
    return std::nullopt;
  SmallVector<ThreadValues::Iteration> iterations;
  for (Operation *parent = access->getParentOp();
       !parent->isProperAncestor(copy); parent = parent->getParentOp())
    if (auto loop = dyn_cast<scf::ForOp>(parent)) {
      std::optional<int64_t> trips = ThreadValues::getTripCount(loop);
      if (!trips || *trips == 0)
        return std::nullopt;
      iterations.push_back({loop, isAfter ? 0 : *trips - 1});
    }
  return getFootprint(element->memref, element->operands, element->type,
                      iterations);
}

/// True if `a` and `b` differ by the same number in each thread, given that
/// `isSame` of their values.
static bool haveSameTerms(const Footprint &a, const Footprint &b,
                          function_ref<bool(Value)> isSame) {
  return a.terms.size() == b.terms.size() &&
         llvm::all_of(a.terms, [&](const ThreadForm::Term &term) {
           return term.coefficient.isUniform() && term.instance == 0 &&
                  isSame(term.value) &&
                  llvm::any_of(b.terms, [&](const ThreadForm::Term &other) {
                    return other.value == term.value && other.instance == 0 &&
                           other.coefficient == term.coefficient;
                  });
         });
}

std::optional<Collision> ContractCheck::findCollision(Operation *access,
                                                      Operation *copy,
                                                      bool isAfter,
                                                      bool otherWavesOnly) {
  const std::optional<Footprint> &written = getCopied(copy);
  std::optional<Footprint> touched;
  if (written)
    touched = getTouched(access, copy, isAfter);
  // In a list of operations, from the one above to the one below, a value stays
  // what it is. Around a loop it may not.
  Operation *neighbor = copy->getBlock()->findAncestorOpInBlock(*access);
  bool isInOrder = neighbor && (isAfter ? copy->isBeforeInBlock(neighbor)
                                        : neighbor->isBeforeInBlock(copy));
  auto isSame = [&](Value value) {
    return isInOrder ||
           value.getParentBlock() == &kernel.getFunctionBody().front();
  };
  if (!touched || (touched->root == written->root &&
                   !haveSameTerms(*touched, *written, isSame))) {
    ++result.unknown;
    return std::nullopt;
  }
  ++result.compared;
  // Regions may overlay each other; that is none of this check's concern.
  if (touched->root != written->root)
    return std::nullopt;
  for (auto [thread, begin] : llvm::enumerate(touched->begins)) {
    // The first that ends behind the thread's first byte, and those that begin
    // in front of its last.
    auto it = llvm::upper_bound(written->sorted,
                                std::pair(begin - written->bytes, ~0u));
    for (; it != written->sorted.end() && it->first < begin + touched->bytes;
         ++it)
      if (!otherWavesOnly || waveOf(thread) != waveOf(it->second))
        return Collision{unsigned(thread), it->second};
  }
  return std::nullopt;
}

LogicalResult ContractCheck::checkAfter(Operation *access, Operation *copy,
                                        CopyPhases::Copy state) {
  bool isRunning = state.phase == CopyPhases::Phase::running;
  std::optional<Collision> collision =
      findCollision(access, copy, /*isAfter=*/true, !isRunning);
  if (!collision)
    return success();
  bool isCertain = !maySynchronize(paths, copy, access);
  InFlightDiagnostic diag = reportAccess(access, isCertain);
  diag << "in thread " << collision->thread
       << (MemRefAccess::get(access)->stored ? " writes" : " reads")
       << " LDS that a copy of wave " << waveOf(collision->copier)
       << " writes, but can be reached without ";
  if (!isRunning)
    diag << "a barrier after the wait for it";
  else if (state.younger == CopyPhases::kOpen)
    diag << "an lds.commit_group and an lds.wait_group for it";
  else
    diag << "an lds.wait_group for its group";
  diag.attachNote(copy->getLoc()) << "the copy is here";
  return success(!isCertain);
}

LogicalResult ContractCheck::checkBefore(Operation *copy) {
  LogicalResult checked = success();
  paths.walk(copy, /*forward=*/false, [&](Operation *op) {
    if (failed(checked) || waitsAtBarrier(op))
      return true;
    std::optional<MemRefAccess> access = MemRefAccess::get(op);
    std::optional<Collision> collision;
    if (access && isLDS(access->memref))
      collision =
          findCollision(op, copy, /*isAfter=*/false, /*otherWavesOnly=*/true);
    if (!collision)
      return maySynchronizeOtherwise(op);
    bool isCertain = !maySynchronize(paths, op, copy);
    InFlightDiagnostic diag = reportAccess(copy, isCertain);
    diag << "of wave " << waveOf(collision->copier)
         << " writes LDS that thread " << collision->thread
         << (access->stored ? " writes" : " reads")
         << ", but can be reached from there without a barrier";
    diag.attachNote(op->getLoc()) << "the access is here";
    checked = success(!isCertain);
    return true;
  });
  return checked;
}

FailureOr<GroupContractCheck>
lodestone::checkGroupContract(FunctionOpInterface kernel,
                              const AsyncGroups &groups, ThreadValues &values) {
  ContractCheck check(kernel, values);
  bool hasFailed = false;
  for (const auto &[access, copies] : groups.accesses)
    for (const auto &[copy, state] : copies)
      if (failed(check.checkAfter(access, copy, state))) {
        hasFailed = true;
        break;
      }
  kernel->walk([&](Operation *op) {
    if (isa<amdgpu::GatherToLDSOp, lds::AsyncLoadOp>(op))
      hasFailed |= failed(check.checkBefore(op));
  });
  if (hasFailed)
    return failure();
  return check.result;
}
