//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DirectLoadBuilder.h"

#include "lodestone/Analysis/MemoryAccess.h"
#include "lodestone/Analysis/TileCopies.h"
#include "lodestone/Analysis/TrailingZeros.h"
#include "lodestone/Dialect/LDS/IR/LDSDialect.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace lodestone;

DirectLoadBuilder::DirectLoadBuilder(FunctionOpInterface kernel,
                                     ThreadValues &values, const ChipInfo &chip,
                                     DirectLoadOptions options)
    : kernel(kernel), values(values), chip(chip), options(options),
      anchor(&kernel.getFunctionBody().front().front()) {}

unsigned DirectLoadBuilder::getWidth(const DirectCopy &copy) const {
  unsigned best = 0;
  for (unsigned width : chip.dmaLaneBytes)
    if ((hasLaneAddresses() || isHoleFreeDMA(width)) &&
        copy.laneBytes % width == 0 && width % copy.elementBytes == 0)
      best = std::max(best, width);
  return best;
}

//===----------------------------------------------------------------------===//
// Legality
//===----------------------------------------------------------------------===//

static bool refuse(DirectCopy &copy, StringRef name, std::string reason,
                   Operation *culprit = nullptr) {
  copy.refusal = Refusal{name, std::move(reason), culprit};
  return false;
}

/// Checks that the lanes' bytes lie side by side, in the order of the lanes.
bool DirectLoadBuilder::checkWindow(DirectCopy &copy, unsigned width) {
  if (!values.getUniformity().isUniform(copy.target))
    return refuse(copy, "offset-unknown",
                  "lanes may store to different memrefs",
                  copy.target.getDefiningOp());
  Value unknown;
  std::optional<ThreadForm> offset =
      evaluateOffset(values, copy.target, copy.targetIndices, unknown);
  if (!offset)
    return refuse(copy, "offset-unknown",
                  "the place in LDS isn't known for each thread",
                  unknown.getDefiningOp());
  if (std::optional<LaneConflict> conflict =
          findLaneConflict(*offset, values, copy.laneBytes))
    return refuse(
        copy, "not-lane-linear",
        llvm::formatv("lane {0} of wave {1} stores to byte {2} and lane 0 to "
                      "byte {3}, but an LDS-DMA writes lane {0} {4} bytes "
                      "behind lane 0",
                      conflict->lane, conflict->wave, conflict->other,
                      conflict->first, conflict->lane * copy.laneBytes));
  uint64_t alignment = getFormAlignment(*offset);
  SmallVector<Operation *> views;
  if (!getLDSRoots(copy.target, &views))
    alignment = std::min<uint64_t>(alignment, copy.elementBytes);
  TrailingZeros zeros;
  for (Operation *view : views)
    if (auto shifted = dyn_cast<memref::ViewOp>(view))
      alignment = std::min(
          alignment, uint64_t(1)
                         << std::min(zeros.of(shifted.getByteShift()), 4u));
  for (Value root : copy.allocations)
    if (auto region = root.getDefiningOp<lds::RegionOp>())
      alignment = std::min<uint64_t>(alignment, region.getAlign());
  if (alignment % width != 0)
    return refuse(copy, "misaligned",
                  llvm::formatv("offsets in LDS are multiples of {0} only, but "
                                "the DMA moves {1} bytes a lane",
                                alignment, width));
  return true;
}

scf::IfOp DirectLoadBuilder::getGuard(const DirectCopy &copy) const {
  auto condition = dyn_cast<scf::IfOp>(copy.store->getParentOp());
  if (condition &&
      !values.getUniformity().entersUniformly(*copy.store->getParentRegion()))
    return condition;
  return {};
}

/// Checks that `condition` does nothing but what may be done without it, and
/// copies. Else `culprit`.
static bool isPlainGuard(scf::IfOp condition, Operation *&culprit) {
  for (Region *region : condition.getRegions())
    for (Operation &op : region->getOps())
      if (!isPure(&op) && !isGlobalLoad(&op) &&
          !LDSStore::match(&op) && !isa<scf::YieldOp>(op)) {
        culprit = &op;
        return false;
      }
  return condition.getElseRegion().empty() ||
         condition.elseBlock()->without_terminator().empty();
}

