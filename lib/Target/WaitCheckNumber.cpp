//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The address analysis's ranges of plain integers: thread ids from the size of
/// the workgroup, and what is computed from them.
///
//===----------------------------------------------------------------------===//

#include "WaitCheckAddress.h"

#include "llvm/Analysis/SimplifyQuery.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/KnownBits.h"

using namespace llvm;
using namespace lodestone;

/// Most threads that a workgroup of `function` has: exact along `dimension` if
/// the kernel requires a size, else in all.
static uint64_t workgroupSize(const Function &function, unsigned dimension) {
  if (const MDNode *required = function.getMetadata("reqd_work_group_size");
      required && required->getNumOperands() == 3)
    if (auto *size =
            mdconst::dyn_extract<ConstantInt>(required->getOperand(dimension)))
      return std::max<uint64_t>(size->getZExtValue(), 1);
  StringRef flat =
      function.getFnAttribute("amdgpu-flat-work-group-size").getValueAsString();
  uint64_t most;
  if (!flat.split(',').second.trim().getAsInteger(10, most) && most > 0)
    return std::min<uint64_t>(most, 1024);
  return 1024;
}

static ConstantRange below(unsigned width, uint64_t bound) {
  return ConstantRange::getNonEmpty(APInt(width, 0),
                                    APInt(64, bound).zextOrTrunc(width));
}

/// Where `x ^ y` and `x | y` are: y changes no bit above its own highest, so
/// the result stays in the same block of that size as x.
static ConstantRange withinBlock(const ConstantRange &x,
                                 const ConstantRange &y) {
  unsigned width = x.getBitWidth();
  APInt block = APInt::getLowBitsSet(width, y.getUnsignedMax().getActiveBits());
  return ConstantRange::getNonEmpty(x.getUnsignedMin() & ~block,
                                    (x.getUnsignedMax() | block) + 1);
}

/// `range` without what isn't a multiple of 2^`zeros` at its ends.
static ConstantRange alignedRange(const ConstantRange &range, unsigned zeros) {
  if (range.isEmptySet() || range.isWrappedSet() || zeros == 0 ||
      zeros >= range.getBitWidth())
    return range;
  APInt low = APInt::getLowBitsSet(range.getBitWidth(), zeros);
  APInt first = (range.getUnsignedMin() + low) & ~low;
  APInt last = range.getUnsignedMax() & ~low;
  // Rounding up went past the end of the range or of the numbers.
  if (first.ugt(last) || first.ult(range.getUnsignedMin()))
    return range;
  return ConstantRange::getNonEmpty(first, last + 1);
}

ConstantRange AddressAnalysis::number(const Value *value) {
  Type *type = value->getType();
  if (!type->isIntegerTy())
    return ConstantRange::getFull(32);
  unsigned width = type->getIntegerBitWidth();
  if (const auto *constant = dyn_cast<ConstantInt>(value))
    return ConstantRange(constant->getValue());
  auto known = numbers.find(value);
  if (known != numbers.end())
    return known->second;
  // A phi that is met again while it is looked at may be anything.
  if (budget == 0 || depth > kMaxDepth || !pendingNumbers.insert(value).second)
    return ConstantRange::getFull(width);
  --budget;
  ++depth;
  ConstantRange result = visitNumber(value);
  --depth;
  pendingNumbers.erase(value);

  // A range has no holes: in `wave << 13 | lane << 7` it is the bits that tell
  // how far the sum reaches.
  const DataLayout &layout = function.getParent()->getDataLayout();
  if (isa<BinaryOperator, CastInst>(value)) {
    KnownBits bits = computeKnownBits(value, layout);
    if (!bits.hasConflict())
      result = alignedRange(result.intersectWith(ConstantRange::fromKnownBits(
                                bits, /*IsSigned=*/false)),
                            bits.countMinTrailingZeros());
  } else {
    SimplifyQuery query(layout, dyn_cast<Instruction>(value));
    result = result.intersectWith(computeConstantRangeIncludingKnownBits(
        value, /*ForSigned=*/false, query));
  }
  // Nothing fits: the value is never computed, or the two disagree.
  if (result.isEmptySet())
    result = ConstantRange::getFull(width);
  // Within a cycle it may be wider than it need be, but it holds everywhere.
  if (budget != 0)
    numbers.insert({value, result});
  return result;
}

