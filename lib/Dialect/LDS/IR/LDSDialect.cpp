//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Dialect/LDS/IR/LDSDialect.h"
#include "lodestone/Dialect/LDS/IR/LDSSwizzle.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

#include "lodestone/Dialect/LDS/IR/LDSDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "lodestone/Dialect/LDS/IR/LDSAttrs.cpp.inc"

using namespace mlir;
using namespace lodestone::lds;

void LDSDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "lodestone/Dialect/LDS/IR/LDSAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "lodestone/Dialect/LDS/IR/LDSOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

LogicalResult ExtentAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringAttr name, uint64_t offset,
                                 uint64_t size) {
  if (name.getValue().empty())
    return emitError() << "the name of an extent must not be empty";
  if (size == 0)
    return emitError() << "extent " << name << " has no bytes";
  if (offset > kMaxRegionEnd || size > kMaxRegionEnd - offset)
    return emitError() << "extent " << name << " of " << size
                       << " bytes at offset " << offset
                       << " ends beyond the largest LDS offset "
                       << kMaxRegionEnd;
  return success();
}

static std::string quote(NamedAttribute attribute) {
  return "'" + attribute.getName().str() + "'";
}

static LogicalResult verifyExtent(Operation *op, NamedAttribute attribute) {
  if (!isa<ExtentAttr>(attribute.getValue()))
    return op->emitOpError()
           << quote(attribute) << " must be an #lds.extent, but is "
           << attribute.getValue();
  if (auto global = dyn_cast<LLVM::GlobalOp>(op)) {
    if (global.getAddrSpace() == kLDSAddressSpace)
      return success();
    return op->emitOpError()
           << quote(attribute) << " needs a global in address space "
           << kLDSAddressSpace << ", but this one is in "
           << global.getAddrSpace();
  }
  if (auto gep = dyn_cast<LLVM::GEPOp>(op)) {
    auto pointer = dyn_cast<LLVM::LLVMPointerType>(gep.getType());
    if (pointer && pointer.getAddressSpace() == kLDSAddressSpace)
      return success();
    return op->emitOpError()
           << quote(attribute) << " needs a pointer in address space "
           << kLDSAddressSpace << ", but the result is " << gep.getType();
  }
  return op->emitOpError() << quote(attribute)
                           << " is only for llvm.getelementptr and "
                              "llvm.mlir.global";
}

static LogicalResult verifyDynamicSize(Operation *op,
                                       NamedAttribute attribute) {
  auto bytes = dyn_cast<IntegerAttr>(attribute.getValue());
  if (!bytes || !bytes.getType().isSignlessInteger(64) || bytes.getInt() < 0)
    return op->emitOpError()
           << quote(attribute)
           << " must be a non-negative i64 number of bytes, but is "
           << attribute.getValue();
  if (!isa<FunctionOpInterface>(op))
    return op->emitOpError() << quote(attribute) << " is only for kernels";
  return success();
}

static LogicalResult verifySwizzleAttribute(Operation *op,
                                            NamedAttribute attribute) {
  auto swizzle = dyn_cast<SwizzleAttrInterface>(attribute.getValue());
  if (!swizzle)
    return op->emitOpError()
           << quote(attribute) << " must be a swizzle, but is "
           << attribute.getValue();
  auto emitError = [&] {
    return op->emitOpError() << quote(attribute) << ": ";
  };
  if (auto global = dyn_cast<memref::GlobalOp>(op))
    return verifySwizzle(emitError, swizzle, global.getType(), std::nullopt);
  if (isa<memref::AllocOp, memref::AllocaOp>(op))
    return verifySwizzle(emitError, swizzle, op->getResult(0).getType(),
                         std::nullopt);
  return op->emitOpError() << quote(attribute)
                           << " is only for memref.alloc, memref.alloca, "
                              "memref.global and workgroup attributions";
}

LogicalResult LDSDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attribute) {
  if (attribute.getName() == ExtentAttrHelper::getNameStr())
    return verifyExtent(op, attribute);
  if (attribute.getName() == DynamicSizeAttrHelper::getNameStr())
    return verifyDynamicSize(op, attribute);
  if (attribute.getName() == SwizzleAttrHelper::getNameStr())
    return verifySwizzleAttribute(op, attribute);
  return success();
}

ExtentAttr lodestone::lds::getExtent(Operation *op) {
  return op->getAttrOfType<ExtentAttr>(
      LDSDialect::ExtentAttrHelper::getNameStr());
}

std::optional<uint64_t> lodestone::lds::getDynamicSize(Operation *kernel) {
  auto bytes = kernel->getAttrOfType<IntegerAttr>(
      LDSDialect::DynamicSizeAttrHelper::getNameStr());
  if (!bytes || !bytes.getType().isSignlessInteger(64))
    return std::nullopt;
  return bytes.getInt();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

bool lodestone::lds::isWorkgroupSpace(Attribute memorySpace) {
  if (auto space = dyn_cast_or_null<gpu::AddressSpaceAttr>(memorySpace))
    return space.getValue() == gpu::AddressSpace::Workgroup;
  auto number = dyn_cast_or_null<IntegerAttr>(memorySpace);
  return number && number.getValue() == kLDSAddressSpace;
}

std::optional<uint64_t> lodestone::lds::getElementBytes(Type type) {
  return TypeSwitch<Type, std::optional<uint64_t>>(type)
      .Case<IntegerType, FloatType>([](auto scalar) -> std::optional<uint64_t> {
        // Other widths are padded in memory (i24, tf32) or packed (i4, f4).
        unsigned bits = scalar.getWidth();
        if (bits < 8 || bits > 128 || !llvm::isPowerOf2_32(bits))
          return std::nullopt;
        return bits / 8;
      })
      .Case([](ComplexType complex) -> std::optional<uint64_t> {
        if (auto bytes = getElementBytes(complex.getElementType()))
          return *bytes * 2;
        return std::nullopt;
      })
      .Case([](VectorType vector) -> std::optional<uint64_t> {
        auto bytes = getElementBytes(vector.getElementType());
        if (!bytes || vector.isScalable())
          return std::nullopt;
        // LLVM pads a vector to a power of two; a vector of several dimensions
        // is an array of such.
        if (vector.getRank() > 0 &&
            !llvm::isPowerOf2_64(vector.getShape().back()))
          return std::nullopt;
        for (int64_t extent : vector.getShape()) {
          bytes = llvm::checkedMulUnsigned<uint64_t>(*bytes, extent);
          if (!bytes)
            return std::nullopt;
        }
        return bytes;
      })
      .Default(std::nullopt);
}

std::optional<uint64_t> lodestone::lds::getMemRefBytes(MemRefType type) {
  if (!type.hasStaticShape() || !type.getLayout().isIdentity())
    return std::nullopt;
  std::optional<uint64_t> bytes = getElementBytes(type.getElementType());
  for (int64_t extent : type.getShape()) {
    if (!bytes)
      return std::nullopt;
    bytes = llvm::checkedMulUnsigned<uint64_t>(*bytes, extent);
  }
  return bytes;
}
