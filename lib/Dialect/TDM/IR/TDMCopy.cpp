//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Dialect/TDM/IR/TDMCopy.h"
#include "lodestone/Dialect/LDS/IR/LDSDialect.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/FormatVariadic.h"

#include <numeric>

using namespace mlir;
using namespace lodestone;
using namespace lodestone::tdm;

//===----------------------------------------------------------------------===//
// The workgroup
//===----------------------------------------------------------------------===//

static std::optional<uint64_t> multiply(ArrayRef<int32_t> sizes) {
  uint64_t product = 1;
  for (int32_t size : sizes) {
    if (size <= 0)
      return std::nullopt;
    std::optional<uint64_t> next =
        llvm::checkedMulUnsigned<uint64_t>(product, size);
    if (!next)
      return std::nullopt;
    product = *next;
  }
  return sizes.empty() ? std::nullopt : std::optional(product);
}

std::optional<uint64_t> tdm::getWorkgroupSize(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent;
       parent = parent->getParentOp()) {
    if (auto launch = dyn_cast<gpu::LaunchOp>(parent)) {
      SmallVector<int32_t> sizes;
      gpu::KernelDim3 block = launch.getBlockSizeOperandValues();
      for (Value size : {block.x, block.y, block.z}) {
        std::optional<int64_t> constant = getConstantIntValue(size);
        if (!constant || *constant > INT32_MAX)
          return std::nullopt;
        sizes.push_back(static_cast<int32_t>(*constant));
      }
      return multiply(sizes);
    }
    if (auto function = dyn_cast<gpu::GPUFuncOp>(parent)) {
      std::optional<ArrayRef<int32_t>> sizes = function.getKnownBlockSize();
      return sizes ? multiply(*sizes) : std::nullopt;
    }
    if (isa<FunctionOpInterface>(parent)) {
      for (StringRef name :
           {"rocdl.reqd_work_group_size", "gpu.known_block_size"})
        if (auto sizes = parent->getAttrOfType<DenseI32ArrayAttr>(name))
          return multiply(sizes.asArrayRef());
      return std::nullopt;
    }
  }
  return std::nullopt;
}

FailureOr<std::optional<uint64_t>> tdm::getNumWarps(Operation *op) {
  std::optional<uint64_t> size = getWorkgroupSize(op);
  if (!size)
    return std::optional<uint64_t>();
  if (*size % kWarpLanes)
    return op->emitOpError()
           << "needs a workgroup of whole warps of " << kWarpLanes
           << " work items, but it has " << *size;
  return std::optional<uint64_t>(*size / kWarpLanes);
}

//===----------------------------------------------------------------------===//
// Shape and warps
//===----------------------------------------------------------------------===//

CopyShape CopyShape::of(CopyOpInterface op) {
  CopyShape shape;
  auto lds = cast<MemRefType>(op.getLds().front().getType());
  shape.elementBytes = *lds::getElementBytes(lds.getElementType());
  shape.pieces = op.getLds().size();
  if (IntegerAttr dim = op.getPartitionDimAttr())
    shape.partitionDim = dim.getInt();
  if (DenseI64ArrayAttr block = op.getBlockAttr()) {
    shape.block = llvm::to_vector(block.asArrayRef());
    shape.piece = shape.block;
    shape.piece[shape.partitionDim] /= shape.pieces;
  } else {
    shape.piece = llvm::to_vector(lds.getShape());
    shape.block = shape.piece;
    shape.block[shape.partitionDim] *= shape.pieces;
  }
  return shape;
}

int64_t tdm::getPaddedOffset(int64_t linear, PaddingAttr padding) {
  if (!padding)
    return linear;
  return linear +
         linear / (padding.getInterval() * 4) * padding.getAmount() * 4;
}

unsigned tdm::getMaxRows(Type rowIndexType) {
  return rowIndexType.isInteger(16) ? 16 : 8;
}

static LogicalResult reportHint(CopyOpInterface op, const WarpSetError &error) {
  InFlightDiagnostic diag = op->emitOpError() << error.message;
  if (error.nearest)
    diag.attachNote() << "the nearest legal hint is "
                      << WarpSet::formatMask(*error.nearest);
  return diag;
}

FailureOr<WarpSet> tdm::getWarpSet(CopyOpInterface op, uint64_t numWarps) {
  WarpSetError error;
  std::optional<WarpSet> set;
  Attribute hint = op.getWarpUsedHintAttr();
  if (!hint) {
    set = WarpSet::all(numWarps, error);
  } else if (auto warps = dyn_cast<WarpsAttr>(hint)) {
    // First the rules of the number of warps itself.
    if (!WarpSet::all(numWarps, error)) {
      (void)reportHint(op, error);
      return failure();
    }
    if (warps.getOf() != numWarps)
      return op->emitOpError() << "hint is for " << warps.getOf()
                               << " warps, but the workgroup has " << numWarps;
    return warps.getWarpSet();
  } else {
    uint64_t mask = cast<IntegerAttr>(hint).getValue().getZExtValue();
    set = WarpSet::fromMask(mask, numWarps, error);
  }
  if (set)
    return *set;
  (void)reportHint(op, error);
  return failure();
}

//===----------------------------------------------------------------------===//
// Fused loads
//===----------------------------------------------------------------------===//

/// The warps of a load that has a hint, as a mask.
static FailureOr<uint32_t> getHintMask(LoadOp load) {
  FailureOr<std::optional<uint64_t>> known = getNumWarps(load);
  if (failed(known))
    return failure();
  auto warps = dyn_cast<WarpsAttr>(load.getWarpUsedHintAttr());
  uint64_t numWarps = *known  ? **known
                      : warps ? warps.getOf()
                              : WarpSet::kMaxWarps;
  FailureOr<WarpSet> set = getWarpSet(load, numWarps);
  if (failed(set))
    return failure();
  return set->mask();
}

