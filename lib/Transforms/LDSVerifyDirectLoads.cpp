//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/DirectCopy.h"
#include "lodestone/Analysis/Kernels.h"
#include "lodestone/Dialect/LDS/IR/LDSDialect.h"
#include "lodestone/Transforms/LDSTransforms.h"
#include "lodestone/Transforms/Passes.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Remarks.h"

namespace lodestone {
#define GEN_PASS_DEF_LDSVERIFYDIRECTLOADS
#include "lodestone/Transforms/Passes.h.inc"
} // namespace lodestone

using namespace mlir;
using namespace lodestone;

namespace {
struct LDSVerifyDirectLoads final
    : lodestone::impl::LDSVerifyDirectLoadsBase<LDSVerifyDirectLoads> {
  using Base::Base;

  void runOnOperation() override;

private:
  LogicalResult verify(FunctionOpInterface kernel);
};
} // namespace

namespace {
/// An LDS-DMA with one destination for the lanes of a wave.
struct WaveDMA {
  Operation *op;
  Value target;
  OperandRange indices;

  static std::optional<WaveDMA> match(Operation *op) {
    if (auto dma = dyn_cast<amdgpu::GatherToLDSOp>(op))
      return WaveDMA{op, dma.getDst(), dma.getDstIndices()};
    if (auto dma = dyn_cast<lds::WaveLoadOp>(op))
      return WaveDMA{op, dma.getTarget(), dma.getTargetIndices()};
    return std::nullopt;
  }
};
} // namespace

static void remarkUnproved(const WaveDMA &dma, const std::string &what) {
  remark::analysis(
      dma.op->getLoc(),
      remark::RemarkOpts::name("destination-not-proved")
          .category("lds-verify-direct-loads")
          .function(dma.op->getParentOfType<FunctionOpInterface>().getName()))
      << what + " isn't known to be the same in all lanes of a wave";
}

/// Reports `dma` if lanes of a wave give different destinations.
static LogicalResult verifyDestination(const WaveDMA &dma,
                                       ThreadValues &values) {
  if (!values.getUniformity().isUniform(dma.target))
    remarkUnproved(dma, "the destination");
  for (auto [i, value] : llvm::enumerate(dma.indices)) {
    const ThreadForm *form = values.evaluate(value);
    if (!form) {
      remarkUnproved(dma, "index " + std::to_string(i) + " of the destination");
      continue;
    }
    if (std::optional<LaneConflict> conflict =
            findLaneConflict(*form, values, /*bytesPerLane=*/0)) {
      InFlightDiagnostic diag = dma.op->emitOpError();
      diag << "has a destination that differs between the lanes of a wave, of "
              "which the hardware takes one: index "
           << i << " is ";
      if (form->isConstant())
        diag << conflict->first << " in lane 0 of wave " << conflict->wave
             << " and " << conflict->other << " in lane " << conflict->lane;
      else
        diag << "another one in lane " << conflict->lane << " than in lane 0 "
             << "of wave " << conflict->wave;
      return diag;
    }
  }
  return success();
}

LogicalResult LDSVerifyDirectLoads::verify(FunctionOpInterface kernel) {
  SmallVector<WaveDMA> dmas;
  kernel->walk([&](Operation *op) {
    if (std::optional<WaveDMA> dma = WaveDMA::match(op))
      dmas.push_back(*dma);
  });
  if (dmas.empty())
    return success();
  FailureOr<const ChipInfo *> chipInfo = resolveChip(kernel, chip, "gfx950");
  if (failed(chipInfo))
    return failure();
  std::optional<ThreadValues> values =
      ThreadValues::get(kernel, (*chipInfo)->waveSize);
  if (!values) {
    BlockUniformity uniformity(kernel);
    auto isUniform = [&](Value value) { return uniformity.isUniform(value); };
    for (const WaveDMA &dma : dmas)
      if (!isUniform(dma.target) || !llvm::all_of(dma.indices, isUniform))
        remarkUnproved(dma, "the kernel has no known_block_size, so that the "
                            "destination");
    return success();
  }
  for (const WaveDMA &dma : dmas)
    if (failed(verifyDestination(dma, *values)))
      return failure();
  return success();
}

void LDSVerifyDirectLoads::runOnOperation() {
  WalkResult walk = getOperation()->walk([&](FunctionOpInterface function) {
    if (isKernel(function) && !function.isExternal() &&
        failed(verify(function)))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    signalPassFailure();
  markAllAnalysesPreserved();
}
