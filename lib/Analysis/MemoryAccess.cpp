//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/MemoryAccess.h"
#include "lodestone/Dialect/LDS/IR/LDSDialect.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace lodestone;

/// Adds what `memref` may be a view of, or the same as. False if that can't be
/// told.
static bool addSources(Value memref, SmallVectorImpl<Value> &sources) {
  if (auto argument = dyn_cast<BlockArgument>(memref)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument == loop.getInductionVar())
      return false;
    sources.push_back(loop.getTiedLoopInit(argument)->get());
    sources.push_back(loop.getTiedLoopYieldedValue(argument)->get());
    return true;
  }
  Operation *op = memref.getDefiningOp();
  if (auto view = dyn_cast<ViewLikeOpInterface>(op)) {
    sources.push_back(view.getViewSource());
  } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
    sources.push_back(select.getTrueValue());
    sources.push_back(select.getFalseValue());
  } else if (isa<scf::IfOp, scf::ForOp>(op)) {
    unsigned number = cast<OpResult>(memref).getResultNumber();
    for (Region &region : op->getRegions())
      if (!region.empty())
        sources.push_back(region.back().getTerminator()->getOperand(number));
    if (auto loop = dyn_cast<scf::ForOp>(op))
      sources.push_back(loop.getInits()[number]);
  } else {
    return false;
  }
  return true;
}

/// True for what makes a memref of flat addresses that aren't in LDS.
static bool isFlatOrigin(Value memref) {
  if (auto argument = dyn_cast<BlockArgument>(memref)) {
    Block *block = argument.getOwner();
    return block->isEntryBlock() &&
           isa<FunctionOpInterface>(block->getParentOp());
  }
  return isa<memref::AllocOp, memref::AllocaOp, memref::GetGlobalOp>(
      memref.getDefiningOp());
}

bool lodestone::isGlobalMemory(Value memref) {
  SmallVector<Value> worklist{memref};
  llvm::DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    auto type = dyn_cast<MemRefType>(value.getType());
    if (!type)
      return false;
    Attribute space = type.getMemorySpace();
    if (auto gpuSpace = dyn_cast_or_null<gpu::AddressSpaceAttr>(space)) {
      if (gpuSpace.getValue() != gpu::AddressSpace::Global)
        return false;
      continue;
    }
    if (isa_and_nonnull<amdgpu::AddressSpaceAttr>(space))
      continue; // Buffers of global memory.
    auto number = dyn_cast_or_null<IntegerAttr>(space);
    // 1: global, 4: constant, 7 to 9: buffers; 3 is LDS, 5 is private.
    if (number && llvm::is_contained({1, 4, 7, 8, 9}, number.getInt()))
      continue;
    if (number ? number.getInt() != 0 : bool(space))
      return false;
    // A flat address may be one in LDS that was cast.
    if (!isFlatOrigin(value) && !addSources(value, worklist))
      return false;
  }
  return true;
}

bool lodestone::isGlobalLoad(Operation *op) {
  return isa<memref::LoadOp, vector::LoadOp, vector::MaskedLoadOp,
             vector::TransferReadOp, vector::GatherOp, amdgpu::RawBufferLoadOp>(
             op) &&
         isGlobalMemory(op->getOperand(0));
}

bool lodestone::isLDS(Value memref) {
  auto type = dyn_cast<BaseMemRefType>(memref.getType());
  return type && lds::isWorkgroupSpace(type.getMemorySpace());
}

static bool isPrivate(Value memref) {
  auto type = dyn_cast<BaseMemRefType>(memref.getType());
  if (!type)
    return false;
  if (auto space =
          dyn_cast_or_null<gpu::AddressSpaceAttr>(type.getMemorySpace()))
    return space.getValue() == gpu::AddressSpace::Private;
  auto number = dyn_cast_or_null<IntegerAttr>(type.getMemorySpace());
  return number && number.getInt() == 5;
}

static bool isAllocation(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto kernel = dyn_cast<gpu::GPUFuncOp>(argument.getOwner()->getParentOp());
    return kernel &&
           llvm::is_contained(kernel.getWorkgroupAttributions(), value);
  }
  return isa<memref::AllocOp, memref::AllocaOp, memref::GetGlobalOp,
             gpu::DynamicSharedMemoryOp, lds::RegionOp>(value.getDefiningOp());
}

std::optional<SmallVector<Value>>
lodestone::getLDSRoots(Value memref, SmallVectorImpl<Operation *> *views) {
  SmallVector<Value> roots, worklist{memref};
  llvm::DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (isAllocation(value)) {
      roots.push_back(value);
      continue;
    }
    if (views && value.getDefiningOp<ViewLikeOpInterface>())
      views->push_back(value.getDefiningOp());
    if (!addSources(value, worklist))
      return std::nullopt;
  }
  return roots;
}

