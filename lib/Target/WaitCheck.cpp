//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The machine pass that checks one function after another: gathers the
/// instructions that matter, runs the data flow, compares footprints.
///
//===----------------------------------------------------------------------===//

#include "WaitCheckFunction.h"

#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineInstr.h"
#include "llvm/CodeGen/MachineMemOperand.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/Support/AMDGPUAddrSpace.h"
#include "llvm/Support/Path.h"

#include <chrono>

using namespace llvm;
using namespace lodestone;

void FunctionChecker::addPieces(Footprint &footprint,
                                const MachineMemOperand &operand,
                                const ConstantRange &distance, uint64_t size) {
  const Value *value = operand.getValue();
  if (!value) {
    footprint.pieces.push_back({Address(), size});
    return;
  }
  APInt offset(64, operand.getOffset(), /*isSigned=*/true);
  for (Address address : addresses.evaluate(value)) {
    if (address.base == Address::elsewhere)
      continue;
    address.offset =
        address.offset.add(ConstantRange(offset.trunc(32))).add(distance);
    footprint.pieces.push_back({address, size});
  }
}

Footprint FunctionChecker::dmaFootprint(const MachineInstr &instr,
                                        const InstrEffects &effects,
                                        bool isWrite) {
  if (effects.addressUnknown || !effects.immediate)
    return Footprint::anywhere();
  // The memory operand has the address of lane 0, and one lane's size at best.
  uint64_t size =
      uint64_t(chip.waveSize - 1) * effects.laneStride + effects.laneBytes;
  ConstantRange immediate(APInt(32, *effects.immediate));
  Footprint footprint;
  for (const MachineMemOperand *operand : instr.memoperands())
    if (operand->getAddrSpace() == AMDGPUAS::LOCAL_ADDRESS &&
        (isWrite ? operand->isStore() : operand->isLoad()))
      addPieces(footprint, *operand, immediate, size);
  // It does go to LDS, whatever the operands say.
  return footprint.pieces.empty() ? Footprint::anywhere() : footprint;
}

Footprint FunctionChecker::accessFootprint(const MachineInstr &instr,
                                           const InstrEffects &effects) {
  if (effects.isDMARead)
    return dmaFootprint(instr, effects, /*isWrite=*/false);
  if (effects.addressUnknown || instr.memoperands_empty())
    return Footprint::anywhere();
  Footprint footprint;
  bool found = false;
  for (const MachineMemOperand *operand : instr.memoperands()) {
    unsigned space = operand->getAddrSpace();
    if (space != AMDGPUAS::LOCAL_ADDRESS && space != AMDGPUAS::FLAT_ADDRESS)
      continue;
    found = true;
    LocationSize size = operand->getSize();
    // Size 0 stands for "not known" when footprints are compared.
    addPieces(footprint, *operand, ConstantRange(APInt(32, 0)),
              size.hasValue() && !size.isScalable()
                  ? size.getValue().getFixedValue()
                  : 0);
  }
  if (effects.accessesLDS && (!found || footprint.pieces.empty()))
    return Footprint::anywhere();
  return footprint;
}

static bool isEntry(CallingConv::ID convention) {
  switch (convention) {
  case CallingConv::AMDGPU_KERNEL:
  case CallingConv::SPIR_KERNEL:
  case CallingConv::AMDGPU_CS:
  case CallingConv::AMDGPU_ES:
  case CallingConv::AMDGPU_GS:
  case CallingConv::AMDGPU_HS:
  case CallingConv::AMDGPU_LS:
  case CallingConv::AMDGPU_PS:
  case CallingConv::AMDGPU_VS:
    return true;
  default:
    return false;
  }
}

