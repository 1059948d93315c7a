//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Support/Chip.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace lodestone;

static constexpr unsigned kDMA4[] = {4};
static constexpr unsigned kDMA4To16[] = {4, 12, 16};
static constexpr unsigned kAsync[] = {1, 4, 8, 16};

// Sources: AMD "CDNA3 ISA" and "CDNA4 ISA" 4.4 (counters), 9.1.9 and 10.3
// (LDS-DMA), 11 (LDS); "CDNA5 ISA" 5.7.1, 10.8, 11. The CDNA2 "MI200 ISA" for
// gfx90a.
static const ChipInfo kChips[] = {
    {"gfx90a", 64, 64 << 10, 32, DMACounter::vmcnt, kDMA4, 63, 4, 8, true, 512,
     8, 100, 7, 16, 0},
    {"gfx942", 64, 64 << 10, 32, DMACounter::vmcnt, kDMA4, 63, 4, 8, true, 512,
     8, 100, 7, 16, 0},
    {"gfx950", 64, 160 << 10, 64, DMACounter::vmcnt, kDMA4To16, 63, 4, 8, true,
     512, 8, 100, 7, 16, 0},
    {"gfx1250", 32, 320 << 10, 64, DMACounter::asynccnt, kAsync, 63, 4, 16,
     false, 1024, 16, 0, 0, 16, 63},
};

llvm::StringRef lodestone::getCounterName(DMACounter counter) {
  switch (counter) {
  case DMACounter::none:
    return "none";
  case DMACounter::vmcnt:
    return "vmcnt";
  case DMACounter::asynccnt:
    return "asynccnt";
  case DMACounter::tensorcnt:
    return "tensorcnt";
  }
  llvm_unreachable("all counters are covered");
}

const ChipInfo *lodestone::lookupChip(llvm::StringRef name) {
  const auto *it = llvm::find_if(
      kChips, [&](const ChipInfo &chip) { return chip.name == name; });
  return it == std::end(kChips) ? nullptr : it;
}

std::string lodestone::knownChips() {
  return llvm::join(
      llvm::map_range(kChips, [](const ChipInfo &c) { return c.name; }), ", ");
}

std::string lodestone::unknownChipMessage(llvm::StringRef name) {
  return ("unknown chip '" + name + "'; known chips are " + knownChips()).str();
}