static bool overlays(lds::RegionOp region, lds::RegionOp other) {
  return region.getOverlays() &&
         llvm::is_contained(
             region.getOverlaysAttr().getValue(),
             StringAttr::get(region.getContext(), other.getRegionName()));
}

bool lodestone::mayShareBytes(Value root, Value other) {
  if (root == other)
    return true;
  Operation *a = root.getDefiningOp(), *b = other.getDefiningOp();
  if (!a || !b) // A workgroup attribution is nothing else.
    return false;
  if (auto global = dyn_cast<memref::GetGlobalOp>(a)) {
    auto its = dyn_cast<memref::GetGlobalOp>(b);
    return its && its.getName() == global.getName();
  }
  // All of the dynamic LDS.
  if (isa<gpu::DynamicSharedMemoryOp>(a) || isa<gpu::DynamicSharedMemoryOp>(b))
    return isa<gpu::DynamicSharedMemoryOp, lds::RegionOp>(a) &&
           isa<gpu::DynamicSharedMemoryOp, lds::RegionOp>(b);
  auto region = dyn_cast<lds::RegionOp>(a), its = dyn_cast<lds::RegionOp>(b);
  return region && its && (overlays(region, its) || overlays(its, region));
}

bool MemoryAccess::mayTouchLDS(Value root) const {
  return anyLDS || llvm::any_of(ldsRoots, [&](Value other) {
           return mayShareBytes(root, other);
         });
}

static bool isPointer(Value value) {
  return isa<BaseMemRefType, LLVM::LLVMPointerType>(value.getType());
}

MemoryAccess MemoryAccess::of(Operation *op) {
  MemoryAccess access;
  auto touchAnything = [&] {
    access.readsGlobal = access.writesGlobal = access.anyLDS = true;
    return access;
  };
  // The copies of a group are accesses where they are issued; see
  // lds.commit_group for what they may do until the wait.
  if (isa<lds::CommitGroupOp, lds::WaitGroupOp>(op))
    return access;
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects) {
    // What its nested operations do is theirs.
    if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
        op->hasTrait<OpTrait::IsTerminator>())
      return access;
    // Barriers, waits, matrix instructions and the like touch no memory that
    // they have no pointer to.
    bool isMachineOp =
        isa_and_nonnull<ROCDL::ROCDLDialect, amdgpu::AMDGPUDialect,
                        lds::LDSDialect, gpu::GPUDialect>(op->getDialect()) &&
        !isa<CallOpInterface>(op) && op->getNumRegions() == 0 &&
        llvm::none_of(op->getOperands(), isPointer);
    return isMachineOp ? access : touchAnything();
  }
  SmallVector<MemoryEffects::EffectInstance> list;
  effects.getEffects(list);
  for (const MemoryEffects::EffectInstance &effect : list) {
    if (isa<MemoryEffects::Allocate>(effect.getEffect()) ||
        effect.getResource() == lds::LayoutResource::get())
      continue;
    Value value = effect.getValue();
    if (value && isPrivate(value))
      continue;
    if (value && isLDS(value)) {
      std::optional<SmallVector<Value>> roots = getLDSRoots(value);
      if (roots)
        access.ldsRoots.append(*roots);
      else
        access.anyLDS = true;
    } else if (value && isGlobalMemory(value)) {
      bool reads = isa<MemoryEffects::Read>(effect.getEffect());
      (reads ? access.readsGlobal : access.writesGlobal) = true;
    } else {
      return touchAnything();
    }
  }
  return access;
}

/// The kernel's argument that a memref is a view of, if it is one.
static BlockArgument getArgument(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  auto argument = dyn_cast<BlockArgument>(memref);
  return argument &&
                 isa<FunctionOpInterface>(argument.getOwner()->getParentOp())
             ? argument
             : BlockArgument();
}

bool lodestone::isKnownDistinct(Operation *load, Operation *writer) {
  auto getMemory = [](Operation *op) -> BlockArgument {
    BlockArgument only;
    for (Value operand : op->getOperands())
      if (isGlobalMemory(operand)) {
        BlockArgument argument = getArgument(operand);
        if (only || !argument)
          return {};
        only = argument;
      }
    return only;
  };
  BlockArgument from = getMemory(load), to = getMemory(writer);
  if (!from || !to || from == to || isa<CallOpInterface>(writer))
    return false;
  auto isNoAlias = [](BlockArgument argument) {
    auto function =
        cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
    return argument.getArgNumber() < function.getNumArguments() &&
           function.getArgAttr(argument.getArgNumber(), "llvm.noalias");
  };
  return isNoAlias(from) || isNoAlias(to);
}