ConstantRange AddressAnalysis::visitNumber(const Value *value) {
  unsigned width = value->getType()->getIntegerBitWidth();
  ConstantRange any = ConstantRange::getFull(width);
  if (const auto *phi = dyn_cast<PHINode>(value)) {
    SmallVector<const Value *, 4> incoming(phi->incoming_values());
    std::optional<ConstantRange> distance = travel(phi);
    if (distance) {
      auto from = starts(phi);
      incoming.assign(from.begin(), from.end());
    }
    ConstantRange result = ConstantRange::getEmpty(width);
    for (const Value *one : incoming)
      result = result.unionWith(number(one));
    return distance ? result.add(distance->sextOrTrunc(width)) : result;
  }
  const auto *op = dyn_cast<Operator>(value);
  if (!op)
    return any;
  if (const auto *call = dyn_cast<CallBase>(value))
    return visitNumberCall(call);
  unsigned opcode = op->getOpcode();
  if (Instruction::isBinaryOp(opcode)) {
    ConstantRange lhs = number(op->getOperand(0));
    ConstantRange rhs = number(op->getOperand(1));
    if (const auto *disjoint = dyn_cast<PossiblyDisjointInst>(op);
        disjoint && disjoint->isDisjoint())
      return lhs.add(rhs).intersectWith(lhs.binaryOr(rhs));
    auto code = static_cast<Instruction::BinaryOps>(opcode);
    if (code == Instruction::Xor || code == Instruction::Or)
      return lhs.binaryOp(code, rhs)
          .intersectWith(withinBlock(lhs, rhs))
          .intersectWith(withinBlock(rhs, lhs));
    if (const auto *wraps = dyn_cast<OverflowingBinaryOperator>(op))
      return lhs.overflowingBinaryOp(code, rhs, wraps->getNoWrapKind());
    return lhs.binaryOp(code, rhs);
  }
  switch (opcode) {
  case Instruction::Trunc:
  case Instruction::ZExt:
  case Instruction::SExt:
    if (!op->getOperand(0)->getType()->isIntegerTy())
      return any;
    return number(op->getOperand(0))
        .castOp(static_cast<Instruction::CastOps>(opcode), width);
  case Instruction::Select:
    return number(op->getOperand(1)).unionWith(number(op->getOperand(2)));
  case Instruction::Freeze:
    return number(op->getOperand(0));
  default:
    return any;
  }
}

ConstantRange AddressAnalysis::visitNumberCall(const CallBase *call) {
  unsigned width = call->getType()->getIntegerBitWidth();
  ConstantRange any = ConstantRange::getFull(width);
  if (const Value *through = passedThrough(call))
    return number(through);
  Intrinsic::ID id = call->getIntrinsicID();
  switch (id) {
  case Intrinsic::amdgcn_workitem_id_x:
    return below(width, workgroupSize(function, 0));
  case Intrinsic::amdgcn_workitem_id_y:
    return below(width, workgroupSize(function, 1));
  case Intrinsic::amdgcn_workitem_id_z:
    return below(width, workgroupSize(function, 2));
  // LLVM makes these of products that fit. The operands are the low 24 bits.
  case Intrinsic::amdgcn_mul_u24:
  case Intrinsic::amdgcn_mul_i24: {
    unsigned bits = id == Intrinsic::amdgcn_mul_u24 ? 24 : 23;
    ConstantRange product(APInt(64, 1));
    for (const Value *operand : call->args()) {
      ConstantRange factor = number(operand).zextOrTrunc(64);
      if (factor.getUnsignedMax().getActiveBits() > bits) {
        if (id == Intrinsic::amdgcn_mul_i24)
          return any;
        factor = below(64, uint64_t(1) << bits);
      }
      product = product.multiply(factor);
    }
    return product.zextOrTrunc(width);
  }
  // Lanes below this one: of lanes 0 to 31 up to 32 of them, of 32 to 63 up to
  // 31, on top of the second operand.
  case Intrinsic::amdgcn_mbcnt_lo:
    return number(call->getArgOperand(1)).add(below(width, 33));
  case Intrinsic::amdgcn_mbcnt_hi:
    return number(call->getArgOperand(1)).add(below(width, 32));
  default:
    break;
  }
  if (!ConstantRange::isIntrinsicSupported(id))
    return any;
  SmallVector<ConstantRange, 2> operands;
  for (const Value *operand : call->args()) {
    if (!operand->getType()->isIntegerTy())
      return any;
    operands.push_back(number(operand));
  }
  return ConstantRange::intrinsic(id, operands);
}
