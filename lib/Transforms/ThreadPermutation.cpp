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
using llvm::formatv;

static unsigned flips(ArrayRef<unsigned> columns, uint64_t bits) {
  unsigned result = 0;
  for (auto [i, column] : llvm::enumerate(columns))
    if (bits >> i & 1)
      result ^= column;
  return result;
}

unsigned ThreadPermutation::apply(unsigned thread,
                                  ArrayRef<int64_t> iterations) const {
  if (cells == 0) {
    unsigned result = constant ^ flips(columns[0], thread);
    for (auto [column, number] :
         llvm::zip(ArrayRef(columns).drop_front(), iterations))
      result ^= flips(column, number);
    return result;
  }
  uint64_t row = thread / cells;
  uint64_t column = thread % cells + row * columns[0][0] + constant;
  for (auto [by, number] :
       llvm::zip(ArrayRef(columns).drop_front(), iterations))
    column += by[0] * number;
  return row * cells + column % cells;
}

/// True if this is the permutation of `table`, in every entry.
bool ThreadPermutation::makes(Table table, ArrayRef<int64_t> trips) const {
  for (auto [step, row] : llvm::enumerate(table)) {
    SmallVector<int64_t> iterations;
    int64_t rest = step;
    for (int64_t trip : trips) {
      iterations.push_back(rest % trip);
      rest /= trip;
    }
    for (auto [thread, value] : llvm::enumerate(row))
      if (value != apply(thread, iterations))
        return false;
  }
  return true;
}

/// The values at single bits decide.
ThreadPermutation ThreadPermutation::fitBits(Table table,
                                             ArrayRef<int64_t> trips) {
  ThreadPermutation result;
  result.constant = table[0][0];
  result.columns.resize(1 + trips.size());
  for (size_t bit = 1; bit < table[0].size(); bit *= 2)
    result.columns[0].push_back(table[0][bit] ^ result.constant);
  int64_t stride = 1;
  for (auto [loop, trip] : llvm::enumerate(trips)) {
    for (int64_t bit = 1; bit < trip; bit *= 2)
      result.columns[1 + loop].push_back(table[bit * stride][0] ^
                                         result.constant);
    stride *= trip;
  }
  return result;
}

/// The first threads of the first two rows and iterations decide.
ThreadPermutation ThreadPermutation::fitRotation(Table table,
                                                 ArrayRef<int64_t> trips,
                                                 unsigned cells) {
  ThreadPermutation result;
  result.cells = cells;
  result.constant = table[0][0] % cells;
  auto moreThanFirst = [&](unsigned value) {
    return (value % cells + cells - result.constant) % cells;
  };
  bool isOneRow = table[0].size() == cells;
  result.columns.push_back({isOneRow ? 0 : moreThanFirst(table[0][cells])});
  int64_t stride = 1;
  for (int64_t trip : trips) {
    result.columns.push_back({trip == 1 ? 0 : moreThanFirst(table[stride][0])});
    stride *= trip;
  }
  return result;
}

std::optional<ThreadPermutation>
ThreadPermutation::fit(Table table, ArrayRef<int64_t> trips) {
  ThreadPermutation bits = fitBits(table, trips);
  if (bits.makes(table, trips))
    return bits;
  unsigned numThreads = table[0].size();
  for (unsigned cells = 2; cells <= numThreads; ++cells) {
    if (numThreads % cells != 0)
      continue;
    ThreadPermutation rotation = fitRotation(table, trips, cells);
    if (rotation.makes(table, trips))
      return rotation;
  }
  return std::nullopt;
}

bool ThreadPermutation::dependsOn(unsigned loop) const {
  return llvm::any_of(columns[1 + loop], [](unsigned c) { return c != 0; });
}

