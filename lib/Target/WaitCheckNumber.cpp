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

/// The numbers that an xor can give. Above the highest bit of the one operand
/// the bits are those of the other: a swizzle leaves a row's number as it is.
static ConstantRange exclusiveOr(const ConstantRange &lhs,
                                 const ConstantRange &rhs) {
  unsigned width = lhs.getBitWidth();
  auto most = [width](const ConstantRange &high, const ConstantRange &low) {
    unsigned bits = low.getUnsignedMax().getActiveBits();
    return high.getUnsignedMax() | APInt::getLowBitsSet(width, bits);
  };
  APInt bound = APIntOps::umin(most(lhs, rhs), most(rhs, lhs));
  return lhs.binaryXor(rhs).intersectWith(
      ConstantRange::getNonEmpty(APInt::getZero(width), bound + 1));
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

  if (!isa<BinaryOperator, CastInst>(value)) {
    const DataLayout &layout = function.getParent()->getDataLayout();
    SimplifyQuery query(layout, dyn_cast<Instruction>(value));
    result = result.intersectWith(computeConstantRangeIncludingKnownBits(
        value, /*ForSigned=*/false, query));
  } else if (result.isFullSet() ||
             cast<Operator>(value)->getOpcode() == Instruction::Xor) {
    KnownBits bits =
        computeKnownBits(value, function.getParent()->getDataLayout());
    if (!bits.hasConflict()) {
      result = result.intersectWith(
          ConstantRange::fromKnownBits(bits, /*IsSigned=*/false));
      // The last multiple of the alignment, where a swizzle leaves its bits.
      APInt last = result.getUnsignedMax();
      last.clearLowBits(std::min(bits.countMinTrailingZeros(), width));
      result = result.intersectWith(
          ConstantRange::getNonEmpty(APInt::getZero(width), last + 1));
    }
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
    if (opcode == Instruction::Xor)
      return exclusiveOr(lhs, rhs);
    auto code = static_cast<Instruction::BinaryOps>(opcode);
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
