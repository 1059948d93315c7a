//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The pass that lowers the `tdm` dialect.
///
//===----------------------------------------------------------------------===//

#include "TensorInstruction.h"

#include "lodestone/Analysis/TDMInFlight.h"
#include "lodestone/Support/Chip.h"
#include "lodestone/Transforms/LDSTransforms.h"
#include "lodestone/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace lodestone {
#define GEN_PASS_DEF_CONVERTTDMTOROCDL
#include "lodestone/Transforms/Passes.h.inc"
} // namespace lodestone

using namespace mlir;
using namespace lodestone;
using namespace lodestone::tdm;

namespace {

/// The TDM operations of one function.
class FunctionLowering {
public:
  FunctionLowering(Operation *function, const ChipInfo &chip)
      : function(function), chip(chip), builder(function->getContext()) {}

  LogicalResult run();

private:
  LogicalResult plan(CopyOpInterface op);
  unsigned countInstructions(Operation *copy);
  LogicalResult lower(Operation *copy);
  void lower(WaitOp wait, unsigned tensorcnt);
  FailureOr<SmallVector<TensorInstruction>> build(CopyOpInterface op) {
    return buildInstructions(op, *plans.at(op), getWarp(), builder);
  }
  Value getWarp();

  Operation *function;
  const ChipInfo &chip;
  OpBuilder builder;
  llvm::MapVector<Operation *, std::optional<Distribution>> plans;
  Value warp;
};

class ConvertTDMToROCDL final
    : public lodestone::impl::ConvertTDMToROCDLBase<ConvertTDMToROCDL> {
public:
  using ConvertTDMToROCDLBase::ConvertTDMToROCDLBase;
  void runOnOperation() override;

private:
  FailureOr<const ChipInfo *> getChip(Operation *function);
};

} // namespace

/// Keeps the accesses on one side of a copy or wait there. The intrinsics touch
/// no memory that LLVM's alias analysis knows of; this scope is that of a wave,
/// which costs no instruction.
static void fence(LLVM::AtomicOrdering ordering, Location loc,
                  OpBuilder &builder) {
  LLVM::FenceOp::create(builder, loc, ordering, "wavefront");
}

/// The id of the wave in its workgroup, which the hardware keeps in a scalar
/// register; one operation for the whole function.
Value FunctionLowering::getWarp() {
  if (!warp) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&function->getRegion(0).front());
    warp = LLVM::CallIntrinsicOp::create(
               builder, function->getLoc(), builder.getI32Type(),
               builder.getStringAttr("llvm.amdgcn.wave.id"), ValueRange())
               .getResult(0);
  }
  return warp;
}

LogicalResult FunctionLowering::plan(CopyOpInterface op) {
  FailureOr<std::optional<uint64_t>> numWarps = getNumWarps(op);
  if (failed(numWarps))
    return failure();
  if (!*numWarps)
    return op->emitOpError(
        "needs the size of the workgroup to divide the block "
        "among its warps, but it is unknown; give the kernel "
        "a known_block_size");
  FailureOr<Distribution> distribution = distribute(op, **numWarps);
  if (failed(distribution))
    return failure();
  plans[op] = *distribution;
  return success();
}

unsigned FunctionLowering::countInstructions(Operation *copy) {
  return isa<FusedLoadOp>(copy) ? 1 : plans.find(copy)->second->instructions;
}

LogicalResult FunctionLowering::lower(Operation *copy) {
  builder.setInsertionPoint(copy);
  Location loc = copy->getLoc();
  SmallVector<TensorInstruction> instructions;
  if (auto fused = dyn_cast<FusedLoadOp>(copy)) {
    SmallVector<TensorInstruction> members;
    SmallVector<WarpSet> warps;
    for (LoadOp load : fused.getLoads()) {
      FailureOr<SmallVector<TensorInstruction>> member = build(load);
      if (failed(member))
        return failure();
      // A copy with a hint takes one instruction.
      members.push_back(member->front());
      warps.push_back(plans.find(load)->second->warps);
    }
    instructions.push_back(fuse(members, warps, getWarp(), loc, builder));
  } else {
    FailureOr<SmallVector<TensorInstruction>> built =
        build(cast<CopyOpInterface>(copy));
    if (failed(built))
      return failure();
    instructions = std::move(*built);
  }
  fence(LLVM::AtomicOrdering::release, loc, builder);
  for (const TensorInstruction &instruction : instructions)
    create(instruction, loc, builder);
  copy->erase();
  return success();
}

void FunctionLowering::lower(WaitOp wait, unsigned tensorcnt) {
  builder.setInsertionPoint(wait);
  ROCDL::WaitTensorcntOp::create(builder, wait.getLoc(), tensorcnt);
  fence(LLVM::AtomicOrdering::acquire, wait.getLoc(), builder);
  wait.erase();
}

LogicalResult FunctionLowering::run() {
  SmallVector<Operation *> copies;
  SmallVector<WaitOp> waits;
  WalkResult planned = function->walk([&](Operation *op) {
    if (auto wait = dyn_cast<WaitOp>(op))
      waits.push_back(wait);
    if (auto copy = dyn_cast<CopyOpInterface>(op))
      if (failed(plan(copy)))
        return WalkResult::interrupt();
    if (isa<FusedLoadOp>(op) ||
        (isa<CopyOpInterface>(op) && !isa<FusedLoadOp>(op->getParentOp())))
      copies.push_back(op);
    return WalkResult::advance();
  });
  if (planned.wasInterrupted())
    return failure();

  FailureOr<FlowResult> flow =
      followCopies(function, chip.maxTensorcnt,
                   [&](Operation *copy) { return countInstructions(copy); });
  if (failed(flow))
    return failure();
  for (WaitOp wait : waits)
    lower(wait, flow->tensorcnt.lookup(wait));
  for (Operation *copy : copies)
    if (failed(lower(copy)))
      return failure();
  return success();
}

FailureOr<const ChipInfo *> ConvertTDMToROCDL::getChip(Operation *function) {
  // The one chip that has the TDM, if nothing says another.
  return resolveChip(function, chip, "gfx1250");
}

void ConvertTDMToROCDL::runOnOperation() {
  // One function at a time, and each gpu.launch of the others.
  llvm::SetVector<Operation *> functions;
  Operation *first = nullptr;
  getOperation()->walk([&](Operation *op) {
    if (!isa_and_nonnull<TDMDialect>(op->getDialect()))
      return;
    Operation *function = op->getParentOp();
    while (function && !isa<FunctionOpInterface, gpu::LaunchOp>(function))
      function = function->getParentOp();
    if (function)
      functions.insert(function);
    else if (!first)
      first = op;
  });
  if (first) {
    first->emitOpError("must be in a function");
    return signalPassFailure();
  }
  for (Operation *function : functions) {
    FailureOr<const ChipInfo *> info = getChip(function);
    if (failed(info))
      return signalPassFailure();
    if (!(*info)->maxTensorcnt) {
      function->emitError() << "has copies of the tensor data mover, which "
                            << (*info)->name << " doesn't have";
      return signalPassFailure();
    }
    unsigned indexBits = indexBitwidth
                             ? indexBitwidth
                             : DataLayout::closest(function).getTypeSizeInBits(
                                   IndexType::get(&getContext()));
    if (indexBits != 64) {
      function->emitError() << "has copies of the tensor data mover, whose "
                               "addresses need an index of 64 bits, but it has "
                            << indexBits;
      return signalPassFailure();
    }
    if (failed(FunctionLowering(function, **info).run()))
      return signalPassFailure();
  }
  if (functions.empty())
    markAllAnalysesPreserved();
}
