//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Support/Swizzle.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace lodestone;

/// The largest power of two that divides `value`, at most `kMaxSwizzledBytes`.
static uint64_t powerOfTwoIn(uint64_t value) {
  return std::min(kMaxSwizzledBytes, value & -value);
}

static llvm::Error fail(const llvm::Twine &message) {
  return llvm::createStringError(message.str());
}

static std::string bytes(uint64_t count) {
  return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

//===----------------------------------------------------------------------===//
// One step
//===----------------------------------------------------------------------===//

namespace {
using Periods = std::pair<uint64_t, uint64_t>;

/// What a step does to an offset; nothing for the gaps of an undone padding.
struct Apply {
  uint64_t q;

  std::optional<uint64_t> operator()(const XorStep &step) const {
    uint64_t mask = llvm::maskTrailingOnes<uint64_t>(step.bits) << step.base;
    if (step.shift > 0)
      return q ^ ((q >> step.shift) & mask);
    return q ^ ((q & mask) << -step.shift);
  }
  std::optional<uint64_t> operator()(const RowXorStep &step) const {
    // The row is a multiple of the cells that differ in the changed bits only,
    // so changing them in the offset is changing them in the column.
    uint64_t row = q / step.rowBytes;
    return q ^ (row / step.rowsPerPhase % step.phases * step.cellBytes);
  }
  std::optional<uint64_t> operator()(const RotateStep &step) const {
    uint64_t column = q % step.rowBytes, row = q / step.rowBytes;
    return q - column +
           (column + row * step.step * step.cellBytes) % step.rowBytes;
  }
  std::optional<uint64_t> operator()(const RestrideStep &step) const {
    uint64_t column = q % step.rowBytes;
    if (column >= step.stride)
      return std::nullopt;
    return q / step.rowBytes * step.stride + column;
  }
};

struct Period {
  Periods operator()(const XorStep &step) const {
    uint64_t period = uint64_t(1)
                      << (step.bits + step.base + std::abs(step.shift));
    return {period, period};
  }
  Periods operator()(const RowXorStep &step) const {
    uint64_t period = step.rowBytes * step.rowsPerPhase * step.phases;
    return {period, period};
  }
  Periods operator()(const RotateStep &step) const {
    uint64_t cells = step.rowBytes / step.cellBytes;
    uint64_t period = step.rowBytes * (cells / std::gcd(cells, step.step));
    return {period, period};
  }
  Periods operator()(const RestrideStep &step) const {
    return {step.rowBytes, step.stride};
  }
};

struct Granule {
  uint64_t operator()(const XorStep &step) const {
    return uint64_t(1) << step.base;
  }
  uint64_t operator()(const RowXorStep &step) const { return step.cellBytes; }
  uint64_t operator()(const RotateStep &step) const {
    // A step of several cells moves several cells at a time.
    return powerOfTwoIn(step.rowBytes | step.step * step.cellBytes);
  }
  uint64_t operator()(const RestrideStep &step) const {
    return powerOfTwoIn(step.rowBytes | step.stride);
  }
};

/// The steps that undo a step.
struct Invert {
  llvm::SmallVector<SwizzleStep> operator()(const XorStep &step) const {
    // The step is I + N, where N moves each of its bits by `shift`. N^j moves
    // by j * shift those bits that j moves keep inside of the mask, and is zero
    // from some j on; so the inverse, I + N + N^2 + ..., is the product of
    // I + N, I + N^2, I + N^4, ...
    llvm::SmallVector<SwizzleStep> steps;
    int distance = std::abs(step.shift);
    int bits = step.bits;
    for (int times = 1; bits > (times - 1) * distance; times *= 2)
      steps.push_back(
          XorStep{static_cast<unsigned>(bits - (times - 1) * distance),
                  step.base, step.shift * times});
    return steps;
  }
  llvm::SmallVector<SwizzleStep> operator()(const RowXorStep &step) const {
    return {step};
  }
  llvm::SmallVector<SwizzleStep> operator()(const RotateStep &step) const {
    uint64_t cells = step.rowBytes / step.cellBytes;
    return {RotateStep{step.cellBytes, step.rowBytes, cells - step.step}};
  }
  llvm::SmallVector<SwizzleStep> operator()(const RestrideStep &step) const {
    return {RestrideStep{step.stride, step.rowBytes}};
  }
};

/// The fields of a step, for comparison.
struct Key {
  using Tuple = std::tuple<uint64_t, uint64_t, uint64_t, uint64_t>;
  Tuple operator()(const XorStep &s) const {
    return {s.bits, s.base, static_cast<uint64_t>(int64_t(s.shift)), 0};
  }
  Tuple operator()(const RowXorStep &s) const {
    return {s.cellBytes, s.rowBytes, s.phases, s.rowsPerPhase};
  }
  Tuple operator()(const RotateStep &s) const {
    return {s.cellBytes, s.rowBytes, s.step, 0};
  }
  Tuple operator()(const RestrideStep &s) const {
    return {s.rowBytes, s.stride, 0, 0};
  }
};
} // namespace

static bool isSame(const SwizzleStep &a, const SwizzleStep &b) {
  return a.index() == b.index() && std::visit(Key(), a) == std::visit(Key(), b);
}

/// True if `next` undoes `step`.
static bool undoes(const SwizzleStep &next, const SwizzleStep &step) {
  llvm::SmallVector<SwizzleStep> inverse = std::visit(Invert(), step);
  return inverse.size() == 1 && isSame(inverse.front(), next);
}

/// Period and image period of steps in a row; nothing if one is too long.
static std::optional<Periods> getPeriods(llvm::ArrayRef<SwizzleStep> steps) {
  uint64_t period = 1, image = 1;
  for (const SwizzleStep &step : steps) {
    auto [stepPeriod, stepImage] = std::visit(Period(), step);
    // As often as it takes for a whole number of the step's periods.
    uint64_t times = stepPeriod / std::gcd(image, stepPeriod);
    image = image * times / stepPeriod * stepImage;
    period *= times;
    if (period > kMaxSwizzledBytes || image > kMaxSwizzledBytes)
      return std::nullopt;
  }
  return Periods(period, image);
}

//===----------------------------------------------------------------------===//
// Makers
//===----------------------------------------------------------------------===//

bool Swizzle::append(const SwizzleStep &step) {
  llvm::SmallVector<SwizzleStep, 1> all = steps;
  if (!all.empty() && undoes(step, all.back()))
    all.pop_back();
  else
    all.push_back(step);
  std::optional<Periods> periods = getPeriods(all);
  if (!periods)
    return false;
  steps = std::move(all);
  std::tie(period, imagePeriod) = *periods;
  return true;
}

llvm::Expected<Swizzle> Swizzle::make(SwizzleStep step) {
  Swizzle result;
  if (result.append(step))
    return result;
  auto [period, image] = std::visit(Period(), step);
  return fail("a period of " + llvm::Twine(std::max(period, image)) +
              " bytes exceeds " + llvm::Twine(kMaxSwizzledBytes));
}

llvm::Expected<Swizzle> Swizzle::then(const Swizzle &next) const {
  Swizzle result = *this;
  for (const SwizzleStep &step : next.steps)
    if (!result.append(step))
      return fail("the composition's period exceeds " +
                  llvm::Twine(kMaxSwizzledBytes) + " bytes");
  return result;
}

llvm::Expected<Swizzle> Swizzle::makeXor(uint64_t bits, uint64_t base,
                                         int64_t shift) {
  if (bits == 0)
    return Swizzle();
  constexpr int64_t limit = llvm::ConstantLog2<kMaxSwizzledBytes>();
  if (bits > limit || base > limit || shift > limit || shift < -limit ||
      static_cast<int64_t>(bits + base) + std::abs(shift) > limit)
    return fail("bits " + llvm::Twine(bits) + ", base " + llvm::Twine(base) +
                " and shift " + llvm::Twine(shift) + " make a period above " +
                llvm::Twine(kMaxSwizzledBytes) + " bytes");
  if (shift == 0)
    return fail("shift 0 is no bijection: offsets 0 and " +
                llvm::Twine(uint64_t(1) << base) + " both go to 0");
  return make(XorStep{static_cast<unsigned>(bits), static_cast<unsigned>(base),
                      static_cast<int>(shift)});
}

/// Checks what rows of cells have in common, a row of `rowBytes` being
/// `cellBytes` * n. Returns what is wrong.
static std::string checkCells(uint64_t cellBytes, uint64_t rowBytes) {
  if (!llvm::isPowerOf2_64(cellBytes))
    return "a cell of " + bytes(cellBytes) + " is no power of two";
  if (rowBytes == 0 || rowBytes > kMaxSwizzledBytes)
    return "a row of " + bytes(rowBytes) + " is not between 1 and " +
           std::to_string(kMaxSwizzledBytes);
  if (rowBytes % cellBytes != 0)
    return "a row of " + bytes(rowBytes) + " is no multiple of a cell of " +
           bytes(cellBytes);
  return "";
}

llvm::Expected<Swizzle> Swizzle::makeRowXor(uint64_t cellBytes, uint64_t cells,
                                            uint64_t phases,
                                            uint64_t rowsPerPhase) {
  // Bounds first, so that products fit.
  for (auto [name, value] :
       {std::pair("cells", cells), std::pair("phases", phases),
        std::pair("rows per phase", rowsPerPhase)})
    if (value == 0 || value > kMaxSwizzledBytes)
      return fail(llvm::Twine(value) + " " + name + " is not between 1 and " +
                  llvm::Twine(kMaxSwizzledBytes));
  cellBytes = std::min(cellBytes, 2 * kMaxSwizzledBytes);
  uint64_t rowBytes = cellBytes * cells;
  if (std::string wrong = checkCells(cellBytes, rowBytes); !wrong.empty())
    return fail(wrong);
  if (phases == 1)
    return Swizzle();

  RowXorStep step{cellBytes, rowBytes, phases, rowsPerPhase};
  // Products of three numbers up to 2^20 fit.
  if (std::visit(Period(), SwizzleStep(step)).first > kMaxSwizzledBytes)
    return make(step);
  uint64_t closed = llvm::PowerOf2Ceil(phases);
  if (cells % closed != 0) {
    // Some row's cells leave the row.
    auto apply = [&](uint64_t q) {
      uint64_t row = q / rowBytes, cell = q % rowBytes / cellBytes;
      return row * rowBytes +
             (cell ^ (row / rowsPerPhase % phases)) * cellBytes;
    };
    uint64_t end = rowBytes * rowsPerPhase * phases * 2;
    std::string wrong = checkSwizzledTile(apply, cellBytes, end, UINT64_MAX);
    // Cells may all find a place in other rows; then it is still not the row
    // that is permuted.
    for (uint64_t q = 0; wrong.empty() && q < end; q += cellBytes)
      if (uint64_t p = apply(q); p / rowBytes != q / rowBytes)
        wrong = "offset " + std::to_string(q) + " goes to " +
                std::to_string(p) + ", in another row";
    return fail(llvm::Twine(cells) + " cells a row are no multiple of " +
                llvm::Twine(closed) + ", as " + llvm::Twine(phases) +
                " phases need; " + wrong);
  }
  if (llvm::isPowerOf2_64(rowBytes) && llvm::isPowerOf2_64(phases) &&
      llvm::isPowerOf2_64(rowsPerPhase)) {
    unsigned base = llvm::Log2_64(cellBytes);
    return makeXor(llvm::Log2_64(phases), base,
                   llvm::Log2_64(rowBytes * rowsPerPhase) - base);
  }
  return make(step);
}

llvm::Expected<Swizzle> Swizzle::makeCoordXor(uint64_t bits, uint64_t baseRow,
                                              uint64_t baseCol,
                                              uint64_t rowBytes) {
  constexpr uint64_t limit = llvm::ConstantLog2<kMaxSwizzledBytes>();
  if (bits > limit || baseRow > limit || baseCol > limit)
    return fail("bits " + llvm::Twine(bits) + ", base_row " +
                llvm::Twine(baseRow) + " and base_col " + llvm::Twine(baseCol) +
                " are not all below " + llvm::Twine(limit + 1));
  if (bits == 0)
    return Swizzle();
  uint64_t cellBytes = uint64_t(1) << baseCol;
  if (std::string wrong = checkCells(cellBytes, rowBytes); !wrong.empty())
    return fail(wrong);
  return makeRowXor(cellBytes, rowBytes / cellBytes, uint64_t(1) << bits,
                    uint64_t(1) << baseRow);
}

llvm::Expected<Swizzle> Swizzle::makeRotate(uint64_t cellBytes,
                                            uint64_t rowBytes, uint64_t step) {
  if (std::string wrong = checkCells(cellBytes, rowBytes); !wrong.empty())
    return fail(wrong);
  step %= rowBytes / cellBytes;
  if (step == 0)
    return Swizzle();
  return make(RotateStep{cellBytes, rowBytes, step});
}

llvm::Expected<Swizzle> Swizzle::makePadded(uint64_t rowBytes,
                                            uint64_t padBytes) {
  if (std::string wrong = checkCells(1, rowBytes); !wrong.empty())
    return fail(wrong);
  if (padBytes == 0)
    return Swizzle();
  if (padBytes > kMaxSwizzledBytes)
    return fail("a padding of " + bytes(padBytes) + " exceeds " +
                llvm::Twine(kMaxSwizzledBytes));
  return make(RestrideStep{rowBytes, rowBytes + padBytes});
}

//===----------------------------------------------------------------------===//
// Properties
//===----------------------------------------------------------------------===//

uint64_t Swizzle::apply(uint64_t offset) const {
  return tryApply(offset).value_or(0);
}

std::optional<uint64_t> Swizzle::tryApply(uint64_t offset) const {
  std::optional<uint64_t> result = offset;
  for (const SwizzleStep &step : steps)
    if (result)
      result = std::visit(Apply{*result}, step);
  return result;
}

std::optional<uint64_t> Swizzle::invert(uint64_t offset) const {
  return inverse().tryApply(offset);
}

Swizzle Swizzle::inverse() const {
  Swizzle result;
  for (const SwizzleStep &step : llvm::reverse(steps))
    llvm::append_range(result.steps, std::visit(Invert(), step));
  // The windows that each step maps onto whole windows are the same both ways.
  result.period = imagePeriod;
  result.imagePeriod = period;
  return result;
}

uint64_t Swizzle::getGranule() const {
  uint64_t granule = kMaxSwizzledBytes;
  for (const SwizzleStep &step : steps)
    granule = std::min(granule, std::visit(Granule(), step));
  return granule;
}

bool Swizzle::isInvolution() const {
  if (period != imagePeriod)
    return false;
  uint64_t granule = getGranule();
  for (uint64_t q = 0; q < period; q += granule)
    if (apply(apply(q)) != q)
      return false;
  return true;
}

bool Swizzle::isIdentity() const {
  if (period != imagePeriod)
    return false;
  uint64_t granule = getGranule();
  for (uint64_t q = 0; q < period; q += granule)
    if (apply(q) != q)
      return false;
  return true;
}

bool Swizzle::operator==(const Swizzle &other) const {
  return llvm::equal(steps, other.steps, isSame);
}

std::string Swizzle::checkTile(uint64_t bytes, uint64_t available) const {
  return checkSwizzledTile([&](uint64_t q) { return apply(q); }, getGranule(),
                           bytes, available);
}

uint64_t Swizzle::getImageBytes(uint64_t bytes) const {
  return getSwizzledBytes([&](uint64_t q) { return apply(q); }, getGranule(),
                          bytes);
}

std::string
lodestone::checkSwizzledTile(llvm::function_ref<uint64_t(uint64_t)> apply,
                             uint64_t granule, uint64_t tileBytes,
                             uint64_t available) {
  // Which block each physical block comes from, plus 1.
  llvm::DenseMap<uint64_t, uint64_t> origin;
  for (uint64_t q = 0; q < tileBytes; q += granule) {
    uint64_t p = apply(q);
    uint64_t last = p + std::min(granule, tileBytes - q) - 1;
    if (p % granule != 0)
      return "offset " + std::to_string(q) + " goes to " + std::to_string(p) +
             ", which is no multiple of the granule of " + bytes(granule);
    auto [it, isNew] = origin.try_emplace(p / granule, q);
    if (!isNew)
      return "offsets " + std::to_string(it->second) + " and " +
             std::to_string(q) + " both go to " + std::to_string(p);
    if (last < p || last >= available)
      return "offset " + std::to_string(q + (last - p)) + " goes to " +
             std::to_string(last) + ", outside of the " + bytes(available);
  }
  return "";
}

uint64_t
lodestone::getSwizzledBytes(llvm::function_ref<uint64_t(uint64_t)> apply,
                            uint64_t granule, uint64_t tileBytes) {
  uint64_t end = 0;
  for (uint64_t q = 0; q < tileBytes; q += granule)
    end = std::max(end, apply(q) + std::min(granule, tileBytes - q));
  return end;
}
