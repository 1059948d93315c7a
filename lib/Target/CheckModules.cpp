
///
/// \file
/// The passes at the two ends of the pipeline: what comes in can be compiled,
/// and what goes out can be translated.
///
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/Kernels.h"
#include "lodestone/Support/Chip.h"
#include "lodestone/Target/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Matchers.h"

#include "GPUModules.h"

namespace lodestone {
#define GEN_PASS_DEF_CHECKGPUMODULES
#define GEN_PASS_DEF_CHECKLOWERED
#include "lodestone/Target/Passes.h.inc"
} // namespace lodestone

using namespace mlir;
using namespace lodestone;

ROCDL::ROCDLTargetAttr lodestone::getROCDLTarget(gpu::GPUModuleOp module) {
  if (ArrayAttr targets = module.getTargetsAttr())
    for (Attribute target : targets)
      if (auto rocdl = dyn_cast<ROCDL::ROCDLTargetAttr>(target))
        return rocdl;
  return {};
}

LogicalResult lodestone::checkChip(Operation *op, StringRef chip) {
  if (chip.empty())
    return op->emitError("no chip given; set chip to one of ") << knownChips();
  if (!lookupChip(chip))
    return op->emitError("unknown chip '")
           << chip << "'; the known ones are " << knownChips();
  return success();
}

/// The bytes that each lane moves if `op` is an LDS-DMA counted by vmcnt: 0 if
/// they aren't constant, nothing if it is something else.
static std::optional<uint64_t> getDMALaneBytes(Operation *op) {
  if (auto load = dyn_cast<ROCDL::LoadToLDSOp>(op))
    return load.getSize();
  if (auto load = dyn_cast<ROCDL::GlobalLoadLDSOp>(op))
    return load.getSize();
  if (auto load = dyn_cast<ROCDL::RawPtrBufferLoadLdsOp>(op)) {
    APInt size;
    return matchPattern(load.getSize(), m_ConstantInt(&size))
               ? size.getLimitedValue()
               : 0;
  }
  return std::nullopt;
}

/// LLVM gives up on an LDS-DMA that the chip doesn't have, in words that name
/// neither.
static LogicalResult checkDMAs(gpu::GPUModuleOp module, const ChipInfo &chip) {
  bool bad = false;
  module.walk([&](Operation *op) {
    std::optional<uint64_t> bytes = getDMALaneBytes(op);
    if (!bytes)
      return;
    if (chip.dmaCounter != DMACounter::vmcnt) {
      bad = true;
      op->emitError("op '") << op->getName() << "' is an LDS-DMA that "
                            << chip.name << " does not have";
    } else if (*bytes && !llvm::is_contained(chip.dmaLaneBytes, *bytes)) {
      bad = true;
      InFlightDiagnostic diagnostic = op->emitError("an LDS-DMA of ")
                                      << *bytes << " bytes a lane, but "
                                      << chip.name << " has those of ";
      llvm::interleaveComma(chip.dmaLaneBytes, diagnostic);
    }
  });
  return failure(bad);
}

LogicalResult lodestone::checkGPUModule(gpu::GPUModuleOp module, StringRef chip,
                                        bool requireKernels) {
  if (ROCDL::ROCDLTargetAttr target = getROCDLTarget(module))
    if (target.getChip() != chip)
      return module.emitError("gpu.module @")
             << module.getName() << " has a target for " << target.getChip()
             << ", but chip is " << chip << "; drop the target or compile for "
             << target.getChip();
  if (requireKernels && llvm::none_of(module.getOps(), [](Operation &op) {
        return isKernel(&op);
      }))
    return module.emitError("gpu.module @")
           << module.getName()
           << " has no kernel; mark a gpu.func with 'kernel' or an llvm.func "
              "with 'rocdl.kernel'";
  if (const ChipInfo *info = lookupChip(chip))
    return checkDMAs(module, *info);
  return success();
}

namespace {
struct CheckGPUModules final
    : lodestone::impl::CheckGPUModulesBase<CheckGPUModules> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(checkChip(module, chip)) || failed(checkHasGPUModule(module)))
      return signalPassFailure();
    for (auto gpuModule : module.getOps<gpu::GPUModuleOp>())
      if (failed(checkGPUModule(gpuModule, chip, requireKernels)))
        signalPassFailure();
    markAllAnalysesPreserved();
  }
};

struct CheckLowered final : lodestone::impl::CheckLoweredBase<CheckLowered> {
  void runOnOperation() override {
    // More errors than these say nothing new.
    constexpr unsigned maxErrors = 10;
    unsigned errors = 0;
    SmallVector<UnrealizedConversionCastOp> casts;
    getOperation()->walk([&](Operation *op) {
      if (op == getOperation() ||
          isa_and_present<LLVM::LLVMDialect, ROCDL::ROCDLDialect>(
              op->getDialect()))
        return WalkResult::advance();
      if (auto cast = dyn_cast<UnrealizedConversionCastOp>(op)) {
        casts.push_back(cast);
        return WalkResult::advance();
      }
      op->emitError("op '")
          << op->getName()
          << "' has no lowering to the LLVM dialect in this pipeline; lower it "
             "before";
      return ++errors == maxErrors ? WalkResult::interrupt()
                                   : WalkResult::advance();
    });
    // Casts are left between ops that were converted and ops that were not.
    // Those were named.
    if (!errors)
      for (UnrealizedConversionCastOp cast : casts) {
        cast.emitError("a value of type ")
            << cast->getOperandTypes().front() << " is still used as "
            << cast->getResultTypes().front()
            << " after the lowering to the LLVM dialect";
        if (++errors == maxErrors)
          break;
      }
    if (errors)
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace

LogicalResult lodestone::checkHasGPUModule(ModuleOp module) {
  if (!module.getOps<gpu::GPUModuleOp>().empty())
    return success();
  if (module.getBody()->empty())
    return module.emitError("the module is empty; put kernels into a "
                            "gpu.module");
  return module.emitError("the module has no gpu.module; put kernels into one, "
                          "or outline gpu.launch ops with "
                          "'gpu-kernel-outlining' first");
}