void FunctionChecker::gather() {
  isCallee = !isEntry(function.getFunction().getCallingConv());
  for (const MachineBasicBlock &block : function) {
    auto &list = steps[&block];
    for (const MachineInstr &instr : block.instrs()) {
      if (instr.isBundle())
        continue;
      for (const InstrEffects &effects : classify(instr, instrInfo)) {
        if (effects.isForeignDMA &&
            (report.unsupported.empty() ||
             report.unsupported.back() != function.getName()))
          report.unsupported.push_back(function.getName().str());
        if (!effects.isDMA && !effects.touchesLDS() && !effects.countsVmcnt &&
            !effects.vmcntWait && !effects.isCall && !effects.isReturn)
          continue;
        Step step = {&instr, effects, {}};
        if (effects.isDMA) {
          ++report.dmas;
          hasFlatEncodedDMA |=
              !instr.isInlineAsm() &&
              !instrInfo.getName(instr.getOpcode()).starts_with("BUFFER_");
        }
        list.push_back(std::move(step));
      }
    }
  }
  if (isCallee)
    dmas.push_back(nullptr);
  for (auto &[block, list] : steps)
    for (Step &step : list)
      if (step.effects.isDMA)
        dmas.push_back(&step);
}

void FunctionChecker::run() {
  gather();
  ++report.functions;
  // Nothing outstanding, nothing to race with; most functions end here. A
  // callee's entry is its business only if it touches LDS at all.
  bool touches = llvm::any_of(steps, [](const auto &entry) {
    return llvm::any_of(entry.second, [](const Step &step) {
      return step.effects.touchesLDS() || step.effects.isReturn;
    });
  });
  if (dmas.empty() || !touches)
    return;
  for (auto &[block, list] : steps) {
    for (Step &step : list) {
      if (step.effects.isDMA)
        step.footprint = dmaFootprint(*step.instr, step.effects, true);
      else if (step.effects.touchesLDS())
        step.footprint = accessFootprint(*step.instr, step.effects);
      report.accesses += step.effects.touchesLDS();
    }
  }
  checkDMAs();
  checkOrder();
  if (hasFlatEncodedDMA)
    checkRegisters();
}

void FunctionChecker::checkDMAs() {
  CounterFlow flow(function, dmas.size(), kMaxVmcntWait);
  int next = 0;
  if (isCallee)
    flow.startWith(next++);
  for (auto &[block, list] : steps) {
    for (const Step &step : list) {
      CounterStep counter;
      if (step.effects.isDMA)
        counter.issues = next++;
      counter.counts = step.effects.countsVmcnt;
      counter.wait = step.effects.vmcntWait;
      // Memory that inline assembly touches between two waits of its own is in
      // steps of its own.
      counter.completesAll = step.effects.isCall && !step.effects.isReturn;
      flow.steps(*block).push_back(counter);
    }
  }
  flow.run();
  for (auto &[block, list] : steps) {
    flow.replay(*block, [&, &list = list](unsigned index,
                                          const OutstandingState &state) {
      const Step &step = list[index];
      if (step.effects.isReturn && !step.effects.isCall)
        checkReturn(step, state);
      else if (step.effects.touchesLDS())
        checkAccess(step, state);
    });
  }
}

std::optional<unsigned> lodestone::tightestWait(const Outstanding &one) {
  if (one.tightestWait == Outstanding::kNoWait)
    return std::nullopt;
  return one.tightestWait;
}

void FunctionChecker::checkReturn(const Step &step,
                                  const OutstandingState &state) {
  // The caller's own DMAs (the first) were outstanding at the call; a callee
  // that touches no LDS need not have waited for them, but LLVM relies on it.
  for (size_t i = 0, e = state.size(); i != e; ++i) {
    if (!state[i].active)
      continue;
    WaitFinding &finding =
        addFinding(WaitFindingKind::outstandingAtReturn, WaitOverlap::unknown);
    finding.access = describe(*step.instr, "");
    if (dmas[i])
      finding.dma = describe(*dmas[i]->instr, dmas[i]->footprint.str());
    finding.actualWait = tightestWait(state[i]);
    return;
  }
}

