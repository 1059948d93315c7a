//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LowerKernel.h"
#include "OtherLDS.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace lodestone::lds;

static constexpr llvm::StringLiteral kGlobalName = "lds_dynamic";
/// What ds_read_b128 needs, and upstream's `gpu.dynamic_shared_memory` gives.
static constexpr uint64_t kMinGlobalAlign = 16;

namespace {
/// Lowers the regions of one kernel.
class KernelLowering {
public:
  KernelLowering(Operation *kernel, const KernelLayout &layout,
                 SymbolTable &symbols, const LLVMTypeConverter &types)
      : kernel(kernel), layout(layout), symbols(symbols), types(types),
        builder(layout.regions.front().op) {}

  void run(bool separateGlobals);

private:
  LLVM::GlobalOp createGlobal(StringRef name, Location loc);
  LLVM::GlobalOp getSharedGlobal();
  LLVM::GlobalOp getNamedGlobal(const PlacedRegion &region, bool isShared);
  SmallVector<unsigned> groupByBytes() const;
  ExtentAttr getExtentAttr(const PlacedRegion &region) const;
  Value lower(const PlacedRegion &region, Value base);

  Operation *kernel;
  const KernelLayout &layout;
  SymbolTable &symbols;
  const LLVMTypeConverter &types;
  OpBuilder builder;
};
} // namespace

static void raiseAlignment(LLVM::GlobalOp global, uint64_t align) {
  align = std::max({align, kMinGlobalAlign, global.getAlignment().value_or(1)});
  global.setAlignment(align);
}

/// True if `global` has no bytes of its own and is defined by the launch: the
/// form of dynamic LDS that is shared by all functions that name it.
static bool isExternalDynamicLDS(LLVM::GlobalOp global) {
  return global && isDynamicLDS(global) &&
         global.getLinkage() == LLVM::Linkage::External &&
         !global.getValueAttr() && global.getInitializerRegion().empty();
}

ExtentAttr KernelLowering::getExtentAttr(const PlacedRegion &region) const {
  return ExtentAttr::get(kernel->getContext(), region.op.getRegionNameAttr(),
                         region.offset, region.size);
}

LLVM::GlobalOp KernelLowering::createGlobal(StringRef name, Location loc) {
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
  OpBuilder detached(kernel->getContext());
  auto global = LLVM::GlobalOp::create(
      detached, loc, type, /*isConstant=*/false, LLVM::Linkage::External, name,
      /*value=*/Attribute(), kMinGlobalAlign, kLDSAddressSpace);
  symbols.insert(global, kernel->getBlock()->begin());
  return global;
}

/// The one global of which all regions are parts.
LLVM::GlobalOp KernelLowering::getSharedGlobal() {
  auto global = symbols.lookup<LLVM::GlobalOp>(kGlobalName);
  if (!isExternalDynamicLDS(global) || getExtent(global)) {
    global = nullptr;
    for (auto candidate :
         symbols.getOp()->getRegion(0).front().getOps<LLVM::GlobalOp>()) {
      if (isExternalDynamicLDS(candidate) && !getExtent(candidate)) {
        global = candidate;
        break;
      }
    }
  }
  if (!global)
    global = createGlobal(kGlobalName, kernel->getLoc());
  raiseAlignment(global, layout.align);
  return global;
}

/// The global with the name of `region`; a kernel that gives this name to the
/// same bytes shares it. One for several regions (`isShared`) has no extent.
LLVM::GlobalOp KernelLowering::getNamedGlobal(const PlacedRegion &region,
                                              bool isShared) {
  StringRef name = region.op.getRegionName();
  ExtentAttr extent = isShared ? ExtentAttr() : getExtentAttr(region);
  auto global = symbols.lookup<LLVM::GlobalOp>(name);
  if (!isExternalDynamicLDS(global) || getExtent(global) != extent) {
    global = createGlobal(name, region.op.getLoc());
    if (extent)
      global->setAttr(LDSDialect::ExtentAttrHelper::getNameStr(), extent);
  }
  raiseAlignment(global, layout.align);
  return global;
}

/// For each region the first one that it shares bytes with, directly or through
/// others, or itself. LLVM takes pointers to distinct globals to be disjoint,
/// so these must be in one.
SmallVector<unsigned> KernelLowering::groupByBytes() const {
  SmallVector<unsigned> order =
      llvm::to_vector(llvm::seq<unsigned>(0, layout.regions.size()));
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return layout.regions[a].offset < layout.regions[b].offset;
  });
  SmallVector<unsigned> groups(order.size());
  for (unsigned begin = 0, end = 0; begin < order.size(); begin = end) {
    uint64_t reach = layout.regions[order[begin]].end();
    unsigned first = order[begin];
    for (end = begin + 1; end < order.size(); ++end) {
      const PlacedRegion &region = layout.regions[order[end]];
      if (region.offset >= reach)
        break;
      reach = std::max(reach, region.end());
      first = std::min(first, order[end]);
    }
    for (unsigned i = begin; i < end; ++i)
      groups[order[i]] = first;
  }
  return groups;
}

/// The value that replaces `region`, which is a part of the global at `base`.
Value KernelLowering::lower(const PlacedRegion &region, Value base) {
  RegionOp op = region.op;
  builder.setInsertionPoint(op);
  // Two indices: the fold of `getelementptr %p[0]` to %p would lose the extent.
  NamedAttribute extent(
      builder.getStringAttr(LDSDialect::ExtentAttrHelper::getNameStr()),
      getExtentAttr(region));
  Value pointer = LLVM::GEPOp::create(
      builder, op.getLoc(), base.getType(),
      LLVM::LLVMArrayType::get(builder.getI8Type(), 0), base,
      ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(region.offset)},
      LLVM::GEPNoWrapFlags::none, extent);
  auto memref = dyn_cast<MemRefType>(op.getResult().getType());
  if (!memref)
    return pointer;
  Value descriptor = MemRefDescriptor::fromStaticShape(builder, op.getLoc(),
                                                       types, memref, pointer);
  return UnrealizedConversionCastOp::create(builder, op.getLoc(), memref,
                                            descriptor)
      .getResult(0);
}

void KernelLowering::run(bool separateGlobals) {
  SmallVector<unsigned> groups(layout.regions.size(), 0);
  if (separateGlobals)
    groups = groupByBytes();
  SmallVector<unsigned> groupSizes(groups.size(), 0);
  for (unsigned group : groups)
    ++groupSizes[group];

  // A group's first region is the first of it in program order, hence its base
  // is there before the others of the group need it.
  SmallVector<Value> bases(groups.size());
  for (auto [region, group] : llvm::zip_equal(layout.regions, groups)) {
    if (!bases[group]) {
      LLVM::GlobalOp global =
          separateGlobals ? getNamedGlobal(region, groupSizes[group] > 1)
                          : getSharedGlobal();
      RegionOp op = region.op;
      builder.setInsertionPoint(op);
      bases[group] = LLVM::AddressOfOp::create(builder, op.getLoc(), global);
    }
    RegionOp op = region.op;
    op.getResult().replaceAllUsesWith(lower(region, bases[group]));
    op.erase();
  }
  kernel->setAttr(LDSDialect::DynamicSizeAttrHelper::getNameStr(),
                  builder.getI64IntegerAttr(layout.bytes));
}

void lodestone::lds::lowerKernel(Operation *kernel, const KernelLayout &layout,
                                 SymbolTable &symbols,
                                 const LLVMTypeConverter &types,
                                 bool separateGlobals) {
  KernelLowering(kernel, layout, symbols, types).run(separateGlobals);
}
