//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Dialect/LDS/IR/LDSDialect.h"
#include "lodestone/Dialect/LDS/IR/LDSLayout.h"
#include "lodestone/Dialect/LDS/IR/LDSSwizzle.h"

#include "lodestone/Support/Chip.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace lodestone::lds;

// The names in `overlays` are strings and no symbol references: a kernel isn't
// a symbol table, and a reference would mean the module's symbol of that name
// to every pass that renames or erases symbols.
static ParseResult parseRegionNames(OpAsmParser &parser, ArrayAttr &names) {
  SmallVector<Attribute> list;
  if (parser.parseCommaSeparatedList([&]() -> ParseResult {
        StringAttr name;
        if (parser.parseSymbolName(name))
          return failure();
        list.push_back(name);
        return success();
      }))
    return failure();
  names = parser.getBuilder().getArrayAttr(list);
  return success();
}

static void printRegionNames(OpAsmPrinter &printer, Operation *,
                             ArrayAttr names) {
  llvm::interleaveComma(
      names.getAsRange<StringAttr>(), printer,
      [&](StringAttr name) { printer.printSymbolName(name); });
}

// Any attribute that is a swizzle, not only those that start with a hash.
static ParseResult parseSwizzle(OpAsmParser &parser,
                                SwizzleAttrInterface &swizzle) {
  Attribute attribute;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseAttribute(attribute))
    return failure();
  swizzle = dyn_cast<SwizzleAttrInterface>(attribute);
  if (!swizzle)
    return parser.emitError(loc) << "expected a swizzle, but got " << attribute;
  return success();
}

static void printSwizzle(OpAsmPrinter &printer, Operation *,
                         SwizzleAttrInterface swizzle) {
  printer << swizzle;
}

#define GET_OP_CLASSES
#include "lodestone/Dialect/LDS/IR/LDSOps.cpp.inc"

void RegionOp::getAsmResultNames(
    function_ref<void(Value, StringRef)> setNameFn) {
  setNameFn(getResult(), getRegionName());
}

std::optional<uint64_t> RegionOp::getByteSize() {
  if (IntegerAttr size = getSizeAttr())
    return size.getInt() > 0 ? std::optional<uint64_t>(size.getInt())
                             : std::nullopt;
  if (auto memref = dyn_cast<MemRefType>(getResult().getType()))
    return getMemRefBytes(memref);
  return std::nullopt;
}

/// Checks the memref type that a region has, and that it fits into `size`
/// bytes, if these are given.
static LogicalResult verifyMemRef(RegionOp op, MemRefType type,
                                  IntegerAttr size) {
  if (!isWorkgroupSpace(type.getMemorySpace()))
    return op.emitOpError()
           << "result must be in memory space #gpu.address_space<workgroup> or "
           << kLDSAddressSpace << ", but is " << type;
  if (!type.hasStaticShape())
    return op.emitOpError()
           << "result must have a static shape, but is " << type;
  if (!type.getLayout().isIdentity())
    return op.emitOpError()
           << "result must have the identity layout, but is " << type;
  if (!getElementBytes(type.getElementType()))
    return op.emitOpError()
           << "element type " << type.getElementType()
           << " has no fixed number of bytes without padding; use 1, 2, 4, 8 "
              "or "
              "16 bytes, or vectors with a power of two of them";
  std::optional<uint64_t> bytes = getMemRefBytes(type);
  if (!bytes || *bytes > kMaxRegionEnd)
    return op.emitOpError() << "result " << type << " has more than "
                            << kMaxRegionEnd << " bytes";
  if (*bytes == 0)
    return op.emitOpError() << "result " << type << " has no bytes";
  if (size && static_cast<uint64_t>(size.getInt()) < *bytes)
    return op.emitOpError()
           << "size " << size.getInt() << " is too small for the result "
           << type << " of " << *bytes << " bytes";
  return success();
}

static LogicalResult verifyOverlayList(RegionOp op) {
  llvm::SmallPtrSet<Attribute, 8> seen;
  if (ArrayAttr names = op.getOverlaysAttr()) {
    for (Attribute name : names) {
      if (name == op.getRegionNameAttr())
        return op.emitOpError()
               << "'@" << op.getRegionName() << "' overlays itself";
      if (!seen.insert(name).second)
        return op.emitOpError()
               << "'@" << op.getRegionName() << "' overlays '@"
               << cast<StringAttr>(name).getValue() << "' twice";
    }
  }
  return success();
}

