//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Support/TDMDescriptor.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <tuple>

using namespace lodestone;
using llvm::formatv;

/// The descriptor type that the hardware calls an image.
static constexpr uint64_t kType = 2;
static constexpr unsigned kMaxRank = 5;

TDMBits lodestone::bitsOf(TDMField field, unsigned index) {
  static constexpr TDMBits tensorDims[] = {{1, 1, 16, 32},
                                           {1, 2, 16, 32},
                                           {2, 0, 0, 32},
                                           {2, 1, 0, 32},
                                           {3, 1, 16, 32}};
  static constexpr TDMBits tileDims[] = {{1, 3, 16, 16},
                                         {1, 4, 0, 16},
                                         {1, 4, 16, 16},
                                         {2, 3, 16, 16},
                                         {3, 2, 16, 16}};
  static constexpr TDMBits strides[] = {
      {1, 5, 0, 48}, {1, 6, 16, 48}, {2, 2, 0, 48}, {3, 0, 0, 48}};
  switch (field) {
  case TDMField::count:
    return {0, 0, 0, 2};
  case TDMField::wideRows:
    return {0, 0, 30, 1};
  case TDMField::gather:
    return {0, 0, 31, 1};
  case TDMField::ldsAddress:
    return {0, 1, 0, 32};
  case TDMField::globalAddress:
    return {0, 2, 0, 57};
  case TDMField::type:
    return {0, 3, 30, 2};
  case TDMField::workgroupMask:
    return {1, 0, 0, 16};
  case TDMField::logElementBytes:
    return {1, 0, 16, 2};
  case TDMField::atomicBarrier:
    return {1, 0, 18, 1};
  case TDMField::iterate:
    return {1, 0, 19, 1};
  case TDMField::pad:
    return {1, 0, 20, 1};
  case TDMField::earlyTimeout:
    return {1, 0, 21, 1};
  case TDMField::padInterval:
    return {1, 0, 22, 3};
  case TDMField::padAmount:
    return {1, 0, 25, 7};
  case TDMField::barrierAddress:
    return {1, 1, 0, 16};
  case TDMField::tensorDim:
    return tensorDims[index];
  case TDMField::tileDim:
    return tileDims[index];
  case TDMField::stride:
    return strides[index];
  case TDMField::ldsIncrement:
    return tensorDims[3];
  case TDMField::globalIncrement:
    return strides[2];
  case TDMField::iterateCount:
    return tileDims[3];
  case TDMField::narrowRow:
    return {2 + index / 8, index % 8 / 2, index % 2 * 16, 16};
  case TDMField::wideRow:
    return {2 + index / 4, index % 4, 0, 32};
  }
  llvm_unreachable("every field has a place");
}

llvm::SmallVector<TDMSlice, 3> lodestone::slicesOf(TDMField field,
                                                   unsigned index) {
  TDMBits bits = bitsOf(field, index);
  llvm::SmallVector<TDMSlice, 3> slices;
  unsigned word = kTDMGroupStart[bits.group] + bits.word, bit = bits.bit;
  for (unsigned done = 0; done < bits.width; ++word, bit = 0) {
    unsigned width = std::min(32 - bit, bits.width - done);
    slices.push_back({word, bit, width, done});
    done += width;
  }
  return slices;
}

static uint64_t read(llvm::ArrayRef<uint32_t> words, TDMField field,
                     unsigned index = 0) {
  uint64_t value = 0;
  for (TDMSlice slice : slicesOf(field, index))
    value |= (words[slice.word] >> slice.bit &
              llvm::maskTrailingOnes<uint64_t>(slice.width))
             << slice.valueBit;
  return value;
}

namespace {
/// Checks values and writes them; stops at the first that is out of range.
class Encoder {
public:
  explicit Encoder(std::string &error) : error(error) {}

  bool failed() const { return hasFailed; }
  const TDMWords &result() const { return words; }

  /// What must hold; `message` says the rule and the values.
  bool require(bool condition, llvm::formatv_object_base &&message) {
    if (!condition && !hasFailed) {
      hasFailed = true;
      error = message.str();
    }
    return !hasFailed;
  }

  bool requireRange(llvm::StringRef what, int64_t value, int64_t low,
                    int64_t high) {
    return require(
        value >= low && value <= high,
        formatv("{0} is {1}, not in {2} to {3}", what, value, low, high));
  }

  /// Writes `value`, which must fit.
  void write(TDMField field, uint64_t value, unsigned index = 0) {
    if (hasFailed)
      return;
    for (TDMSlice slice : slicesOf(field, index))
      words[slice.word] |= (value >> slice.valueBit &
                            llvm::maskTrailingOnes<uint64_t>(slice.width))
                           << slice.bit;
  }

