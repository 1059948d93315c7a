

#include "lodestone/Target/Compile.h"
#include "lodestone/Target/Passes.h"

#include "GPUModules.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVM/ROCDL/Utils.h"

namespace lodestone {
#define GEN_PASS_DEF_GPUMODULESTOBINARY
#include "lodestone/Target/Passes.h.inc"
} // namespace lodestone

using namespace mlir;
using namespace lodestone;

namespace {
struct GPUModulesToBinary final
    : lodestone::impl::GPUModulesToBinaryBase<GPUModulesToBinary> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::optional<OutputFormat> parsed = parseOutputFormat(format);
    if (!parsed) {
      module.emitError("unknown format '")
          << format << "'; the known ones are isa, hsaco, fatbin";
      return signalPassFailure();
    }
    CompileOptions options;
    options.chip = chip;
    options.features = features;
    options.format = *parsed;
    options.optLevel = optLevel;
    options.aliasScopes = aliasScopes;
    options.check = check;
    options.strict = strict;
    options.linker = linker;
    options.rocmPath = rocmPath;
    // The metadata goes with a code object; text is not assembled for it.
    options.resources = *parsed != OutputFormat::isa;

    if (failed(checkHasGPUModule(module)))
      return signalPassFailure();
    for (auto gpuModule :
         llvm::make_early_inc_range(module.getOps<gpu::GPUModuleOp>())) {
      CompiledModule compiled;
      CompileFailure failure;
      if (failed(compileLowered(gpuModule, options, compiled, failure)))
        return signalPassFailure();
      replaceByBinary(gpuModule, options, compiled);
    }
  }

  /// What became of the wait check.
  static DictionaryAttr makeProperties(OpBuilder &builder,
                                       const CompiledModule &compiled) {
    if (!compiled.check)
      return {};
    return builder.getDictionaryAttr(
        {builder.getNamedAttr("untagged_fallback",
                              builder.getBoolAttr(compiled.untaggedFallback)),
         builder.getNamedAttr(
             "wait_findings",
             builder.getI64IntegerAttr(compiled.check->findings.size()))});
  }

  /// Upstream's table, from the metadata of a code object, with what Lodestone
  /// knows on top.
  static gpu::KernelTableAttr makeKernelTable(gpu::GPUModuleOp module,
                                              const CompiledModule &compiled) {
    if (compiled.codeObject.empty())
      return {};
    Builder builder(module.getContext());
    gpu::KernelTableAttr table =
        ROCDL::getKernelMetadata(module, ArrayRef(compiled.codeObject.data(),
                                                  compiled.codeObject.size()));
    SmallVector<gpu::KernelMetadataAttr> kernels;
    for (gpu::KernelMetadataAttr kernel : table) {
      auto resources =
          llvm::find_if(compiled.kernels, [&](const KernelResources &other) {
            return other.name == kernel.getName().getValue();
          });
      if (resources != compiled.kernels.end())
        kernel = kernel.appendMetadata(
            {builder.getNamedAttr(
                 "dynamic_lds_size",
                 builder.getI64IntegerAttr(resources->dynamicLDSBytes)),
             builder.getNamedAttr(
                 "occupancy", builder.getI64IntegerAttr(resources->occupancy)),
             builder.getNamedAttr(
                 "occupancy_limit",
                 builder.getStringAttr(resources->occupancyLimit))});
      kernels.push_back(kernel);
    }
    return gpu::KernelTableAttr::get(module.getContext(), kernels);
  }

  static void replaceByBinary(gpu::GPUModuleOp module,
                              const CompileOptions &options,
                              const CompiledModule &compiled) {
    OpBuilder builder(module);
    auto [kind, bytes] = [&]() -> std::pair<gpu::CompilationTarget, StringRef> {
      switch (options.format) {
      case OutputFormat::isa:
        return {gpu::CompilationTarget::Assembly, compiled.isa};
      case OutputFormat::hsaco:
        return {gpu::CompilationTarget::Binary, compiled.codeObject};
      case OutputFormat::fatbin:
        return {gpu::CompilationTarget::Fatbin, compiled.fatBinary};
      }
      llvm_unreachable("all formats are covered");
    }();
    ROCDL::ROCDLTargetAttr target = getROCDLTarget(module);
    if (!target)
      target = ROCDL::ROCDLTargetAttr::get(
          module.getContext(), options.optLevel, "amdgcn-amd-amdhsa",
          compiled.chip, options.features);
    auto object = gpu::ObjectAttr::get(
        module.getContext(), target, kind, builder.getStringAttr(bytes),
        makeProperties(builder, compiled), makeKernelTable(module, compiled));
    gpu::BinaryOp::create(builder, module.getLoc(), module.getName(),
                          module.getOffloadingHandlerAttr(),
                          ArrayRef<Attribute>{object});
    module.erase();
  }
};
} // namespace
