//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FlatBuffer.h"

#include "lodestone/Dialect/LDS/IR/LDSDialect.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace lodestone;

std::optional<uint64_t> lodestone::getFlatBytes(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  std::optional<uint64_t> element = lds::getElementBytes(type.getElementType());
  if (!element || !type.hasStaticShape() ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      llvm::any_of(strides,
                   [](int64_t s) { return ShapedType::isDynamic(s) || s < 0; }))
    return std::nullopt;
  std::optional<uint64_t> last = 0;
  for (auto [size, stride] : llvm::zip_equal(type.getShape(), strides)) {
    if (size == 0)
      return 0;
    if (last)
      last = llvm::checkedMulAddUnsigned<uint64_t>(size - 1, stride, *last);
  }
  return last ? llvm::checkedMulAddUnsigned<uint64_t>(*last, *element, *element)
              : std::nullopt;
}

/// True for memory that a pointer of 64 bits addresses, from which a buffer can
/// be made.
static bool isPlainGlobal(MemRefType type) {
  Attribute space = type.getMemorySpace();
  if (auto number = dyn_cast_or_null<IntegerAttr>(space))
    return number.getInt() <= 1;
  return !space || isa<gpu::AddressSpaceAttr>(space);
}

std::string FlatBuffer::whyNot(MemRefType type, bool assumeSmall) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!isPlainGlobal(type))
    return "the bytes of a buffer made elsewhere aren't known";
  if (failed(type.getStridesAndOffset(strides, offset)))
    return llvm::formatv("the bytes of {0} aren't known from sizes and strides",
                         type);
  for (int64_t stride : strides)
    if (!ShapedType::isDynamic(stride) && stride < 0)
      return llvm::formatv("{0} has a stride of {1}, and a buffer only what is "
                           "behind its start",
                           type, stride);
  bool isStatic =
      type.hasStaticShape() && llvm::none_of(strides, ShapedType::isDynamic);
  // An offset behind the last byte must be one that 32 bits can express.
  std::optional<uint64_t> bytes = getFlatBytes(type);
  if (isStatic ? !bytes || *bytes + 16 > UINT32_MAX : !assumeSmall)
    return llvm::formatv(
        "{0} may have 2^32 bytes or more, which an offset into a buffer can't "
        "express",
        type);
  return "";
}

/// The elements from the first to the last one, which nobody but the kernel's
/// caller knows.
static Value getExtent(OpBuilder &builder, Location loc, bool isContiguous,
                       ArrayRef<OpFoldResult> sizes,
                       ArrayRef<OpFoldResult> strides) {
  auto value = [&](OpFoldResult number) {
    return getValueOrCreateConstantIndexOp(builder, loc, number);
  };
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value extent = one, isEmpty;
  for (auto [size, stride] : llvm::zip_equal(sizes, strides)) {
    Value count = value(size);
    if (isContiguous) {
      extent = arith::MulIOp::create(builder, loc, extent, count);
      continue;
    }
    Value none = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       count, zero);
    isEmpty = isEmpty ? Value(arith::OrIOp::create(builder, loc, isEmpty, none))
                      : none;
    Value last = arith::MulIOp::create(
        builder, loc, arith::SubIOp::create(builder, loc, count, one),
        value(stride));
    extent = arith::AddIOp::create(builder, loc, extent, last);
  }
  return isEmpty ? Value(arith::SelectOp::create(builder, loc, isEmpty, zero,
                                                 extent))
                 : extent;
}

FlatBuffer FlatBuffer::create(OpBuilder &builder, Location loc, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  FlatBuffer buffer;
  OpFoldResult start = builder.getIndexAttr(offset);
  SmallVector<OpFoldResult> sizes =
      getAsIndexOpFoldResult(builder.getContext(), type.getShape());
  buffer.strides = getAsIndexOpFoldResult(builder.getContext(), strides);
  if (!type.hasStaticShape() || ShapedType::isDynamic(offset) ||
      llvm::any_of(strides, ShapedType::isDynamic)) {
    auto metadata =
        memref::ExtractStridedMetadataOp::create(builder, loc, memref);
    start = metadata.getConstifiedMixedOffset();
    sizes = metadata.getConstifiedMixedSizes();
    buffer.strides = metadata.getConstifiedMixedStrides();
  }
  bool isContiguous = type.getLayout().isIdentity();
  if (std::optional<uint64_t> bytes = getFlatBytes(type))
    buffer.extent = builder.getIndexAttr(
        *bytes / *lds::getElementBytes(type.getElementType()));
  else
    buffer.extent =
        getExtent(builder, loc, isContiguous, sizes, buffer.strides);
  if (type.getRank() != 1 || !isContiguous) {
    std::optional<int64_t> size = getConstantIntValue(buffer.extent);
    MemRefLayoutAttrInterface layout;
    if (getConstantIntValue(start) != 0)
      layout = StridedLayoutAttr::get(
          builder.getContext(),
          getConstantIntValue(start).value_or(ShapedType::kDynamic), {1});
    auto flat =
        MemRefType::get({size.value_or(ShapedType::kDynamic)},
                        type.getElementType(), layout, type.getMemorySpace());
    memref = memref::ReinterpretCastOp::create(
        builder, loc, flat, memref, start, {buffer.extent},
        {OpFoldResult(builder.getIndexAttr(1))});
  }
  buffer.memref = amdgpu::FatRawBufferCastOp::create(
      builder, loc, memref, /*validBytes=*/Value(),
      /*cacheSwizzleStride=*/Value(), /*boundsCheck=*/true,
      /*resetOffset=*/getConstantIntValue(start) != 0);
  return buffer;
}

Value FlatBuffer::getIndex(OpBuilder &builder, Location loc,
                           ValueRange indices) const {
  Value sum;
  for (auto [index, stride] : llvm::zip_equal(indices, strides)) {
    Value term = index;
    if (getConstantIntValue(stride) != 1)
      term = arith::MulIOp::create(
          builder, loc, term,
          getValueOrCreateConstantIndexOp(builder, loc, stride));
    sum = sum ? arith::AddIOp::create(builder, loc, sum, term) : term;
  }
  return sum ? sum : arith::ConstantIndexOp::create(builder, loc, 0);
}
