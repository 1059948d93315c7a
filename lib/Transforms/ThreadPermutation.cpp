//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Transforms/ThreadPermutation.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace lodestone;

static unsigned apply(ArrayRef<unsigned> columns, uint64_t bits) {
  unsigned result = 0;
  for (auto [i, column] : llvm::enumerate(columns))
    if (bits >> i & 1)
      result ^= column;
  return result;
}

std::optional<ThreadPermutation>
ThreadPermutation::fit(ArrayRef<SmallVector<unsigned>> table,
                       ArrayRef<int64_t> trips) {
  ThreadPermutation result;
  result.constant = table[0][0];
  result.columns.resize(1 + trips.size());
  // The values at single bits decide, all others are checked.
  SmallVector<unsigned> &ofThread = result.columns[0];
  for (size_t bit = 1; bit < table[0].size(); bit *= 2)
    ofThread.push_back(table[0][bit] ^ result.constant);
  int64_t stride = 1;
  for (auto [loop, trip] : llvm::enumerate(trips)) {
    for (int64_t bit = 1; bit < trip; bit *= 2)
      result.columns[1 + loop].push_back(table[bit * stride][0] ^
                                         result.constant);
    stride *= trip;
  }
  for (auto [step, row] : llvm::enumerate(table)) {
    unsigned ofStep = result.constant;
    int64_t rest = step;
    for (auto [loop, trip] : llvm::enumerate(trips)) {
      ofStep ^= apply(result.columns[1 + loop], rest % trip);
      rest /= trip;
    }
    for (auto [thread, value] : llvm::enumerate(row))
      if (value != (apply(ofThread, thread) ^ ofStep))
        return std::nullopt;
  }
  return result;
}

bool ThreadPermutation::dependsOn(unsigned loop) const {
  return llvm::any_of(columns[1 + loop], [](unsigned c) { return c != 0; });
}

bool ThreadPermutation::isIdentity() const {
  for (unsigned loop = 0; loop + 1 < columns.size(); ++loop)
    if (dependsOn(loop))
      return false;
  for (auto [i, column] : llvm::enumerate(columns[0]))
    if (column != 1u << i)
      return false;
  return constant == 0;
}

/// The bits that move by a shift, from lower to higher ones if it is positive.
/// Together, these diagonals of the matrix are all of it. The bits that stay
/// come first, for whoever reads it.
static SmallVector<std::pair<int, unsigned>>
getDiagonals(ArrayRef<unsigned> columns) {
  SmallVector<std::pair<int, unsigned>> diagonals;
  auto add = [&](int shift) {
    unsigned mask = 0;
    for (int i = 0, e = columns.size(); i < e; ++i)
      if (i + shift >= 0 && i + shift < 32 && columns[i] >> (i + shift) & 1)
        mask |= 1u << i;
    if (mask)
      diagonals.push_back({shift, mask});
  };
  add(0);
  for (int shift = 1; shift < 32; ++shift) {
    add(-shift);
    add(shift);
  }
  return diagonals;
}

static Value emitBits(OpBuilder &builder, Location loc,
                      ArrayRef<unsigned> columns, Value bits) {
  unsigned all = (1u << columns.size()) - 1;
  auto constant = [&](int64_t v) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, v);
  };
  Value result;
  for (auto [shift, mask] : getDiagonals(columns)) {
    Value part = bits;
    if (mask != all)
      part = arith::AndIOp::create(builder, loc, part, constant(mask));
    if (shift > 0)
      part = arith::ShLIOp::create(builder, loc, part, constant(shift));
    else if (shift < 0)
      part = arith::ShRUIOp::create(builder, loc, part, constant(-shift));
    result = result ? arith::XOrIOp::create(builder, loc, result, part) : part;
  }
  return result ? result : constant(0);
}

Value ThreadPermutation::emitThreadPart(OpBuilder &builder, Location loc,
                                        Value thread) const {
  Value result = emitBits(builder, loc, columns[0], thread);
  if (constant == 0)
    return result;
  return arith::XOrIOp::create(
      builder, loc, result,
      arith::ConstantIndexOp::create(builder, loc, constant));
}

Value ThreadPermutation::emitLoopPart(OpBuilder &builder, Location loc,
                                      unsigned loop, Value iteration) const {
  return emitBits(builder, loc, columns[1 + loop], iteration);
}

std::string ThreadPermutation::str() const {
  SmallVector<std::string> parts;
  for (auto [number, part] : llvm::enumerate(columns)) {
    std::string bits = number ? llvm::formatv("n{0}", number - 1).str() : "t";
    unsigned all = (1u << part.size()) - 1;
    for (auto [shift, mask] : getDiagonals(part)) {
      std::string text =
          mask == all ? bits : llvm::formatv("({0} & {1})", bits, mask).str();
      if (shift)
        text +=
            llvm::formatv(" {0} {1}", shift > 0 ? "<<" : ">>", std::abs(shift));
      parts.push_back(std::move(text));
    }
  }
  if (constant || parts.empty())
    parts.push_back(std::to_string(constant));
  return llvm::join(parts, " ^ ");
}
