//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/Barriers.h"
#include "lodestone/Dialect/LDS/IR/LDSDialect.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace lodestone;

/// The id of the workgroup's barrier; others are named barriers, of some warps,
/// and those of a cluster. Source: AMD "CDNA5 ISA", S_BARRIER_SIGNAL.
static constexpr int32_t kWorkgroupBarrier = -1;

/// True if nothing but waits, one of them for the wave's LDS accesses, is right
/// before `op`.
static bool followsLDSWait(Operation *op) {
  for (Operation *wait = op->getPrevNode();
       isa_and_nonnull<amdgpu::MemoryCounterWaitOp, lds::WaitGroupOp>(wait);
       wait = wait->getPrevNode())
    if (auto counters = dyn_cast<amdgpu::MemoryCounterWaitOp>(wait);
        counters && counters.getDs() == 0)
      return true;
  return false;
}

bool lodestone::isBarrier(Operation *op, BarrierScope scope) {
  if (isa<gpu::BarrierOp, ROCDL::BarrierOp>(op))
    return true;
  if (isa<amdgpu::LDSBarrierOp>(op))
    return scope != BarrierScope::global;
  // s_barrier itself orders no memory.
  return isa<ROCDL::SBarrierOp>(op) &&
         (scope == BarrierScope::execution ||
          (scope == BarrierScope::lds && followsLDSWait(op)));
}

bool lodestone::containsBarrier(Operation *op, BarrierScope scope) {
  return op
      ->walk([&](Operation *nested) {
        return isBarrier(nested, scope) ? WalkResult::interrupt()
                                        : WalkResult::advance();
      })
      .wasInterrupted();
}

bool lodestone::isInOnePhase(Operation *first, Operation *last) {
  for (Operation *op = first; op; op = op->getNextNode()) {
    if (containsBarrier(op, BarrierScope::lds))
      return false;
    if (op == last)
      return true;
  }
  return false;
}

bool lodestone::arrivesAtBarrier(Operation *op) {
  auto half = dyn_cast<ROCDL::BarrierSignalOp>(op);
  return isBarrier(op, BarrierScope::execution) ||
         (half && static_cast<int32_t>(half.getId()) == kWorkgroupBarrier);
}

bool lodestone::waitsAtBarrier(Operation *op) {
  auto half = dyn_cast<ROCDL::BarrierWaitOp>(op);
  return isBarrier(op, BarrierScope::execution) ||
         (half && static_cast<int16_t>(half.getId()) == kWorkgroupBarrier);
}

bool lodestone::isOpaque(Operation *op) {
  return isa<CallOpInterface, LLVM::InlineAsmOp>(op) ||
         (op->getNumRegions() != 0 && !isa<RegionBranchOpInterface>(op));
}

bool lodestone::maySynchronizeOtherwise(Operation *op) {
  // The workgroup's barrier is followed; a named one isn't.
  if (isa<ROCDL::BarrierWaitOp>(op))
    return !waitsAtBarrier(op);
  return isOpaque(op) ||
         isa<memref::AtomicRMWOp, LLVM::AtomicRMWOp, LLVM::AtomicCmpXchgOp>(op);
}
