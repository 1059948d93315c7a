//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

///
/// \file
/// Moves the swizzle of a tile's copy from the store to the load: each thread
/// does the work of the thread that stored where it now stores itself.
///
//===----------------------------------------------------------------------===//

#include "Relaner.h"
#include "lodestone/Dialect/LDS/IR/LDSDialect.h"
#include "lodestone/Transforms/LDSTransforms.h"
#include "lodestone/Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/FormatVariadic.h"

namespace lodestone {
#define GEN_PASS_DEF_LDSINVERSESWIZZLE
#include "lodestone/Transforms/Passes.h.inc"
} // namespace lodestone

using namespace mlir;
using namespace lodestone;

namespace {

constexpr StringLiteral kCategory = "lds-inverse-swizzle";

struct LDSInverseSwizzle final
    : lodestone::impl::LDSInverseSwizzleBase<LDSInverseSwizzle> {
  using Base::Base;
  void runOnOperation() override;

private:
  void rewrite(gpu::GPUFuncOp kernel, unsigned waveSize);
  void refuse(gpu::GPUFuncOp kernel, Operation *op, const Refusal &refusal);
};

} // namespace

void LDSInverseSwizzle::refuse(gpu::GPUFuncOp kernel, Operation *op,
                               const Refusal &refusal) {
  ++numRefused;
  if (strict) {
    op->emitError() << refusal.name << ": " << refusal.reason;
    signalPassFailure();
  }
  remark::missed(op->getLoc(), remark::RemarkOpts::name(refusal.name)
                                   .category(kCategory)
                                   .function(kernel.getName()))
      << remark::reason("{0}", refusal.reason);
}

void LDSInverseSwizzle::rewrite(gpu::GPUFuncOp kernel, unsigned waveSize) {
  std::optional<ThreadValues> values = ThreadValues::get(kernel, waveSize);
  if (!values) {
    WalkResult copies = kernel.walk([](Operation *op) {
      bool isOnlyUse;
      std::optional<LDSStore> store = LDSStore::match(op);
      return store && !findCopiedLoads(store->value, isOnlyUse).empty()
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (copies.wasInterrupted())
      refuse(kernel, kernel,
             {"unknown-block-size",
              "the kernel copies to LDS, but has no known_block_size"});
    return;
  }
  IterArgTwins twins;
  std::optional<Relaner> relaner;
  relaner.emplace(kernel, *values, twins).check();
  // Of loops that get twins or conditions, nothing is known afterwards.
  while (twins.add(relaner->getWantedTwins()) || relaner->sinkGuards()) {
    values = ThreadValues::get(kernel, waveSize);
    relaner.emplace(kernel, *values, twins).check();
  }
  for (const auto &[op, refusal] : relaner->getUnplanned())
    refuse(kernel, op, refusal);
  for (auto &candidate : relaner->getCandidates()) {
    Operation *op = candidate->plan.copy.store.op;
    if (candidate->refusal) {
      if (!candidate->isFill)
        refuse(kernel, op, *candidate->refusal);
      continue;
    }
    const RelanePlan &plan = candidate->plan;
    int64_t cellBytes = plan.copy.store.cellBytes;
    int64_t numSteps = plan.copy.getNumSteps();
    std::string thread = plan.getFormula(), step;
    int64_t windowBytes = cellBytes * values->getNumThreads();
    if (plan.movesSteps()) {
      step = llvm::formatv("({0}) % {1}", thread, numSteps);
      thread = llvm::formatv("({0}) / {1}", thread, numSteps);
      windowBytes *= numSteps;
    }
    auto remark = remark::passed(
        op->getLoc(), remark::RemarkOpts::name("inverse-swizzle-applied")
                          .category(kCategory)
                          .function(kernel.getName()));
    remark << remark::metric("Threads", values->getNumThreads())
           << remark::metric("CellBytes", cellBytes)
           << remark::metric("WindowBytes", windowBytes)
           << remark::metric("Steps", numSteps)
           << remark::metric("Thread", thread);
    if (plan.movesSteps())
      remark << remark::metric("Step", step);
    ++numRewritten;
    relaner->rewrite(*candidate);
  }
  relaner->eraseDead();
}

void LDSInverseSwizzle::runOnOperation() {
  // What an attribute says about an allocation becomes arithmetic first.
  ApplySwizzlesOptions options;
  options.category = kCategory;
  options.strict = strict;
  if (failed(applySwizzles(getOperation(), options)))
    return signalPassFailure();
  SmallVector<gpu::GPUFuncOp> kernels;
  getOperation()->walk([&](gpu::GPUFuncOp kernel) {
    if (!kernel.isExternal() && kernel.isKernel())
      kernels.push_back(kernel);
  });
  for (gpu::GPUFuncOp kernel : kernels) {
    FailureOr<unsigned> waveSize = resolveWaveSize(kernel, chip);
    if (failed(waveSize))
      return signalPassFailure();
    rewrite(kernel, *waveSize);
  }
}
