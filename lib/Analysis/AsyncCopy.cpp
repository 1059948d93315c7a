//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/AsyncCopy.h"
#include "lodestone/Analysis/LDSAccess.h"
#include "lodestone/Dialect/LDS/IR/LDSDialect.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace lodestone;

/// True for an access to global memory that LLVM neither merges nor removes nor
/// moves over a wait.
static bool isPinnedGlobalAccess(Operation *op) {
  constexpr unsigned kGlobal = 1;
  return TypeSwitch<Operation *, bool>(op)
      .Case([](LLVM::LoadOp load) {
        return load.getVolatile_() &&
               isPointerInto(load.getAddr().getType(), kGlobal);
      })
      .Case([](LLVM::StoreOp store) {
        return store.getVolatile_() &&
               isPointerInto(store.getAddr().getType(), kGlobal);
      })
      .Case<LLVM::AtomicRMWOp, LLVM::AtomicCmpXchgOp>([](auto atomic) {
        return isPointerInto(atomic.getPtr().getType(), kGlobal);
      })
      .Default(false);
}

std::optional<AsyncIssue> lodestone::getAsyncIssue(Operation *op) {
  if (auto copy = dyn_cast<lds::AsyncCopyOpInterface>(op))
    return AsyncIssue{copy.getCopyCounter(), copy.getMinCopyInstructions(),
                      /*isCopy=*/true};
  if (isa<amdgpu::GatherToLDSOp, ROCDL::RawPtrBufferLoadLdsOp,
          ROCDL::LoadToLDSOp, ROCDL::GlobalLoadLDSOp>(op))
    return AsyncIssue{DMACounter::vmcnt, 1, /*isCopy=*/true};
  if (isa<ROCDL::GlobalLoadAsyncToLDSB8Op, ROCDL::GlobalLoadAsyncToLDSB32Op,
          ROCDL::GlobalLoadAsyncToLDSB64Op, ROCDL::GlobalLoadAsyncToLDSB128Op,
          ROCDL::ClusterLoadAsyncToLDSB8Op, ROCDL::ClusterLoadAsyncToLDSB32Op,
          ROCDL::ClusterLoadAsyncToLDSB64Op,
          ROCDL::ClusterLoadAsyncToLDSB128Op>(op))
    return AsyncIssue{DMACounter::asynccnt, 1, /*isCopy=*/true};
  if (isa<ROCDL::TensorLoadToLDSOp, ROCDL::TensorLoadToLDSD2Op>(op))
    return AsyncIssue{DMACounter::tensorcnt, 1, /*isCopy=*/true};
  if (std::optional<DMACounter> counter = mayContainLDSDMA(op))
    return AsyncIssue{*counter, 0, /*isCopy=*/true};
  if (isPinnedGlobalAccess(op))
    return AsyncIssue{DMACounter::vmcnt, 1, /*isCopy=*/false};
  return std::nullopt;
}

/// True if `value` may point into LDS: its type says so, or it was cast from
/// such a type.
static bool mayPointIntoLDS(Value value) {
  Type type = value.getType();
  if (isPointerInto(type, kLDSAddressSpace))
    return true;
  if (auto memref = dyn_cast<BaseMemRefType>(type))
    return lds::isWorkgroupSpace(memref.getMemorySpace()) ||
           value.getDefiningOp<memref::MemorySpaceCastOp>();
  return value.getDefiningOp<LLVM::AddrSpaceCastOp>() != nullptr;
}

bool lodestone::mayStoreToLDS(Operation *op) {
  if (std::optional<AsyncIssue> issue = getAsyncIssue(op);
      issue && issue->isCopy)
    return false;
  if (auto effects = dyn_cast<MemoryEffectOpInterface>(op)) {
    SmallVector<MemoryEffects::EffectInstance> instances;
    effects.getEffects(instances);
    return llvm::any_of(instances, [](const auto &effect) {
      return isa<MemoryEffects::Write>(effect.getEffect()) &&
             effect.getValue() && mayPointIntoLDS(effect.getValue());
    });
  }
  if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>()) {
    // Ops whose regions are followed are visited one by one.
    if (isa<RegionBranchOpInterface>(op))
      return false;
    WalkResult walk = op->walk([&](Operation *nested) {
      return nested != op && mayStoreToLDS(nested) ? WalkResult::interrupt()
                                                   : WalkResult::advance();
    });
    return walk.wasInterrupted();
  }
  return isa<CallOpInterface, LLVM::InlineAsmOp>(op) ||
         llvm::any_of(op->getOperands(), mayPointIntoLDS);
}
