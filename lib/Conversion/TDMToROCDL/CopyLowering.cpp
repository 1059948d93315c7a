//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScalarBuilder.h"
#include "TensorInstruction.h"

#include "lodestone/Transforms/LDSTransforms.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace lodestone;
using namespace lodestone::tdm;

namespace {
/// The words of a descriptor: constant bits, and values that are or-ed in.
class Words {
public:
  Words(const TDMWords &constants, ScalarBuilder &scalars)
      : constants(constants), scalars(scalars) {}

  /// Sets a field that is zero so far to `value`, which it has room for.
  void set(TDMField field, Value value, unsigned index = 0);

  TensorInstruction finish(bool isLoad, bool needsAllGroups);

private:
  TDMWords constants;
  std::array<Value, std::tuple_size_v<TDMWords>> dynamic;
  ScalarBuilder &scalars;
};

/// Builds the descriptors of one copy.
class CopyLowering {
public:
  CopyLowering(CopyOpInterface op, const Distribution &distribution, Value warp,
               OpBuilder &builder);

  FailureOr<SmallVector<TensorInstruction>> run();

private:
  FailureOr<TensorInstruction> build(unsigned instruction);
  TDMDescriptor getConstantFields(unsigned instruction);
  void readTensor();
  Value getPosition(unsigned dim, unsigned first, unsigned count);
  Value getCoordinate(unsigned dim, unsigned instruction);
  Value getLDSAddress(unsigned instruction);
  Value getPieceAddress(unsigned first, unsigned numBits);
  Value getAddress(Value memref, unsigned elementBytes);
  void setRows(Words &words, unsigned instruction);
  Value getPred();

  unsigned rank() const { return shape.rank(); }
  /// The dimension as the hardware counts: 0 is the innermost one.
  unsigned flip(unsigned dim) const { return rank() - 1 - dim; }
  bool isLast(unsigned instruction) const {
    return instruction + 1 == distribution.instructions;
  }

  CopyOpInterface op;
  const Distribution &distribution;
  CopyShape shape;
  Value warp;
  OpBuilder &builder;
  ScalarBuilder scalars;
  /// The bits of the warp id that are the position along each dimension, low
  /// ones first.
  SmallVector<SmallVector<unsigned>> positionBits;
  /// Of the tensor, as i64: byte address of its first element, sizes, strides.
  Value address;
  SmallVector<Value> sizes, strides;
};
} // namespace

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

void Words::set(TDMField field, Value value, unsigned index) {
  for (TDMSlice slice : slicesOf(field, index)) {
    Value piece = scalars.resize(scalars.shiftRight(value, slice.valueBit), 32);
    // A slice that isn't the last one ends at bit 31: the shift cuts it off.
    // The others' values end with them, but nobody has checked a dynamic
    // stride, nor the address of a block far outside of its tensor: they must
    // not spill into their neighbours.
    if ((field == TDMField::stride || field == TDMField::globalAddress) &&
        slice.bit + slice.width < 32)
      piece =
          scalars.bitAnd(piece, llvm::maskTrailingOnes<uint32_t>(slice.width));
    piece = scalars.shiftLeft(piece, slice.bit);
    Value &word = dynamic[slice.word];
    word = word ? scalars.bitOr(word, piece) : piece;
  }
}

