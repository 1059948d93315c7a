//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Dialect/LDS/IR/LDSDialect.h"
#include "lodestone/Dialect/TDM/IR/TDMCopy.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace lodestone;
using namespace lodestone::tdm;

static constexpr int64_t kMaxTensorDim = UINT32_MAX;
static constexpr int64_t kMaxStride = (int64_t(1) << 48) - 1;
static constexpr unsigned kMaxRank = 5;

//===----------------------------------------------------------------------===//
// The tensor
//===----------------------------------------------------------------------===//

/// True for the memory spaces of global memory: none, 0, 1 and
/// #gpu.address_space<global>.
static bool isGlobalSpace(Attribute space) {
  if (auto gpuSpace = dyn_cast_or_null<gpu::AddressSpaceAttr>(space))
    return gpuSpace.getValue() == gpu::AddressSpace::Global;
  if (auto number = dyn_cast_or_null<IntegerAttr>(space))
    return number.getValue().ule(1);
  return !space;
}

/// Checks a size, stride or offset that the type or a constant gives.
static LogicalResult checkRange(CopyOpInterface op, StringRef what,
                                unsigned dim, int64_t value, int64_t largest) {
  if (ShapedType::isDynamic(value) || (value >= 0 && value <= largest))
    return success();
  return op->emitOpError() << what << " of dimension " << dim << " is " << value
                           << ", but must be from 0 to " << largest;
}

static LogicalResult verifyTensor(CopyOpInterface op) {
  auto type = cast<MemRefType>(op.getGlobal().getType());
  if (!isGlobalSpace(type.getMemorySpace()))
    return op->emitOpError()
           << "tensor must be in global memory, but is " << type;
  unsigned rank = type.getRank();
  if (rank < 1 || rank > kMaxRank)
    return op->emitOpError()
           << "tensor must have rank 1 to " << kMaxRank << ", but is " << type;
  std::optional<uint64_t> bytes = lds::getElementBytes(type.getElementType());
  if (!bytes || *bytes > 8)
    return op->emitOpError()
           << "element type must have 1, 2, 4 or 8 bytes, but is "
           << type.getElementType();
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return op->emitOpError()
           << "tensor must have a strided layout, but is " << type;
  if (strides.back() != 1)
    return op->emitOpError()
           << "the innermost stride of the tensor must be 1, but is "
           << (ShapedType::isDynamic(strides.back())
                   ? "dynamic"
                   : std::to_string(strides.back()));
  for (unsigned dim = 0; dim < rank; ++dim)
    if (failed(
            checkRange(op, "size", dim, type.getDimSize(dim), kMaxTensorDim)) ||
        failed(checkRange(op, "stride", dim, strides[dim], kMaxStride)))
      return failure();

  if (op.getRows()) {
    if (rank != 2)
      return op->emitOpError()
             << "gathers rows of a matrix, but the tensor is " << type;
    rank = 1;
  }
  if (op.getOffsets().size() != rank)
    return op->emitOpError() << "needs " << rank << " offsets, but has "
                             << op.getOffsets().size();
  for (auto [dim, value] : llvm::enumerate(op.getOffsets()))
    if (std::optional<int64_t> constant = getConstantIntValue(value))
      if (failed(checkRange(op, "offset", dim, *constant, kMaxTensorDim)))
        return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// The block in LDS
//===----------------------------------------------------------------------===//

/// True if `count` arrays of this shape fit into what an LDS address can reach.
static bool isAddressable(ArrayRef<int64_t> shape, uint64_t count,
                          uint64_t elementBytes) {
  uint64_t bytes = llvm::SaturatingMultiply(count, elementBytes);
  for (int64_t size : shape)
    bytes = llvm::SaturatingMultiply<uint64_t>(bytes, size);
  return bytes <= lds::kMaxRegionEnd;
}

/// Checks what the later rules read: memrefs of one static type in LDS, with
/// the tensor's elements, and the shape of the block.
static LogicalResult verifyLDSTypes(CopyOpInterface op) {
  auto tensor = cast<MemRefType>(op.getGlobal().getType());
  if (op.getLds().empty())
    return op->emitOpError("needs a memref in workgroup memory");
  auto type = cast<MemRefType>(op.getLds().front().getType());
  for (Value other : op.getLds())
    if (other.getType() != type)
      return op->emitOpError() << "pieces must have one type, but one is "
                               << type << " and another " << other.getType();
  if (!lds::isWorkgroupSpace(type.getMemorySpace()))
    return op->emitOpError()
           << "block must be in workgroup memory, but is " << type;
  if (type.getElementType() != tensor.getElementType())
    return op->emitOpError()
           << "elements of the tensor are " << tensor.getElementType()
           << ", but those of the block " << type.getElementType();
  if (!type.hasStaticShape() || llvm::is_contained(type.getShape(), 0))
    return op->emitOpError()
           << "block must have a static shape with elements, but is " << type;

  int64_t pieces = op.getLds().size();
  IntegerAttr partition = op.getPartitionDimAttr();
  if (!partition && pieces != 1)
    return op->emitOpError()
           << "has " << pieces << " pieces, but no dimension to partition";
  if (partition &&
      (partition.getInt() < 0 || partition.getInt() >= tensor.getRank()))
    return op->emitOpError()
           << "partitioned dimension must be below the rank "
           << tensor.getRank() << ", but is " << partition.getInt();

  DenseI64ArrayAttr block = op.getBlockAttr();
  int64_t rank = block ? block.size() : type.getRank();
  if (rank != tensor.getRank())
    return op->emitOpError() << "rank of the tensor is " << tensor.getRank()
                             << ", but that of the block " << rank;
  for (int64_t size : block ? block.asArrayRef() : ArrayRef<int64_t>())
    if (size < 1 || size > int64_t(lds::kMaxRegionEnd))
      return op->emitOpError() << "block size must be from 1 to "
                               << lds::kMaxRegionEnd << ", but is " << size;
  if (block && partition && block[partition.getInt()] % pieces)
    return op->emitOpError()
           << "block of " << block[partition.getInt()]
           << " elements along dimension " << partition.getInt()
           << " is no multiple of the " << pieces << " pieces";
  uint64_t elementBytes = *lds::getElementBytes(type.getElementType());
  if (!isAddressable(type.getShape(), pieces, elementBytes) ||
      (block && !isAddressable(block.asArrayRef(), 1, elementBytes)))
    return op->emitOpError()
           << "block must have at most " << lds::kMaxRegionEnd << " bytes";
  return success();
}

/// Strides of a row-major array.
static SmallVector<int64_t> rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t dim = shape.size() - 1; dim > 0; --dim)
    strides[dim - 1] = strides[dim] * shape[dim];
  return strides;
}

