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

#include "lodestone/Target/WaitCheck.h"
#include "WaitCheckAddress.h"
#include "WaitCheckFlow.h"
#include "WaitCheckInstr.h"
#include "lodestone/Support/Chip.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineInstr.h"
#include "llvm/CodeGen/MachineMemOperand.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/AMDGPUAddrSpace.h"
#include "llvm/Support/Path.h"

#include <chrono>

using namespace llvm;
using namespace lodestone;

namespace {

/// An instruction that the check looks at, or one line of inline assembly.
struct Step {
  const MachineInstr *instr;
  InstrEffects effects;
  /// Of the DMA or the access.
  Footprint footprint;
};

/// The check of one function.
class FunctionChecker {
public:
  FunctionChecker(const MachineFunction &function, const ChipInfo &chip,
                  WaitCheckReport &report)
      : function(function), chip(chip), report(report),
        instrInfo(*function.getSubtarget().getInstrInfo()),
        addresses(function.getFunction()) {}

  void run();

private:
  void gather();
  void checkDMAs();
  void checkReturn(const Step &step, const OutstandingState &state);
  void checkAccess(const Step &step, const OutstandingState &state);
  void checkOrder();
  void checkRegisters();

  Footprint dmaFootprint(const MachineInstr &instr, const InstrEffects &effects,
                         bool isWrite);
  Footprint accessFootprint(const MachineInstr &instr,
                            const InstrEffects &effects);
  void addPieces(Footprint &footprint, const MachineMemOperand &operand,
                 const ConstantRange &distance, uint64_t size);
  CheckedInstruction describe(const MachineInstr &instr, std::string bytes);
  WaitFinding &addFinding(WaitFindingKind kind, WaitOverlap overlap);

  const MachineFunction &function;
  const ChipInfo &chip;
  WaitCheckReport &report;
  const TargetInstrInfo &instrInfo;
  AddressAnalysis addresses;
  MapVector<const MachineBasicBlock *, std::vector<Step>> steps;
  /// The LDS-DMAs. In a function that is called the first stands for those of
  /// its callers and has no step.
  std::vector<const Step *> dmas;
  bool isCallee = false;
  /// Some LDS-DMA is one that LLVM counts in lgkmcnt (see staleRegister).
  bool hasFlatEncodedDMA = false;
};

} // namespace

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

static std::optional<unsigned> tightestWait(const Outstanding &one) {
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

/// Positions, within their block, of the LDS-DMAs and LDS accesses of the IR by
/// the pointer that they use.
namespace {
struct SourceOrder {
  struct Use {
    const BasicBlock *block;
    unsigned position;
  };
  DenseMap<const Value *, SmallVector<Use, 1>> dmas, accesses;

  explicit SourceOrder(const Function &function) {
    for (const BasicBlock &block : function) {
      unsigned position = 0;
      for (const Instruction &instr : block) {
        ++position;
        if (const auto *call = dyn_cast<IntrinsicInst>(&instr)) {
          // The raw, struct and global forms; dozens of intrinsics.
          bool isDMA =
              call->getCalledFunction()->getName().contains(".load.lds");
          for (const Value *operand : call->args())
            if (operand->getType()->isPointerTy() &&
                operand->getType()->getPointerAddressSpace() ==
                    AMDGPUAS::LOCAL_ADDRESS)
              (isDMA ? dmas : accesses)[operand].push_back({&block, position});
        } else if (const Value *pointer = getLoadStorePointerOperand(&instr)) {
          accesses[pointer].push_back({&block, position});
        }
      }
    }
  }

  /// In the program every use of `dma` as a DMA comes before every access to
  /// `access`, in one block.
  bool dmaComesFirst(const Value *dma, const Value *access) const {
    return allBefore(dmas, dma, accesses, access);
  }

  /// The other way round.
  bool accessComesFirst(const Value *access, const Value *dma) const {
    return allBefore(accesses, access, dmas, dma);
  }

private:
  using Uses = decltype(dmas);

  static bool allBefore(const Uses &these, const Value *first,
                        const Uses &those, const Value *second) {
    auto early = these.find(first), late = those.find(second);
    if (early == these.end() || late == those.end())
      return false;
    for (const Use &one : early->second)
      for (const Use &other : late->second)
        if (one.block != other.block || one.position >= other.position)
          return false;
    return true;
  }
};
} // namespace

static const Value *ldsPointer(const MachineInstr &instr) {
  const Value *pointer = nullptr;
  for (const MachineMemOperand *operand : instr.memoperands()) {
    if (operand->getAddrSpace() != AMDGPUAS::LOCAL_ADDRESS)
      continue;
    if (pointer && operand->getValue() != pointer)
      return nullptr;
    pointer = operand->getValue();
  }
  return pointer;
}

void FunctionChecker::checkOrder() {
  std::optional<SourceOrder> order;
  // `first` comes before `second` in the machine code; report it if that is
  // not so in the program.
  auto check = [&](const Step &first, const Step &second) {
    const Step &dma = first.effects.isDMA ? first : second;
    const Step &access = first.effects.isDMA ? second : first;
    const Value *target = ldsPointer(*dma.instr);
    const Value *source = ldsPointer(*access.instr);
    // An unknown overlap would blame LLVM for what it could prove.
    auto how = overlap(dma.footprint, access.footprint, chip.ldsBytes);
    if (!target || !source || !how || how == WaitOverlap::unknown)
      return;
    if (!order)
      order.emplace(function.getFunction());
    bool movedDown = first.effects.isDMA;
    if (movedDown ? !order->accessComesFirst(source, target)
                  : !order->dmaComesFirst(target, source))
      return;
    WaitFinding &finding = addFinding(WaitFindingKind::reordered, *how);
    finding.accessMovedDown = movedDown;
    finding.access = describe(*access.instr, access.footprint.str());
    finding.dma = describe(*dma.instr, dma.footprint.str());
  };
  for (auto &[block, list] : steps) {
    SmallVector<const Step *> accesses, dmas;
    for (const Step &step : list) {
      if (step.effects.isDMA)
        for (const Step *access : accesses)
          check(*access, step);
      bool isAccess = step.effects.accessesLDS && !step.effects.addressUnknown;
      if (isAccess && !step.effects.isDMA)
        for (const Step *dma : dmas)
          check(*dma, step);
      if (isAccess)
        accesses.push_back(&step);
      if (step.effects.isDMA)
        dmas.push_back(&step);
    }
  }
}

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