TensorInstruction Words::finish(bool isLoad, bool needsAllGroups) {
  TensorInstruction result{isLoad, needsAllGroups, {}};
  for (unsigned i = 0; i < constants.size(); ++i) {
    Value constant = scalars.constant(static_cast<int32_t>(constants[i]));
    result.words[i] =
        dynamic[i] ? scalars.bitOr(dynamic[i], constant) : constant;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

CopyLowering::CopyLowering(CopyOpInterface op, const Distribution &distribution,
                           Value warp, OpBuilder &builder)
    : op(op), distribution(distribution), shape(CopyShape::of(op)), warp(warp),
      builder(builder), scalars(builder, op->getLoc()) {
  uint32_t rest = distribution.warps.free();
  for (int64_t parts : distribution.parts) {
    SmallVector<unsigned> &bits = positionBits.emplace_back();
    for (unsigned n = llvm::Log2_64(parts); n > 0; --n, rest &= rest - 1)
      bits.push_back(llvm::countr_zero(rest));
  }
}

void CopyLowering::readTensor() {
  Location loc = op->getLoc();
  auto type = cast<MemRefType>(op.getGlobal().getType());
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, op.getGlobal());
  auto [staticStrides, staticOffset] = type.getStridesAndOffset();
  auto get = [&](int64_t constant, Value dynamic) {
    return ShapedType::isDynamic(constant) ? scalars.resize(dynamic, 64)
                                           : scalars.constant(constant, 64);
  };
  for (unsigned dim = 0; dim < rank(); ++dim) {
    sizes.push_back(get(type.getDimSize(dim), metadata.getSizes()[dim]));
    strides.push_back(get(staticStrides[dim], metadata.getStrides()[dim]));
  }
  Value base = scalars.resize(memref::ExtractAlignedPointerAsIndexOp::create(
                                  builder, loc, op.getGlobal()),
                              64);
  Value offset = get(staticOffset, metadata.getOffset());
  address = scalars.add(base, scalars.multiply(offset, shape.elementBytes));
}

/// The value of `count` of the position bits of `dim`, from the `first` one on.
/// On warps that move nothing, any value.
Value CopyLowering::getPosition(unsigned dim, unsigned first, unsigned count) {
  ArrayRef<unsigned> bits = ArrayRef(positionBits[dim]).slice(first, count);
  const WarpSet &warps = distribution.warps;
  Value position = scalars.constant(0);
  // Bits that are next to each other go together.
  for (unsigned begin = 0, end = 0; begin < bits.size(); begin = end) {
    for (end = begin + 1; end < bits.size() && bits[end] == bits[end - 1] + 1;)
      ++end;
    Value run = scalars.shiftRight(warp, bits[begin]);
    // Active warps have no other bits than these.
    uint32_t above = (warps.free() | warps.anchor()) >> bits[begin];
    uint32_t mask = llvm::maskTrailingOnes<uint32_t>(end - begin);
    if (above & ~mask)
      run = scalars.bitAnd(run, mask);
    position = scalars.bitOr(position, scalars.shiftLeft(run, begin));
  }
  return position;
}

/// Where the part of the warp starts along `dim` in the tensor, an i64.
Value CopyLowering::getCoordinate(unsigned dim, unsigned instruction) {
  Value start = scalars.constant(0);
  if (!op.getRows()) {
    start = scalars.multiply(getPosition(dim, 0, positionBits[dim].size()),
                             distribution.tile[dim]);
    if (dim == shape.partitionDim)
      start = scalars.add(start, scalars.constant(int64_t(instruction) *
                                                  distribution.piecesAtOnce *
                                                  shape.piece[dim]));
  }
  // A gather has an offset for the columns only.
  OperandRange offsets = op.getOffsets();
  Value offset = op.getRows() ? dim == 0 ? Value() : offsets[0] : offsets[dim];
  Value wide = scalars.resize(start, 64);
  return offset ? scalars.add(scalars.resize(offset, 64), wide) : wide;
}

/// The byte address of a memref in LDS, an i32.
Value CopyLowering::getAddress(Value memref, unsigned elementBytes) {
  Location loc = op->getLoc();
  Value address = scalars.resize(
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref), 32);
  auto [strides, staticOffset] =
      cast<MemRefType>(memref.getType()).getStridesAndOffset();
  if (staticOffset == 0)
    return address;
  Value offset = scalars.constant(staticOffset);
  if (ShapedType::isDynamic(staticOffset)) {
    auto metadata =
        memref::ExtractStridedMetadataOp::create(builder, loc, memref);
    offset = scalars.resize(metadata.getOffset(), 32);
  }
  return scalars.add(address, scalars.multiply(offset, elementBytes));
}

/// The address of one of the pieces from `first` on, the one that the high bits
/// of the position along the partitioned dimension say: `numBits` of them.
Value CopyLowering::getPieceAddress(unsigned first, unsigned numBits) {
  if (numBits == 0)
    return getAddress(op.getLds()[first], shape.elementBytes);
  ArrayRef<unsigned> bits = positionBits[shape.partitionDim];
  unsigned half = 1u << (numBits - 1);
  unsigned split = bits.size() - llvm::Log2_32(distribution.piecesAtOnce);
  Value bit = scalars.bitAnd(warp, 1u << bits[split + numBits - 1]);
  return scalars.select(scalars.isEqual(bit, 0),
                        getPieceAddress(first, numBits - 1),
                        getPieceAddress(first + half, numBits - 1));
}

