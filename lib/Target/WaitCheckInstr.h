//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What each AMDGPU machine instruction does to LDS and to the counters, as far
/// as the wait checker cares. LLVM keeps its opcode enums and flags to itself,
/// so instructions are told apart by name; this file is the only one that does.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_LIB_TARGET_WAITCHECKINSTR_H
#define LODESTONE_LIB_TARGET_WAITCHECKINSTR_H

#include "lodestone/Support/Chip.h"

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace llvm {
class MachineInstr;
class TargetInstrInfo;
} // namespace llvm

namespace lodestone {

/// As kMaxVmcntWait, for four bits.
inline constexpr unsigned kMaxLgkmcntWait = 14;

/// The effects of one instruction. In doubt each field errs on the safe side:
/// an access that may happen counts, an increment that may not happen doesn't.
struct InstrEffects {
  /// LDS-DMA counted in vmcnt: each lane writes `laneBytes` at a stride of
  /// `laneStride` from the address in M0 plus `immediate`.
  bool isDMA = false;
  /// A transfer to LDS that other counters track (gfx12); not checked.
  bool isForeignDMA = false;
  /// LDS -> memory through M0, laid out like a DMA.
  bool isDMARead = false;
  unsigned laneBytes = 0;
  unsigned laneStride = 0;
  /// The instruction's own offset, which the hardware adds to the LDS address
  /// and which is not in the memory operand. Nothing if it can't be read.
  std::optional<uint32_t> immediate;
  /// Reads or writes LDS (a DMA's own write aside).
  bool accessesLDS = false;
  /// The addresses are not in memory operands (inline asm, M0-relative).
  bool addressUnknown = false;
  /// FLAT: goes to LDS only if the address says so.
  bool isFlat = false;
  /// Surely increments vmcnt, and completes in order with its kind.
  bool countsVmcnt = false;
  /// Surely increments lgkmcnt, and completes in order with LDS accesses.
  bool countsLgkmcnt = false;
  /// Loads registers that are ready when lgkmcnt says so.
  bool loadsFromLDS = false;
  /// s_waitcnt: waits until at most this many are outstanding. Nothing if it
  /// doesn't wait.
  std::optional<unsigned> vmcntWait;
  std::optional<unsigned> lgkmcntWait;
  bool isCall = false;
  bool isReturn = false;

  bool touchesLDS() const { return accessesLDS || isFlat || isDMARead; }
};

/// The effects of `instr`, which is not a bundle header: one element, or for
/// inline assembly one for each of its lines, in order.
llvm::SmallVector<InstrEffects, 1> classify(const llvm::MachineInstr &instr,
                                            const llvm::TargetInstrInfo &info);

} // namespace lodestone

#endif // LODESTONE_LIB_TARGET_WAITCHECKINSTR_H