FailureOr<std::optional<FuseObstacle>>
tdm::findFuseObstacle(ArrayRef<LoadOp> members, LoadOp load) {
  auto obstacle = [](StringRef name, std::string message) {
    return std::optional(FuseObstacle{name, std::move(message)});
  };
  if (!load.getWarpUsedHintAttr())
    return obstacle("no-hint", "needs a hint on each load");
  if (load.getBarrier())
    return obstacle("has-barrier", "can't have a barrier on a load");
  FailureOr<uint32_t> mask = getHintMask(load);
  if (failed(mask))
    return failure();
  for (LoadOp member : members) {
    int64_t rank = member.getGlobal().getType().getRank();
    if (int64_t other = load.getGlobal().getType().getRank(); other != rank)
      return obstacle("different-rank",
                      llvm::formatv("needs loads of the same rank, but one has "
                                    "rank {0} and another {1}",
                                    rank, other));
    FailureOr<uint32_t> taken = getHintMask(member);
    if (failed(taken))
      return failure();
    if (uint32_t both = *taken & *mask)
      return obstacle("common-warp",
                      "needs hints without a common warp, but two have " +
                          WarpSet::formatMask(both));
  }
  return std::optional<FuseObstacle>();
}

//===----------------------------------------------------------------------===//
// Distribution
//===----------------------------------------------------------------------===//

/// Divides `tile` in halves, at most `count` parts in all, and returns the
/// parts along each dimension. A part stays contiguous in the row-major block:
/// a dimension is divided only when those outside of it have one element left.
/// Its bytes stay a multiple of `granule`.
static SmallVector<int64_t> divide(MutableArrayRef<int64_t> tile,
                                   uint64_t count, unsigned divisibleDims,
                                   int64_t bytes, int64_t granule) {
  SmallVector<int64_t> parts(tile.size(), 1);
  for (unsigned dim = 0; dim < divisibleDims; ++dim) {
    while (count > 1 && tile[dim] % 2 == 0 && bytes % (2 * granule) == 0) {
      parts[dim] *= 2;
      tile[dim] /= 2;
      bytes /= 2;
      count /= 2;
    }
    if (tile[dim] != 1)
      break;
  }
  return parts;
}

static std::string formatShape(ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

FailureOr<Distribution> tdm::distribute(CopyOpInterface op, uint64_t numWarps) {
  FailureOr<WarpSet> warps = getWarpSet(op, numWarps);
  if (failed(warps))
    return failure();
  CopyShape shape = CopyShape::of(op);
  Attribute hint = op.getWarpUsedHintAttr();
  unsigned count = warps->count();
  if (hint && count % shape.pieces)
    return op->emitOpError() << "hint has " << count
                             << " active warps, which the " << shape.pieces
                             << " pieces of the block don't divide; one "
                                "instruction must fill all "
                                "pieces of a copy with a hint";

  Distribution result{*warps, {}, shape.piece};
  result.piecesAtOnce = std::gcd(count, shape.pieces);
  result.instructions = shape.pieces / result.piecesAtOnce;

  // What a piece can be divided along: a gather has an index for each row, and
  // a partition keeps the innermost dimension whole.
  unsigned divisibleDims = shape.rank();
  if (op.getRows())
    divisibleDims = 1;
  else if (op.getPartitionDimAttr())
    divisibleDims = shape.rank() - 1;
  PaddingAttr padding = op.getPaddingAttr();
  int64_t bytes = shape.elementBytes;
  for (int64_t size : shape.piece)
    bytes *= size;
  result.parts = divide(result.tile, count / result.piecesAtOnce, divisibleDims,
                        bytes, padding ? padding.getInterval() * 4 : 1);
  result.parts[shape.partitionDim] *= result.piecesAtOnce;

  unsigned parts = 1;
  for (int64_t along : result.parts)
    parts *= along;
  if (parts != count && hint) {
    InFlightDiagnostic diag =
        op->emitOpError() << "hint has " << count
                          << " active warps, but the block of "
                          << formatShape(shape.block) << " can be divided into "
                          << parts << " parts at most";
    if (padding)
      diag << " that are multiples of the padding interval of "
           << padding.getInterval() << " dwords";
    return diag;
  }
  if (parts != count) {
    WarpSetError error;
    result.warps = *WarpSet::fromPair(parts - 1, 0, numWarps, error);
  }

  if (Value rows = op.getRows()) {
    int64_t most =
        getMaxRows(cast<VectorType>(rows.getType()).getElementType());
    result.instructions = llvm::divideCeil(result.tile[0], most);
    result.tile[0] = std::min(result.tile[0], most);
    int64_t tileBytes = most * shape.block[1] * shape.elementBytes;
    if (padding && result.instructions > 1 &&
        tileBytes % (padding.getInterval() * 4))
      return op->emitOpError()
             << "takes several instructions of " << most << " rows, whose "
             << tileBytes
             << " bytes must be a multiple of the padding interval of "
             << padding.getInterval() << " dwords";
  }
  for (auto [dim, size] : llvm::enumerate(result.tile))
    if (size > kMaxTileDim)
      return op->emitOpError()
             << "dimension " << dim << " of the part of a warp, "
             << formatShape(result.tile) << ", is " << size
             << " elements long, but a descriptor has room for " << kMaxTileDim;
  return result;
}