Value CopyLowering::getLDSAddress(unsigned instruction) {
  unsigned pieceBits = llvm::Log2_32(distribution.piecesAtOnce);
  // Only a partitioned copy has more than one piece; a gather of several
  // instructions goes on in the same one.
  unsigned firstPiece =
      op.getRows() ? 0 : instruction * distribution.piecesAtOnce;
  Value address = getPieceAddress(firstPiece, pieceBits);
  int64_t bytes = shape.elementBytes;
  PaddingAttr padding = op.getPaddingAttr();
  for (unsigned dim = rank(); dim-- > 0; bytes *= shape.piece[dim]) {
    unsigned numBits = positionBits[dim].size();
    if (dim == shape.partitionDim)
      numBits -= pieceBits;
    int64_t part = distribution.tile[dim];
    if (op.getRows() && dim == 0) {
      // What the part of the warp is before it is cut into instructions.
      int64_t rows = shape.piece[0] / distribution.parts[0];
      int64_t done = getPaddedOffset(
          int64_t(instruction) * distribution.tile[0] * bytes, padding);
      address = scalars.add(address, scalars.constant(done));
      part = rows;
    }
    // Parts are multiples of the padding interval, so the offsets add up.
    Value offset = scalars.multiply(getPosition(dim, 0, numBits),
                                    getPaddedOffset(part * bytes, padding));
    address = scalars.add(address, offset);
  }
  return address;
}

/// 1 on the warps that move data, else 0: an i1 or i32.
Value CopyLowering::getPred() {
  Value active = buildIsActive(distribution.warps, warp, op->getLoc(), builder);
  Value pred = op.getPred();
  if (!active || !pred)
    return active ? active : pred ? pred : scalars.constant(1, 1);
  // Not the conjunction of two i1, which LLVM would compute as masks of lanes:
  // the difference to the ids of active warps is zero or positive, and the top
  // bit of one less tells which. LLVM must not see that this is a condition: it
  // knows the range of the ids, so they are laundered before anything is made
  // of them. (Laundered after it, the condition would be in a vector register.)
  const WarpSet &warps = distribution.warps;
  Value fixed = createLaunder(
      builder, scalars.bitAnd(warp, (warps.numWarps() - 1) & ~warps.free()));
  Value difference = scalars.bitXor(fixed, warps.anchor());
  Value isActive =
      scalars.shiftRight(scalars.subtract(difference, scalars.constant(1)), 31);
  return scalars.select(pred, isActive, scalars.constant(0));
}

/// The row indices of a gather: word by word, those of the warp's part.
void CopyLowering::setRows(Words &words, unsigned instruction) {
  Location loc = op->getLoc();
  bool isWide =
      !cast<VectorType>(op.getRows().getType()).getElementType().isInteger(16);
  int64_t partRows = shape.piece[0] / distribution.parts[0];
  ArrayRef<unsigned> bits = positionBits[0];
  auto row = [&](int64_t index) {
    return scalars.resize(
        builder.createOrFold<vector::ExtractOp>(loc, op.getRows(), index), 32);
  };
  int64_t first = int64_t(instruction) * distribution.tile[0];
  int64_t count = std::min(distribution.tile[0], partRows - first);
  for (int64_t i = 0; i < count; ++i) {
    // Candidates of all parts, halved by each bit of the position.
    SmallVector<Value> candidates;
    for (int64_t part = 0; part < distribution.parts[0]; ++part)
      candidates.push_back(row(part * partRows + first + i));
    for (unsigned bit : bits) {
      Value isLow = scalars.isEqual(scalars.bitAnd(warp, 1u << bit), 0);
      for (size_t j = 0; j < candidates.size() / 2; ++j)
        candidates[j] =
            scalars.select(isLow, candidates[2 * j], candidates[2 * j + 1]);
      candidates.resize(candidates.size() / 2);
    }
    words.set(isWide ? TDMField::wideRow : TDMField::narrowRow, candidates[0],
              i);
  }
}

