//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Finds registers that are used before the LDS read that loads them is known
/// to be done.
///
//===----------------------------------------------------------------------===//

#include "WaitCheckFunction.h"

#include "llvm/CodeGen/MachineInstr.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"

using namespace llvm;
using namespace lodestone;

void FunctionChecker::checkRegisters() {
  const TargetRegisterInfo &registers =
      *function.getSubtarget().getRegisterInfo();
  // Every instruction is a step here.
  std::vector<const MachineInstr *> reads;
  DenseMap<const MachineBasicBlock *, std::vector<const MachineInstr *>> users;
  std::vector<std::pair<const MachineBasicBlock *, CounterStep>> all;
  for (const MachineBasicBlock &block : function) {
    for (const MachineInstr &instr : block.instrs()) {
      if (instr.isBundle() || instr.isDebugInstr())
        continue;
      auto effects = classify(instr, instrInfo);
      if (effects.empty())
        effects.push_back({});
      for (const InstrEffects &one : effects) {
        CounterStep step;
        if (one.loadsFromLDS) {
          step.issues = reads.size();
          reads.push_back(&instr);
        }
        step.counts = one.countsLgkmcnt;
        step.wait = one.lgkmcntWait;
        step.completesAll = one.isCall;
        all.push_back({&block, step});
        users[&block].push_back(&instr);
      }
    }
  }
  CounterFlow flow(function, reads.size(), kMaxLgkmcntWait);
  for (auto &[block, step] : all)
    flow.steps(*block).push_back(step);
  flow.run();
  for (const MachineBasicBlock &block : function) {
    const auto &list = users[&block];
    flow.replay(block, [&](unsigned index, const OutstandingState &state) {
      const MachineInstr &user = *list[index];
      for (const MachineOperand &use : user.explicit_operands()) {
        if (!use.isReg() || !use.isUse() || use.isUndef() ||
            !use.getReg().isPhysical())
          continue;
        for (size_t i = 0, e = state.size(); i != e; ++i) {
          if (!state[i].active ||
              !llvm::any_of(reads[i]->defs(), [&](const MachineOperand &def) {
                return registers.regsOverlap(def.getReg(), use.getReg());
              }))
            continue;
          WaitFinding &finding =
              addFinding(WaitFindingKind::staleRegister, WaitOverlap::certain);
          finding.access = describe(user, "");
          finding.dma = describe(*reads[i], "");
          finding.neededWait = state[i].younger;
          finding.actualWait = tightestWait(state[i]);
          return;
        }
      }
    });
  }
}
