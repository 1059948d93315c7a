//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/InductionRange.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace lodestone;
using LLVM::ICmpPredicate;

/// `predicate` with its operands swapped.
static ICmpPredicate swapped(ICmpPredicate predicate) {
  switch (predicate) {
  case ICmpPredicate::slt:
    return ICmpPredicate::sgt;
  case ICmpPredicate::sle:
    return ICmpPredicate::sge;
  case ICmpPredicate::sgt:
    return ICmpPredicate::slt;
  case ICmpPredicate::sge:
    return ICmpPredicate::sle;
  case ICmpPredicate::ult:
    return ICmpPredicate::ugt;
  case ICmpPredicate::ule:
    return ICmpPredicate::uge;
  case ICmpPredicate::ugt:
    return ICmpPredicate::ult;
  case ICmpPredicate::uge:
    return ICmpPredicate::ule;
  default:
    return predicate;
  }
}

static bool isUpperBound(ICmpPredicate predicate) {
  return predicate == ICmpPredicate::slt || predicate == ICmpPredicate::sle ||
         predicate == ICmpPredicate::ult || predicate == ICmpPredicate::ule;
}

/// If `branch` goes to its true successor only while `counter` is below a
/// bound, that bound and the comparison.
static std::optional<std::pair<Value, ICmpPredicate>>
boundTestedBy(LLVM::CondBrOp branch, Value counter) {
  auto compare = branch.getCondition().getDefiningOp<LLVM::ICmpOp>();
  if (!compare)
    return std::nullopt;
  if (compare.getLhs() == counter && isUpperBound(compare.getPredicate()))
    return std::pair(compare.getRhs(), compare.getPredicate());
  ICmpPredicate reversed = swapped(compare.getPredicate());
  if (compare.getRhs() == counter && isUpperBound(reversed))
    return std::pair(compare.getLhs(), reversed);
  return std::nullopt;
}

/// True if every use of `argument`, but for the comparison in the header, is in
/// a block that can only be reached through `body`, whose one predecessor is
/// the header.
static bool usesFollowTest(BlockArgument argument, Block *body,
                           LLVM::ICmpOp compare, DominanceInfo &dominance) {
  Block *header = argument.getOwner();
  if (body->getSinglePredecessor() != header)
    return false;
  for (Operation *user : argument.getUsers()) {
    if (user == compare)
      continue;
    Block *block = user->getBlock();
    if (block == body)
      continue;
    if (block == header || block->getParent() != header->getParent())
      return false;
    if (!dominance.dominates(body, block))
      return false;
  }
  return true;
}

/// True if the latch is reached only through the true edge of the test that
/// ends `header`: otherwise the loop goes around whatever the test says.
static bool testControlsLatch(LLVM::CondBrOp test, Block *header, Block *latch,
                              DominanceInfo &dominance) {
  Block *body = test.getTrueDest();
  if (body == test.getFalseDest())
    return false;
  if (latch == header)
    return body == header;
  return body->getSinglePredecessor() == header &&
         dominance.dominates(body, latch);
}

std::optional<InductionRange> InductionRange::match(BlockArgument argument,
                                                    DominanceInfo &dominance) {
  if (!argument.getType().isInteger())
    return std::nullopt;
  Block *header = argument.getOwner();
  InductionRange result;
  Block *latch = nullptr;
  Value next;
  for (auto it = header->pred_begin(), e = header->pred_end(); it != e; ++it) {
    auto branch = dyn_cast<BranchOpInterface>((*it)->getTerminator());
    if (!branch)
      return std::nullopt;
    Value incoming = branch.getSuccessorOperands(
        it.getSuccessorIndex())[argument.getArgNumber()];
    auto add = incoming ? incoming.getDefiningOp<LLVM::AddOp>() : nullptr;
    APInt step;
    if (add && add.getLhs() == argument &&
        matchPattern(add.getRhs(), m_ConstantInt(&step))) {
      if (latch || !step.isStrictlyPositive() || step.getActiveBits() > 32)
        return std::nullopt;
      latch = *it;
      next = incoming;
      result.step = step.getSExtValue();
      continue;
    }
    if (!incoming || (result.init && result.init != incoming))
      return std::nullopt;
    result.init = incoming;
  }
  if (!latch || !result.init)
    return std::nullopt;

  // The test in the header: values up to bound - 1 + step arrive there.
  if (auto branch = dyn_cast<LLVM::CondBrOp>(header->getTerminator()))
    if (auto tested = boundTestedBy(branch, argument);
        tested && testControlsLatch(branch, header, latch, dominance)) {
      std::tie(result.bound, result.predicate) = *tested;
      auto compare = branch.getCondition().getDefiningOp<LLVM::ICmpOp>();
      bool guarded =
          usesFollowTest(argument, branch.getTrueDest(), compare, dominance);
      result.slack = guarded ? 0 : result.step;
      return result;
    }
  // The test in the latch, of the next value.
  if (auto branch = dyn_cast<LLVM::CondBrOp>(latch->getTerminator()))
    if (branch.getTrueDest() == header && branch.getFalseDest() != header)
      if (auto tested = boundTestedBy(branch, next)) {
        std::tie(result.bound, result.predicate) = *tested;
        result.slack = 0;
        return result;
      }
  return std::nullopt;
}

std::optional<ConstantIntRanges>
InductionRange::rangeFor(const ConstantIntRanges &initRange,
                         const ConstantIntRanges &boundRange) const {
  unsigned width = initRange.smin().getBitWidth();
  bool isSigned =
      predicate == ICmpPredicate::slt || predicate == ICmpPredicate::sle;
  bool inclusive =
      predicate == ICmpPredicate::sle || predicate == ICmpPredicate::ule;
  // Two bits more than the counter has: nothing below can overflow.
  auto widened = [&](const APInt &value) {
    return isSigned ? value.sext(width + 2) : value.zext(width + 2);
  };
  APInt low = widened(isSigned ? initRange.smin() : initRange.umin());
  APInt start = widened(isSigned ? initRange.smax() : initRange.umax());
  APInt last = widened(isSigned ? boundRange.smax() : boundRange.umax());
  if (!inclusive)
    last -= 1;
  // The step past the last value must not wrap, or the counter starts again.
  APInt limit = widened(isSigned ? APInt::getSignedMaxValue(width)
                                 : APInt::getMaxValue(width));
  if ((last + step).sgt(limit))
    return std::nullopt;
  APInt high = llvm::APIntOps::smax(start, last + slack);
  return ConstantIntRanges::range(low.trunc(width), high.trunc(width),
                                  isSigned);
}
