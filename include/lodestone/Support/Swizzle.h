//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The algebra of swizzles: bijections from the logical to the physical byte
/// offsets of a tile in LDS. Knows no IR.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_SUPPORT_SWIZZLE_H
#define LODESTONE_SUPPORT_SWIZZLE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <variant>

namespace lodestone {

/// The longest period, and the most bytes of a swizzled tile: more than any
/// chip's LDS. It bounds the time of what is checked byte by byte.
inline constexpr uint64_t kMaxSwizzledBytes = uint64_t(1) << 20;

/// p = q ^ ((q & mask) >> shift), where `mask` has `bits` bits from bit
/// `base + max(shift, 0)` on; a negative shift goes left. CuTe's S<B, M, S>.
struct XorStep {
  unsigned bits;
  unsigned base;
  int shift;
};

/// Cell j of row i goes to cell j ^ (i / rowsPerPhase % phases) of its row.
struct RowXorStep {
  /// A power of two.
  uint64_t cellBytes;
  uint64_t rowBytes;
  uint64_t phases;
  uint64_t rowsPerPhase;
};

/// Cell j of row i goes to cell (j + step * i) mod n of its row of n cells.
struct RotateStep {
  uint64_t cellBytes;
  uint64_t rowBytes;
  uint64_t step;
};

/// Byte c of row i, at rowBytes * i + c, goes to stride * i + c. With a stride
/// below `rowBytes` it undoes padding; bytes c >= stride then have no image.
struct RestrideStep {
  uint64_t rowBytes;
  uint64_t stride;
};

using SwizzleStep = std::variant<XorStep, RowXorStep, RotateStep, RestrideStep>;

/// A swizzle: steps that are applied one after the other. Whatever made it, it
/// is an injection, and a bijection unless it pads. Steps that do nothing or
/// undo each other are dropped, and a `RowXorStep` that an `XorStep` can
/// express is one, so equal constructions compare equal (though not all equal
/// maps do).
class Swizzle {
public:
  /// The identity.
  Swizzle() = default;

  /// The makers fail where the map would not be a bijection, with two offsets
  /// that collide in the message, or where its period is above
  /// `kMaxSwizzledBytes`. All sizes are in bytes.
  static llvm::Expected<Swizzle> makeXor(uint64_t bits, uint64_t base,
                                         int64_t shift);
  /// c' = c ^ (((row >> baseRow) & (2^bits - 1)) << baseCol) in rows of
  /// `rowBytes`. FlyDSL's CoordSwizzle.
  static llvm::Expected<Swizzle> makeCoordXor(uint64_t bits, uint64_t baseRow,
                                              uint64_t baseCol,
                                              uint64_t rowBytes);
  static llvm::Expected<Swizzle> makeRowXor(uint64_t cellBytes, uint64_t cells,
                                            uint64_t phases,
                                            uint64_t rowsPerPhase);
  static llvm::Expected<Swizzle>
  makeRotate(uint64_t cellBytes, uint64_t rowBytes, uint64_t step = 1);
  static llvm::Expected<Swizzle> makePadded(uint64_t rowBytes,
                                            uint64_t padBytes);

  /// This swizzle, and `next` applied to what it gives.
  llvm::Expected<Swizzle> then(const Swizzle &next) const;

  llvm::ArrayRef<SwizzleStep> getSteps() const { return steps; }

  /// The physical offset of the byte at a logical one.
  uint64_t apply(uint64_t offset) const;

  /// The same for a swizzle that may undo padding: nothing for the padding.
  std::optional<uint64_t> tryApply(uint64_t offset) const;

  /// The logical offset of the byte at a physical one; nothing for padding.
  std::optional<uint64_t> invert(uint64_t offset) const;

  /// The swizzle that undoes this one.
  Swizzle inverse() const;

  /// A power of two: bytes of an aligned block of this size stay together, in
  /// order, and aligned. The largest such for a single step; a composition may
  /// have a larger one. `kMaxSwizzledBytes` for the identity.
  uint64_t getGranule() const;

  /// apply(q + getPeriod()) = apply(q) + getImagePeriod(). 1 for the identity.
  uint64_t getPeriod() const { return period; }
  uint64_t getImagePeriod() const { return imagePeriod; }

  /// True if it undoes itself: exact, from one period.
  bool isInvolution() const;
  bool isIdentity() const;

  /// Checks that the tile's `bytes` go to different bytes below `available`.
  /// Returns what is wrong, empty if nothing is.
  std::string checkTile(uint64_t bytes, uint64_t available) const;

  /// One past the largest physical offset of a tile's bytes: `bytes` if the
  /// tile is mapped onto itself. `bytes` is at most `kMaxSwizzledBytes`.
  uint64_t getImageBytes(uint64_t bytes) const;

  bool operator==(const Swizzle &other) const;
  bool operator!=(const Swizzle &other) const { return !(*this == other); }

private:
  static llvm::Expected<Swizzle> make(SwizzleStep step);
  /// Adds a step, unless it undoes the last one. False, with nothing changed,
  /// if the period becomes too long.
  bool append(const SwizzleStep &step);

  llvm::SmallVector<SwizzleStep, 1> steps;
  uint64_t period = 1;
  uint64_t imagePeriod = 1;
};

/// `checkTile` and `getImageBytes` for any map that keeps blocks of `granule`
/// bytes together.
std::string checkSwizzledTile(llvm::function_ref<uint64_t(uint64_t)> apply,
                              uint64_t granule, uint64_t bytes,
                              uint64_t available);
uint64_t getSwizzledBytes(llvm::function_ref<uint64_t(uint64_t)> apply,
                          uint64_t granule, uint64_t bytes);

} // namespace lodestone

#endif // LODESTONE_SUPPORT_SWIZZLE_H
