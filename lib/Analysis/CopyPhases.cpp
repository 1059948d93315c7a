//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/CopyPhases.h"
#include "lodestone/Analysis/Barriers.h"
#include "lodestone/Dialect/LDS/IR/LDSDialect.h"
#include "lodestone/Dialect/TDM/IR/TDMDialect.h"

#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace lodestone;

void CopyPhases::closeGroup(int most) {
  for (auto &[op, copy] : copies)
    copy.younger = std::min(copy.younger + 1, most);
}

void CopyPhases::wait(int inFlight) {
  for (auto &[op, copy] : copies)
    if (copy.phase == Phase::running && copy.younger >= inFlight)
      copy.phase = Phase::waited;
}

void CopyPhases::waitFor(function_ref<bool(Operation *)> isWaitedFor) {
  for (auto &[op, copy] : copies)
    if (copy.phase == Phase::running && isWaitedFor(op))
      copy.phase = Phase::waited;
}

void CopyPhases::dropWaited() {
  copies.remove_if(
      [](auto &entry) { return entry.second.phase != Phase::running; });
}

void CopyPhases::meetAt(Operation *op) {
  if (arrivesAtBarrier(op))
    for (auto &[other, copy] : copies)
      if (copy.phase == Phase::waited)
        copy.phase = Phase::signalled;
  if (waitsAtBarrier(op))
    copies.remove_if(
        [](auto &entry) { return entry.second.phase == Phase::signalled; });
}

bool CopyPhases::join(const CopyPhases &other) {
  bool hasChanged = false;
  for (const auto &[op, theirs] : other.copies) {
    auto [it, isNew] = copies.try_emplace(op, theirs);
    Copy joined{std::min(it->second.phase, theirs.phase),
                std::min(it->second.younger, theirs.younger)};
    hasChanged |= isNew || !(joined == it->second);
    it->second = joined;
  }
  return hasChanged;
}

bool lodestone::maySynchronize(const BarrierReach &paths, Operation *first,
                               Operation *last) {
  auto isUnconditional = [&](Operation *op) {
    return op->getBlock()->findAncestorOpInBlock(*first) ||
           op->getBlock()->findAncestorOpInBlock(*last);
  };
  auto isInLoop = [&](Operation *op) {
    for (; !isUnconditional(op); op = op->getParentOp())
      if (isa<LoopLikeOpInterface>(op->getParentOp()))
        return true;
    return false;
  };
  bool synchronizes = false, inLoop = false;
  // Else no condition goes with that of what synchronizes.
  bool copiesUnderCondition = !first->getBlock()->findAncestorOpInBlock(*last);
  paths.walk(first, /*forward=*/true, [&](Operation *op) {
    bool isWait = isa<lds::WaitGroupOp, tdm::WaitOp>(op) ||
                  arrivesAtBarrier(op) || waitsAtBarrier(op);
    bool isCopy = isa<lds::CommitGroupOp, lds::AsyncCopyOpInterface>(op);
    if ((isWait || isCopy) && !isUnconditional(op)) {
      synchronizes |= isWait;
      copiesUnderCondition |= isCopy;
      inLoop |= isInLoop(op);
    }
    return op == last;
  });
  return inLoop || (synchronizes && copiesUnderCondition);
}

InFlightDiagnostic lodestone::reportAccess(Operation *op, bool isCertain) {
  InFlightDiagnostic diag = isCertain ? op->emitError() : op->emitWarning();
  diag << "'" << op->getName() << "' op ";
  return diag;
}
