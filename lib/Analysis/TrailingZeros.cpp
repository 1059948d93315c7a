//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/TrailingZeros.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Index/IR/IndexOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace lodestone;

/// Longer chains of operations give up, so that the stack doesn't.
static constexpr unsigned kMaxDepth = 64;

static unsigned ofConstant(uint64_t value) {
  return value == 0 ? TrailingZeros::kAll : llvm::countr_zero(value);
}

static unsigned add(unsigned a, unsigned b) {
  return std::min(a + b, TrailingZeros::kAll);
}

/// What a division by a constant leaves: bits move down when it is a power of
/// two.
static unsigned divide(unsigned zeros, uint64_t by) {
  if (!llvm::isPowerOf2_64(by))
    return 0;
  unsigned down = llvm::Log2_64(by);
  return zeros > down ? zeros - down : 0;
}

static std::optional<uint64_t> constantOf(Value value) {
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)) && number.getBitWidth() <= 64)
    return number.getZExtValue();
  return std::nullopt;
}

unsigned TrailingZeros::of(Value value) {
  auto it = known.find(value);
  if (it != known.end())
    return it->second;
  if (depth == kMaxDepth)
    return 0;
  // What a loop asks of itself while it is computed: nothing known.
  known[value] = 0;
  ++depth;
  unsigned zeros = compute(value);
  --depth;
  known[value] = zeros;
  return zeros;
}

unsigned TrailingZeros::compute(Value value) {
  if (std::optional<uint64_t> constant = constantOf(value))
    return ofConstant(*constant);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto loop = dyn_cast_or_null<scf::ForOp>(parent);
        loop && value == loop.getInductionVar())
      return std::min(of(loop.getLowerBound()), of(loop.getStep()));
    if (auto loop = dyn_cast_or_null<affine::AffineForOp>(parent);
        loop && value == loop.getInductionVar() && loop.hasConstantLowerBound())
      return std::min(ofConstant(loop.getConstantLowerBound()),
                      ofConstant(loop.getStepAsInt()));
    return 0;
  }

  Operation *op = value.getDefiningOp();
  auto both = [&](unsigned i, unsigned j) {
    return std::min(of(op->getOperand(i)), of(op->getOperand(j)));
  };
  return TypeSwitch<Operation *, unsigned>(op)
      .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
            arith::ExtUIOp, arith::TruncIOp, index::CastSOp, index::CastUOp>(
          [&](auto) { return of(op->getOperand(0)); })
      .Case<arith::AddIOp, arith::SubIOp, arith::OrIOp, arith::XOrIOp,
            arith::MinSIOp, arith::MinUIOp, arith::MaxSIOp, arith::MaxUIOp,
            arith::RemUIOp, arith::RemSIOp, index::AddOp, index::SubOp,
            index::OrOp, index::XOrOp, index::RemUOp, index::RemSOp>(
          [&](auto) { return both(0, 1); })
      .Case<arith::AndIOp, index::AndOp>([&](auto) {
        return std::max(of(op->getOperand(0)), of(op->getOperand(1)));
      })
      .Case([&](arith::SelectOp) { return both(1, 2); })
      .Case<arith::MulIOp, index::MulOp>([&](auto) {
        return add(of(op->getOperand(0)), of(op->getOperand(1)));
      })
      .Case<arith::ShLIOp, index::ShlOp>([&](auto op) {
        // Shifts by the width or more are poison.
        uint64_t by = constantOf(op.getRhs()).value_or(0);
        return add(of(op.getLhs()), std::min<uint64_t>(by, kAll));
      })
      .Case<arith::ShRUIOp, arith::ShRSIOp, index::ShrUOp, index::ShrSOp>(
          [&](auto op) -> unsigned {
            uint64_t by = constantOf(op.getRhs()).value_or(kAll);
            return by < kAll ? divide(of(op.getLhs()), uint64_t(1) << by) : 0;
          })
      .Case<arith::DivUIOp, arith::DivSIOp, index::DivUOp, index::DivSOp>(
          [&](auto op) -> unsigned {
            std::optional<uint64_t> by = constantOf(op.getRhs());
            return by ? divide(of(op.getLhs()), *by) : 0;
          })
      .Case([&](affine::AffineApplyOp op) {
        AffineMap map = op.getAffineMap();
        return of(map.getResult(0), op.getMapOperands(), map.getNumDims());
      })
      .Default(0u);
}

unsigned TrailingZeros::of(AffineExpr expr, ValueRange operands,
                           unsigned numDims) {
  switch (expr.getKind()) {
  case AffineExprKind::Constant:
    return ofConstant(cast<AffineConstantExpr>(expr).getValue());
  case AffineExprKind::DimId:
    return of(operands[cast<AffineDimExpr>(expr).getPosition()]);
  case AffineExprKind::SymbolId:
    return of(operands[numDims + cast<AffineSymbolExpr>(expr).getPosition()]);
  default:
    break;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  unsigned lhs = of(binary.getLHS(), operands, numDims);
  unsigned rhs = of(binary.getRHS(), operands, numDims);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
  case AffineExprKind::Mod:
    return std::min(lhs, rhs);
  case AffineExprKind::Mul:
    return add(lhs, rhs);
  default: // Divisions.
    auto by = dyn_cast<AffineConstantExpr>(binary.getRHS());
    return by ? divide(lhs, by.getValue()) : 0;
  }
}
