//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/CopyPhases.h"
#include "lodestone/Analysis/Barriers.h"

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
