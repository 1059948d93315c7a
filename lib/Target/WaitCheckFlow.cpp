//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WaitCheckFlow.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/CodeGen/MachineFunction.h"

#include <algorithm>

using namespace llvm;
using namespace lodestone;

CounterFlow::CounterFlow(const MachineFunction &function, unsigned operations,
                         unsigned maxWait)
    : function(function), maxWait(maxWait), initial(operations),
      blocks(function.getNumBlockIDs()), entries(function.getNumBlockIDs()) {}

std::vector<CounterStep> &CounterFlow::steps(const MachineBasicBlock &block) {
  return blocks[block.getNumber()];
}

void CounterFlow::startWith(unsigned operation) {
  initial[operation].active = true;
}

void CounterFlow::apply(const CounterStep &step,
                        OutstandingState &state) const {
  if (step.completesAll) {
    std::fill(state.begin(), state.end(), Outstanding());
    return;
  }
  if (step.wait) {
    for (Outstanding &one : state) {
      if (!one.active)
        continue;
      if (one.younger >= *step.wait)
        one = Outstanding();
      else
        one.tightestWait = std::min<uint8_t>(one.tightestWait, *step.wait);
    }
  }
  // Beyond the widest wait that can be expressed, more makes no difference.
  if (step.counts)
    for (Outstanding &one : state)
      if (one.active && one.younger < maxWait)
        ++one.younger;
  // An earlier execution of the same operation may still be outstanding, too;
  // it will be done when this one is.
  if (step.issues >= 0) {
    state[step.issues] = Outstanding();
    state[step.issues].active = true;
  }
}

bool CounterFlow::join(OutstandingState &into, const OutstandingState &from) {
  bool changed = false;
  for (size_t i = 0, e = into.size(); i != e; ++i) {
    if (!from[i].active)
      continue;
    if (!into[i].active) {
      into[i] = from[i];
      changed = true;
      continue;
    }
    if (from[i].younger < into[i].younger) {
      into[i].younger = from[i].younger;
      changed = true;
    }
    if (from[i].tightestWait > into[i].tightestWait) {
      into[i].tightestWait = from[i].tightestWait;
      changed = true;
    }
  }
  return changed;
}

void CounterFlow::run() {
  if (function.empty())
    return;
  entries[function.front().getNumber()] = initial;
  ReversePostOrderTraversal<const MachineFunction *> order(&function);
  for (bool changed = true; changed;) {
    changed = false;
    for (const MachineBasicBlock *block : order) {
      if (!entries[block->getNumber()])
        continue;
      OutstandingState state = *entries[block->getNumber()];
      for (const CounterStep &step : blocks[block->getNumber()])
        apply(step, state);
      for (const MachineBasicBlock *next : block->successors()) {
        auto &entry = entries[next->getNumber()];
        if (entry) {
          changed |= join(*entry, state);
        } else {
          entry = state;
          changed = true;
        }
      }
    }
  }
}

void CounterFlow::replay(
    const MachineBasicBlock &block,
    function_ref<void(unsigned, const OutstandingState &)> visit) const {
  if (!entries[block.getNumber()])
    return;
  OutstandingState state = *entries[block.getNumber()];
  const auto &steps = blocks[block.getNumber()];
  for (unsigned i = 0, e = steps.size(); i != e; ++i) {
    visit(i, state);
    apply(steps[i], state);
  }
}
