//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Comparing and printing what the address analysis found.
///
//===----------------------------------------------------------------------===//

#include "WaitCheckAddress.h"

#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace lodestone;

Footprint Footprint::anywhere() {
  Footprint footprint;
  footprint.pieces.push_back({Address(), 1});
  return footprint;
}

/// All bytes that may be touched.
static ConstantRange touched(const Footprint::Piece &piece) {
  if (piece.size == 0 || piece.size > UINT32_MAX)
    return ConstantRange::getFull(32);
  return piece.address.offset.add(
      ConstantRange(APInt(32, 0), APInt(32, piece.size)));
}

/// The bytes that are touched wherever in its range the access starts.
static ConstantRange touchedAlways(const Footprint::Piece &piece) {
  const ConstantRange &offset = piece.address.offset;
  ConstantRange none = ConstantRange::getEmpty(32);
  if (offset.isFullSet() || offset.isEmptySet() || offset.isSignWrappedSet())
    return none;
  int64_t first = offset.getSignedMax().getSExtValue();
  int64_t end = offset.getSignedMin().getSExtValue() + int64_t(piece.size);
  if (first >= end || end > INT32_MAX)
    return none;
  return ConstantRange(APInt(32, first, true), APInt(32, end, true));
}

static std::optional<WaitOverlap> compareRanges(const Footprint::Piece &lhs,
                                                const Footprint::Piece &rhs,
                                                uint64_t ldsBytes) {
  ConstantRange left = touched(lhs), right = touched(rhs);
  if (left.intersectWith(right).isEmptySet())
    return std::nullopt;
  if (left.isSizeLargerThan(ldsBytes) || right.isSizeLargerThan(ldsBytes))
    return WaitOverlap::unknown;
  if (touchedAlways(lhs).contains(right) || touchedAlways(rhs).contains(left))
    return WaitOverlap::certain;
  return WaitOverlap::possible;
}

/// True if `piece`, in a static object, surely stays inside of it.
static bool staysInside(const Footprint::Piece &piece) {
  const auto *global = cast<GlobalVariable>(piece.address.object);
  uint64_t size = global->getParent()->getDataLayout().getTypeAllocSize(
      global->getValueType());
  if (size > UINT32_MAX)
    return false;
  return ConstantRange(APInt(32, 0), APInt(32, size)).contains(touched(piece));
}

/// `piece` as a range of LDS addresses, if its object has a known address.
static std::optional<Footprint::Piece>
toAbsolute(const Footprint::Piece &piece) {
  if (piece.address.base == Address::number)
    return piece;
  if (piece.address.base != Address::staticLDS)
    return std::nullopt;
  auto range =
      cast<GlobalVariable>(piece.address.object)->getAbsoluteSymbolRange();
  if (!range || !range->getSingleElement())
    return std::nullopt;
  Footprint::Piece result = piece;
  result.address.base = Address::number;
  result.address.offset = piece.address.offset.add(range->zextOrTrunc(32));
  return result;
}

static std::optional<WaitOverlap> comparePieces(const Footprint::Piece &lhs,
                                                const Footprint::Piece &rhs,
                                                uint64_t ldsBytes) {
  const Address &a = lhs.address, &b = rhs.address;
  if (a.base == Address::elsewhere || b.base == Address::elsewhere)
    return std::nullopt;
  if (a.base == Address::unknown || b.base == Address::unknown ||
      a.base == Address::pendingPhi || b.base == Address::pendingPhi)
    return WaitOverlap::unknown;
  if (a.base == b.base && a.object == b.object)
    return compareRanges(lhs, rhs, ldsBytes);

  // Two objects. A pointer into one may not be used to access another, but the
  // lanes of a DMA run on from it.
  auto isObject = [](const Address &address) {
    return address.base == Address::staticLDS ||
           address.base == Address::dynamicLDS;
  };
  if (isObject(a) && isObject(b)) {
    auto overflows = [](const Footprint::Piece &piece) {
      return piece.address.base == Address::staticLDS &&
             !piece.address.offset.isFullSet() && !staysInside(piece);
    };
    if (overflows(lhs) || overflows(rhs))
      return WaitOverlap::unknown;
    return std::nullopt;
  }
  auto left = toAbsolute(lhs), right = toAbsolute(rhs);
  if (left && right)
    return compareRanges(*left, *right, ldsBytes);
  return WaitOverlap::unknown;
}

std::optional<WaitOverlap> lodestone::overlap(const Footprint &lhs,
                                              const Footprint &rhs,
                                              uint64_t ldsBytes) {
  std::optional<WaitOverlap> result;
  for (const Footprint::Piece &left : lhs.pieces)
    for (const Footprint::Piece &right : rhs.pieces)
      if (auto one = comparePieces(left, right, ldsBytes))
        result = result ? std::min(*result, *one) : *one;
  // With alternatives nothing is certain.
  if (result == WaitOverlap::certain &&
      lhs.pieces.size() * rhs.pieces.size() > 1)
    return WaitOverlap::possible;
  return result;
}

static void print(raw_ostream &os, const Footprint::Piece &piece) {
  switch (piece.address.base) {
  case Address::unknown:
  case Address::pendingPhi:
    os << "anywhere in LDS";
    return;
  case Address::elsewhere:
    os << "not in LDS";
    return;
  case Address::number:
    os << "LDS address";
    break;
  case Address::dynamicLDS:
    os << "dynamic LDS";
    break;
  case Address::staticLDS:
    os << '@' << piece.address.object->getName();
    break;
  case Address::argument:
    os << "argument %" << piece.address.object->getName();
    break;
  }
  ConstantRange range = touched(piece);
  if (range.isFullSet()) {
    os << " + [unbounded]";
    return;
  }
  os << " + [" << range.getSignedMin() << ", "
     << range.getSignedMax().getSExtValue() + 1 << ')';
}

std::string Footprint::str() const {
  if (pieces.empty())
    return "nothing";
  std::string text;
  raw_string_ostream os(text);
  for (const Piece &piece : pieces) {
    if (&piece != pieces.begin())
      os << " or ";
    print(os, piece);
  }
  return text;
}
