//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BarrierGuard.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineInstrBuilder.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/InlineAsm.h"

using namespace llvm;

/// The text of a guard; its address tells one from what users wrote.
static constexpr char kGuard[] = "";

static const char *getAsmText(const MachineInstr &instr) {
  if (!instr.isInlineAsm())
    return nullptr;
  const MachineOperand &text = instr.getOperand(InlineAsm::MIOp_AsmString);
  return text.isSymbol() ? text.getSymbolName() : nullptr;
}

/// True for a barrier of any kind, or a part of one, that doesn't keep loads
/// where they are.
static bool needsGuard(const MachineInstr &instr, const TargetInstrInfo &info) {
  if (instr.mayStore())
    return false;
  if (const char *text = getAsmText(instr))
    return StringRef(text).contains_insensitive("s_barrier");
  return info.getName(instr.getOpcode()).starts_with("S_BARRIER");
}

namespace {
struct AddBarrierGuards final : MachineFunctionPass {
  AddBarrierGuards() : MachineFunctionPass(ID) {}

  StringRef getPassName() const override {
    return "Lodestone barrier guards for machine-sink";
  }
  void getAnalysisUsage(AnalysisUsage &usage) const override {
    usage.setPreservesCFG();
    MachineFunctionPass::getAnalysisUsage(usage);
  }
  bool runOnMachineFunction(MachineFunction &function) override {
    const TargetInstrInfo &info = *function.getSubtarget().getInstrInfo();
    bool changed = false;
    for (MachineBasicBlock &block : function)
      for (MachineInstr &instr : block) {
        if (!needsGuard(instr, info))
          continue;
        BuildMI(block, instr, instr.getDebugLoc(),
                info.get(TargetOpcode::INLINEASM))
            .addExternalSymbol(kGuard)
            .addImm(InlineAsm::Extra_HasSideEffects |
                    InlineAsm::Extra_MayStore);
        changed = true;
      }
    return changed;
  }

  static char ID;
};
char AddBarrierGuards::ID = 0;

struct RemoveBarrierGuards final : MachineFunctionPass {
  RemoveBarrierGuards() : MachineFunctionPass(ID) {}

  StringRef getPassName() const override {
    return "Lodestone barrier guards removed";
  }
  void getAnalysisUsage(AnalysisUsage &usage) const override {
    usage.setPreservesCFG();
    MachineFunctionPass::getAnalysisUsage(usage);
  }
  bool runOnMachineFunction(MachineFunction &function) override {
    bool changed = false;
    for (MachineBasicBlock &block : function)
      for (MachineInstr &instr : make_early_inc_range(block))
        if (getAsmText(instr) == kGuard) {
          instr.eraseFromParent();
          changed = true;
        }
    return changed;
  }

  static char ID;
};
char RemoveBarrierGuards::ID = 0;
} // namespace

void lodestone::addBarrierGuards(TargetPassConfig &config) {
  // Without optimizations machine-sink doesn't run, and nothing would remove
  // the guards. With them, the passes named here run once each.
  if (config.getOptLevel() == CodeGenOptLevel::None)
    return;
  config.insertPass(&LocalStackSlotAllocationID, new AddBarrierGuards);
  config.insertPass(&MachineSinkingLegacyID, new RemoveBarrierGuards);
}
