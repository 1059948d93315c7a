//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Emits where a byte of a swizzled allocation is.
///
//===----------------------------------------------------------------------===//

#include "PhysicalOffset.h"

#include "lodestone/Dialect/LDS/IR/LDSSwizzle.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace lodestone;
using namespace lodestone::lds;

/// How many operations of an index are looked through for terms: enough for
/// what is written, and an end in unreachable code, whose values may be defined
/// by themselves.
static constexpr unsigned kMaxSteps = 16;

/// True if the arithmetic of `swizzle` is right modulo its period for every bit
/// pattern, negative numbers included: then multiples of the period may be
/// added after it instead of before. Xor steps look at single bits.
static bool isModular(SwizzleAttrInterface swizzle) {
  std::optional<Swizzle> map = lds::getSwizzle(swizzle);
  return map && llvm::all_of(map->getSteps(), [](const SwizzleStep &step) {
           return std::holds_alternative<XorStep>(step);
         });
}

/// `x / n * n + x % n` is x, and so is any multiple of it.
std::optional<PhysicalOffset::Term> PhysicalOffset::joinDivision(Term a,
                                                                 Term b) {
  if (a.value.getDefiningOp<arith::RemUIOp>())
    std::swap(a, b);
  auto quotient = a.value.getDefiningOp<arith::DivUIOp>();
  auto remainder = b.value.getDefiningOp<arith::RemUIOp>();
  if (!quotient || !remainder || quotient.getLhs() != remainder.getLhs())
    return std::nullopt;
  std::optional<int64_t> by = getConstantIntValue(quotient.getRhs());
  if (!by || by != getConstantIntValue(remainder.getRhs()) ||
      a.bytes != b.bytes * static_cast<uint64_t>(*by))
    return std::nullopt;
  return Term{quotient.getLhs(), b.bytes};
}

PhysicalOffset::PhysicalOffset(ImplicitLocOpBuilder &builder,
                               SwizzleAttrInterface swizzle,
                               TrailingZeros &zeros)
    : builder(builder), swizzle(swizzle), zeros(zeros),
      modular(isModular(swizzle)), period(swizzle.getPeriod()) {}

bool PhysicalOffset::mayStayOutside(Value value, uint64_t bytes) {
  unsigned low = zeros.of(value) + llvm::countr_zero(bytes);
  return modular && low >= llvm::Log2_64(period);
}

void PhysicalOffset::addTo(Sum &sum, Value value, uint64_t bytes) {
  // Factors aside, to see what belongs together.
  for (unsigned step = 0; step < kMaxSteps; ++step) {
    auto product = value.getDefiningOp<arith::MulIOp>();
    std::optional<int64_t> factor;
    if (product)
      factor = getConstantIntValue(product.getRhs());
    if (!factor)
      break;
    value = product.getLhs();
    bytes *= static_cast<uint64_t>(*factor);
  }
  Term term{value, bytes};
  for (Term &other : sum.terms)
    if (std::optional<Term> whole = joinDivision(other, term)) {
      other = *whole;
      return;
    }
  sum.terms.push_back(term);
}

/// `(term + rest) * bytes`.
struct PhysicalOffset::Part {
  Value term, rest;
  uint64_t bytes;
};

/// Writes `value * bytes` as a sum of which one term is constant or may stay
/// outside. Factors distribute over sums, as both wrap around.
std::optional<PhysicalOffset::Part> PhysicalOffset::split(Value value,
                                                          uint64_t bytes) {
  for (unsigned step = 0; step < kMaxSteps; ++step) {
    Operation *op = value.getDefiningOp();
    if (!isa_and_nonnull<arith::AddIOp, arith::MulIOp>(op))
      return std::nullopt;
    Value lhs = op->getOperand(0), rhs = op->getOperand(1);
    if (isa<arith::AddIOp>(op)) {
      auto isPart = [&](Value term) {
        return getConstantIntValue(term) || mayStayOutside(term, bytes);
      };
      if (isPart(rhs))
        return Part{rhs, lhs, bytes};
      if (isPart(lhs))
        return Part{lhs, rhs, bytes};
      return std::nullopt;
    }
    std::optional<int64_t> factor = getConstantIntValue(rhs);
    if (!factor)
      return std::nullopt;
    value = lhs;
    bytes *= static_cast<uint64_t>(*factor);
  }
  return std::nullopt;
}

void PhysicalOffset::add(OpFoldResult term, uint64_t bytes) {
  for (unsigned step = 0; step < kMaxSteps; ++step) {
    if (bytes == 0)
      return;
    if (std::optional<int64_t> constant = getConstantIntValue(term)) {
      inside.constant += static_cast<uint64_t>(*constant) * bytes;
      return;
    }
    auto value = cast<Value>(term);
    std::optional<Part> part;
    if (!mayStayOutside(value, bytes))
      part = split(value, bytes);
    if (!part)
      break;
    if (std::optional<int64_t> constant = getConstantIntValue(part->term))
      inside.constant += static_cast<uint64_t>(*constant) * part->bytes;
    else
      addTo(outside, part->term, part->bytes);
    term = part->rest;
    bytes = part->bytes;
  }
  auto value = cast<Value>(term);
  addTo(mayStayOutside(value, bytes) ? outside : inside, value, bytes);
}

Value PhysicalOffset::emit(const Sum &sum, uint64_t unit) {
  Value result;
  auto add = [&](Value term) {
    result = result ? builder.createOrFold<arith::AddIOp>(result, term) : term;
  };
  for (Term term : sum.terms)
    add(builder.createOrFold<arith::MulIOp>(
        term.value,
        arith::ConstantIndexOp::create(builder, term.bytes / unit)));
  if (!result || sum.constant != 0)
    add(arith::ConstantIndexOp::create(builder, sum.constant / unit));
  return result;
}

Value PhysicalOffset::emit(uint64_t unit) {
  if (modular) {
    uint64_t multiple = inside.constant & -period;
    outside.constant += multiple;
    inside.constant -= multiple;
  }
  auto isWhole = [&](const Sum &sum) {
    return sum.constant % unit == 0 && llvm::all_of(sum.terms, [&](Term term) {
             return term.bytes % unit == 0;
           });
  };
  auto divide = [&](Value bytes) {
    if (unit == 1)
      return bytes;
    return builder.createOrFold<arith::DivUIOp>(
        bytes, arith::ConstantIndexOp::create(builder, unit));
  };
  bool hasOutside = !outside.terms.empty() || outside.constant != 0;
  // An xor leaves 0 alone.
  bool hasInside = !modular || !inside.terms.empty() || inside.constant != 0;
  if (!hasInside)
    return isWhole(outside) ? emit(outside, unit) : divide(emit(outside, 1));
  Value physical = swizzle.emit(builder, builder.getLoc(), emit(inside, 1),
                                SwizzleDirection::forward);
  if (!hasOutside)
    return divide(physical);
  // A division would hide from others what is the same for all threads.
  if (isWhole(outside))
    return builder.createOrFold<arith::AddIOp>(divide(physical),
                                               emit(outside, unit));
  return divide(
      builder.createOrFold<arith::AddIOp>(physical, emit(outside, 1)));
}