bool ThreadPermutation::isSameInAllIterations(
    const ThreadPermutation &other) const {
  auto isFixed = [](const ThreadPermutation &permutation) {
    for (unsigned loop = 0; loop + 1 < permutation.columns.size(); ++loop)
      if (permutation.dependsOn(loop))
        return false;
    return true;
  };
  return isFixed(*this) && isFixed(other) && cells == other.cells &&
         constant == other.constant && columns[0] == other.columns[0];
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

Value ThreadPermutation::emit(OpBuilder &outer, OpBuilder &inner, Location loc,
                              Value thread, ArrayRef<Value> iterations) const {
  auto constantOf = [&](OpBuilder &builder, int64_t v) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, v);
  };
  Value result;
  if (cells == 0) {
    result = emitBits(outer, loc, columns[0], thread);
    if (constant)
      result = arith::XOrIOp::create(outer, loc, result,
                                     constantOf(outer, constant));
    for (auto [column, number] :
         llvm::zip(ArrayRef(columns).drop_front(), iterations))
      if (number)
        result = arith::XOrIOp::create(inner, loc, result,
                                       emitBits(inner, loc, column, number));
    return result;
  }
  auto addTimes = [&](OpBuilder &builder, Value sum, Value number,
                      unsigned factor) -> Value {
    if (factor == 0)
      return sum;
    if (factor != 1)
      number = arith::MulIOp::create(builder, loc, number,
                                     constantOf(builder, factor));
    return arith::AddIOp::create(builder, loc, sum, number);
  };
  Value rowCells = constantOf(outer, cells);
  Value row = arith::DivUIOp::create(outer, loc, thread, rowCells);
  Value first = arith::MulIOp::create(outer, loc, row, rowCells);
  Value column = arith::RemUIOp::create(outer, loc, thread, rowCells);
  column = addTimes(outer, column, row, columns[0][0]);
  if (constant)
    column =
        arith::AddIOp::create(outer, loc, column, constantOf(outer, constant));
  for (auto [by, number] :
       llvm::zip(ArrayRef(columns).drop_front(), iterations))
    if (number)
      column = addTimes(inner, column, number, by[0]);
  column = arith::RemUIOp::create(inner, loc, column, rowCells);
  return arith::AddIOp::create(inner, loc, first, column);
}

/// The terms of `bits`, as in `(t & 56) >> 3`.
static void appendBits(SmallVectorImpl<std::string> &terms, StringRef bits,
                       ArrayRef<unsigned> columns) {
  unsigned all = (1u << columns.size()) - 1;
  for (auto [shift, mask] : getDiagonals(columns)) {
    std::string term =
        mask == all ? bits.str() : formatv("({0} & {1})", bits, mask).str();
    if (shift)
      term += formatv(" {0} {1}", shift > 0 ? "<<" : ">>", std::abs(shift));
    terms.push_back(std::move(term));
  }
}

std::string ThreadPermutation::str(StringRef thread) const {
  SmallVector<std::string> terms;
  auto loopName = [](size_t loop) { return formatv("n{0}", loop).str(); };
  if (cells == 0) {
    appendBits(terms, thread, columns[0]);
    for (auto [loop, column] : llvm::enumerate(ArrayRef(columns).drop_front()))
      appendBits(terms, loopName(loop), column);
    if (constant || terms.empty())
      terms.push_back(std::to_string(constant));
    return llvm::join(terms, " ^ ");
  }
  terms.push_back(formatv("{0} % {1}", thread, cells));
  auto addTerm = [&](unsigned factor, std::string number) {
    if (factor)
      terms.push_back(factor == 1 ? number
                                  : formatv("{0} * ({1})", factor, number));
  };
  addTerm(columns[0][0], formatv("{0} / {1}", thread, cells));
  for (auto [loop, by] : llvm::enumerate(ArrayRef(columns).drop_front()))
    addTerm(by[0], loopName(loop));
  if (constant)
    terms.push_back(std::to_string(constant));
  return formatv("{0} - {0} % {1} + ({2}) % {1}", thread, cells,
                 llvm::join(terms, " + "));
}
