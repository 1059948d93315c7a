//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DMAAddress.h"

#include "lodestone/Analysis/ThreadArithmetic.h"

using namespace mlir;
using namespace lodestone;

/// `form` as lanes have it who bring the `part`-th unit of the wave's bytes, of
/// which each thread's cell has `perCell`.
static ThreadForm relane(const ThreadForm &form, unsigned perCell,
                         unsigned part, unsigned unitBytes,
                         const ThreadValues &values) {
  unsigned waveSize = values.getWaveSize();
  auto permute = [&](const Lanes &lanes, unsigned unitBytes) {
    SmallVector<int64_t, 1> result;
    for (unsigned thread = 0; thread < values.getNumThreads(); ++thread) {
      unsigned lane = thread % waveSize;
      unsigned unit = lane + part * waveSize;
      result.push_back(lanes[thread - lane + unit / perCell] +
                       unit % perCell * unitBytes);
    }
    return Lanes(std::move(result));
  };
  ThreadForm result{form.width, permute(form.constant, unitBytes), {}};
  for (const ThreadForm::Term &term : form.terms)
    result.terms.push_back(
        {term.value, term.instance, permute(term.coefficient, 0)});
  return result;
}

std::optional<DMAAddress> DMAAddress::get(const DirectCopy &copy,
                                          unsigned perCell, unsigned part,
                                          ThreadValues &values) {
  Value unknown;
  std::optional<ThreadForm> source =
      evaluateOffset(values, copy.source, copy.sourceIndices, unknown);
  std::optional<ThreadForm> target =
      evaluateOffset(values, copy.target, copy.targetIndices, unknown);
  if (!source || !target)
    return std::nullopt;
  if (perCell == 1)
    return DMAAddress{*source, *target};
  unsigned unitBytes = copy.laneBytes / perCell;
  return DMAAddress{relane(*source, perCell, part, unitBytes, values),
                    relane(*target, perCell, part, unitBytes, values)};
}

std::optional<int64_t> DMAAddress::getDistanceFrom(const DMAAddress &other,
                                                   unsigned numThreads) const {
  auto getDistance = [&](const ThreadForm &to,
                         const ThreadForm &from) -> std::optional<int64_t> {
    ThreadForm distance = addScaled(to, from, -1, numThreads);
    if (!distance.isConstant() || !distance.constant.isUniform())
      return std::nullopt;
    return distance.constant[0];
  };
  std::optional<int64_t> bytes = getDistance(source, other.source);
  return bytes && bytes == getDistance(target, other.target) ? bytes
                                                             : std::nullopt;
}
