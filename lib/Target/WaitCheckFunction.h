//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The check of one machine function: what its parts share.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_LIB_TARGET_WAITCHECKFUNCTION_H
#define LODESTONE_LIB_TARGET_WAITCHECKFUNCTION_H

#include "WaitCheckAddress.h"
#include "WaitCheckFlow.h"
#include "WaitCheckInstr.h"
#include "lodestone/Support/Chip.h"
#include "lodestone/Target/WaitCheck.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"

namespace lodestone {

/// An instruction that the check looks at, or one line of inline assembly.
struct Step {
  const llvm::MachineInstr *instr;
  InstrEffects effects;
  /// Of the DMA or the access.
  Footprint footprint;
};

/// The check of one function.
class FunctionChecker {
public:
  FunctionChecker(const llvm::MachineFunction &function, const ChipInfo &chip,
                  WaitCheckReport &report)
      : function(function), chip(chip), report(report),
        instrInfo(*function.getSubtarget().getInstrInfo()),
        addresses(function.getFunction()) {}

  void run();

private:
  void gather();
  /// Missing waits for LDS-DMAs.
  void checkDMAs();
  void checkReturn(const Step &step, const OutstandingState &state);
  void checkAccess(const Step &step, const OutstandingState &state);
  /// Accesses and LDS-DMAs that changed places (WaitCheckOrder.cpp).
  void checkOrder();
  /// Registers used before the LDS read that loads them is done
  /// (WaitCheckRegisters.cpp).
  void checkRegisters();

  Footprint dmaFootprint(const llvm::MachineInstr &instr,
                         const InstrEffects &effects, bool isWrite);
  Footprint accessFootprint(const llvm::MachineInstr &instr,
                            const InstrEffects &effects);
  void addPieces(Footprint &footprint, const llvm::MachineMemOperand &operand,
                 const llvm::ConstantRange &distance, uint64_t size);
  CheckedInstruction describe(const llvm::MachineInstr &instr,
                              std::string bytes);
  WaitFinding &addFinding(WaitFindingKind kind, WaitOverlap overlap);

  const llvm::MachineFunction &function;
  const ChipInfo &chip;
  WaitCheckReport &report;
  const llvm::TargetInstrInfo &instrInfo;
  AddressAnalysis addresses;
  llvm::MapVector<const llvm::MachineBasicBlock *, std::vector<Step>> steps;
  /// The LDS-DMAs. In a function that is called the first stands for those of
  /// its callers and has no step.
  std::vector<const Step *> dmas;
  bool isCallee = false;
  /// Some LDS-DMA is one that LLVM counts in lgkmcnt (see staleRegister).
  bool hasFlatEncodedDMA = false;
};

/// The tightest wait on the way from the DMA or read to here, for a finding.
std::optional<unsigned> tightestWait(const Outstanding &one);

} // namespace lodestone

#endif // LODESTONE_LIB_TARGET_WAITCHECKFUNCTION_H
