//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LowerKernel.h"
#include "OtherLDS.h"

#include "lodestone/Analysis/Kernels.h"
#include "lodestone/Analysis/SwizzledAllocation.h"
#include "lodestone/Dialect/LDS/IR/LDSDialect.h"
#include "lodestone/Dialect/LDS/IR/LDSLayout.h"
#include "lodestone/Support/Chip.h"
#include "lodestone/Transforms/Passes.h"

#include "mlir/Conversion/GPUCommon/GPUCommonPass.h"
#include "mlir/Conversion/LLVMCommon/LoweringOptions.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"

namespace lodestone {
#define GEN_PASS_DEF_LDSLOWERREGIONS
#include "lodestone/Transforms/Passes.h.inc"
} // namespace lodestone

using namespace mlir;
using namespace lodestone;
using namespace lodestone::lds;

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

  Operation *table = SymbolTable::getNearestSymbolTable(kernel);
  if (!table)
    return first.emitOpError()
           << "'@" << first.getRegionName() << "' is in "
           << describeKernel(kernel)
           << ", which is in no symbol table that could hold its global";

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
  lowerKernel(kernel, *layout, symbols.getSymbolTable(table), types,
              separateGlobals);

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

/// Checks that no swizzle is left: below here nothing knows of it.
static LogicalResult checkNoSwizzles(Operation *root) {
  FailureOr<std::vector<SwizzledAllocation>> swizzled =
      collectSwizzledAllocations(root);
  if (failed(swizzled))
    return failure();
  for (SwizzledAllocation &allocation : *swizzled)
    return allocation.op->emitError()
           << allocation.describe() << " still has the swizzle "
           << allocation.swizzle
           << "; run lds-apply-swizzles, which says why if it can't apply it, "
              "or lds-apply-swizzles{drop-refused} to do without";
  return success();
}

void LDSLowerRegions::runOnOperation() {
  if (!chip.empty() && !lookupChip(chip)) {
    getOperation()->emitError() << unknownChipMessage(chip);
    return signalPassFailure();
  }
  if (indexBitwidth != 0 && indexBitwidth != 32 && indexBitwidth != 64) {
    getOperation()->emitError() << "index-bitwidth must be 0, 32 or 64, but is "
                                << indexBitwidth.getValue();
    return signalPassFailure();
  }

  if (failed(checkNoSwizzles(getOperation())))
    return signalPassFailure();

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
