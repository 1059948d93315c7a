//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DirectLoadBuilder.h"

#include "lodestone/Dialect/LDS/IR/LDSDialect.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace lodestone;

DirectLoadBuilder::DirectLoadBuilder(FunctionOpInterface kernel,
                                     ThreadValues &values, const ChipInfo &chip,
                                     DirectLoadOptions options)
    : kernel(kernel), values(values), chip(chip), options(options),
      anchor(&kernel.getFunctionBody().front().front()) {}

static Value index(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

/// `value`, which is the same in all active lanes, in a scalar register.
static Value readFirstLane(OpBuilder &builder, Location loc, Value value) {
  Type i32 = builder.getI32Type();
  value = arith::IndexCastOp::create(builder, loc, i32, value);
  value = ROCDL::ReadfirstlaneOp::create(builder, loc, i32, value);
  return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                      value);
}

/// The thread whose cell holds the bytes that this lane moves with the
/// `part`-th of `perCell` DMAs. For part 0 of 1, which needs no other thread,
/// it is lane 0 of the wave.
Value DirectLoadBuilder::getThread(unsigned perCell, unsigned part) {
  OpBuilder builder(anchor);
  Location loc = kernel.getLoc();
  if (!waveStart) {
    std::array<unsigned, 3> size = values.getBlockSize();
    Value thread;
    unsigned stride = 1;
    for (auto [extent, dimension] :
         llvm::zip_equal(size, ArrayRef{gpu::Dimension::x, gpu::Dimension::y,
                                        gpu::Dimension::z})) {
      if (extent == 1)
        continue;
      Value id = gpu::ThreadIdOp::create(builder, loc, dimension);
      if (stride != 1)
        id = arith::MulIOp::create(builder, loc, id,
                                   index(builder, loc, stride));
      thread = thread ? arith::AddIOp::create(builder, loc, thread, id) : id;
      stride *= extent;
    }
    if (!thread)
      thread = index(builder, loc, 0);
    Value mask = index(builder, loc, -int64_t(values.getWaveSize()));
    waveStart = readFirstLane(
        builder, loc, arith::AndIOp::create(builder, loc, thread, mask));
  }
  if (perCell == 1)
    return waveStart;
  Value lane = gpu::LaneIdOp::create(
      builder, loc, builder.getIndexAttr(values.getWaveSize()));
  Value unit = arith::AddIOp::create(
      builder, loc, lane, index(builder, loc, part * values.getWaveSize()));
  Value cell =
      arith::DivUIOp::create(builder, loc, unit, index(builder, loc, perCell));
  return arith::AddIOp::create(builder, loc, waveStart, cell);
}

CloneForThread &DirectLoadBuilder::getCloner(unsigned perCell, unsigned part) {
  std::unique_ptr<CloneForThread> &cloner = cloners[{perCell, part}];
  if (!cloner) {
    cloner = std::make_unique<CloneForThread>(values, anchor);
    cloner->setThread(getThread(perCell, part));
  }
  return *cloner;
}

/// Elements from the start of the target to where lane 0 of the wave stores, in
/// a scalar register.
Value DirectLoadBuilder::getWaveOffset(OpBuilder &builder,
                                       const DirectCopy &copy) {
  Location loc = copy.store->getLoc();
  CloneForThread &cloner = getCloner(1, 0);
  SmallVector<Operation *> loads;
  bool clones = llvm::none_of(copy.targetIndices, [&](Value value) {
    return cloner.findObstacle(value, loads) || !loads.empty();
  });
  Value offset;
  MemRefType type = copy.target.getType();
  int64_t stride = 1;
  for (int64_t i = type.getRank() - 1; i >= 0; --i) {
    Value term =
        clones ? cloner.clone(copy.targetIndices[i]) : copy.targetIndices[i];
    if (stride != 1)
      term = arith::MulIOp::create(builder, loc, term,
                                   index(builder, loc, stride));
    offset = offset ? arith::AddIOp::create(builder, loc, offset, term) : term;
    stride *= type.getDimSize(i);
  }
  if (!offset)
    return index(builder, loc, 0);
  if (clones)
    return offset;
  Value lane = gpu::LaneIdOp::create(
      builder, loc, builder.getIndexAttr(values.getWaveSize()));
  lane = arith::MulIOp::create(
      builder, loc, lane,
      index(builder, loc, copy.laneBytes / copy.elementBytes));
  return readFirstLane(builder, loc,
                       arith::SubIOp::create(builder, loc, offset, lane));
}

