//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/SwizzledAllocation.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace lodestone;
using namespace lodestone::lds;

static StringRef swizzleName() {
  return LDSDialect::SwizzleAttrHelper::getNameStr();
}

std::string SwizzledAllocation::describe() const {
  if (auto region = dyn_cast<RegionOp>(op))
    return ("region '@" + region.getRegionName() + "'").str();
  if (auto global = dyn_cast<memref::GlobalOp>(op))
    return ("global '@" + global.getSymName() + "'").str();
  if (isa<gpu::GPUFuncOp>(op))
    return "workgroup attribution " +
           std::to_string(
               cast<BlockArgument>(roots.front()).getArgNumber() -
               cast<gpu::GPUFuncOp>(op).getFirstWorkgroupAttributionIndex());
  return "this allocation";
}

void SwizzledAllocation::dropSwizzle() {
  if (auto region = dyn_cast<RegionOp>(op)) {
    region.removeSwizzleAttr();
    return;
  }
  auto kernel = dyn_cast<gpu::GPUFuncOp>(op);
  if (!kernel) {
    op->removeDiscardableAttr(swizzleName());
    return;
  }
  // Attributions have a list of dictionaries; there is no call to remove from
  // it.
  unsigned index = cast<BlockArgument>(roots.front()).getArgNumber() -
                   kernel.getFirstWorkgroupAttributionIndex();
  SmallVector<Attribute> dictionaries(
      kernel.getWorkgroupAttribAttrsAttr().getValue());
  NamedAttrList attributes(cast<DictionaryAttr>(dictionaries[index]));
  attributes.erase(swizzleName());
  dictionaries[index] = attributes.getDictionary(op->getContext());
  kernel.setWorkgroupAttribAttrsAttr(
      ArrayAttr::get(op->getContext(), dictionaries));
}

uint64_t SwizzledAllocation::getAlignment() const {
  uint64_t alignment =
      TypeSwitch<Operation *, std::optional<uint64_t>>(op)
          .Case([](RegionOp region) { return region.getAlign(); })
          .Case<memref::AllocOp, memref::AllocaOp, memref::GlobalOp>(
              [](auto op) { return op.getAlignment(); })
          .Default(std::nullopt)
          .value_or(1);
  // Other numbers aren't ruled out; what counts is the power of two in them.
  return alignment & -alignment;
}

FailureOr<std::vector<SwizzledAllocation>>
lodestone::collectSwizzledAllocations(Operation *root) {
  std::vector<SwizzledAllocation> allocations;
  auto add = [&](Operation *op, SwizzleAttrInterface swizzle, Type type,
                 ValueRange roots) {
    SwizzledAllocation allocation;
    allocation.op = op;
    allocation.swizzle = swizzle;
    allocation.type = cast<MemRefType>(type);
    allocation.roots = llvm::to_vector(roots);
    allocations.push_back(std::move(allocation));
  };
  WalkResult result = root->walk([&](Operation *op) {
    if (auto region = dyn_cast<RegionOp>(op)) {
      if (SwizzleAttrInterface swizzle = region.getSwizzleAttr())
        add(op, swizzle, region.getType(), region.getResult());
    } else if (auto kernel = dyn_cast<gpu::GPUFuncOp>(op)) {
      for (BlockArgument argument : kernel.getWorkgroupAttributions()) {
        unsigned index = argument.getArgNumber() -
                         kernel.getFirstWorkgroupAttributionIndex();
        Attribute attribute =
            kernel.getWorkgroupAttributionAttr(index, swizzleName());
        if (!attribute)
          continue;
        auto emitError = [&] {
          return kernel.emitOpError()
                 << "'" << swizzleName() << "' of workgroup attribution "
                 << index << ": ";
        };
        auto swizzle = dyn_cast<SwizzleAttrInterface>(attribute);
        if (!swizzle) {
          emitError() << "must be a swizzle, but is " << attribute;
          return WalkResult::interrupt();
        }
        if (failed(verifySwizzle(emitError, swizzle, argument.getType(),
                                 std::nullopt)))
          return WalkResult::interrupt();
        add(op, swizzle, argument.getType(), argument);
      }
    } else if (isa<memref::AllocOp, memref::AllocaOp, memref::GlobalOp>(op)) {
      auto swizzle = op->getAttrOfType<SwizzleAttrInterface>(swizzleName());
      if (!swizzle)
        return WalkResult::advance();
      if (auto global = dyn_cast<memref::GlobalOp>(op))
        add(op, swizzle, global.getType(), {});
      else
        add(op, swizzle, op->getResult(0).getType(), op->getResults());
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();

  return allocations;
}
