//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The descriptor (D#) of a gfx1250 tensor instruction: what each bit means.
/// Source: AMD "CDNA5 ISA", tensor data mover.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_SUPPORT_TDMDESCRIPTOR_H
#define LODESTONE_SUPPORT_TDMDESCRIPTOR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lodestone {

/// The words of groups 0 to 3, one after the other. The `.d2` form of an
/// instruction takes the first two groups only.
inline constexpr std::array<unsigned, 5> kTDMGroupStart = {0, 4, 12, 16, 20};
using TDMWords = std::array<uint32_t, kTDMGroupStart[4]>;

/// The fields of a descriptor, as the hardware knows them. Dimension 0 is the
/// innermost one.
enum class TDMField {
  /// 1: copy; 0: do nothing (but count in TENSORcnt).
  count,
  wideRows,
  gather,
  ldsAddress,
  globalAddress,
  type,
  workgroupMask,
  logElementBytes,
  atomicBarrier,
  iterate,
  pad,
  earlyTimeout,
  /// log2(dwords) - 1
  padInterval,
  /// dwords - 1
  padAmount,
  /// bytes >> 3
  barrierAddress,
  /// By dimension, 0 to 4.
  tensorDim,
  tileDim,
  /// stride[i] is that of dimension i + 1, 0 to 3.
  stride,
  /// Of a descriptor that iterates; they stand where dimension 3 does.
  ldsIncrement,
  globalIncrement,
  /// count - 1
  iterateCount,
  /// By row: 16 of 16 bits or 8 of 32. They stand where dimensions 2 to 4 do.
  narrowRow,
  wideRow
};

/// Where a field is: `width` bits from bit `bit` of word `word` of group
/// `group`, and on into the words that follow.
struct TDMBits {
  unsigned group;
  unsigned word;
  unsigned bit;
  unsigned width;
};

/// Where `field` is; `index` is the dimension or row of those that have one.
TDMBits bitsOf(TDMField field, unsigned index = 0);

/// The piece of a field in one word: bits [valueBit, valueBit + width) of the
/// field's value are bits [bit, bit + width) of word `word` of TDMWords.
struct TDMSlice {
  unsigned word;
  unsigned bit;
  unsigned width;
  unsigned valueBit;
};

/// The pieces of a field, low bits first.
llvm::SmallVector<TDMSlice, 3> slicesOf(TDMField field, unsigned index = 0);

/// A descriptor in the units of its user. Sizes, strides and increments count
/// elements; the strides are those of dimensions 1 and up, since the innermost
/// one is 1. The rank is tileDims.size().
///
/// Every number is wide enough to hold what a user may write: encode() checks
/// the ranges.
struct TDMDescriptor {
  /// After each `interval` dwords in LDS, `amount` are left out.
  struct Padding {
    int64_t interval;
    int64_t amount;
    bool operator==(const Padding &other) const;
  };
  /// The copy is done `count` times, each further from the one before by these
  /// increments. Leaves room for three dimensions.
  struct Iteration {
    int64_t count;
    int64_t ldsIncrement;
    int64_t globalIncrement;
    bool operator==(const Iteration &other) const;
  };
  /// Dimension 1 of the tile is these rows of the tensor (8 wide ones or 16
  /// below 65536). Only with rank 2.
  struct Gather {
    bool wide;
    std::vector<int64_t> rows;
    bool operator==(const Gather &other) const;
  };

  bool enabled = true;
  /// Bytes.
  int64_t ldsAddress = 0;
  int64_t globalAddress = 0;
  int64_t elementBytes = 4;
  /// What is outside of the tensor loads as zero and is not stored.
  std::vector<int64_t> tensorDims;
  std::vector<int64_t> tileDims;
  std::vector<int64_t> strides;
  /// The workgroups of the cluster that a load goes to; 0: this one.
  int64_t workgroupMask = 0;
  bool earlyTimeout = false;
  /// The LDS byte address of the barrier that the copy arrives at.
  std::optional<int64_t> barrierAddress;
  std::optional<Padding> padding;
  std::optional<Iteration> iteration;
  std::optional<Gather> gather;

  unsigned rank() const { return tileDims.size(); }
  /// Whether groups 2 and 3 are needed; else the `.d2` form will do.
  bool needsAllGroups() const { return rank() > 2 || iteration || gather; }

  /// The words, or nothing and the rule that is broken, with the values. Fields
  /// that are 0 leave their bits 0, so that code may fill them at run time.
  std::optional<TDMWords> encode(std::string &error) const;

  /// What the hardware reads in `words`: 12 (two groups) or 20. Ignores the
  /// bits that it ignores.
  static std::optional<TDMDescriptor> decode(llvm::ArrayRef<uint32_t> words,
                                             std::string &error);

  bool operator==(const TDMDescriptor &other) const;
};

} // namespace lodestone

#endif // LODESTONE_SUPPORT_TDMDESCRIPTOR_H