/// The target with one dimension.
Value DirectLoadBuilder::getFlatTarget(OpBuilder &builder,
                                       const DirectCopy &copy) {
  MemRefType type = copy.target.getType();
  if (type.getRank() == 1)
    return copy.target;
  Location loc = copy.store->getLoc();
  ReassociationIndices all =
      llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  return memref::CollapseShapeOp::create(builder, loc, copy.target,
                                         ArrayRef<ReassociationIndices>{all});
}

DirectLoadBuilder::LaneSource
DirectLoadBuilder::getSource(OpBuilder &builder, const DirectCopy &copy,
                             unsigned perCell, unsigned part) {
  LaneSource source{copy.source, copy.sourceIndices, Value()};
  if (copy.zeroFill)
    source.guard = copy.zeroFill.getCondition();
  if (perCell == 1)
    return source;
  Location loc = copy.load->getLoc();
  CloneForThread &cloner = getCloner(perCell, part);
  source.memref = cloner.clone(source.memref);
  for (Value &value : source.indices)
    value = cloner.clone(value);
  if (!source.guard)
    if (scf::IfOp guard = getGuard(copy))
      source.guard = guard.getCondition();
  if (source.guard)
    source.guard = cloner.clone(source.guard);
  // Which part of the cell: a power of two of parts, so this is lane bits.
  Value lane = gpu::LaneIdOp::create(
      builder, loc, builder.getIndexAttr(values.getWaveSize()));
  Value unit = arith::AddIOp::create(
      builder, loc, lane, index(builder, loc, part * values.getWaveSize()));
  Value within =
      arith::RemUIOp::create(builder, loc, unit, index(builder, loc, perCell));
  within = arith::MulIOp::create(
      builder, loc, within,
      index(builder, loc, copy.laneBytes / copy.elementBytes / perCell));
  source.indices.back() =
      arith::AddIOp::create(builder, loc, source.indices.back(), within);
  return source;
}

/// Makes `source`, which is the same for all lanes, a buffer of exactly its
/// bytes. With zero-fill, lanes whose guard isn't set read behind the last one,
/// which brings zeros: the guard may be about a column, where the next byte in
/// memory is another row's.
void DirectLoadBuilder::readThroughBuffer(OpBuilder &builder,
                                          const DirectCopy &copy,
                                          LaneSource &source) {
  Location loc = copy.store->getLoc();
  auto [entry, isNew] = buffers.try_emplace(source.memref);
  FlatBuffer &buffer = entry->second;
  if (isNew) {
    OpBuilder outer(anchor);
    outer.setInsertionPointAfterValue(source.memref);
    buffer = FlatBuffer::create(outer, loc, source.memref);
  }
  Value index = buffer.getIndex(builder, loc, source.indices);
  if (copy.zeroFill) {
    index = arith::SelectOp::create(
        builder, loc, source.guard, index,
        getValueOrCreateConstantIndexOp(builder, loc, buffer.extent));
    source.guard = Value();
  }
  source.memref = buffer.memref;
  source.indices = {index};
}

/// Makes a DMA at `address` with the addresses of an earlier one and an offset,
/// if there is one near enough. DMAAddress.h has the rules.
bool DirectLoadBuilder::shareAddress(OpBuilder &builder, const DirectCopy &copy,
                                     const DMAAddress &address, Type type) {
  auto last = lastDMAs.find(copy.target);
  if (last == lastDMAs.end())
    return false;
  const MadeDMA &dma = last->second;
  Value condition = copy.zeroFill ? copy.zeroFill.getCondition() : Value();
  amdgpu::GatherToLDSOp first = dma.op;
  if (dma.block != builder.getBlock() || dma.source != copy.source ||
      dma.zeroFill != condition || first.getTransferType() != type)
    return false;
  // What isn't known modulo 2^64, and what is behind the buffer's end to bring
  // zeros, must not reach 2^32 with the offset.
  std::optional<uint64_t> bytes =
      getFlatBytes(cast<MemRefType>(copy.source.getType()));
  bool hasRoom = bytes && *bytes + kMaxDMAOffset + 16 <= UINT32_MAX;
  bool isExact = std::min(address.source.width, dma.address.source.width) == 64;
  if (!hasRoom && (condition || !isExact))
    return false;
  std::optional<int64_t> distance =
      address.getDistanceFrom(dma.address, values.getNumThreads());
  if (!distance || *distance < 0 || *distance > kMaxDMAOffset)
    return false;
  lds::WaveLoadOp::create(builder, copy.store->getLoc(), first.getSrc(),
                          first.getSrcIndices(), first.getDst(),
                          first.getDstIndices(), *distance, type);
  ++numDMAs;
  return true;
}

