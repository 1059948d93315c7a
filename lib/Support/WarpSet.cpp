//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Support/WarpSet.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace lodestone;
using llvm::formatv;

llvm::StringRef lodestone::toString(WarpSetRule rule) {
  switch (rule) {
  case WarpSetRule::warpsNotPowerOfTwo:
    return "warps-not-power-of-two";
  case WarpSetRule::tooManyWarps:
    return "too-many-warps";
  case WarpSetRule::empty:
    return "empty";
  case WarpSetRule::beyondWarps:
    return "beyond-warps";
  case WarpSetRule::countNotPowerOfTwo:
    return "count-not-power-of-two";
  case WarpSetRule::notAxisAligned:
    return "not-axis-aligned";
  case WarpSetRule::freeAndAnchorOverlap:
    return "free-and-anchor-overlap";
  }
  llvm_unreachable("every rule has a name");
}

/// The numbers of the set bits, ascending.
static llvm::SmallVector<unsigned> bitsOf(uint64_t mask) {
  llvm::SmallVector<unsigned> bits;
  for (; mask != 0; mask &= mask - 1)
    bits.push_back(llvm::countr_zero(mask));
  return bits;
}

/// The legal mask that differs from `mask` in the fewest warps.
static std::optional<uint32_t> nearestMask(uint32_t mask, uint64_t numWarps) {
  std::optional<uint32_t> best;
  for (const WarpSet &set : legalWarpSets(numWarps)) {
    uint32_t candidate = set.mask();
    if (!best ||
        llvm::popcount(mask ^ candidate) < llvm::popcount(mask ^ *best))
      best = candidate;
  }
  return best;
}

/// Whether a workgroup of this many warps has warp sets at all.
static bool checkNumWarps(uint64_t numWarps, WarpSetError &error) {
  if (!llvm::isPowerOf2_64(numWarps)) {
    error = {WarpSetRule::warpsNotPowerOfTwo,
             formatv("the workgroup has {0} warps, but a copy is divided among "
                     "a power of two of warps",
                     numWarps),
             std::nullopt};
    return false;
  }
  if (numWarps > WarpSet::kMaxWarps) {
    error = {
        WarpSetRule::tooManyWarps,
        formatv("the workgroup has {0} warps, but a mask names at most {1}",
                numWarps, WarpSet::kMaxWarps),
        std::nullopt};
    return false;
  }
  return true;
}

std::optional<WarpSet> WarpSet::fromMask(uint32_t mask, uint64_t numWarps,
                                         WarpSetError &error) {
  if (!checkNumWarps(numWarps, error))
    return std::nullopt;
  auto refuse = [&](WarpSetRule rule, std::string message) {
    error = {rule, std::move(message), nearestMask(mask, numWarps)};
    return std::nullopt;
  };
  if (mask == 0)
    return refuse(WarpSetRule::empty,
                  "hint 0x00 selects no warp, but one at least must move the "
                  "data");
  if (unsigned last = llvm::Log2_32(mask); last >= numWarps)
    return refuse(WarpSetRule::beyondWarps,
                  formatv("hint {0} selects warp {1}, but the workgroup has "
                          "warps 0 to {2} only",
                          formatMask(mask), last, numWarps - 1));
  unsigned count = llvm::popcount(mask);
  if (!llvm::isPowerOf2_32(count))
    return refuse(WarpSetRule::countNotPowerOfTwo,
                  formatv("hint {0} selects {1} warps, but a block is divided "
                          "among a power of two of warps",
                          formatMask(mask), count));

  // The smallest subcube around the set has the bits in which any two warps
  // differ as its free ones. With 2^n warps the set fills it iff they are n.
  uint32_t anchor = llvm::countr_zero(mask), varying = 0;
  llvm::SmallVector<unsigned> warps = bitsOf(mask);
  for (unsigned warp : warps)
    varying |= warp ^ anchor;
  unsigned spanned = llvm::popcount(varying), needed = llvm::Log2_32(count);
  if (spanned != needed)
    return refuse(
        WarpSetRule::notAxisAligned,
        formatv(
            "hint {0} is not axis-aligned: its {1} warps ({2}) differ in "
            "{3} bits of the warp id, but must be all the warps that agree "
            "in the other bits, so differ in exactly {4}",
            formatMask(mask), count,
            llvm::join(llvm::map_range(
                           warps, [](unsigned w) { return std::to_string(w); }),
                       ", "),
            spanned, needed));
  return WarpSet(varying, anchor & ~varying, numWarps);
}

std::optional<WarpSet> WarpSet::fromPair(uint64_t free, uint64_t anchor,
                                         uint64_t numWarps,
                                         WarpSetError &error) {
  if (!checkNumWarps(numWarps, error))
    return std::nullopt;
  if (uint64_t beyond = (free | anchor) & ~(numWarps - 1)) {
    error = {WarpSetRule::beyondWarps,
             formatv("bit {0} is {1}, but the ids of {2} warps have {3} bits",
                     llvm::countr_zero(beyond),
                     free & beyond & -beyond ? "free" : "anchored", numWarps,
                     llvm::Log2_64(numWarps)),
             std::nullopt};
    return std::nullopt;
  }
  if (uint64_t both = free & anchor) {
    error = {WarpSetRule::freeAndAnchorOverlap,
             formatv("bit {0} of the warp id is both free and anchored",
                     llvm::countr_zero(both)),
             std::nullopt};
    return std::nullopt;
  }
  return WarpSet(free, anchor, numWarps);
}

uint32_t WarpSet::mask() const {
  uint32_t result = 0;
  for (unsigned warp = 0; warp < warps; ++warp)
    if (contains(warp))
      result |= 1u << warp;
  return result;
}

llvm::SmallVector<unsigned> WarpSet::active() const { return bitsOf(mask()); }

unsigned WarpSet::partOf(unsigned warp) const {
  unsigned part = 0;
  for (auto [i, bit] : llvm::enumerate(bitsOf(freeBits)))
    part |= (warp >> bit & 1) << i;
  return part;
}

/// "0b011", as wide as the ids of `numWarps` warps.
static std::string formatBits(uint32_t bits, unsigned numWarps) {
  std::string text = "0b";
  for (unsigned i = std::max(1u, llvm::Log2_32(numWarps)); i-- > 0;)
    text += bits >> i & 1 ? '1' : '0';
  return text;
}

std::string WarpSet::pair() const {
  return formatv("free = {0}, anchor = {1}, of = {2}",
                 formatBits(freeBits, warps), formatBits(anchorBits, warps),
                 warps);
}

std::string WarpSet::str() const {
  return formatMask(mask()) + " (" + pair() + ")";
}

std::string WarpSet::formatMask(uint32_t mask) {
  return formatv("{0:x2}", mask);
}

llvm::SmallVector<WarpSet> lodestone::legalWarpSets(uint64_t numWarps) {
  llvm::SmallVector<WarpSet> sets;
  WarpSetError error;
  if (!checkNumWarps(numWarps, error))
    return sets;
  for (uint64_t free = 0; free < numWarps; ++free)
    for (uint64_t anchor = 0; anchor < numWarps; ++anchor)
      if ((free & anchor) == 0)
        sets.push_back(*WarpSet::fromPair(free, anchor, numWarps, error));
  llvm::sort(sets, [](const WarpSet &a, const WarpSet &b) {
    return a.mask() < b.mask();
  });
  return sets;
}
