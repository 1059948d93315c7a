//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OtherLDS.h"

#include "lodestone/Dialect/LDS/IR/LDSDialect.h"
#include "lodestone/Dialect/LDS/IR/LDSLayout.h"
#include "lodestone/Support/Chip.h"
#include "lodestone/Transforms/Passes.h"

#include "mlir/Conversion/GPUCommon/GPUCommonPass.h"
#include "mlir/Conversion/LLVMCommon/LoweringOptions.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"

#include "llvm/ADT/Sequence.h"

namespace lodestone {
#define GEN_PASS_DEF_LDSLOWERREGIONS
#include "lodestone/Transforms/Passes.h.inc"
} // namespace lodestone

using namespace mlir;
using namespace lodestone;
using namespace lodestone::lds;

static constexpr llvm::StringLiteral kGlobalName = "lds_dynamic";
/// What ds_read_b128 needs, and upstream's `gpu.dynamic_shared_memory` gives.
static constexpr uint64_t kMinGlobalAlign = 16;

static bool isKernel(Operation *function) {
  if (auto gpuFunc = dyn_cast<gpu::GPUFuncOp>(function))
    return gpuFunc.isKernel();
  auto llvmFunc = cast<LLVM::LLVMFuncOp>(function);
  return llvmFunc.getCConv() == LLVM::CConv::AMDGPU_KERNEL ||
         llvmFunc->hasAttr(gpu::GPUDialect::getKernelFuncAttrName()) ||
         llvmFunc->hasAttr(ROCDL::ROCDLDialect::KernelAttrHelper::getNameStr());
}

static std::string describeBytes(const PlacedRegion &region) {
  return "'@" + region.op.getRegionNameAttr().str() + "' (bytes [" +
         std::to_string(region.offset) + ", " + std::to_string(region.end()) +
         "))";
}

//===----------------------------------------------------------------------===//
// What a kernel must fulfil
//===----------------------------------------------------------------------===//

/// The chips that `kernel` is compiled for as the IR has it: the targets of its
/// gpu.module, or the target CPU of an llvm.func.
static SmallVector<StringRef> getChipNames(Operation *kernel) {
  SmallVector<StringRef> names;
  if (auto module = kernel->getParentOfType<gpu::GPUModuleOp>())
    if (ArrayAttr targets = module.getTargetsAttr())
      for (auto target : targets.getAsRange<ROCDL::ROCDLTargetAttr>())
        names.push_back(target.getChip());
  if (auto llvmFunc = dyn_cast<LLVM::LLVMFuncOp>(kernel); names.empty())
    if (llvmFunc && llvmFunc.getTargetCpuAttr())
      names.push_back(llvmFunc.getTargetCpuAttr().getValue());
  return names;
}

/// Checks that the regions and the static LDS of `kernel` fit into the LDS of
/// `chip`.
static LogicalResult checkChipSize(Operation *kernel,
                                   const KernelLayout &layout,
                                   uint64_t staticBytes, const ChipInfo &chip) {
  uint64_t total = llvm::SaturatingAdd(layout.bytes, staticBytes);
  if (total <= chip.ldsBytes)
    return success();
  const PlacedRegion &last = *llvm::max_element(
      layout.regions, [](const PlacedRegion &a, const PlacedRegion &b) {
        return a.end() < b.end();
      });
  InFlightDiagnostic diag = kernel->emitError();
  diag << describeKernel(kernel) << " needs " << total << " bytes of LDS ("
       << layout.bytes << " for its regions, " << staticBytes
       << " static), but " << chip.name << " has " << chip.ldsBytes;
  diag.attachNote(last.op.getLoc())
      << describeBytes(last) << " is the region that ends last";
  return diag;
}

