//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/BlockUniformity.h"
#include "lodestone/Dialect/LDS/IR/LDSDialect.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace lodestone;

/// Numbers of the block and of the launch.
static bool isBlockConstant(Operation &op) {
  return isa<gpu::BlockIdOp, gpu::BlockDimOp, gpu::GridDimOp, gpu::ClusterDimOp,
             gpu::ClusterDimBlocksOp, gpu::ClusterIdOp, gpu::ClusterBlockIdOp,
             gpu::NumSubgroupsOp, gpu::SubgroupSizeOp, ROCDL::BlockIdXOp,
             ROCDL::BlockIdYOp, ROCDL::BlockIdZOp, ROCDL::BlockDimXOp,
             ROCDL::BlockDimYOp, ROCDL::BlockDimZOp, ROCDL::GridDimXOp,
             ROCDL::GridDimYOp, ROCDL::GridDimZOp>(op);
}

/// Allocations that all threads of a block share.
static bool isSharedAllocation(Operation &op) {
  if (isa<memref::GetGlobalOp, gpu::DynamicSharedMemoryOp, lds::RegionOp>(op))
    return true;
  if (!isa<memref::AllocOp, memref::AllocaOp>(op) || op.getNumOperands())
    return false;
  auto type = cast<MemRefType>(op.getResult(0).getType());
  return lds::isWorkgroupSpace(type.getMemorySpace());
}

bool lodestone::isFunctionOfOperands(Operation *op) {
  if (op->getNumRegions() || !isMemoryEffectFree(op))
    return false;
  // Dialects whose operations know nothing of threads.
  return isa_and_nonnull<arith::ArithDialect, index::IndexDialect,
                         affine::AffineDialect, math::MathDialect,
                         memref::MemRefDialect, ub::UBDialect,
                         vector::VectorDialect>(op->getDialect());
}

static bool isCountedLoop(Operation *op) {
  return isa<scf::ForOp, affine::AffineForOp>(op);
}
static bool isCondition(Operation *op) {
  return isa<scf::IfOp, affine::AffineIfOp>(op);
}

BlockUniformity::BlockUniformity(FunctionOpInterface function) {
  SmallVector<Value> worklist;
  auto mark = [&](Value value) {
    if (divergent.insert(value).second)
      worklist.push_back(value);
  };
  auto markAll = [&](ValueRange values) { llvm::for_each(values, mark); };

  auto kernel = dyn_cast<gpu::GPUFuncOp>(function.getOperation());
  function->walk([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (op == function ? !block.isEntryBlock()
                           : !isCountedLoop(op) || !block.isEntryBlock())
          markAll(block.getArguments());
    if (op == function) {
      if (function.isExternal())
        return;
      if (!kernel || !kernel.isKernel())
        markAll(function.getArguments());
      else
        for (BlockArgument argument : kernel.getPrivateAttributions())
          mark(argument);
    } else if (!isCountedLoop(op) && !isCondition(op) &&
               !isBlockConstant(*op) && !isSharedAllocation(*op) &&
               !isFunctionOfOperands(op)) {
      markAll(op->getResults());
    }
  });

  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    for (OpOperand &use : value.getUses()) {
      Operation *op = use.getOwner();
      if (isa<scf::YieldOp, affine::AffineYieldOp>(op)) {
        unsigned number = use.getOperandNumber();
        Operation *parent = op->getParentOp();
        if (number < parent->getNumResults())
          mark(parent->getResult(number));
        if (isCountedLoop(parent))
          mark(cast<LoopLikeOpInterface>(parent).getRegionIterArgs()[number]);
      } else if (isCountedLoop(op)) {
        auto loop = cast<LoopLikeOpInterface>(op);
        if (OpResult result = loop.getTiedLoopResult(&use)) {
          mark(result);
          mark(loop.getTiedLoopRegionIterArg(&use));
        } else {
          markAll(*loop.getLoopInductionVars());
          markAll(op->getResults());
        }
      } else {
        markAll(op->getResults());
      }
    }
  }
}

bool BlockUniformity::entersUniformly(Region &region) const {
  Operation *op = region.getParentOp();
  ValueRange deciding = op->getOperands();
  if (isCountedLoop(op)) {
    auto inits = cast<LoopLikeOpInterface>(op).getInits();
    deciding = deciding.drop_back(inits.size());
  } else if (!isCondition(op)) {
    return false;
  }
  return llvm::all_of(deciding, [&](Value v) { return isUniform(v); });
}