void FunctionChecker::checkAccess(const Step &step,
                                  const OutstandingState &state) {
  // One finding for an access: about the DMA that overlaps most surely, asking
  // for the wait that completes all that overlap.
  std::optional<size_t> worst;
  WaitOverlap worstOverlap = WaitOverlap::unknown;
  unsigned needed = kMaxVmcntWait, others = 0;
  for (size_t i = 0, e = state.size(); i != e; ++i) {
    if (!state[i].active)
      continue;
    std::optional<WaitOverlap> how =
        overlap(dmas[i] ? dmas[i]->footprint : Footprint::anywhere(),
                step.footprint, chip.ldsBytes);
    if (!how)
      continue;
    needed = std::min<unsigned>(needed, state[i].younger);
    others += worst.has_value();
    if (!worst || *how < worstOverlap) {
      worst = i;
      worstOverlap = *how;
    }
  }
  if (!worst)
    return;
  WaitFinding &finding = addFinding(WaitFindingKind::missingWait, worstOverlap);
  finding.access = describe(*step.instr, step.footprint.str());
  if (const Step *dma = dmas[*worst])
    finding.dma = describe(*dma->instr, dma->footprint.str());
  finding.otherDMAs = others;
  finding.neededWait = needed;
  finding.actualWait = tightestWait(state[*worst]);
}

WaitFinding &FunctionChecker::addFinding(WaitFindingKind kind,
                                         WaitOverlap overlap) {
  WaitFinding &finding = report.findings.emplace_back();
  finding.kind = kind;
  finding.overlap = overlap;
  finding.function = function.getName().str();
  return finding;
}

CheckedInstruction FunctionChecker::describe(const MachineInstr &instr,
                                             std::string bytes) {
  CheckedInstruction result;
  result.bytes = std::move(bytes);
  result.block = ("bb." + Twine(instr.getParent()->getNumber())).str();
  raw_string_ostream os(result.text);
  instr.print(os, /*IsStandalone=*/true, /*SkipOpers=*/false,
              /*SkipDebugLoc=*/true, /*AddNewLine=*/false, &instrInfo);
  // Liveness flags, implicit operands and memory operands hide what matters.
  StringRef text = StringRef(result.text).split(" :: ").first;
  text = text.split(", implicit").first;
  std::string shorter;
  SmallVector<StringRef> words;
  text.split(words, ' ');
  for (StringRef word : words)
    if (word != "renamable" && word != "killed" && word != "dead" &&
        word != "nuw" && word != "nsw")
      shorter += (shorter.empty() ? "" : " ") + word.str();
  result.text = std::move(shorter);
  if (const DILocation *location = instr.getDebugLoc().get()) {
    SmallString<128> path(location->getFilename());
    if (!sys::path::is_absolute(path) && !location->getDirectory().empty()) {
      path = location->getDirectory();
      sys::path::append(path, location->getFilename());
    }
    result.location = {path.str().str(), location->getLine(),
                       location->getColumn()};
  }
  return result;
}

namespace {
class WaitCheckPass final : public MachineFunctionPass {
public:
  static char ID;
  explicit WaitCheckPass(WaitCheckReport &report)
      : MachineFunctionPass(ID), report(report) {}

  StringRef getPassName() const override { return "Lodestone wait checker"; }

  void getAnalysisUsage(AnalysisUsage &usage) const override {
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }

  bool runOnMachineFunction(MachineFunction &function) override;

private:
  WaitCheckReport &report;
};
char WaitCheckPass::ID = 0;
} // namespace

bool WaitCheckPass::runOnMachineFunction(MachineFunction &function) {
  auto start = std::chrono::steady_clock::now();
  const ChipInfo *chip = lookupChip(function.getSubtarget().getCPU());
  // Without vmcnt nothing here says anything about a DMA.
  if (!chip || chip->dmaCounter != DMACounter::vmcnt) {
    const TargetInstrInfo &info = *function.getSubtarget().getInstrInfo();
    bool usesDMA = false;
    for (const MachineBasicBlock &block : function)
      for (const MachineInstr &instr : block.instrs())
        for (const InstrEffects &effects : classify(instr, info))
          usesDMA |= effects.isDMA || effects.isForeignDMA;
    ++report.functions;
    if (usesDMA)
      report.unsupported.push_back(function.getName().str());
  } else {
    FunctionChecker(function, *chip, report).run();
  }
  report.seconds +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  return false;
}

MachineFunctionPass *lodestone::createWaitCheckPass(WaitCheckReport &report) {
  return new WaitCheckPass(report);
}
