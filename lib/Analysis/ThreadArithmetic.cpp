//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/ThreadArithmetic.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/Index/IR/IndexOps.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace lodestone;

using Operands = ArrayRef<const ThreadForm *>;
using MaybeForm = std::optional<ThreadForm>;

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

/// `form` without what is above `width` bits.
static ThreadForm narrowed(const ThreadForm &form, unsigned width,
                           unsigned numThreads) {
  if (form.width <= width)
    return form;
  auto cut = [&](int64_t v) { return wrap(v, width); };
  ThreadForm result{width, map(numThreads, cut, form.constant), {}};
  for (const ThreadForm::Term &term : form.terms) {
    Lanes coefficient = map(numThreads, cut, term.coefficient);
    if (!coefficient.isZero())
      result.terms.push_back({term.value, term.instance, coefficient});
  }
  return result;
}

ThreadForm lodestone::addScaled(const ThreadForm &a, const ThreadForm &b,
                                Lanes factor, unsigned numThreads) {
  unsigned width = std::min(a.width, b.width);
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

/// a * b, one of which must be known.
static MaybeForm multiply(const ThreadForm &a, const ThreadForm &b,
                          unsigned numThreads) {
  unsigned width = std::min(a.width, b.width);
  if (b.isConstant())
    return addScaled(ThreadForm{width, 0, {}}, a, b.constant, numThreads);
  if (a.isConstant())
    return addScaled(ThreadForm{width, 0, {}}, b, a.constant, numThreads);
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

/// The arith and index dialects' operations that aren't linear.
enum class Binary {
  bitAnd,
  bitOr,
  bitXor,
  shrU,
  shrS,
  divU,
  divS,
  ceilDivU,
  ceilDivS,
  floorDivS,
  remU,
  remS,
  minU,
  minS,
  maxU,
  maxS,
  mulHighU,
  mulHighS
};

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

/// True if all of `form` is known and `index` of 32 and of 64 bits agree on it.
static bool isExact(const ThreadForm &form, Type type, bool isUnsigned) {
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

static MaybeForm applyBinary(Binary op, const ThreadForm &a,
                             const ThreadForm &b, Type type,
                             unsigned numThreads) {
  bool isUnsigned = readsUnsigned(op);
  if (!isExact(a, type, isUnsigned) || !isExact(b, type, isUnsigned))
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

static MaybeForm applyCompare(arith::CmpIPredicate predicate,
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

static MaybeForm shiftLeft(const ThreadForm &a, const ThreadForm &b, Type type,
                           unsigned numThreads) {
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
  return addScaled(ThreadForm{a.width, 0, {}}, a, *factor, numThreads);
}

/// From one integer type or index to another. What isn't known keeps the bits
/// that the conversion keeps.
static MaybeForm convert(const ThreadForm &form, Type from, Type to,
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
  if (!isExact(rest, index, /*isUnsigned=*/true))
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
        *width, wrap(constant.getValue().getZExtValue(), *width), {}};
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
