//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Every fact about a GPU that Lodestone relies on, in one table.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_SUPPORT_CHIP_H
#define LODESTONE_SUPPORT_CHIP_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace lodestone {

/// The counter that an LDS-DMA (a copy global -> LDS that bypasses registers)
/// increments, and which a wave waits on before its data is in LDS.
enum class DMACounter {
  /// The chip has no LDS-DMA that Lodestone handles.
  none,
  /// gfx9: `vmcnt`, shared with every other vector-memory access, in order.
  vmcnt,
  /// gfx1250: async loads, in order among themselves.
  asynccnt,
  /// gfx1250: copies by the tensor data mover (TDM).
  tensorcnt
};

/// "vmcnt" and so on.
llvm::StringRef getCounterName(DMACounter counter);

/// Largest wait that means something: the counters have six bits, and 63, all
/// ones, is "don't wait" in gfx9's `s_waitcnt`. LLVM's `si-insert-waitcnts`
/// stops at 62, too.
inline constexpr unsigned kMaxVmcntWait = 62;

/// The largest offset that an LDS-DMA through a buffer, of the chips that count
/// it in `vmcnt`, has in the instruction: twelve bits (CDNA3 and CDNA4
/// ISA, the microcode format MUBUF).
inline constexpr unsigned kMaxDMAOffset = 4095;

struct ChipInfo {
  llvm::StringRef name;
  /// Lanes of a wave (subgroup).
  unsigned waveSize;
  /// LDS bytes that one workgroup can allocate.
  uint64_t ldsBytes;
  /// LDS banks of four bytes.
  unsigned ldsBanks;
  /// That of the LDS-DMAs that lanes issue; the TDM has `tensorcnt`.
  DMACounter dmaCounter;
  /// Bytes that one lane may move with one LDS-DMA.
  llvm::ArrayRef<unsigned> dmaLaneBytes;
  /// The largest number of outstanding vector-memory operations that `vmcnt`
  /// (gfx1250: `loadcnt`) can express.
  unsigned maxVmcnt;
  /// SIMDs of a compute unit and waves that one SIMD holds at most.
  unsigned simdsPerCU;
  unsigned maxWavesPerSIMD;
  /// LLVM's SIInsertWaitcnts tracks LDS-DMA by alias scope here, so scopes
  /// change the waits.
  bool scopesSteerWaits;
  /// Vector registers (of one lane, accumulation registers included) that the
  /// waves of a SIMD share, and how many a wave gets at a time.
  unsigned vgprsPerSIMD;
  unsigned vgprGranule;
  /// With more scalar registers than this only `wavesWithManySGPRs` waves fit
  /// on a SIMD; 0 if they never limit it.
  unsigned sgprsAtFullOccupancy;
  unsigned wavesWithManySGPRs;
  /// Workgroups of more than one wave that a compute unit runs at most (it has
  /// a barrier for each).
  unsigned maxWorkgroupsPerCU;
  /// The largest number of outstanding tensor instructions that `tensorcnt` can
  /// express; 0 for chips without a tensor data mover.
  unsigned maxTensorcnt;
};

/// True if the lanes of an LDS-DMA of `laneBytes` each write LDS side by side,
/// without holes: 12 bytes go to every 16th, and less than 4 to every 4th.
constexpr bool isHoleFreeDMA(unsigned laneBytes) {
  return laneBytes == 4 || laneBytes == 16;
}

/// The facts about `name` ("gfx950"), or null if Lodestone doesn't know it.
const ChipInfo *lookupChip(llvm::StringRef name);

/// The known chips, "gfx942, gfx950, ...", for error messages.
std::string knownChips();

/// What to tell somebody who asked for `name`, which isn't known.
std::string unknownChipMessage(llvm::StringRef name);

} // namespace lodestone

#endif // LODESTONE_SUPPORT_CHIP_H
