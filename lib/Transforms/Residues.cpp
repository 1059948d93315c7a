//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Residues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace lodestone;

namespace {
/// `residue` modulo `modulus`; a modulus of 0 stands for a constant.
struct Residue {
  uint64_t modulus;
  uint64_t residue;
  /// The value is one of [low, max + slack], with the largest signed number of
  /// its type as max, and no operation before it wrapped. Else its residue is
  /// known for powers of two only, which all wrapping keeps.
  bool isExact;
  uint64_t low;
  int64_t slack;
};
} // namespace

/// Longer chains of operations give up: each loop in one asks for two values,
/// so that time doubles with it.
static constexpr unsigned kMaxDepth = 16;
/// The most that all types here keep of a power of two, whatever they are
/// converted to and from.
static constexpr uint64_t kMaxWrappedModulus = uint64_t(1) << 32;
/// Beyond, a sum might leave the unsigned numbers of 32 bits.
static constexpr int64_t kMaxSlack = INT32_MAX;

static uint64_t getPowerOf2Part(uint64_t value) { return value & -value; }

static Residue reduce(uint64_t modulus, uint64_t residue) {
  return {modulus, modulus ? residue % modulus : residue, true, 0, 0};
}

/// What is left when the value may have wrapped.
static Residue wrapped(Residue value) {
  if (value.modulus)
    value = reduce(std::min(getPowerOf2Part(value.modulus), kMaxWrappedModulus),
                   value.residue);
  value.isExact = false;
  return value;
}

static std::optional<Residue> ofConstant(int64_t value) {
  if (value < 0)
    return std::nullopt;
  Residue residue = reduce(0, value);
  residue.low = value;
  return residue;
}

static Residue addConstant(Residue value, int64_t number) {
  uint64_t modulus = value.modulus;
  uint64_t sum = value.residue + static_cast<uint64_t>(number);
  // Of a negative number, add a multiple of the modulus.
  if (number < 0)
    sum = value.residue + modulus -
          static_cast<uint64_t>(-number) % std::max<uint64_t>(modulus, 1);
  Residue result = reduce(modulus, sum);
  bool isExact = value.isExact;
  if (number < 0)
    isExact &= value.low >= static_cast<uint64_t>(-number);
  result.low = value.low + number;
  result.slack = value.slack + number;
  if (!isExact || result.slack > kMaxSlack)
    return wrapped(result);
  return result;
}

static std::optional<Residue> of(Value value, unsigned depth);

static std::optional<Residue> ofCounter(scf::ForOp loop) {
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound());
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  if (!lower || !step || *lower < 0 || *step <= 0 || loop.getUnsignedCmp())
    return std::nullopt;
  Residue residue = reduce(*step, *lower);
  residue.low = *lower;
  // Below the bound, which may be known to be below some other number.
  residue.slack = -1;
  auto bound = loop.getUpperBound().getDefiningOp<arith::SubIOp>();
  if (bound && bitEnumContainsAll(bound.getOverflowFlags(),
                                  arith::IntegerOverflowFlags::nsw))
    if (std::optional<int64_t> less = getConstantIntValue(bound.getRhs());
        less && *less > 0 && *less < kMaxSlack)
      residue.slack -= *less;
  return residue;
}

/// Either of two values.
static Residue join(Residue a, Residue b) {
  uint64_t difference =
      std::max(a.residue, b.residue) - std::min(a.residue, b.residue);
  Residue result = a;
  uint64_t modulus = std::gcd(std::gcd(a.modulus, b.modulus), difference);
  if (modulus)
    result = reduce(modulus, a.residue);
  result.low = std::min(a.low, b.low);
  result.slack = std::max(a.slack, b.slack);
  if (!a.isExact || !b.isExact)
    return wrapped(result);
  return result;
}

static std::optional<Residue> of(Value value, unsigned depth) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return ofConstant(*constant);
  bool isWide = value.getType().isIndex() ||
                (value.getType().isInteger() &&
                 value.getType().getIntOrFloatBitWidth() >= 32);
  if (depth == kMaxDepth || !isWide)
    return std::nullopt;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument != loop.getInductionVar())
      return std::nullopt;
    return ofCounter(loop);
  }
  return llvm::TypeSwitch<Operation *, std::optional<Residue>>(
             value.getDefiningOp())
      .Case([&](scf::ForOp loop) -> std::optional<Residue> {
        unsigned number = cast<OpResult>(value).getResultNumber();
        auto init = of(loop.getInitArgs()[number], depth + 1);
        auto last = of(loop.getYieldedValues()[number], depth + 1);
        if (!init || !last)
          return std::nullopt;
        return join(*init, *last);
      })
      .Case<arith::AddIOp, arith::SubIOp>(
          [&](auto op) -> std::optional<Residue> {
            std::optional<int64_t> number = getConstantIntValue(op.getRhs());
            auto lhs = of(op.getLhs(), depth + 1);
            if (!number || *number < -kMaxSlack || *number > kMaxSlack ||
                !lhs || lhs->modulus == 0)
              return std::nullopt;
            bool isSum = isa<arith::AddIOp>(op.getOperation());
            return addConstant(*lhs, isSum ? *number : -*number);
          })
      // Numbers that aren't negative keep their value between types that hold
      // them; the others their low bits.
      .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::TruncIOp,
            arith::ExtUIOp, arith::ExtSIOp>(
          [&](auto op) -> std::optional<Residue> {
            auto operand = of(op->getOperand(0), depth + 1);
            if (!operand)
              return std::nullopt;
            return wrapped(*operand);
          })
      .Default(std::nullopt);
}

std::optional<uint64_t> lodestone::foldRemainder(Operation *op) {
  if (!isa<arith::RemUIOp, arith::RemSIOp, arith::AndIOp>(op))
    return std::nullopt;
  std::optional<int64_t> number = getConstantIntValue(op->getOperand(1));
  std::optional<Residue> value = of(op->getOperand(0), /*depth=*/0);
  if (!number || *number <= 0 || !value || value->modulus == 0)
    return std::nullopt;
  uint64_t divisor = *number;
  if (isa<arith::AndIOp>(op)) {
    if (!llvm::isPowerOf2_64(divisor + 1))
      return std::nullopt;
    ++divisor;
  }
  if (value->modulus % divisor != 0)
    return std::nullopt;
  // A remainder has the sign of what is divided.
  if (isa<arith::RemSIOp>(op) && (!value->isExact || value->slack > 0))
    return std::nullopt;
  return value->residue % divisor;
}
