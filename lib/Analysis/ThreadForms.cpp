//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadForms.h"

#include "llvm/ADT/APInt.h"

using namespace mlir;
using namespace lodestone;

std::optional<unsigned> lodestone::getThreadFormWidth(Type type) {
  if (isa<IndexType>(type))
    return 64;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.getWidth() == 0 || integer.getWidth() > 64)
    return std::nullopt;
  return integer.getWidth();
}

ThreadForm lodestone::makeUnknownForm(Value value, unsigned instance) {
  return {*getThreadFormWidth(value.getType()), 0, {{value, instance, 1}}};
}

static int64_t wrap(uint64_t value, unsigned width) {
  return llvm::SignExtend64(value, width);
}

/// `function` of the lanes' values, thread by thread.
template <typename Function, typename... Ls>
static Lanes map(unsigned numThreads, Function function, const Ls &...lanes) {
  if ((lanes.isUniform() && ...))
    return Lanes(function(lanes[0]...));
  SmallVector<int64_t, 1> result(numThreads);
  for (unsigned thread = 0; thread < numThreads; ++thread)
    result[thread] = function(lanes[thread]...);
  return Lanes(std::move(result));
}

/// As above, but nothing if the function gives nothing for some thread.
template <typename Function, typename... Ls>
static std::optional<Lanes> tryMap(unsigned numThreads, Function function,
                                   const Ls &...lanes) {
  bool known = true;
  auto checked = [&](auto... values) -> int64_t {
    std::optional<int64_t> value = function(values...);
    known &= value.has_value();
    return value.value_or(0);
  };
  Lanes result = map(numThreads, checked, lanes...);
  if (!known)
    return std::nullopt;
  return result;
}

static MaybeForm constantForm(unsigned width, std::optional<Lanes> lanes) {
  if (!lanes)
    return std::nullopt;
  return ThreadForm{width, std::move(*lanes), {}};
}

//===----------------------------------------------------------------------===//
// What is linear keeps unknown terms
//===----------------------------------------------------------------------===//

/// `form` with `function` of its constant and of each coefficient.
template <typename Function>
static ThreadForm mapForm(const ThreadForm &form, unsigned width,
                          unsigned numThreads, Function function) {
  ThreadForm result{width, map(numThreads, function, form.constant), {}};
  for (const ThreadForm::Term &term : form.terms) {
    Lanes coefficient = map(numThreads, function, term.coefficient);
    if (!coefficient.isZero())
      result.terms.push_back({term.value, term.instance, coefficient});
  }
  return result;
}

/// `form` without what is above `width` bits.
static ThreadForm narrowed(const ThreadForm &form, unsigned width,
                           unsigned numThreads) {
  if (form.width <= width)
    return form;
  return mapForm(form, width, numThreads,
                 [&](int64_t v) { return wrap(v, width); });
}

/// Of the number that has the fewest.
static unsigned countTrailingZeros(const Lanes &lanes) {
  unsigned zeros = 64;
  for (size_t i = 0, e = lanes.getNumEntries(); i < e; ++i)
    zeros = std::min<unsigned>(zeros, llvm::countr_zero(uint64_t(lanes[i])));
  return zeros;
}

ThreadForm lodestone::addScaled(const ThreadForm &a, const ThreadForm &b,
                                Lanes factor, unsigned numThreads) {
  // Zeros at the end of the factor push what isn't known of `b` further up.
  unsigned width =
      std::min({a.width, b.width + countTrailingZeros(factor), 64u});
  auto combine = [&](const Lanes &x, const Lanes &y) {
    return map(
        numThreads,
        [&](int64_t x, int64_t y, int64_t f) {
          return wrap(uint64_t(x) + uint64_t(y) * uint64_t(f), width);
        },
        x, y, factor);
  };
  ThreadForm result{width, combine(a.constant, b.constant), {}};
  auto addTerm = [&](const ThreadForm::Term &term, Lanes coefficient) {
    if (!coefficient.isZero())
      result.terms.push_back({term.value, term.instance, coefficient});
  };
  auto find = [](const ThreadForm &form, const ThreadForm::Term &term) {
    return llvm::find_if(form.terms, [&](const ThreadForm::Term &other) {
      return other.value == term.value && other.instance == term.instance;
    });
  };
  for (const ThreadForm::Term &term : a.terms) {
    auto other = find(b, term);
    addTerm(term,
            combine(term.coefficient,
                    other == b.terms.end() ? Lanes() : other->coefficient));
  }
  for (const ThreadForm::Term &term : b.terms)
    if (find(a, term) == a.terms.end())
      addTerm(term, combine(Lanes(), term.coefficient));
  return result;
}

