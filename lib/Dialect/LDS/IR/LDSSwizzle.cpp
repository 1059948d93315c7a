//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The swizzle attributes: their rules, their arithmetic, where they may be.
///
//===----------------------------------------------------------------------===//

#include "lodestone/Dialect/LDS/IR/LDSSwizzle.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/SymbolTable.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include "lodestone/Dialect/LDS/IR/LDSInterfaces.cpp.inc"

using namespace mlir;
using namespace lodestone;
using namespace lodestone::lds;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

namespace {
/// Emits one step.
struct Emit {
  OpBuilder &builder;
  Location loc;
  Value q;

  Value operator()(const XorStep &step) const {
    uint64_t mask = llvm::maskTrailingOnes<uint64_t>(step.bits)
                    << (step.base + std::max(step.shift, 0));
    Value bits = arith::AndIOp::create(builder, loc, q, constant(mask));
    Value by = constant(std::abs(step.shift));
    if (step.shift > 0)
      bits = arith::ShRUIOp::create(builder, loc, bits, by);
    else
      bits = arith::ShLIOp::create(builder, loc, bits, by);
    return arith::XOrIOp::create(builder, loc, q, bits);
  }
  Value operator()(const RowXorStep &step) const {
    Value phase =
        remainder(divide(q, step.rowBytes * step.rowsPerPhase), step.phases);
    return arith::XOrIOp::create(builder, loc, q,
                                 multiply(phase, step.cellBytes));
  }
  Value operator()(const RotateStep &step) const {
    Value column = remainder(q, step.rowBytes);
    Value turned = arith::AddIOp::create(
        builder, loc, column,
        multiply(divide(q, step.rowBytes), step.step * step.cellBytes));
    return arith::AddIOp::create(builder, loc,
                                 arith::SubIOp::create(builder, loc, q, column),
                                 remainder(turned, step.rowBytes));
  }
  Value operator()(const RestrideStep &step) const {
    Value row = divide(q, step.rowBytes);
    if (step.stride > step.rowBytes)
      return arith::AddIOp::create(builder, loc, q,
                                   multiply(row, step.stride - step.rowBytes));
    return arith::SubIOp::create(builder, loc, q,
                                 multiply(row, step.rowBytes - step.stride));
  }

private:
  Value constant(uint64_t value) const {
    return arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(q.getType(), value));
  }
  Value divide(Value value, uint64_t by) const {
    if (llvm::isPowerOf2_64(by))
      return arith::ShRUIOp::create(builder, loc, value,
                                    constant(llvm::Log2_64(by)));
    return arith::DivUIOp::create(builder, loc, value, constant(by));
  }
  Value remainder(Value value, uint64_t by) const {
    if (llvm::isPowerOf2_64(by))
      return arith::AndIOp::create(builder, loc, value, constant(by - 1));
    return arith::RemUIOp::create(builder, loc, value, constant(by));
  }
  Value multiply(Value value, uint64_t by) const {
    if (llvm::isPowerOf2_64(by))
      return arith::ShLIOp::create(builder, loc, value,
                                   constant(llvm::Log2_64(by)));
    return arith::MulIOp::create(builder, loc, value, constant(by));
  }
};
} // namespace

Value lodestone::lds::emitSwizzle(OpBuilder &builder, Location loc,
                                  const Swizzle &swizzle, Value offset,
                                  SwizzleDirection direction) {
  Swizzle map =
      direction == SwizzleDirection::forward ? swizzle : swizzle.inverse();
  for (const SwizzleStep &step : map.getSteps())
    offset = std::visit(Emit{builder, loc, offset}, step);
  return offset;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

// `getSwizzle` can't fail: the verifier of the attribute made the same map.

static llvm::Expected<Swizzle> compose(ArrayRef<Attribute> parts) {
  Swizzle result;
  for (Attribute part : parts) {
    std::optional<Swizzle> swizzle = getSwizzle(part);
    if (!swizzle) {
      std::string text;
      llvm::raw_string_ostream(text) << part;
      return llvm::createStringError(text +
                                     " is no swizzle of the lds dialect");
    }
    llvm::Expected<Swizzle> longer = result.then(*swizzle);
    if (!longer)
      return longer;
    result = *longer;
  }
  return result;
}

static LogicalResult report(function_ref<InFlightDiagnostic()> emitError,
                            llvm::Expected<Swizzle> swizzle) {
  if (swizzle)
    return success();
  return emitError() << llvm::toString(swizzle.takeError());
}

LogicalResult XorAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              uint64_t bits, uint64_t base, int64_t shift) {
  return report(emitError, Swizzle::makeXor(bits, base, shift));
}

Swizzle XorAttr::getSwizzle() const {
  return llvm::cantFail(Swizzle::makeXor(getBits(), getBase(), getShift()));
}

LogicalResult CoordXorAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   uint64_t bits, uint64_t baseRow,
                                   uint64_t baseCol, uint64_t rowBytes) {
  return report(emitError,
                Swizzle::makeCoordXor(bits, baseRow, baseCol, rowBytes));
}

Swizzle CoordXorAttr::getSwizzle() const {
  return llvm::cantFail(Swizzle::makeCoordXor(getBits(), getBaseRow(),
                                              getBaseCol(), getRowBytes()));
}

LogicalResult RotateAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 uint64_t cellBytes, uint64_t rowBytes,
                                 uint64_t step) {
  return report(emitError, Swizzle::makeRotate(cellBytes, rowBytes, step));
}

Swizzle RotateAttr::getSwizzle() const {
  return llvm::cantFail(
      Swizzle::makeRotate(getCellBytes(), getRowBytes(), getStep()));
}