LogicalResult RegionOp::verify() {
  if (getRegionName().empty())
    return emitOpError("the name of a region must not be empty");

  int64_t align = getAlignAttr().getInt();
  if (align <= 0 || !llvm::isPowerOf2_64(align))
    return emitOpError() << "align " << align << " is not a power of two";
  int64_t offset = getOffsetAttr() ? getOffsetAttr().getInt() : 0;
  if (offset < 0)
    return emitOpError() << "offset " << offset << " is negative";
  if (offset % align != 0)
    return emitOpError() << "offset " << offset
                         << " is not a multiple of align " << align;
  if (getSizeAttr() && getSizeAttr().getInt() <= 0)
    return emitOpError() << "size " << getSizeAttr().getInt()
                         << " is not positive";

  if (auto memref = dyn_cast<MemRefType>(getResult().getType())) {
    if (failed(verifyMemRef(*this, memref, getSizeAttr())))
      return failure();
  } else if (!getSizeAttr()) {
    return emitOpError("needs a size when the result is a pointer");
  }
  uint64_t size = *getByteSize();
  if (static_cast<uint64_t>(offset) > kMaxRegionEnd ||
      size > kMaxRegionEnd - offset)
    return emitOpError() << size << " bytes at offset " << offset
                         << " end beyond the largest LDS offset "
                         << kMaxRegionEnd;
  if (SwizzleAttrInterface swizzle = getSwizzleAttr())
    if (failed(verifySwizzle([&] { return emitOpError(); }, swizzle,
                             getResult().getType(), size)))
      return failure();
  if (failed(verifyOverlayList(*this)))
    return failure();

  Operation *parent = (*this)->getParentOp();
  if (!parent || getKernel(*this) != parent ||
      !(*this)->getBlock()->isEntryBlock())
    return emitOpError("must be in the entry block of a gpu.func, llvm.func or "
                       "gpu.launch");

  // The last region of the kernel checks how all of them go together, once
  // those before it have been verified. To find out whether it is the last,
  // each looks up to the next one: with the check itself that visits each
  // operation of the block twice, no matter how many regions there are.
  for (Operation *next = (*this)->getNextNode(); next;
       next = next->getNextNode())
    if (isa<RegionOp>(next))
      return success();
  return verifyLayout(getRegions(*(*this)->getBlock()));
}

LogicalResult WaitGroupOp::verify() {
  int64_t inFlight = getInFlightAttr().getInt();
  if (inFlight < 0 || inFlight > kMaxInFlight)
    return emitOpError() << "groups in flight must be 0 to " << kMaxInFlight
                         << ", but are " << inFlight;
  return success();
}

lodestone::DMACounter AsyncLoadOp::getCopyCounter() {
  return lodestone::DMACounter::asynccnt;
}

unsigned AsyncLoadOp::getMinCopyInstructions() { return 1; }

/// What holds for the memrefs of all copies of `op`'s kind.
template <typename CopyOp> static LogicalResult verifyMemRefs(CopyOp op) {
  auto source = cast<MemRefType>(op.getSource().getType());
  auto target = cast<MemRefType>(op.getTarget().getType());
  if (isWorkgroupSpace(source.getMemorySpace()))
    return op.emitOpError()
           << "source must be global memory, but is " << source;
  if (!isWorkgroupSpace(target.getMemorySpace()))
    return op.emitOpError()
           << "target must be in workgroup memory, but is " << target;
  for (auto [name, type, indices] :
       {std::tuple("source", source, op.getSourceIndices()),
        std::tuple("target", target, op.getTargetIndices())})
    if (static_cast<int64_t>(indices.size()) != type.getRank())
      return op.emitOpError()
             << name << " has " << type.getRank() << " dimensions, but "
             << indices.size() << " indices";
  return success();
}

LogicalResult AsyncLoadOp::verify() {
  std::optional<uint64_t> bytes = getElementBytes(getType());
  if (!bytes || (*bytes != 1 && *bytes != 4 && *bytes != 8 && *bytes != 16))
    return emitOpError() << "copies 1, 4, 8 or 16 bytes a lane, which "
                         << getType() << " isn't";
  return verifyMemRefs(*this);
}

lodestone::DMACounter WaveLoadOp::getCopyCounter() {
  return lodestone::DMACounter::vmcnt;
}

unsigned WaveLoadOp::getMinCopyInstructions() { return 1; }

LogicalResult WaveLoadOp::verify() {
  std::optional<uint64_t> bytes = getElementBytes(getType());
  if (!bytes || !isHoleFreeDMA(*bytes))
    return emitOpError() << "copies 4 or 16 bytes a lane, which " << getType()
                         << " isn't";
  if (getOffset() > kMaxDMAOffset)
    return emitOpError() << "offset must be 0 to " << kMaxDMAOffset
                         << ", but is " << getOffsetAttr().getInt();
  if (failed(verifyMemRefs(*this)))
    return failure();
  auto source = cast<MemRefType>(getSource().getType());
  auto space =
      dyn_cast_or_null<amdgpu::AddressSpaceAttr>(source.getMemorySpace());
  if (!space || space.getValue() != amdgpu::AddressSpace::FatRawBuffer)
    return emitOpError() << "source must be a buffer, but is " << source;
  return success();
}

LogicalResult RegionOp::canonicalize(RegionOp op, PatternRewriter &rewriter) {
  SwizzleAttrInterface swizzle = op.getSwizzleAttr();
  if (!swizzle || swizzle.getCanonical() == swizzle)
    return failure();
  rewriter.modifyOpInPlace(op, [&] {
    op.setSwizzleAttr(
        cast_or_null<SwizzleAttrInterface>(swizzle.getCanonical()));
  });
  return success();
}
