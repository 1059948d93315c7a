//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Finds LDS accesses and LDS-DMAs that the machine code executes in another
/// order than the program.
///
//===----------------------------------------------------------------------===//

#include "WaitCheckFunction.h"

#include "llvm/CodeGen/MachineInstr.h"
#include "llvm/CodeGen/MachineMemOperand.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/AMDGPUAddrSpace.h"

using namespace llvm;
using namespace lodestone;

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
