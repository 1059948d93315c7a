//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/ProvenanceArithmetic.h"

#include "mlir/Interfaces/Utils/InferIntRangeCommon.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace lodestone;

//===----------------------------------------------------------------------===//
// Widths and ranges
//===----------------------------------------------------------------------===//

ConstantIntRanges lodestone::constantRange(int64_t value, unsigned width) {
  return ConstantIntRanges::constant(
      APInt(width, value, /*isSigned=*/true, /*implicitTrunc=*/true));
}

ConstantIntRanges lodestone::upTo(uint64_t last, unsigned width) {
  if (width < 64 && last > llvm::maxUIntN(width))
    return ConstantIntRanges::maxRange(width);
  return ConstantIntRanges::fromUnsigned(APInt::getZero(width),
                                         APInt(width, last));
}

ConstantIntRanges lodestone::resized(const ConstantIntRanges &range,
                                     unsigned width) {
  unsigned old = range.smin().getBitWidth();
  if (old == width)
    return range;
  if (old > width)
    return intrange::truncRange(range, width);
  return intrange::extSIRange(range, width);
}

//===----------------------------------------------------------------------===//
// Operations on sets
//===----------------------------------------------------------------------===//

Provenance
lodestone::combine(const Provenance &lhs, const Provenance &rhs,
                   llvm::function_ref<std::optional<ProvenanceElement>(
                       const ProvenanceElement &, const ProvenanceElement &)>
                       fn) {
  if (lhs.isUnknown() || rhs.isUnknown())
    return Provenance::unknown();
  // Nearly every value has one element.
  if (lhs.getElements().size() == 1 && rhs.getElements().size() == 1) {
    auto element = fn(lhs.getElements().front(), rhs.getElements().front());
    return element ? Provenance::of(element->object, element->range)
                   : Provenance::unknown();
  }
  Provenance result;
  for (const ProvenanceElement &a : lhs.getElements())
    for (const ProvenanceElement &b : rhs.getElements()) {
      std::optional<ProvenanceElement> element = fn(a, b);
      if (!element)
        return Provenance::unknown();
      result.join(Provenance::of(element->object, element->range));
    }
  return result;
}

Provenance lodestone::add(const Provenance &lhs, const Provenance &rhs) {
  return combine(
      lhs, rhs,
      [](const ProvenanceElement &a,
         const ProvenanceElement &b) -> std::optional<ProvenanceElement> {
        if (a.object && b.object)
          return std::nullopt; // The sum of two addresses.
        return ProvenanceElement{a.object ? a.object : b.object,
                                 intrange::inferAdd({a.range, b.range})};
      });
}

Provenance lodestone::subtract(const Provenance &lhs, const Provenance &rhs) {
  return combine(
      lhs, rhs,
      [](const ProvenanceElement &a,
         const ProvenanceElement &b) -> std::optional<ProvenanceElement> {
        if (!b.object)
          return ProvenanceElement{a.object,
                                   intrange::inferSub({a.range, b.range})};
        // The distance between two addresses of an object is a number. It is
        // known modulo 2^32 only. With another object's address it would lead
        // from one to the other.
        if (a.object != b.object)
          return std::nullopt;
        unsigned width = a.range.smin().getBitWidth();
        if (width > kAddressBits)
          return ProvenanceElement{nullptr, ConstantIntRanges::maxRange(width)};
        return ProvenanceElement{nullptr,
                                 intrange::inferSub({a.range, b.range})};
      });
}

/// As upstream, but exact for rounding down to a power of two: waves' first
/// threads are the multiples of the wave's size, up to the last one.
static ConstantIntRanges andNumbers(const ConstantIntRanges &a,
                                    const ConstantIntRanges &b) {
  std::optional<APInt> mask = b.getConstantValue();
  const ConstantIntRanges &range = mask ? a : b;
  if (!mask)
    mask = a.getConstantValue();
  if (mask && mask->isNegatedPowerOf2() && range.smin().isNonNegative())
    return ConstantIntRanges::fromUnsigned(range.umin() & *mask,
                                           range.umax() & *mask);
  return intrange::inferAnd({a, b});
}

Provenance lodestone::bitAnd(const Provenance &lhs, const Provenance &rhs) {
  return combine(
      lhs, rhs,
      [](const ProvenanceElement &a,
         const ProvenanceElement &b) -> std::optional<ProvenanceElement> {
        if (!a.object && !b.object)
          return ProvenanceElement{nullptr, andNumbers(a.range, b.range)};
        if (a.object && b.object)
          return std::nullopt;
        const ProvenanceElement &address = a.object ? a : b;
        const ConstantIntRanges &mask = a.object ? b.range : a.range;
        std::optional<APInt> constant = mask.getConstantValue();
        if (!constant)
          return std::nullopt;
        // The lowest bits of an address are a number; many bits, or all that
        // an address in 64 bits has, are still one.
        constexpr unsigned kMaxLowBits = 10;
        if (constant->isNonNegative() &&
            constant->getActiveBits() > kMaxLowBits)
          return std::nullopt;
        if (constant->isNonNegative())
          return ProvenanceElement{
              nullptr, ConstantIntRanges::fromUnsigned(
                           APInt::getZero(constant->getBitWidth()), *constant)};
        APInt step = -*constant;
        if (!step.isPowerOf2())
          return std::nullopt;
        // Rounding down. If the root is aligned, its offset is rounded.
        const ConstantIntRanges &offset = address.range;
        if (step.ule(address.object->alignment))
          return ProvenanceElement{
              address.object,
              ConstantIntRanges::fromSigned(offset.smin() & *constant,
                                            offset.smax() & *constant)};
        return ProvenanceElement{
            address.object,
            intrange::inferSub(
                {offset, ConstantIntRanges::fromUnsigned(
                             APInt::getZero(step.getBitWidth()), step - 1)})};
      });
}

Provenance lodestone::onNumbers(const Provenance &lhs, const Provenance &rhs,
                                RangeFunction fn) {
  return combine(lhs, rhs,
                 [&](const ProvenanceElement &a, const ProvenanceElement &b)
                     -> std::optional<ProvenanceElement> {
                   if (a.object || b.object)
                     return std::nullopt;
                   return ProvenanceElement{nullptr, fn({a.range, b.range})};
                 });
}

Provenance lodestone::convert(
    const Provenance &operand, unsigned width,
    llvm::function_ref<ConstantIntRanges(const ConstantIntRanges &)> fn) {
  if (operand.isUnknown())
    return operand;
  Provenance result;
  for (const ProvenanceElement &element : operand.getElements()) {
    if (element.object && width < kAddressBits)
      return Provenance::unknown(); // The address is cut.
    result.join(Provenance::of(element.object,
                               element.object ? resized(element.range, width)
                                              : fn(element.range)));
  }
  return result;
}