  /// Writes `value` if it is from `low` to the largest that the field holds.
  /// The field holds value - bias.
  void writeRange(TDMField field, llvm::StringRef what, int64_t value,
                  int64_t low = 0, unsigned index = 0, int64_t bias = 0) {
    int64_t high =
        llvm::maskTrailingOnes<uint64_t>(bitsOf(field, index).width) + bias;
    if (requireRange(what, value, low, high))
      write(field, value - bias, index);
  }

private:
  std::string &error;
  TDMWords words = {};
  bool hasFailed = false;
};
} // namespace

static void encodeShape(const TDMDescriptor &d, Encoder &out) {
  unsigned rank = d.rank();
  if (!out.requireRange("rank", rank, 1, kMaxRank) ||
      !out.require(d.tensorDims.size() == rank && d.strides.size() == rank - 1,
                   formatv("rank {0} needs {0} tensor dimensions and {1} "
                           "strides, not {2} and {3}",
                           rank, rank - 1, d.tensorDims.size(),
                           d.strides.size())))
    return;
  for (unsigned i = 0; i < rank; ++i) {
    out.writeRange(TDMField::tensorDim,
                   formatv("tensor dimension {0}", i).str(), d.tensorDims[i], 0,
                   i);
    out.writeRange(TDMField::tileDim, formatv("tile dimension {0}", i).str(),
                   d.tileDims[i], 1, i);
  }
  for (unsigned i = 0; i + 1 < rank; ++i)
    out.writeRange(TDMField::stride,
                   formatv("the stride of dimension {0}", i + 1).str(),
                   d.strides[i], 0, i);
}

static void encodeIteration(const TDMDescriptor &d, Encoder &out) {
  const TDMDescriptor::Iteration &iteration = *d.iteration;
  if (!out.require(d.rank() <= 3,
                   formatv("a copy that iterates has rank 3 at most, not {0}",
                           d.rank())))
    return;
  out.write(TDMField::iterate, 1);
  out.writeRange(TDMField::iterateCount, "the number of iterations",
                 iteration.count, 1, 0, /*bias=*/1);
  out.writeRange(TDMField::ldsIncrement, "the LDS increment",
                 iteration.ldsIncrement);
  out.writeRange(TDMField::globalIncrement, "the global increment",
                 iteration.globalIncrement);
}

static void encodeGather(const TDMDescriptor &d, Encoder &out) {
  const TDMDescriptor::Gather &gather = *d.gather;
  size_t limit = gather.wide ? 8 : 16;
  if (!out.require(d.rank() == 2,
                   formatv("a gather has rank 2, not {0}", d.rank())) ||
      !out.require(!d.iteration, formatv("a gather can't iterate")) ||
      !out.require(gather.rows.size() <= limit,
                   formatv("a gather has at most {0} rows of {1} bits, not {2}",
                           limit, gather.wide ? 32 : 16, gather.rows.size())) ||
      !out.require(d.tileDims[1] == int64_t(gather.rows.size()),
                   formatv("a gather of {0} rows has a tile of {1} rows",
                           gather.rows.size(), d.tileDims[1])))
    return;
  out.write(TDMField::gather, 1);
  out.write(TDMField::wideRows, gather.wide);
  for (auto [i, row] : llvm::enumerate(gather.rows))
    out.writeRange(gather.wide ? TDMField::wideRow : TDMField::narrowRow,
                   formatv("row {0}", i).str(), row, 0, i);
}

std::optional<TDMWords> TDMDescriptor::encode(std::string &error) const {
  Encoder out(error);
  out.write(TDMField::type, kType);
  out.write(TDMField::count, enabled);
  out.writeRange(TDMField::ldsAddress, "the LDS address", ldsAddress);
  out.writeRange(TDMField::globalAddress, "the global address", globalAddress);
  if (out.require(
          elementBytes >= 1 && elementBytes <= 8 &&
              llvm::isPowerOf2_64(elementBytes),
          formatv("an element has 1, 2, 4 or 8 bytes, not {0}", elementBytes)))
    out.write(TDMField::logElementBytes, llvm::Log2_64(elementBytes));
  encodeShape(*this, out);
  out.writeRange(TDMField::workgroupMask, "the workgroup mask", workgroupMask);
  out.write(TDMField::earlyTimeout, earlyTimeout);
  if (barrierAddress) {
    out.require(*barrierAddress % 8 == 0,
                formatv("the barrier's LDS address is {0}, not a multiple of 8",
                        *barrierAddress));
    out.requireRange("the barrier's LDS address", *barrierAddress, 0,
                     int64_t(0xffff) << 3);
    out.write(TDMField::atomicBarrier, 1);
    out.write(TDMField::barrierAddress, *barrierAddress >> 3);
  }
  if (padding) {
    if (out.require(padding->interval >= 2 && padding->interval <= 256 &&
                        llvm::isPowerOf2_64(padding->interval),
                    formatv("the pad interval is {0} dwords, not a power of "
                            "two in 2 to 256",
                            padding->interval)))
      out.write(TDMField::padInterval, llvm::Log2_64(padding->interval) - 1);
    out.writeRange(TDMField::padAmount, "the pad amount in dwords",
                   padding->amount, 1, 0, /*bias=*/1);
    out.write(TDMField::pad, 1);
  }
  if (iteration)
    encodeIteration(*this, out);
  if (gather)
    encodeGather(*this, out);
  if (out.failed())
    return std::nullopt;
  return out.result();
}

