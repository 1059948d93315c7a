//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadForms.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/Index/IR/IndexOps.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace lodestone;

using Operands = ArrayRef<const ThreadForm *>;

//===----------------------------------------------------------------------===//
// Affine operations
//===----------------------------------------------------------------------===//

static MaybeForm applyAffine(AffineExpr expr, unsigned numDims,
                             Operands operands, unsigned numThreads) {
  Type index = IndexType::get(expr.getContext());
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return ThreadForm{64, constant.getValue(), {}};
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return *operands[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return *operands[numDims + symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  MaybeForm a = applyAffine(binary.getLHS(), numDims, operands, numThreads);
  MaybeForm b = applyAffine(binary.getRHS(), numDims, operands, numThreads);
  if (!a || !b)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return addScaled(*a, *b, 1, numThreads);
  if (expr.getKind() == AffineExprKind::Mul)
    return multiply(*a, *b, numThreads);
  // Division by what isn't positive is undefined.
  for (unsigned i = 0, e = b->constant.getNumEntries(); i < e; ++i)
    if (b->constant[i] <= 0)
      return std::nullopt;
  if (expr.getKind() == AffineExprKind::CeilDiv)
    return applyBinary(Binary::ceilDivS, *a, *b, index, numThreads);
  // The bits below a power of two, also of what is negative.
  if (expr.getKind() == AffineExprKind::Mod && b->isConstant() &&
      b->constant.isUniform() && llvm::isPowerOf2_64(b->constant[0])) {
    ThreadForm mask{64, b->constant[0] - 1, {}};
    return applyBinary(Binary::bitAnd, *a, mask, index, numThreads);
  }
  MaybeForm quotient =
      applyBinary(Binary::floorDivS, *a, *b, index, numThreads);
  if (!quotient || expr.getKind() == AffineExprKind::FloorDiv)
    return quotient;
  MaybeForm product = multiply(*quotient, *b, numThreads);
  return addScaled(*a, *product, -1, numThreads);
}

static MaybeForm applyMinMax(AffineMap map, bool isMin, Operands operands,
                             unsigned numThreads) {
  Type index = IndexType::get(map.getContext());
  MaybeForm result;
  for (AffineExpr expr : map.getResults()) {
    MaybeForm next = applyAffine(expr, map.getNumDims(), operands, numThreads);
    if (!next)
      return std::nullopt;
    result = result ? applyBinary(isMin ? Binary::minS : Binary::maxS, *result,
                                  *next, index, numThreads)
                    : next;
    if (!result)
      return std::nullopt;
  }
  return result;
}

static MaybeForm delinearize(affine::AffineDelinearizeIndexOp op,
                             unsigned number, Operands operands,
                             unsigned numThreads) {
  if (!op.getDynamicBasis().empty())
    return std::nullopt;
  Type index = op.getLinearIndex().getType();
  ThreadForm rest = *operands[0];
  // It rounds down, which is the same for what isn't negative, and for what is
  // known modulo powers of two.
  if (rest.isConstant() && !isExact(rest, index, /*isUnsigned=*/true))
    return std::nullopt;
  ArrayRef<int64_t> basis = op.getStaticBasis();
  if (op.hasOuterBound())
    basis = basis.drop_front();
  for (unsigned i = basis.size();; --i) {
    if (i == 0)
      return rest;
    ThreadForm bound{64, basis[i - 1], {}};
    MaybeForm here = applyBinary(Binary::remU, rest, bound, index, numThreads);
    MaybeForm outer = applyBinary(Binary::divU, rest, bound, index, numThreads);
    if (!here || !outer || i == number)
      return here;
    rest = *outer;
  }
}

static MaybeForm linearize(affine::AffineLinearizeIndexOp op, Operands operands,
                           unsigned numThreads) {
  if (!op.getDynamicBasis().empty())
    return std::nullopt;
  ArrayRef<int64_t> basis = op.getStaticBasis();
  if (op.hasOuterBound())
    basis = basis.drop_front();
  ThreadForm result = *operands[0];
  for (auto [operand, bound] : llvm::zip(operands.drop_front(), basis))
    result = addScaled(*operand, result, bound, numThreads);
  return result;
}

//===----------------------------------------------------------------------===//
// Operation by operation
//===----------------------------------------------------------------------===//

static std::optional<Binary> getBinary(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Binary>>(op)
      .Case<arith::AndIOp, index::AndOp>([](auto) { return Binary::bitAnd; })
      .Case<arith::OrIOp, index::OrOp>([](auto) { return Binary::bitOr; })
      .Case<arith::XOrIOp, index::XOrOp>([](auto) { return Binary::bitXor; })
      .Case<arith::ShRUIOp, index::ShrUOp>([](auto) { return Binary::shrU; })
      .Case<arith::ShRSIOp, index::ShrSOp>([](auto) { return Binary::shrS; })
      .Case<arith::DivUIOp, index::DivUOp>([](auto) { return Binary::divU; })
      .Case<arith::DivSIOp, index::DivSOp>([](auto) { return Binary::divS; })
      .Case<arith::CeilDivUIOp, index::CeilDivUOp>(
          [](auto) { return Binary::ceilDivU; })
      .Case<arith::CeilDivSIOp, index::CeilDivSOp>(
          [](auto) { return Binary::ceilDivS; })
      .Case<arith::FloorDivSIOp, index::FloorDivSOp>(
          [](auto) { return Binary::floorDivS; })
      .Case<arith::RemUIOp, index::RemUOp>([](auto) { return Binary::remU; })
      .Case<arith::RemSIOp, index::RemSOp>([](auto) { return Binary::remS; })
      .Case<arith::MinUIOp, index::MinUOp>([](auto) { return Binary::minU; })
      .Case<arith::MinSIOp, index::MinSOp>([](auto) { return Binary::minS; })
      .Case<arith::MaxUIOp, index::MaxUOp>([](auto) { return Binary::maxU; })
      .Case<arith::MaxSIOp, index::MaxSOp>([](auto) { return Binary::maxS; })
      .Default([](Operation *) { return std::nullopt; });
}

/// Thread numbers, and what else only the block decides.
static MaybeForm evaluateId(Operation *op, const ThreadGeometry &geometry) {
  unsigned numThreads = geometry.getNumThreads();
  unsigned width = *getThreadFormWidth(op->getResult(0).getType());
  auto perThread = [&](auto function) {
    SmallVector<int64_t, 1> values(numThreads);
    for (unsigned thread = 0; thread < numThreads; ++thread)
      values[thread] = function(thread);
    return ThreadForm{width, Lanes(std::move(values)), {}};
  };
  auto threadId = [&](unsigned dim) -> MaybeForm {
    unsigned before = 1;
    for (unsigned i = 0; i < dim; ++i)
      before *= geometry.size[i];
    return perThread(
        [&](unsigned t) { return t / before % geometry.size[dim]; });
  };
  auto blockDim = [&](unsigned dim) -> MaybeForm {
    return ThreadForm{width, geometry.size[dim], {}};
  };
  auto ofWave = [&](auto function) -> MaybeForm {
    if (!geometry.waveSize)
      return std::nullopt;
    return perThread(
        [&](unsigned t) { return function(t, geometry.waveSize); });
  };
  return llvm::TypeSwitch<Operation *, MaybeForm>(op)
      .Case([&](gpu::ThreadIdOp op) {
        return threadId(static_cast<unsigned>(op.getDimension()));
      })
      .Case([&](gpu::BlockDimOp op) {
        return blockDim(static_cast<unsigned>(op.getDimension()));
      })
      .Case([&](ROCDL::ThreadIdXOp) { return threadId(0); })
      .Case([&](ROCDL::ThreadIdYOp) { return threadId(1); })
      .Case([&](ROCDL::ThreadIdZOp) { return threadId(2); })
      .Case([&](gpu::LaneIdOp) {
        return ofWave([](unsigned t, unsigned wave) { return t % wave; });
      })
      .Case([&](gpu::SubgroupIdOp) {
        return ofWave([](unsigned t, unsigned wave) { return t / wave; });
      })
      .Case([&](gpu::SubgroupSizeOp) {
        return ofWave([](unsigned t, unsigned wave) { return wave; });
      })
      .Case([&](gpu::NumSubgroupsOp) {
        return ofWave([&](unsigned t, unsigned wave) {
          return llvm::divideCeil(numThreads, wave);
        });
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// The first lane of a wave that is there decides; only if all agree it doesn't
/// matter which that is.
static MaybeForm readFirstLane(const ThreadForm &form,
                               const ThreadGeometry &geometry) {
  auto agree = [&](const Lanes &lanes) {
    for (unsigned t = 0; t < geometry.getNumThreads(); ++t)
      if (lanes[t] != lanes[t - t % geometry.waveSize])
        return false;
    return true;
  };
  if (form.isUniform())
    return form;
  if (!geometry.waveSize || !agree(form.constant) ||
      !llvm::all_of(form.terms, [&](auto &t) { return agree(t.coefficient); }))
    return std::nullopt;
  return form;
}

MaybeForm lodestone::evaluateOp(OpResult result, Operands operands,
                                const ThreadGeometry &geometry) {
  Operation *op = result.getOwner();
  Type type = result.getType();
  unsigned numThreads = geometry.getNumThreads();
  std::optional<unsigned> width = getThreadFormWidth(type);
  if (!width)
    return std::nullopt;
  IntegerAttr constant;
  if (matchPattern(op, m_Constant(&constant)))
    return ThreadForm{
        *width,
        llvm::SignExtend64(constant.getValue().getZExtValue(), *width),
        {}};
  if (std::optional<Binary> binary = getBinary(op))
    return applyBinary(*binary, *operands[0], *operands[1], type, numThreads);

  auto cast = [&](auto op, bool isSigned) -> MaybeForm {
    return convert(*operands[0], op->getOperand(0).getType(), type, isSigned,
                   numThreads);
  };
  return llvm::TypeSwitch<Operation *, MaybeForm>(op)
      .Case<arith::AddIOp, index::AddOp>([&](auto) {
        return addScaled(*operands[0], *operands[1], 1, numThreads);
      })
      .Case<arith::SubIOp, index::SubOp>([&](auto) {
        return addScaled(*operands[0], *operands[1], -1, numThreads);
      })
      .Case<arith::MulIOp, index::MulOp>([&](auto) {
        return multiply(*operands[0], *operands[1], numThreads);
      })
      .Case<arith::ShLIOp, index::ShlOp>([&](auto) {
        return shiftLeft(*operands[0], *operands[1], type, numThreads);
      })
      .Case<arith::MulUIExtendedOp, arith::MulSIExtendedOp>([&](auto op) {
        if (result == op.getLow())
          return multiply(*operands[0], *operands[1], numThreads);
        bool isSigned = isa<arith::MulSIExtendedOp>(op.getOperation());
        return applyBinary(isSigned ? Binary::mulHighS : Binary::mulHighU,
                           *operands[0], *operands[1], type, numThreads);
      })
      .Case([&](arith::SelectOp op) {
        return select(*operands[0], *operands[1], *operands[2], numThreads);
      })
      .Case([&](arith::CmpIOp op) {
        return applyCompare(op.getPredicate(), *operands[0], *operands[1],
                            op.getLhs().getType(), numThreads);
      })
      .Case([&](index::CmpOp op) {
        // The names, and so the numbers of their arith counterparts, agree.
        auto predicate = arith::symbolizeCmpIPredicate(
            stringifyIndexCmpPredicate(op.getPred()));
        return applyCompare(*predicate, *operands[0], *operands[1],
                            op.getLhs().getType(), numThreads);
      })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp, index::CastUOp>(
          [&](auto op) { return cast(op, /*isSigned=*/false); })
      .Case<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp,
            index::CastSOp>(
          [&](auto op) { return cast(op, /*isSigned=*/true); })
      .Case([&](affine::AffineApplyOp op) {
        AffineMap map = op.getAffineMap();
        return applyAffine(map.getResult(0), map.getNumDims(), operands,
                           numThreads);
      })
      .Case([&](affine::AffineMinOp op) {
        return applyMinMax(op.getAffineMap(), true, operands, numThreads);
      })
      .Case([&](affine::AffineMaxOp op) {
        return applyMinMax(op.getAffineMap(), false, operands, numThreads);
      })
      .Case([&](affine::AffineDelinearizeIndexOp op) {
        return delinearize(op, result.getResultNumber(), operands, numThreads);
      })
      .Case([&](affine::AffineLinearizeIndexOp op) {
        return linearize(op, operands, numThreads);
      })
      .Case([&](ROCDL::ReadfirstlaneOp) {
        return readFirstLane(*operands[0], geometry);
      })
      .Default([&](Operation *op) { return evaluateId(op, geometry); });
}