MaybeForm lodestone::multiply(const ThreadForm &a, const ThreadForm &b,
                              unsigned numThreads) {
  if (b.isConstant())
    return addScaled(ThreadForm{b.width, 0, {}}, a, b.constant, numThreads);
  if (a.isConstant())
    return addScaled(ThreadForm{a.width, 0, {}}, b, a.constant, numThreads);
  return std::nullopt;
}

MaybeForm lodestone::select(const ThreadForm &condition,
                            const ThreadForm &ifTrue, const ThreadForm &ifFalse,
                            unsigned numThreads) {
  if (!condition.isConstant())
    return std::nullopt;
  auto is =
      map(numThreads, [](int64_t v) { return v != 0; }, condition.constant);
  auto isNot =
      map(numThreads, [](int64_t v) { return v == 0; }, condition.constant);
  unsigned width = std::min(ifTrue.width, ifFalse.width);
  return addScaled(addScaled(ThreadForm{width, 0, {}}, ifTrue, is, numThreads),
                   ifFalse, isNot, numThreads);
}

//===----------------------------------------------------------------------===//
// The rest is computed number by number
//===----------------------------------------------------------------------===//

static bool readsUnsigned(Binary op) {
  switch (op) {
  case Binary::shrU:
  case Binary::divU:
  case Binary::ceilDivU:
  case Binary::remU:
  case Binary::minU:
  case Binary::maxU:
  case Binary::mulHighU:
    return true;
  default:
    return false;
  }
}

static std::optional<APInt> compute(Binary op, const APInt &a, const APInt &b) {
  bool divides = op >= Binary::divU && op <= Binary::remS;
  bool overflows = a.isMinSignedValue() && b.isAllOnes();
  if (divides && (b.isZero() || (!readsUnsigned(op) && overflows)))
    return std::nullopt;
  if ((op == Binary::shrU || op == Binary::shrS) && b.uge(a.getBitWidth()))
    return std::nullopt;
  switch (op) {
  case Binary::bitAnd:
    return a & b;
  case Binary::bitOr:
    return a | b;
  case Binary::bitXor:
    return a ^ b;
  case Binary::shrU:
    return a.lshr(b);
  case Binary::shrS:
    return a.ashr(b);
  case Binary::divU:
    return a.udiv(b);
  case Binary::divS:
    return a.sdiv(b);
  case Binary::ceilDivU:
    return llvm::APIntOps::RoundingUDiv(a, b, APInt::Rounding::UP);
  case Binary::ceilDivS:
    return llvm::APIntOps::RoundingSDiv(a, b, APInt::Rounding::UP);
  case Binary::floorDivS:
    return llvm::APIntOps::RoundingSDiv(a, b, APInt::Rounding::DOWN);
  case Binary::remU:
    return a.urem(b);
  case Binary::remS:
    return a.srem(b);
  case Binary::minU:
    return llvm::APIntOps::umin(a, b);
  case Binary::minS:
    return llvm::APIntOps::smin(a, b);
  case Binary::maxU:
    return llvm::APIntOps::umax(a, b);
  case Binary::maxS:
    return llvm::APIntOps::smax(a, b);
  case Binary::mulHighU:
    return llvm::APIntOps::mulhu(a, b);
  case Binary::mulHighS:
    return llvm::APIntOps::mulhs(a, b);
  }
  return std::nullopt;
}

static bool compare(arith::CmpIPredicate predicate, const APInt &a,
                    const APInt &b) {
  return arith::applyCmpPredicate(predicate, a, b);
}