/// The fields that are known now; the others are zero.
TDMDescriptor CopyLowering::getConstantFields(unsigned instruction) {
  TDMDescriptor fields;
  fields.enabled = false;
  fields.elementBytes = shape.elementBytes;
  fields.earlyTimeout = op.getEarlyTimeout();
  fields.tileDims.assign(distribution.tile.rbegin(), distribution.tile.rend());
  fields.tensorDims.assign(rank(), 0);
  fields.strides.assign(rank() - 1, 0);
  if (op.getBarrier() && isLast(instruction))
    fields.barrierAddress = 0;
  if (PaddingAttr padding = op.getPaddingAttr())
    fields.padding = {padding.getInterval(), padding.getAmount()};
  IterationAttr iteration = op.getIterationAttr();
  if (iteration && iteration.getCount() > 1)
    fields.iteration = {iteration.getCount(), iteration.getLdsStep(),
                        iteration.getGlobalStep()};
  if (Value rows = op.getRows()) {
    auto type = cast<VectorType>(rows.getType());
    int64_t partRows = shape.piece[0] / distribution.parts[0];
    int64_t count =
        std::min(distribution.tile[0],
                 partRows - int64_t(instruction) * distribution.tile[0]);
    fields.tileDims[1] = count;
    fields.gather = {!type.getElementType().isInteger(16),
                     std::vector<int64_t>(count, 0)};
  }
  return fields;
}

FailureOr<TensorInstruction> CopyLowering::build(unsigned instruction) {
  TDMDescriptor fields = getConstantFields(instruction);
  std::string error;
  std::optional<TDMWords> constants = fields.encode(error);
  if (!constants)
    return op->emitOpError() << error;
  Words words(*constants, scalars);
  words.set(TDMField::count, getPred());
  words.set(TDMField::ldsAddress, getLDSAddress(instruction));

  Value elements = scalars.constant(0, 64);
  for (unsigned dim = 0; dim < rank(); ++dim) {
    Value coordinate = getCoordinate(dim, instruction);
    elements =
        scalars.add(elements, scalars.multiply(coordinate, strides[dim]));
    // What is left of the tensor from here on, nothing if this is beyond it. Of
    // the difference, the high word is all ones if it is negative and else
    // zero. A maximum would become a saturating subtraction, which only the
    // vector unit has.
    Value difference = scalars.subtract(sizes[dim], coordinate);
    Value isNegative = scalars.resize(scalars.shiftRight(difference, 32), 32);
    Value left = scalars.bitAnd(scalars.resize(difference, 32),
                                scalars.bitXor(isNegative, -1));
    words.set(TDMField::tensorDim, left, flip(dim));
    if (flip(dim) > 0)
      words.set(TDMField::stride, strides[dim], flip(dim) - 1);
  }
  words.set(
      TDMField::globalAddress,
      scalars.add(address, scalars.multiply(elements, shape.elementBytes)));

  if (Value mask = op.getWorkgroupMask())
    words.set(TDMField::workgroupMask, scalars.resize(mask, 32));
  if (op.getBarrier() && isLast(instruction))
    words.set(TDMField::barrierAddress,
              scalars.shiftRight(getAddress(op.getBarrier(), 8), 3));
  // Groups 2 and 3 must not be zero (see TensorInstruction). Here is nothing
  // else in them that is constant and not zero; dimension 3 isn't used.
  if (rank() == 3 && !fields.iteration)
    words.set(TDMField::tensorDim, scalars.constant(1), 3);
  if (op.getRows())
    setRows(words, instruction);
  TensorInstruction result = words.finish(op.isLoad(), fields.needsAllGroups());
  if (op.getRows()) {
    // The indices may all be zero. A word of them may be in a vector register.
    Value &word = result.words[kTDMGroupStart[2]];
    if (!getConstantIntValue(word))
      word = ROCDL::ReadfirstlaneOp::create(builder, op->getLoc(),
                                            word.getType(), word);
    word = createLaunder(builder, word);
  }
  return result;
}

FailureOr<SmallVector<TensorInstruction>> CopyLowering::run() {
  readTensor();
  SmallVector<TensorInstruction> instructions;
  for (unsigned i = 0; i < distribution.instructions; ++i) {
    FailureOr<TensorInstruction> instruction = build(i);
    if (failed(instruction))
      return failure();
    instructions.push_back(*instruction);
  }
  return instructions;
}

FailureOr<SmallVector<TensorInstruction>>
tdm::buildInstructions(CopyOpInterface op, const Distribution &distribution,
                       Value warp, OpBuilder &builder) {
  return CopyLowering(op, distribution, warp, builder).run();
}