/// Makes a DMA for the lanes whose `guard` is set, or for all without one. If
/// others bring zeros, they store them: the lanes' bytes are apart, and a wait
/// for the group is for both.
void DirectLoadBuilder::makeGuarded(OpBuilder &builder, const DirectCopy &copy,
                                    Value guard,
                                    function_ref<void(OpBuilder &)> make) {
  ++numDMAs;
  if (!guard)
    return make(builder);
  auto condition = scf::IfOp::create(builder, copy.store->getLoc(), guard,
                                     /*withElseRegion=*/bool(copy.zeroFill));
  OpBuilder then = condition.getThenBodyBuilder();
  make(then);
  if (!copy.zeroFill)
    return;
  OpBuilder otherwise = condition.getElseBodyBuilder();
  Value zeros = arith::ConstantOp::create(otherwise, copy.store->getLoc(),
                                          otherwise.getZeroAttr(copy.type));
  Operation *store = otherwise.clone(*copy.store);
  store->replaceUsesOfWith(copy.zeroFill.getResult(0), zeros);
}

void DirectLoadBuilder::form(const DirectCopy &copy) {
  Location loc = copy.store->getLoc();
  unsigned width = getWidth(copy);
  unsigned perCell = copy.laneBytes / width;
  OpBuilder builder(copy.store);
  auto hoist = [](scf::IfOp condition) {
    for (Operation &op : llvm::make_early_inc_range(
             condition.thenBlock()->without_terminator()))
      if (isPure(&op))
        op.moveBefore(condition);
  };
  if (copy.zeroFill)
    hoist(copy.zeroFill);
  scf::IfOp guard = getGuard(copy);
  if (perCell != 1 && guard) {
    hoist(guard);
    builder.setInsertionPoint(guard);
  }
  dead.push_back(copy.store);
  dead.push_back(copy.zeroFill ? copy.zeroFill.getOperation() : copy.load);
  if (hasLaneAddresses()) {
    Value condition = copy.zeroFill ? copy.zeroFill.getCondition() : Value();
    makeGuarded(builder, copy, condition, [&](OpBuilder &inner) {
      lds::AsyncLoadOp::create(inner, loc, copy.source, copy.sourceIndices,
                               copy.target, copy.targetIndices,
                               TypeAttr::get(copy.type));
    });
    return;
  }

  bool buffer = whyNoBuffer(copy).empty();
  Value target, offset;
  int64_t elements = width / copy.elementBytes;
  Type element = getElementTypeOrSelf(copy.type);
  Type type = elements == 1 ? element : VectorType::get(elements, element);
  for (unsigned part = 0; part < perCell; ++part) {
    std::optional<DMAAddress> address;
    // The parts of one cell are under the conditions of different threads.
    if (buffer && (perCell == 1 || (!guard && !copy.zeroFill))) {
      address = DMAAddress::get(copy, perCell, part, values);
      if (address && shareAddress(builder, copy, *address, type))
        continue;
    }
    if (!target) {
      target = getFlatTarget(builder, copy);
      offset = getWaveOffset(builder, copy);
    }
    LaneSource source = getSource(builder, copy, perCell, part);
    // LLVM 22 counts DMAs in the global form in lgkmcnt, which the hardware
    // doesn't, and then waits too little for LDS reads before them.
    if (buffer)
      readThroughBuffer(builder, copy, source);
    Value at = offset;
    if (part != 0)
      at = arith::AddIOp::create(
          builder, loc, at,
          index(builder, loc, part * values.getWaveSize() * elements));
    amdgpu::GatherToLDSOp dma;
    makeGuarded(builder, copy, source.guard, [&](OpBuilder &inner) {
      dma = amdgpu::GatherToLDSOp::create(inner, loc, source.memref,
                                          source.indices, target, at,
                                          TypeAttr::get(type));
    });
    if (address)
      lastDMAs[copy.target] =
          MadeDMA{builder.getBlock(),
                  copy.source,
                  copy.target,
                  copy.zeroFill ? copy.zeroFill.getCondition() : Value(),
                  std::move(*address),
                  dma};
  }
}

void DirectLoadBuilder::eraseCopies() {
  for (Operation *op : dead)
    op->erase();
}