/// Checks what a copy must fulfil to be made of several DMAs, in which a lane
/// moves other lanes' bytes.
bool DirectLoadBuilder::checkNarrowing(DirectCopy &copy) {
  if (values.getNumThreads() % values.getWaveSize() != 0)
    return refuse(copy, "partial-wave",
                  llvm::formatv("the last wave has {0} of {1} lanes, and no "
                                "lane for the others' bytes",
                                values.getNumThreads() % values.getWaveSize(),
                                values.getWaveSize()));
  SmallVector<Value> cloned(copy.sourceIndices);
  cloned.push_back(copy.source);
  auto divergent = [&](Operation *culprit) {
    return refuse(copy, "divergent-copy",
                  "lanes would copy for others, which may not get there",
                  culprit);
  };
  Region *region = copy.store->getParentRegion();
  if (scf::IfOp guard = getGuard(copy)) {
    Operation *culprit = guard;
    if (guard.getNumResults() != 0 || region != &guard.getThenRegion() ||
        !isPlainGuard(guard, culprit))
      return divergent(culprit);
    cloned.push_back(guard.getCondition());
    region = guard->getParentRegion();
  }
  for (;; region = region->getParentRegion()) {
    if (!region->hasOneBlock())
      return divergent(region->getParentOp());
    if (region->getParentOp() == kernel)
      break;
    if (!values.getUniformity().entersUniformly(*region))
      return divergent(region->getParentOp());
  }
  if (copy.zeroFill)
    cloned.push_back(copy.zeroFill.getCondition());
  CloneForThread cloner(values, anchor);
  for (Value value : cloned) {
    SmallVector<Operation *> loads;
    if (Value obstacle = cloner.findObstacle(value, loads))
      return refuse(copy, "not-relaned",
                    "another lane can't compute where this one reads",
                    obstacle.getDefiningOp());
    if (loads.empty())
      continue;
    // What is under the guard stays there, and nothing may change what is
    // loaded.
    if (scf::IfOp guard = getGuard(copy);
        guard && llvm::any_of(loads, [&](Operation *op) {
          return guard->isAncestor(op);
        }))
      return refuse(copy, "not-relaned",
                    "the address is loaded under the condition", loads[0]);
    WalkResult walk = kernel.getFunctionBody().walk([&](Operation *op) {
      bool mayWrite = MemoryAccess::of(op).writesGlobal &&
                      !llvm::all_of(loads, [&](Operation *load) {
                        return isKnownDistinct(load, op);
                      });
      return mayWrite ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return refuse(copy, "not-relaned",
                    "the address is loaded from global memory, which the "
                    "kernel may write",
                    loads.front());
  }
  return true;
}

/// Why the source of `copy` can't be read through a buffer of exactly its
/// bytes; empty if it can.
std::string DirectLoadBuilder::whyNoBuffer(const DirectCopy &copy) const {
  if (hasLaneAddresses())
    return llvm::formatv("{0} has no LDS-DMA through buffers", chip.name);
  auto type = cast<MemRefType>(copy.source.getType());
  if (isa_and_nonnull<amdgpu::AddressSpaceAttr>(type.getMemorySpace()))
    return "the bytes of a buffer made elsewhere aren't known";
  if (!type.getLayout().isIdentity() ||
      llvm::any_of(type.getShape().drop_front(), ShapedType::isDynamic))
    return llvm::formatv("the bytes of {0} aren't known from its sizes", type);
  // An offset behind the last byte must be one that 32 bits can express.
  std::optional<uint64_t> bytes = lds::getMemRefBytes(type);
  if (type.hasStaticShape() ? !bytes || *bytes + 16 > UINT32_MAX
                            : !options.assumeSmallBuffers)
    return llvm::formatv(
        "{0} may have 2^32 bytes or more, which an offset into "
        "a buffer can't express",
        type);
  if (!values.getUniformity().isUniform(copy.source))
    return "the memref isn't the same for all lanes";
  return "";
}

/// Checks that a guard can be folded into an offset that is out of a buffer's
/// range.
bool DirectLoadBuilder::checkZeroFill(DirectCopy &copy) {
  auto no = [&](std::string reason, Operation *culprit = nullptr) {
    return refuse(copy, "zero-fill-needs-buffer", std::move(reason), culprit);
  };
  if (std::string reason = whyNoBuffer(copy); !reason.empty())
    return no(reason);
  for (Operation &op : copy.zeroFill.thenBlock()->without_terminator())
    if (&op != copy.load && !isPure(&op))
      return no("the address is computed under the condition", &op);
  return true;
}

void DirectLoadBuilder::check(DirectCopy &copy) {
  if (copy.refusal)
    return;
  unsigned width = getWidth(copy);
  if (chip.dmaCounter == DMACounter::none || width == 0) {
    refuse(
        copy, "width-not-supported",
        llvm::formatv("{0} has no LDS-DMA that {1} bytes a lane, in elements "
                      "of {2}, can be made of",
                      chip.name, copy.laneBytes, copy.elementBytes));
    return;
  }
  bool narrower = width != copy.laneBytes;
  if (narrower && (!options.narrow || hasLaneAddresses())) {
    refuse(copy, "only-narrower-copies",
           llvm::formatv("{0} has no LDS-DMA of {1} bytes a lane", chip.name,
                         copy.laneBytes));
    return;
  }
  (void)((hasLaneAddresses() || checkWindow(copy, width)) &&
         (!copy.zeroFill || checkZeroFill(copy)) &&
         (!narrower || checkNarrowing(copy)));
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

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

/// `memref`, which is the same for all lanes, as a buffer of exactly its bytes.
Value DirectLoadBuilder::getBuffer(Location loc, Value memref) {
  Value &buffer = buffers[memref];
  if (!buffer) {
    OpBuilder builder(memref.getContext());
    if (memref.getDefiningOp())
      builder.setInsertionPointAfterValue(memref);
    else
      builder.setInsertionPoint(anchor);
    buffer = amdgpu::FatRawBufferCastOp::create(
        builder, loc, memref, /*validBytes=*/Value(),
        /*cacheSwizzleStride=*/Value(), /*boundsCheck=*/true,
        /*resetOffset=*/false);
  }
  return buffer;
}

/// Makes lanes whose guard isn't set read behind the last byte, which brings
/// zeros: the guard may be about a column, where the next byte in memory
/// is another row's.
void DirectLoadBuilder::zeroFill(OpBuilder &builder, Location loc,
                                 LaneSource &source) {
  Value zero = index(builder, loc, 0);
  for (auto [i, value] : llvm::enumerate(source.indices)) {
    Value outside =
        i == 0 ? Value(memref::DimOp::create(builder, loc, source.memref, zero))
               : zero;
    value = arith::SelectOp::create(builder, loc, source.guard, value, outside);
  }
  source.guard = Value();
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
  if (hasLaneAddresses()) {
    lds::AsyncLoadOp::create(builder, loc, copy.source, copy.sourceIndices,
                             copy.target, copy.targetIndices,
                             TypeAttr::get(copy.type));
    ++numDMAs;
    dead.push_back(copy.store);
    dead.push_back(copy.load);
    return;
  }

  bool buffer = whyNoBuffer(copy).empty();
  Value target = getFlatTarget(builder, copy);
  Value offset = getWaveOffset(builder, copy);
  int64_t elements = width / copy.elementBytes;
  Type element = getElementTypeOrSelf(copy.type);
  Type type = elements == 1 ? element : VectorType::get(elements, element);
  for (unsigned part = 0; part < perCell; ++part) {
    LaneSource source = getSource(builder, copy, perCell, part);
    if (copy.zeroFill)
      zeroFill(builder, loc, source);
    // LLVM 22 counts DMAs in the global form in lgkmcnt, which the hardware
    // doesn't, and then waits too little for LDS reads before them.
    if (buffer)
      source.memref = getBuffer(loc, source.memref);
    Value at = offset;
    if (part != 0)
      at = arith::AddIOp::create(
          builder, loc, at,
          index(builder, loc, part * values.getWaveSize() * elements));
    auto make = [&](OpBuilder &inner) {
      amdgpu::GatherToLDSOp::create(inner, loc, source.memref, source.indices,
                                    target, at, TypeAttr::get(type));
      ++numDMAs;
    };
    if (!source.guard) {
      make(builder);
      continue;
    }
    auto condition = scf::IfOp::create(builder, loc, source.guard);
    OpBuilder inner = condition.getThenBodyBuilder();
    make(inner);
  }
  dead.push_back(copy.store);
  if (copy.zeroFill)
    dead.push_back(copy.zeroFill);
  else
    dead.push_back(copy.load);
}

void DirectLoadBuilder::eraseCopies() {
  for (Operation *op : dead)
    op->erase();
}
