//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Gives memref.alloc and memref.alloca of LDS their bytes: workgroup
/// attributions of the kernel.
///
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/Kernels.h"
#include "lodestone/Analysis/MemoryAccess.h"
#include "lodestone/Dialect/LDS/IR/LDSDialect.h"
#include "lodestone/Transforms/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

namespace lodestone {
#define GEN_PASS_DEF_LDSHOISTALLOCATIONS
#include "lodestone/Transforms/Passes.h.inc"
} // namespace lodestone

using namespace mlir;
using namespace lodestone;

/// The op around `op`, or its function, because of which `op` may run more than
/// once in a run of the function; null if it can't.
static Operation *findRepetition(Operation *op) {
  for (;; op = op->getParentOp()) {
    Operation *parent = op->getParentOp();
    // Nothing branches to an entry block.
    if (!op->getBlock()->isEntryBlock())
      return parent;
    if (isa<FunctionOpInterface>(parent))
      return nullptr;
    auto branch = dyn_cast<RegionBranchOpInterface>(parent);
    if (!branch ||
        branch.isRepetitiveRegion(op->getParentRegion()->getRegionNumber()))
      return parent;
  }
}

/// Checks that `allocation` is the same as LDS that the kernel has from its
/// start.
static LogicalResult check(Operation *allocation) {
  auto type = cast<MemRefType>(allocation->getResult(0).getType());
  auto kernel = allocation->getParentOfType<gpu::GPUFuncOp>();
  if (!kernel || !isKernel(kernel))
    return allocation->emitOpError("of LDS is in no gpu.func that is a kernel; "
                                   "inline the function around it first");
  if (allocation->hasAttr(lds::LDSDialect::SwizzleAttrHelper::getNameStr()))
    return allocation->emitOpError("still has its 'lds.swizzle'; run "
                                   "lds-apply-swizzles first");
  if (std::optional<uint64_t> bytes = lds::getMemRefBytes(type);
      !bytes || *bytes == 0)
    return allocation->emitOpError()
           << "of LDS must have a static shape, an identity layout and a size, "
              "but is of "
           << type;
  Operation *repetition = findRepetition(allocation);
  if (!repetition)
    return success();
  InFlightDiagnostic diag =
      allocation->emitOpError("of LDS may run more than once, each time for "
                              "other bytes; move it to the kernel's start");
  diag.attachNote(repetition->getLoc())
      << "repeated by '" << repetition->getName() << "' here";
  return diag;
}

/// Checks that what `op` gives back is allocated, by whichever op.
static LogicalResult checkFreed(memref::DeallocOp op) {
  auto isAllocated = [](Value root) {
    return isa_and_nonnull<memref::AllocOp, memref::AllocaOp>(
        root.getDefiningOp());
  };
  std::optional<SmallVector<Value>> roots = getLDSRoots(op.getMemref());
  if (roots && llvm::all_of(*roots, isAllocated))
    return success();
  return op.emitOpError("of LDS may be of what no memref.alloc made");
}

namespace {
struct LDSHoistAllocations final
    : lodestone::impl::LDSHoistAllocationsBase<LDSHoistAllocations> {
  void runOnOperation() override {
    SmallVector<Operation *> allocations;
    SmallVector<memref::DeallocOp> freed;
    getOperation()->walk([&](Operation *op) {
      if (auto dealloc = dyn_cast<memref::DeallocOp>(op);
          dealloc && isLDS(dealloc.getMemref()))
        freed.push_back(dealloc);
      if (isa<memref::AllocOp, memref::AllocaOp>(op) && isLDS(op->getResult(0)))
        allocations.push_back(op);
    });
    // All messages, then nothing is changed.
    bool valid = true;
    for (Operation *allocation : allocations)
      valid &= succeeded(check(allocation));
    for (memref::DeallocOp dealloc : freed)
      valid &= succeeded(checkFreed(dealloc));
    if (!valid)
      return signalPassFailure();
    for (memref::DeallocOp dealloc : freed)
      dealloc.erase();
    llvm::for_each(allocations, [&](Operation *op) { hoist(op); });
  }

private:
  void hoist(Operation *allocation);
};
} // namespace

void LDSHoistAllocations::hoist(Operation *allocation) {
  auto kernel = allocation->getParentOfType<gpu::GPUFuncOp>();
  Value old = allocation->getResult(0);
  BlockArgument attribution =
      kernel.addWorkgroupAttribution(old.getType(), allocation->getLoc());
  if (auto alignment = allocation->getAttrOfType<IntegerAttr>("alignment"))
    kernel.setWorkgroupAttributionAttr(kernel.getNumWorkgroupAttributions() - 1,
                                       LLVM::LLVMDialect::getAlignAttrName(),
                                       alignment);
  old.replaceAllUsesWith(attribution);
  allocation->erase();
  ++numHoisted;
}
