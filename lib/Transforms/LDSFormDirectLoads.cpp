//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DirectLoadBuilder.h"

#include "lodestone/Analysis/Kernels.h"
#include "lodestone/Dialect/LDS/IR/LDSDialect.h"
#include "lodestone/Transforms/LDSTransforms.h"
#include "lodestone/Transforms/Passes.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Remarks.h"

namespace lodestone {
#define GEN_PASS_DEF_LDSFORMDIRECTLOADS
#include "lodestone/Transforms/Passes.h.inc"
} // namespace lodestone

using namespace mlir;
using namespace lodestone;

namespace {

constexpr StringLiteral kCategory = "lds-form-direct-loads";

struct LDSFormDirectLoads final
    : lodestone::impl::LDSFormDirectLoadsBase<LDSFormDirectLoads> {
  using Base::Base;

  void runOnOperation() override;

private:
  LogicalResult run(FunctionOpInterface kernel);
  void report(FunctionOpInterface kernel, const DirectCopy &copy,
              unsigned width);
  LogicalResult refuse(FunctionOpInterface kernel, const DirectCopy &copy);
};

} // namespace

void LDSFormDirectLoads::report(FunctionOpInterface kernel,
                                const DirectCopy &copy, unsigned width) {
  remark::passed(copy.store->getLoc(),
                 remark::RemarkOpts::name("direct-load-formed")
                     .category(kCategory)
                     .function(kernel.getName()))
      << remark::metric("DMAs", copy.laneBytes / width)
      << remark::metric("BytesPerLane", width);
}

LogicalResult LDSFormDirectLoads::refuse(FunctionOpInterface kernel,
                                         const DirectCopy &copy) {
  ++numRefused;
  const Refusal &refusal = *copy.refusal;
  if (strict) {
    InFlightDiagnostic diag = copy.store->emitError()
                              << "the copy can't become an LDS-DMA: "
                              << refusal.reason;
    if (refusal.culprit)
      diag.attachNote(refusal.culprit->getLoc()) << "this is in the way";
    return diag;
  }
  auto remark = remark::missed(copy.store->getLoc(),
                               remark::RemarkOpts::name(refusal.name)
                                   .category(kCategory)
                                   .function(kernel.getName()));
  remark << remark::reason("{0}", refusal.reason);
  if (refusal.culprit) {
    std::string place;
    llvm::raw_string_ostream(place) << refusal.culprit->getLoc();
    remark << remark::metric("At", place);
  }
  return success();
}

/// Closes a group in front of `barrier` and waits for it, as no group of the
/// kernel's own does.
static void insertWait(Operation *barrier) {
  OpBuilder builder(barrier);
  lds::CommitGroupOp::create(builder, barrier->getLoc());
  lds::WaitGroupOp::create(builder, barrier->getLoc(),
                           builder.getI64IntegerAttr(0));
}

LogicalResult LDSFormDirectLoads::run(FunctionOpInterface kernel) {
  std::vector<DirectCopy> copies = findDirectCopies(kernel);
  if (copies.empty())
    return success();
  FailureOr<const ChipInfo *> chipInfo = resolveChip(kernel, chip, "gfx950");
  if (failed(chipInfo))
    return failure();

  std::optional<ThreadValues> values =
      ThreadValues::get(kernel, (*chipInfo)->waveSize);
  std::optional<DirectLoadBuilder> dmas;
  if (values)
    dmas.emplace(kernel, *values, **chipInfo,
                 DirectLoadOptions{narrow, assumeSmallBuffers});
  for (DirectCopy &copy : copies) {
    if (dmas)
      dmas->check(copy);
    else if (!copy.refusal)
      copy.refusal = Refusal{
          "block-size-unknown",
          "the kernel has no known_block_size or rocdl.reqd_work_group_size"};
  }
  checkSynchronization(copies, kernel);

  llvm::SetVector<Operation *> barriers;
  unsigned formed = 0, bytes = 0;
  for (const DirectCopy &copy : copies) {
    if (copy.refusal) {
      if (failed(refuse(kernel, copy)))
        return failure();
      continue;
    }
    report(kernel, copy, dmas->getWidth(copy));
    dmas->form(copy);
    barriers.insert_range(copy.barriers);
    ++formed;
    bytes += copy.laneBytes;
  }
  if (!formed)
    return success();
  dmas->eraseCopies();
  for (Operation *barrier : barriers)
    insertWait(barrier);
  numFormed += formed;
  remark::analysis(kernel->getLoc(),
                   remark::RemarkOpts::name("direct-load-profit")
                       .category(kCategory)
                       .function(kernel.getName()))
      << remark::metric("StoresRemoved", formed)
      << remark::metric("VGPRsFreed", llvm::divideCeil(bytes, 4))
      << remark::metric("DMAs", dmas->getNumDMAs())
      << remark::metric("WaitsAdded", barriers.size())
      << remark::metric("CopiesLeft", copies.size() - formed);
  return success();
}

void LDSFormDirectLoads::runOnOperation() {
  WalkResult walk = getOperation()->walk([&](FunctionOpInterface function) {
    if (isKernel(function) && !function.isExternal() && failed(run(function)))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    signalPassFailure();
}
