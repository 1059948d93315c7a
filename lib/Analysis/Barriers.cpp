//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/Barriers.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;
using namespace lodestone;

/// The id of the workgroup's barrier; others are named barriers, of some warps,
/// and those of a cluster. Source: AMD "CDNA5 ISA", S_BARRIER_SIGNAL.
static constexpr int32_t kWorkgroupBarrier = -1;

bool lodestone::isWholeBarrier(Operation *op) {
  return isa<gpu::BarrierOp, amdgpu::LDSBarrierOp, ROCDL::BarrierOp,
             ROCDL::SBarrierOp>(op);
}

bool lodestone::arrivesAtBarrier(Operation *op) {
  auto half = dyn_cast<ROCDL::BarrierSignalOp>(op);
  return isWholeBarrier(op) ||
         (half && static_cast<int32_t>(half.getId()) == kWorkgroupBarrier);
}

bool lodestone::waitsAtBarrier(Operation *op) {
  auto half = dyn_cast<ROCDL::BarrierWaitOp>(op);
  return isWholeBarrier(op) ||
         (half && static_cast<int16_t>(half.getId()) == kWorkgroupBarrier);
}