/// The strides of a padded block as a memref of its shape, if there are any:
/// the gaps must come at the ends of rows (or planes, ...), all alike.
static std::optional<SmallVector<int64_t>> paddedStrides(const CopyShape &shape,
                                                         PaddingAttr padding) {
  SmallVector<int64_t> strides = rowMajorStrides(shape.piece);
  int64_t interval = padding.getInterval() * 4;
  bool isBoundary =
      strides[0] * shape.piece[0] * shape.elementBytes <= interval;
  for (int64_t &stride : strides) {
    int64_t bytes = stride * shape.elementBytes;
    isBoundary |= bytes == interval;
    int64_t padded = getPaddedOffset(bytes, padding);
    if (padded % shape.elementBytes)
      return std::nullopt;
    stride = padded / shape.elementBytes;
  }
  return isBoundary ? std::optional(strides) : std::nullopt;
}

/// True if `strides` are those of `type`, apart from sizes of 1.
static bool hasStrides(MemRefType type, ArrayRef<int64_t> strides) {
  SmallVector<int64_t> own;
  int64_t offset;
  if (failed(type.getStridesAndOffset(own, offset)))
    return false;
  for (unsigned dim = 0; dim < own.size(); ++dim)
    if (type.getDimSize(dim) != 1 && own[dim] != strides[dim])
      return false;
  return true;
}

/// Checks that no two pieces are written to the same memref.
static LogicalResult verifyPieces(CopyOpInterface op) {
  if (!op.isLoad())
    return success();
  llvm::SmallPtrSet<Value, 8> pieces;
  for (auto [i, piece] : llvm::enumerate(op.getLds()))
    if (!pieces.insert(piece).second)
      return op->emitOpError()
             << "pieces must be at different places, but piece " << i
             << " is the memref of an earlier one";
  return success();
}