bool lodestone::isExact(const ThreadForm &form, Type type, bool isUnsigned) {
  if (!form.isConstant() || form.width != getThreadFormWidth(type))
    return false;
  if (!isa<IndexType>(type))
    return true;
  for (unsigned i = 0, e = form.constant.getNumEntries(); i < e; ++i)
    if (!llvm::isInt<32>(form.constant[i]) ||
        (isUnsigned && form.constant[i] < 0))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Below the unknown terms, bits are known
//===----------------------------------------------------------------------===//

/// How many of the low bits of `form` are those of its constant: no unknown
/// term reaches them.
static unsigned countKnownBits(const ThreadForm &form, Type type) {
  // No more than both widths of index have.
  unsigned known = std::min(form.width, isa<IndexType>(type) ? 32u : 64u);
  for (const ThreadForm::Term &term : form.terms)
    known = std::min(known, countTrailingZeros(term.coefficient));
  return known;
}

static bool all(const Lanes &lanes, function_ref<bool(int64_t)> holds) {
  for (size_t i = 0, e = lanes.getNumEntries(); i < e; ++i)
    if (!holds(lanes[i]))
      return false;
  return true;
}

/// `form` without its `count` lowest bits, which are known. What is above them
/// is linear: terms, too, are multiples of 2^count.
static MaybeForm dropLowBits(const ThreadForm &form, int64_t count, Type type,
                             unsigned numThreads) {
  unsigned width =
      isa<IndexType>(type) ? std::min(form.width, 32u) : form.width;
  if (count < 0 || count > countKnownBits(form, type) || count >= width)
    return std::nullopt;
  width -= count;
  return mapForm(form, width, numThreads,
                 [&](int64_t v) { return wrap(v >> count, width); });
}

/// `op` where it does nothing to unknown terms but keep, drop, or shift all of
/// them. `other` is exact.
static MaybeForm applyBelowTerms(Binary op, const ThreadForm &form,
                                 const ThreadForm &other, Type type,
                                 unsigned numThreads) {
  unsigned known = countKnownBits(form, type);
  auto isBelow = [&](int64_t v) {
    return known > 0 && v >= 0 && (known >= 63 || v >> known == 0);
  };
  auto isOnesAbove = [&](int64_t v) { return known < 64 && v >> known == -1; };
  auto isPowerOf2 = [](int64_t v) { return v > 0 && llvm::isPowerOf2_64(v); };
  auto bitwise = [&](auto function) {
    ThreadForm result = form;
    result.constant = map(numThreads, function, form.constant, other.constant);
    return result;
  };
  auto low = [&](const Lanes &mask) -> MaybeForm {
    if (!all(mask, isBelow))
      return std::nullopt;
    auto cut = [](int64_t v, int64_t m) { return v & m; };
    return ThreadForm{*getThreadFormWidth(type),
                      map(numThreads, cut, form.constant, mask),
                      {}};
  };
  switch (op) {
  case Binary::bitAnd:
    if (all(other.constant, isOnesAbove))
      return bitwise([](int64_t v, int64_t m) { return v & m; });
    return low(other.constant);
  case Binary::bitOr:
  case Binary::bitXor:
    if (!all(other.constant, isBelow))
      return std::nullopt;
    if (op == Binary::bitOr)
      return bitwise([](int64_t v, int64_t m) { return v | m; });
    return bitwise([](int64_t v, int64_t m) { return v ^ m; });
  case Binary::remU:
    if (!all(other.constant, isPowerOf2))
      return std::nullopt;
    return low(
        map(numThreads, [](int64_t v) { return v - 1; }, other.constant));
  case Binary::shrU:
  case Binary::shrS:
    if (!other.constant.isUniform())
      return std::nullopt;
    return dropLowBits(form, other.constant[0], type, numThreads);
  case Binary::divU:
  case Binary::floorDivS:
    if (!other.constant.isUniform() || !isPowerOf2(other.constant[0]))
      return std::nullopt;
    return dropLowBits(form, llvm::Log2_64(other.constant[0]), type,
                       numThreads);
  default:
    return std::nullopt;
  }
}

MaybeForm lodestone::applyBinary(Binary op, const ThreadForm &a,
                                 const ThreadForm &b, Type type,
                                 unsigned numThreads) {
  bool isUnsigned = readsUnsigned(op);
  bool isExactA = isExact(a, type, isUnsigned);
  bool isExactB = isExact(b, type, isUnsigned);
  bool commutes =
      op == Binary::bitAnd || op == Binary::bitOr || op == Binary::bitXor;
  if (!isExactA && isExactB)
    return applyBelowTerms(op, a, b, type, numThreads);
  if (isExactA && !isExactB && commutes)
    return applyBelowTerms(op, b, a, type, numThreads);
  if (!isExactA || !isExactB)
    return std::nullopt;
  // The upper half of a product depends on how wide index is.
  if (isa<IndexType>(type) &&
      (op == Binary::mulHighU || op == Binary::mulHighS))
    return std::nullopt;
  unsigned width = a.width;
  auto one = [&](int64_t x, int64_t y) -> std::optional<int64_t> {
    std::optional<APInt> value = compute(op, APInt(width, x, /*isSigned=*/true),
                                         APInt(width, y, /*isSigned=*/true));
    if (!value)
      return std::nullopt;
    return value->getSExtValue();
  };
  return constantForm(width, tryMap(numThreads, one, a.constant, b.constant));
}

MaybeForm lodestone::applyCompare(arith::CmpIPredicate predicate,
                                  const ThreadForm &a, const ThreadForm &b,
                                  Type type, unsigned numThreads) {
  bool isUnsigned = predicate >= arith::CmpIPredicate::ult;
  if (!isExact(a, type, isUnsigned) || !isExact(b, type, isUnsigned))
    return std::nullopt;
  unsigned width = a.width;
  auto one = [&](int64_t x, int64_t y) -> int64_t {
    return -compare(predicate, APInt(width, x, /*isSigned=*/true),
                    APInt(width, y, /*isSigned=*/true));
  };
  return ThreadForm{1, map(numThreads, one, a.constant, b.constant), {}};
}

MaybeForm lodestone::shiftLeft(const ThreadForm &a, const ThreadForm &b,
                               Type type, unsigned numThreads) {
  if (!isExact(b, type, /*isUnsigned=*/true))
    return std::nullopt;
  // A shift by 32 or more differs between the two widths of index.
  int64_t limit = isa<IndexType>(type) ? 32 : *getThreadFormWidth(type);
  auto power = [&](int64_t shift) -> std::optional<int64_t> {
    if (shift < 0 || shift >= limit)
      return std::nullopt;
    return static_cast<int64_t>(uint64_t(1) << shift);
  };
  std::optional<Lanes> factor = tryMap(numThreads, power, b.constant);
  if (!factor)
    return std::nullopt;
  return addScaled(ThreadForm{*getThreadFormWidth(type), 0, {}}, a, *factor,
                   numThreads);
}

MaybeForm lodestone::convert(const ThreadForm &form, Type from, Type to,
                             bool isSigned, unsigned numThreads) {
  unsigned target = *getThreadFormWidth(to);
  bool isExtension = target > *getThreadFormWidth(from);
  if (isa<IndexType>(from) || isa<IndexType>(to)) {
    // To index and back from 64 bits is a truncation if index has 32 bits.
    bool mayTruncate = target == 64 && *getThreadFormWidth(from) == 64;
    if (mayTruncate &&
        !isExact(form, IndexType::get(from.getContext()), !isSigned))
      return narrowed(form, 32, numThreads);
  }
  if (!isExtension)
    return narrowed(form, target, numThreads);
  if (!form.isConstant() || form.width != getThreadFormWidth(from))
    return form;
  auto extend = [&](int64_t v) -> int64_t {
    return isSigned ? v : v & llvm::maskTrailingOnes<uint64_t>(form.width);
  };
  return ThreadForm{target, map(numThreads, extend, form.constant), {}};
}
