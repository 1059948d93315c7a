//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/GroupContract.h"
#include "lodestone/Analysis/Kernels.h"
#include "lodestone/Dialect/LDS/IR/LDSLayout.h"
#include "lodestone/Transforms/LDSTransforms.h"
#include "lodestone/Transforms/Passes.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Remarks.h"

namespace lodestone {
#define GEN_PASS_DEF_LDSLOWERASYNCGROUPS
#include "lodestone/Transforms/Passes.h.inc"
} // namespace lodestone

using namespace mlir;
using namespace lodestone;

namespace {

constexpr StringLiteral kCategory = "lds-lower-async-groups";

// Classes of instructions in `llvm.amdgcn.sched.barrier`, of those that may
// pass it: all but accesses to vector memory (LLVM's AMDGPUUsage,
// "sched_barrier").
enum SchedMask : uint32_t {
  kALU = 0x1,
  kVALU = 0x2,
  kSALU = 0x4,
  kMFMA = 0x8,
  kDS = 0x80,
  kDSRead = 0x100,
  kDSWrite = 0x200,
  kTranscendental = 0x400,
};
constexpr uint32_t kAllButVectorMemory =
    kALU | kVALU | kSALU | kMFMA | kDS | kDSRead | kDSWrite | kTranscendental;

struct LDSLowerAsyncGroups final
    : lodestone::impl::LDSLowerAsyncGroupsBase<LDSLowerAsyncGroups> {
  using Base::Base;

  void runOnOperation() override;

private:
  LogicalResult checkContract(FunctionOpInterface kernel,
                              const AsyncGroups &groups);
  LogicalResult lower(FunctionOpInterface kernel);
  void lower(lds::WaitGroupOp wait, const GroupWait &needed, StringRef kernel);
};

} // namespace

/// Emits the instructions for `needed`; nothing for what is known to be done.
static void emitWait(OpBuilder &builder, Location loc,
                     const GroupWait &needed) {
  auto get = [&](DMACounter counter) {
    const auto *it = llvm::find(kCopyCounters, counter);
    return needed.outstanding[it - kCopyCounters.begin()];
  };
  std::optional<unsigned> load = get(DMACounter::vmcnt);
  if (load || needed.waitsForStores) {
    IntegerAttr none;
    amdgpu::MemoryCounterWaitOp::create(
        builder, loc, load ? builder.getI32IntegerAttr(*load) : none,
        /*store=*/none,
        needed.waitsForStores ? builder.getI32IntegerAttr(0) : none,
        /*exp=*/none, /*tensor=*/none);
  }
  std::optional<unsigned> async = get(DMACounter::asynccnt);
  std::optional<unsigned> tensor = get(DMACounter::tensorcnt);
  if (async)
    ROCDL::WaitAsynccntOp::create(builder, loc, *async);
  if (tensor)
    ROCDL::WaitTensorcntOp::create(builder, loc, *tensor);
  // LLVM inserts no waits for these counters of its own accord, and takes the
  // waits to touch no memory. The fence, which costs no instruction, keeps what
  // reads LDS behind them.
  if (async || tensor)
    LLVM::FenceOp::create(builder, loc, LLVM::AtomicOrdering::acquire,
                          "wavefront");
}

void LDSLowerAsyncGroups::lower(lds::WaitGroupOp wait, const GroupWait &needed,
                                StringRef kernel) {
  if (needed.isEmpty()) {
    ++numDropped;
    remark::passed(wait.getLoc(), remark::RemarkOpts::name("wait-not-needed")
                                      .category(kCategory)
                                      .function(kernel))
        << "no copy that it is for can be in flight";
    wait.erase();
    return;
  }
  ++numWaits;
  {
    auto remark =
        remark::passed(wait.getLoc(), remark::RemarkOpts::name("counted-wait")
                                          .category(kCategory)
                                          .function(kernel));
    remark << remark::metric("GroupsInFlight", wait.getInFlight());
    for (auto [counter, outstanding] :
         llvm::zip_equal(kCopyCounters, needed.outstanding))
      if (outstanding)
        remark << remark::metric(getCounterName(counter), *outstanding);
    if (needed.waitsForStores)
      remark << remark::metric("lgkmcnt", 0);
  }
  OpBuilder builder(wait);
  emitWait(builder, wait.getLoc(), needed);
  wait.erase();
}

LogicalResult LDSLowerAsyncGroups::checkContract(FunctionOpInterface kernel,
                                                 const AsyncGroups &groups) {
  if (groups.commitsOfCopies.empty())
    return success();
  auto name = [&](StringRef name) {
    return remark::RemarkOpts::name(name).category(kCategory).function(
        kernel.getName());
  };
  FailureOr<unsigned> waveSize = resolveWaveSize(kernel, chip);
  if (failed(waveSize))
    return failure();
  std::optional<ThreadValues> values;
  if (*waveSize)
    values = ThreadValues::get(kernel, *waveSize);
  if (!values) {
    remark::missed(kernel.getLoc(), name("group-contract-unchecked"))
        << remark::reason("the {0} isn't known, so that accesses can't be "
                          "compared with copies in flight",
                          *waveSize ? "size of blocks" : "chip");
    return success();
  }
  FailureOr<GroupContractCheck> check =
      checkGroupContract(kernel, groups, *values);
  if (failed(check))
    return failure();
  if (check->compared || check->unknown)
    remark::analysis(kernel.getLoc(), name("group-contract-checked"))
        << remark::metric("Compared", check->compared)
        << remark::metric("Unknown", check->unknown);
  return success();
}

LogicalResult LDSLowerAsyncGroups::lower(FunctionOpInterface kernel) {
  FailureOr<AsyncGroups> groups = analyzeAsyncGroups(kernel);
  if (failed(groups) || failed(checkContract(kernel, *groups)))
    return failure();
  kernel->walk([&](Operation *op) {
    if (auto wait = dyn_cast<lds::WaitGroupOp>(op)) {
      lower(wait, groups->waits.find(op)->second, kernel.getName());
    } else if (isa<lds::CommitGroupOp>(op)) {
      OpBuilder builder(op);
      if (groups->commitsOfCopies.contains(op))
        ROCDL::SchedBarrier::create(builder, op->getLoc(), kAllButVectorMemory);
      op->erase();
    }
  });
  return success();
}

void LDSLowerAsyncGroups::runOnOperation() {
  WalkResult walk = getOperation()->walk([&](Operation *op) {
    if (!isa<lds::CommitGroupOp, lds::WaitGroupOp>(op))
      return WalkResult::advance();
    Operation *function = lds::getKernel(op);
    if (function && isKernel(function))
      return WalkResult::advance();
    std::string where = "no function";
    if (auto symbol = dyn_cast_or_null<SymbolOpInterface>(function))
      where = "function '" + symbol.getName().str() + "'";
    else if (function)
      where = "a gpu.launch";
    op->emitOpError() << "is in " << where
                      << ", which is not a kernel, so that the groups before "
                         "it aren't known; inline or outline it first";
    return WalkResult::interrupt();
  });
  if (walk.wasInterrupted())
    return signalPassFailure();
  walk = getOperation()->walk([&](FunctionOpInterface function) {
    if (isKernel(function) && failed(lower(function)))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    signalPassFailure();
}