/// Checks that a piece of the block, padded and repeated, fits into its memref.
static LogicalResult verifyLDSSpace(CopyOpInterface op) {
  CopyShape shape = CopyShape::of(op);
  auto type = cast<MemRefType>(op.getLds().front().getType());
  PaddingAttr padding = op.getPaddingAttr();
  IterationAttr iteration = op.getIterationAttr();
  int64_t bytes = shape.elementBytes;
  for (int64_t size : shape.piece)
    bytes *= size;
  int64_t padded = getPaddedOffset(bytes - 1, padding) + 1;
  int64_t needed = padded;
  if (iteration) {
    if (shape.rank() < 2 || shape.rank() > 3)
      return op->emitOpError()
             << "only copies of rank 2 and 3 can be repeated, but the rank is "
             << shape.rank();
    int64_t step = iteration.getLdsStep() * shape.elementBytes;
    if (iteration.getCount() > 1 && step < padded)
      return op->emitOpError()
             << "repetitions are " << step
             << " bytes apart in LDS, but each takes " << padded;
    needed += (iteration.getCount() - 1) * step;
  }
  // The memref is just bytes if `block` is given, and the padded block
  // otherwise.
  if (padding && !op.getBlockAttr()) {
    auto strides = paddedStrides(shape, padding);
    if (!iteration && strides && hasStrides(type, *strides))
      return success();
    return op->emitOpError() << "block " << type
                             << " doesn't have the strides that the padding "
                                "makes; with block(...) "
                                "a contiguous memref of "
                             << needed << " bytes will do";
  }
  if (!hasStrides(type, rowMajorStrides(type.getShape())))
    return op->emitOpError() << "block must be contiguous, but is " << type;
  int64_t has = type.getNumElements() * shape.elementBytes;
  if (has < needed)
    return op->emitOpError() << "needs " << needed << " bytes of LDS, but "
                             << type << " has " << has;
  return success();
}

//===----------------------------------------------------------------------===//
// The barrier
//===----------------------------------------------------------------------===//

/// The offset modulo 8 of `value`, an address in a region, as far as the
/// operations that make it say; 0 if they don't.
static int64_t knownMisalignment(Value value) {
  int64_t bytes = 0;
  while (Operation *op = value.getDefiningOp()) {
    if (auto view = dyn_cast<memref::ViewOp>(op)) {
      std::optional<int64_t> shift = getConstantIntValue(view.getByteShift());
      if (!shift)
        return 0;
      bytes += *shift;
      value = view.getSource();
    } else if (auto cast = dyn_cast<memref::CastOp>(op)) {
      value = cast.getSource();
    } else if (auto region = dyn_cast<lds::RegionOp>(op)) {
      if (IntegerAttr offset = region.getOffsetAttr())
        return (bytes + offset.getInt()) % 8;
      return region.getAlign() % 8 ? region.getAlign() : bytes % 8;
    } else {
      return bytes % 8;
    }
  }
  return bytes % 8;
}

static LogicalResult verifyBarrier(CopyOpInterface op) {
  Value barrier = op.getBarrier();
  if (!barrier)
    return success();
  auto type = cast<MemRefType>(barrier.getType());
  if (!lds::isWorkgroupSpace(type.getMemorySpace()) ||
      !type.getElementType().isInteger(64) || !type.hasStaticShape() ||
      type.getNumElements() != 1)
    return op->emitOpError()
           << "barrier must be one i64 in workgroup memory, but is " << type;
  if (int64_t rest = knownMisalignment(barrier))
    return op->emitOpError() << "barrier must be at a multiple of 8 bytes, but "
                                "its address is a multiple of 8 plus "
                             << rest;
  return success();
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

LogicalResult tdm::verifyCopy(Operation *operation) {
  auto op = cast<CopyOpInterface>(operation);
  if (failed(verifyTensor(op)) || failed(verifyLDSTypes(op)))
    return failure();
  if (Value rows = op.getRows()) {
    int64_t count = cast<VectorType>(rows.getType()).getNumElements();
    if (count != CopyShape::of(op).block[0])
      return op->emitOpError()
             << "needs an index for each of the " << CopyShape::of(op).block[0]
             << " rows of the block, but has " << count;
  }

  FailureOr<std::optional<uint64_t>> numWarps = getNumWarps(op);
  if (failed(numWarps))
    return failure();
  if (*numWarps) {
    if (failed(distribute(op, **numWarps)))
      return failure();
  } else if (Attribute hint = op.getWarpUsedHintAttr()) {
    auto warps = dyn_cast<WarpsAttr>(hint);
    if (warps ? failed(distribute(op, warps.getOf()))
              : failed(getWarpSet(op, WarpSet::kMaxWarps)))
      return failure();
  }
  if (failed(verifyPieces(op)) || failed(verifyLDSSpace(op)))
    return failure();
  return verifyBarrier(op);
}