std::optional<TDMDescriptor>
TDMDescriptor::decode(llvm::ArrayRef<uint32_t> words, std::string &error) {
  auto fail = [&](llvm::formatv_object_base &&message) {
    error = message.str();
    return std::nullopt;
  };
  if (words.size() != kTDMGroupStart[2] && words.size() != kTDMGroupStart[4])
    return fail(formatv("a descriptor has {0} or {1} words, not {2}",
                        kTDMGroupStart[2], kTDMGroupStart[4], words.size()));
  bool all = words.size() == kTDMGroupStart[4];
  auto get = [&](TDMField field, unsigned index = 0) -> int64_t {
    return read(words, field, index);
  };
  int64_t count = get(TDMField::count);
  if (count > 1)
    return fail(formatv("count is {0}, not 0 or 1", count));
  if (count == 1 && get(TDMField::type) != int64_t(kType))
    return fail(formatv("the descriptor's type is {0}, not {1}",
                        get(TDMField::type), kType));
  bool iterates = get(TDMField::iterate), gathers = get(TDMField::gather);
  if (iterates && gathers)
    return fail(formatv("a gather can't iterate"));
  if ((iterates || gathers) && !all)
    return fail(formatv("a descriptor of {0} words can't {1}", words.size(),
                        iterates ? "iterate" : "gather"));

  TDMDescriptor d;
  d.enabled = count;
  d.ldsAddress = get(TDMField::ldsAddress);
  d.globalAddress = get(TDMField::globalAddress);
  d.elementBytes = int64_t(1) << get(TDMField::logElementBytes);
  d.workgroupMask = get(TDMField::workgroupMask);
  d.earlyTimeout = get(TDMField::earlyTimeout);
  if (get(TDMField::atomicBarrier))
    d.barrierAddress = get(TDMField::barrierAddress) << 3;
  if (get(TDMField::pad))
    d.padding = {int64_t(2) << get(TDMField::padInterval),
                 get(TDMField::padAmount) + 1};
  if (iterates)
    d.iteration = {get(TDMField::iterateCount) + 1, get(TDMField::ldsIncrement),
                   get(TDMField::globalIncrement)};

  // Dimensions whose tile size is zero aren't used.
  unsigned rank = !all || gathers ? 2 : iterates ? 3 : kMaxRank;
  while (rank > 1 && !gathers && get(TDMField::tileDim, rank - 1) == 0)
    --rank;
  if (gathers) {
    bool wide = get(TDMField::wideRows);
    int64_t rows = get(TDMField::tileDim, 1), limit = wide ? 8 : 16;
    if (rows > limit)
      return fail(formatv("a gather has at most {0} rows of {1} bits, not {2}",
                          limit, wide ? 32 : 16, rows));
    d.gather = {wide, {}};
    for (int64_t i = 0; i < rows; ++i)
      d.gather->rows.push_back(
          get(wide ? TDMField::wideRow : TDMField::narrowRow, i));
  }
  for (unsigned i = 0; i < rank; ++i) {
    d.tensorDims.push_back(get(TDMField::tensorDim, i));
    d.tileDims.push_back(get(TDMField::tileDim, i));
    if (i + 1 < rank)
      d.strides.push_back(get(TDMField::stride, i));
  }
  return d;
}

bool TDMDescriptor::Padding::operator==(const Padding &other) const {
  return interval == other.interval && amount == other.amount;
}

bool TDMDescriptor::Iteration::operator==(const Iteration &other) const {
  return count == other.count && ldsIncrement == other.ldsIncrement &&
         globalIncrement == other.globalIncrement;
}

bool TDMDescriptor::Gather::operator==(const Gather &other) const {
  return wide == other.wide && rows == other.rows;
}

bool TDMDescriptor::operator==(const TDMDescriptor &other) const {
  auto fields = [](const TDMDescriptor &d) {
    return std::tie(d.enabled, d.ldsAddress, d.globalAddress, d.elementBytes,
                    d.tensorDims, d.tileDims, d.strides, d.workgroupMask,
                    d.earlyTimeout, d.barrierAddress, d.padding, d.iteration,
                    d.gather);
  };
  return fields(*this) == fields(other);
}