LogicalResult PaddedAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 uint64_t rowBytes, uint64_t padBytes) {
  return report(emitError, Swizzle::makePadded(rowBytes, padBytes));
}

Swizzle PaddedAttr::getSwizzle() const {
  return llvm::cantFail(Swizzle::makePadded(getRowBytes(), getPadBytes()));
}

LogicalResult ComposeAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<Attribute> parts) {
  return report(emitError, compose(parts));
}

Swizzle ComposeAttr::getSwizzle() const {
  return llvm::cantFail(compose(getParts()));
}

std::optional<Swizzle> lodestone::lds::getSwizzle(Attribute attribute) {
  return TypeSwitch<Attribute, std::optional<Swizzle>>(attribute)
      .Case<XorAttr, CoordXorAttr, RotateAttr, PaddedAttr, ComposeAttr>(
          [](auto swizzle) { return swizzle.getSwizzle(); })
      .Default(std::nullopt);
}

namespace {
/// The attribute of one step, or null.
struct ToAttr {
  MLIRContext *context;

  Attribute operator()(const XorStep &step) const {
    return XorAttr::get(context, step.bits, step.base, step.shift);
  }
  Attribute operator()(const RowXorStep &step) const {
    if (!llvm::isPowerOf2_64(step.phases) ||
        !llvm::isPowerOf2_64(step.rowsPerPhase))
      return nullptr;
    return CoordXorAttr::get(context, llvm::Log2_64(step.phases),
                             llvm::Log2_64(step.rowsPerPhase),
                             llvm::Log2_64(step.cellBytes), step.rowBytes);
  }
  Attribute operator()(const RotateStep &step) const {
    return RotateAttr::get(context, step.cellBytes, step.rowBytes, step.step);
  }
  Attribute operator()(const RestrideStep &step) const {
    if (step.stride < step.rowBytes)
      return nullptr;
    return PaddedAttr::get(context, step.rowBytes, step.stride - step.rowBytes);
  }
};
} // namespace

Attribute lodestone::lds::getSwizzleAttr(MLIRContext *context,
                                         const Swizzle &swizzle) {
  SmallVector<Attribute> parts;
  for (const SwizzleStep &step : swizzle.getSteps()) {
    Attribute part = std::visit(ToAttr{context}, step);
    if (!part)
      return nullptr;
    parts.push_back(part);
  }
  if (parts.size() <= 1)
    return parts.empty() ? nullptr : parts.front();
  return ComposeAttr::get(context, parts);
}

//===----------------------------------------------------------------------===//
// Allocations
//===----------------------------------------------------------------------===//

SwizzleAttrInterface lodestone::lds::getSwizzle(Value allocation) {
  StringRef name = LDSDialect::SwizzleAttrHelper::getNameStr();
  if (auto argument = dyn_cast<BlockArgument>(allocation)) {
    auto kernel =
        dyn_cast_or_null<gpu::GPUFuncOp>(argument.getOwner()->getParentOp());
    if (!kernel ||
        !llvm::is_contained(kernel.getWorkgroupAttributions(), argument))
      return nullptr;
    unsigned index =
        argument.getArgNumber() - kernel.getFirstWorkgroupAttributionIndex();
    return dyn_cast_or_null<SwizzleAttrInterface>(
        kernel.getWorkgroupAttributionAttr(index, name));
  }
  return TypeSwitch<Operation *, SwizzleAttrInterface>(
             allocation.getDefiningOp())
      .Case([](RegionOp region) { return region.getSwizzleAttr(); })
      .Case<memref::AllocOp, memref::AllocaOp>([&](auto op) {
        return op->template getAttrOfType<SwizzleAttrInterface>(name);
      })
      .Case([&](memref::GetGlobalOp op) -> SwizzleAttrInterface {
        auto global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(
            op, op.getNameAttr());
        return global ? global->getAttrOfType<SwizzleAttrInterface>(name)
                      : nullptr;
      })
      .Default(nullptr);
}

LogicalResult
lodestone::lds::verifySwizzle(function_ref<InFlightDiagnostic()> emitError,
                              SwizzleAttrInterface swizzle, Type type,
                              std::optional<uint64_t> available) {
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref)
    return emitError() << "a swizzle needs a memref, but this is " << type;
  if (!isWorkgroupSpace(memref.getMemorySpace()))
    return emitError() << "a swizzle needs memory space "
                          "#gpu.address_space<workgroup> or "
                       << kLDSAddressSpace << ", but this is " << type;
  std::optional<uint64_t> bytes = getMemRefBytes(memref);
  if (!bytes)
    return emitError() << "a swizzle needs a static shape, the identity layout "
                          "and elements of 1, 2, 4, 8 or 16 bytes, but this is "
                       << type;
  if (*bytes > kMaxSwizzledBytes)
    return emitError() << "swizzled " << type << " has " << *bytes
                       << " bytes, more than " << kMaxSwizzledBytes;
  uint64_t granule = swizzle.getGranule();
  uint64_t element = *getElementBytes(memref.getElementType());
  if (!llvm::isPowerOf2_64(granule))
    return emitError() << "granule " << granule << " of swizzle " << swizzle
                       << " is no power of two";
  if (granule % element != 0)
    return emitError() << "an element of " << element << " bytes of " << type
                       << " does not divide the granule of " << granule
                       << " bytes of swizzle " << swizzle;
  std::string wrong = swizzle.checkTile(*bytes, available.value_or(UINT64_MAX));
  if (!wrong.empty())
    return emitError() << "swizzle " << swizzle << " does not fit " << type
                       << ": " << wrong;
  return success();
}
