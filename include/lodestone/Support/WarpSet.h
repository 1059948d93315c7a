//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Which warps of a workgroup move the data of a TDM copy.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_SUPPORT_WARPSET_H
#define LODESTONE_SUPPORT_WARPSET_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/bit.h"

#include <cstdint>
#include <optional>
#include <string>

namespace lodestone {

/// The rules of a warp set, in the order in which they are checked.
enum class WarpSetRule {
  warpsNotPowerOfTwo,
  tooManyWarps,
  empty,
  beyondWarps,
  countNotPowerOfTwo,
  notAxisAligned,
  /// A bit of the warp id is both free and anchored (pairs only).
  freeAndAnchorOverlap
};

/// The rule's stable name, in kebab-case.
llvm::StringRef toString(WarpSetRule rule);

/// Why a set is not legal.
struct WarpSetError {
  WarpSetRule rule;
  /// The rule and the values, in one plain sentence.
  std::string message;
  /// The legal mask that differs in the fewest warps, the smallest of several;
  /// nothing if there is no legal mask for this number of warps.
  std::optional<uint32_t> nearest;
};

/// A legal warp hint: an axis-aligned subcube of the warp ids. There are two
/// masks `free` and `anchor` of warp-id bits, without a common bit, and the
/// active warps are exactly { anchor | s : s is a subset of free's bits }.
///
/// So one test tells an active warp, and the free bits of its id, lowest first,
/// number the parts of the block.
class WarpSet {
public:
  /// The bits of a mask, and the waves of a workgroup of 1024 lanes.
  static constexpr unsigned kMaxWarps = 32;

  /// The set whose mask has bit w set for each active warp w.
  static std::optional<WarpSet> fromMask(uint32_t mask, uint64_t numWarps,
                                         WarpSetError &error);

  /// The set with these free and anchored bits of the warp id.
  static std::optional<WarpSet> fromPair(uint64_t free, uint64_t anchor,
                                         uint64_t numWarps,
                                         WarpSetError &error);

  /// All of the workgroup's warps: what a copy without a hint uses.
  static std::optional<WarpSet> all(uint64_t numWarps, WarpSetError &error) {
    return fromPair(numWarps - 1, 0, numWarps, error);
  }

  uint32_t mask() const;
  uint32_t free() const { return freeBits; }
  uint32_t anchor() const { return anchorBits; }
  unsigned numWarps() const { return warps; }

  /// K, the number of active warps: a power of two.
  unsigned count() const { return 1u << llvm::popcount(freeBits); }
  bool isAll() const { return freeBits == warps - 1; }
  bool contains(unsigned warp) const {
    return warp < warps && (warp & ~freeBits) == anchorBits;
  }
  bool disjointFrom(const WarpSet &other) const {
    return (mask() & other.mask()) == 0;
  }
  /// The active warps, ascending.
  llvm::SmallVector<unsigned> active() const;

  /// Which of the count() parts of the block the active warp `warp` moves: the
  /// free bits of its id, packed.
  unsigned partOf(unsigned warp) const;

  /// The part of this set with warp-id bit `bit`, which must be free, fixed to
  /// `value`: half of it.
  WarpSet half(unsigned bit, bool value) const {
    return {freeBits & ~(1u << bit), anchorBits | (value ? 1u << bit : 0),
            warps};
  }

  /// "free = 0b011, anchor = 0b100, of = 8"
  std::string pair() const;
  /// "0xf0 (free = 0b011, anchor = 0b100, of = 8)"
  std::string str() const;
  /// "0x0f": two hexadecimal digits at least.
  static std::string formatMask(uint32_t mask);

  bool operator==(const WarpSet &other) const {
    return freeBits == other.freeBits && anchorBits == other.anchorBits &&
           warps == other.warps;
  }
  bool operator!=(const WarpSet &other) const { return !(*this == other); }

private:
  WarpSet(uint32_t free, uint32_t anchor, unsigned warps)
      : freeBits(free), anchorBits(anchor), warps(warps) {}

  uint32_t freeBits;
  uint32_t anchorBits;
  unsigned warps;
};

/// All legal sets of a workgroup of `numWarps` warps, by rising mask: 3^n for
/// 2^n warps; none for a number of warps that has no legal set.
llvm::SmallVector<WarpSet> legalWarpSets(uint64_t numWarps);

} // namespace lodestone

#endif // LODESTONE_SUPPORT_WARPSET_H
