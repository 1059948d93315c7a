//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/LDSPlace.h"
#include "lodestone/Dialect/LDS/IR/LDSDialect.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace lodestone;

/// Bytes from the first to the end of the last element of a memref.
static std::optional<int64_t> extentOf(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  std::optional<uint64_t> element = lds::getElementBytes(type.getElementType());
  if (!element || !type.hasStaticShape() ||
      failed(type.getStridesAndOffset(strides, offset)))
    return std::nullopt;
  int64_t last = 0;
  for (auto [size, stride] : llvm::zip_equal(type.getShape(), strides)) {
    if (size == 0)
      return 0;
    if (ShapedType::isDynamic(stride) || stride < 0)
      return std::nullopt;
    last += (size - 1) * stride;
  }
  return (last + 1) * *element;
}

/// Bytes that the first element of the result is after that of the source.
static std::optional<int64_t> shiftOf(Operation *view) {
  return TypeSwitch<Operation *, std::optional<int64_t>>(view)
      .Case([](memref::SubViewOp op) -> std::optional<int64_t> {
        MemRefType source = op.getSourceType();
        SmallVector<int64_t> strides;
        int64_t offset;
        auto element = lds::getElementBytes(source.getElementType());
        if (!element || failed(source.getStridesAndOffset(strides, offset)))
          return std::nullopt;
        int64_t elements = 0;
        for (auto [start, stride] :
             llvm::zip_equal(op.getMixedOffsets(), strides)) {
          std::optional<int64_t> constant = getConstantIntValue(start);
          if (!constant || ShapedType::isDynamic(stride))
            return std::nullopt;
          elements += *constant * stride;
        }
        return elements * *element;
      })
      .Case([](memref::ViewOp op) {
        return getConstantIntValue(op.getByteShift());
      })
      .Case<memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp,
            memref::MemorySpaceCastOp, memref::AssumeAlignmentOp>(
          [](Operation *) { return std::optional<int64_t>(0); })
      .Default(std::nullopt);
}

/// True if `value` is an allocation, and always the same one.
static bool isObject(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function =
        dyn_cast<gpu::GPUFuncOp>(argument.getOwner()->getParentOp());
    return function && argument.getOwner()->isEntryBlock() &&
           llvm::is_contained(function.getWorkgroupAttributions(), value);
  }
  Operation *op = value.getDefiningOp();
  if (isa<lds::RegionOp, memref::GetGlobalOp>(op))
    return true;
  // In a loop, it would be another one each time.
  return isa<memref::AllocOp, memref::AllocaOp>(op) &&
         isa<FunctionOpInterface>(op->getParentOp()) &&
         op->getBlock()->isEntryBlock();
}

LDSPlace LDSPlace::of(Value memref) {
  LDSPlace place;
  auto type = dyn_cast<MemRefType>(memref.getType());
  std::optional<int64_t> extent =
      type ? extentOf(type) : std::optional<int64_t>();
  std::optional<int64_t> begin = 0;
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>()) {
    std::optional<int64_t> shift = shiftOf(view);
    begin = begin && shift ? std::optional(*begin + *shift) : std::nullopt;
    memref = view.getViewSource();
  }
  place.root = memref;
  place.isObject = ::isObject(memref);
  if (begin && extent)
    place.bytes = Bytes{*begin, *begin + *extent};
  return place;
}

static bool isSame(Value a, Value b) {
  auto globalA = a.getDefiningOp<memref::GetGlobalOp>(),
       globalB = b.getDefiningOp<memref::GetGlobalOp>();
  return a == b ||
         (globalA && globalB && globalA.getNameAttr() == globalB.getNameAttr());
}

/// True if one of the regions is declared to share bytes with the other.
static bool mayOverlay(Value a, Value b) {
  auto declares = [](lds::RegionOp op, lds::RegionOp other) {
    ArrayAttr names = op.getOverlaysAttr();
    return names &&
           llvm::is_contained(names, Attribute(other.getRegionNameAttr()));
  };
  auto regionA = a.getDefiningOp<lds::RegionOp>(),
       regionB = b.getDefiningOp<lds::RegionOp>();
  return regionA && regionB &&
         (declares(regionA, regionB) || declares(regionB, regionA));
}

Overlap lodestone::compare(const LDSPlace &access, const LDSPlace &place) {
  if (!isSame(access.root, place.root))
    return access.isObject && place.isObject &&
                   !mayOverlay(access.root, place.root)
               ? Overlap::no
               : Overlap::maybe;
  if (!access.isObject || !access.bytes || !place.bytes)
    return Overlap::maybe;
  if (access.bytes->end <= place.bytes->begin ||
      place.bytes->end <= access.bytes->begin)
    return Overlap::no;
  return place.bytes->begin <= access.bytes->begin &&
                 access.bytes->end <= place.bytes->end
             ? Overlap::within
             : Overlap::maybe;
}