/// Checks that nothing else uses the dynamic LDS, of which the regions are
/// parts.
static LogicalResult checkNoOtherUse(Operation *kernel,
                                     const KernelLayout &layout,
                                     Operation *dynamicUse) {
  const PlacedRegion &first = layout.regions.front();
  if (dynamicUse) {
    InFlightDiagnostic diag = dynamicUse->emitOpError();
    diag << "uses the dynamic LDS of " << describeKernel(kernel)
         << " from byte 0, where its " << layout.bytes
         << " bytes of regions are, with " << describeBytes(first)
         << " the first of them; make it an lds.region, too";
    diag.attachNote(first.op.getLoc())
        << "'@" << first.op.getRegionNameAttr().getValue() << "' is here";
    return diag;
  }
  if (std::optional<uint64_t> bytes = getDynamicSize(kernel)) {
    InFlightDiagnostic diag = first.op.emitOpError();
    diag << describeBytes(first) << " comes too late: regions of "
         << describeKernel(kernel) << " were lowered before, in " << *bytes
         << " bytes of dynamic LDS; lower all regions of a kernel at once";
    return diag;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
class LDSLowerRegions final
    : public lodestone::impl::LDSLowerRegionsBase<LDSLowerRegions> {
public:
  using LDSLowerRegionsBase::LDSLowerRegionsBase;

  /// The globals go next to the kernels, so a kernel alone isn't enough.
  bool canScheduleOn(RegisteredOperationName name) const override {
    return name.hasTrait<OpTrait::SymbolTable>();
  }

  void runOnOperation() override;

private:
  LogicalResult lower(Operation *kernel, ArrayRef<RegionOp> regions,
                      SymbolTableCollection &symbols, OtherLDSFinder &finder);
  LogicalResult check(Operation *kernel, const KernelLayout &layout,
                      const OtherLDS &other);
};
} // namespace

LogicalResult LDSLowerRegions::check(Operation *kernel,
                                     const KernelLayout &layout,
                                     const OtherLDS &other) {
  if (failed(checkNoOtherUse(kernel, layout, other.dynamicUse)))
    return failure();
  SmallVector<StringRef> names =
      chip.empty() ? getChipNames(kernel) : SmallVector<StringRef>{chip};
  for (StringRef name : names) {
    const ChipInfo *info = lookupChip(name);
    if (!info)
      kernel->emitWarning() << "the LDS size of chip '" << name
                            << "' is unknown, so the " << layout.bytes
                            << " bytes of regions are not checked against it; "
                               "known chips are "
                            << knownChips();
    else if (failed(checkChipSize(kernel, layout, other.staticBytes, *info)))
      return failure();
  }
  return success();
}

LogicalResult LDSLowerRegions::lower(Operation *kernel,
                                     ArrayRef<RegionOp> regions,
                                     SymbolTableCollection &symbols,
                                     OtherLDSFinder &finder) {
  RegionOp first = regions.front();
  if (isa<gpu::LaunchOp>(kernel))
    return first.emitOpError() << "'@" << first.getRegionName()
                               << "' is in a gpu.launch; outline the kernel "
                                  "(gpu-kernel-outlining) before";
  if (!isKernel(kernel))
    return first.emitOpError()
           << "'@" << first.getRegionName() << "' is in function '"
           << cast<SymbolOpInterface>(kernel).getName()
           << "', which is not a kernel; declare the region in the kernel and "
              "pass it";

  FailureOr<KernelLayout> layout = placeRegions(regions);
  if (failed(layout) || failed(check(kernel, *layout, finder.find(kernel))))
    return failure();

  LowerToLLVMOptions options(&getContext(), DataLayout::closest(kernel));
  if (indexBitwidth)
    options.overrideIndexBitwidth(indexBitwidth);
  LLVMTypeConverter types(&getContext(), options);
  // The numbers that upstream's conversion to ROCDL uses.
  populateGpuMemorySpaceAttributeConversions(
      types, [](gpu::AddressSpace space) -> unsigned {
        switch (space) {
        case gpu::AddressSpace::Global:
          return 1;
        case gpu::AddressSpace::Workgroup:
          return kLDSAddressSpace;
        case gpu::AddressSpace::Private:
          return 5;
        }
        return 0;
      });
  Operation *table = SymbolTable::getNearestSymbolTable(kernel);
  KernelLowering(kernel, *layout, symbols.getSymbolTable(table), types)
      .run(separateGlobals);

  ++numKernels;
  numRegions += regions.size();
  remark::passed(kernel->getLoc(),
                 remark::RemarkOpts::name("lds-layout")
                     .category("lds-lower-regions")
                     .function(cast<SymbolOpInterface>(kernel).getName()))
      << (Twine(regions.size()) +
          (regions.size() == 1 ? " region" : " regions") + " in " +
          Twine(layout->bytes) + " bytes of dynamic LDS")
             .str();
  return success();
}

void LDSLowerRegions::runOnOperation() {
  if (!chip.empty() && !lookupChip(chip)) {
    getOperation()->emitError()
        << "unknown chip '" << chip << "'; known chips are " << knownChips();
    return signalPassFailure();
  }
  if (indexBitwidth != 0 && indexBitwidth != 32 && indexBitwidth != 64) {
    getOperation()->emitError()
        << "index-bitwidth must be 0, 32 or 64, but is " << indexBitwidth;
    return signalPassFailure();
  }

  SmallVector<std::pair<Operation *, SmallVector<RegionOp>>> kernels;
  getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isa<gpu::GPUFuncOp, gpu::LaunchOp, LLVM::LLVMFuncOp>(op))
      return WalkResult::advance();
    if (!op->getRegion(0).empty()) {
      SmallVector<RegionOp> regions = getRegions(op->getRegion(0).front());
      if (!regions.empty())
        kernels.emplace_back(op, std::move(regions));
    }
    // A function holds no other; a launch may be in one of any kind.
    return isa<gpu::LaunchOp>(op) ? WalkResult::advance() : WalkResult::skip();
  });

  SymbolTableCollection symbols;
  OtherLDSFinder finder(symbols);
  for (auto &[kernel, regions] : kernels)
    if (failed(lower(kernel, regions, symbols, finder)))
      return signalPassFailure();
  if (kernels.empty())
    markAllAnalysesPreserved();
}
