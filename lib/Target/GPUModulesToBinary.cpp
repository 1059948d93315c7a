

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
    options.resources = false;

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
    // The kernels' metadata is in a code object only.
    gpu::KernelTableAttr kernels;
    if (!compiled.codeObject.empty())
      kernels = ROCDL::getKernelMetadata(
          module,
          ArrayRef(compiled.codeObject.data(), compiled.codeObject.size()));
    auto object = gpu::ObjectAttr::get(module.getContext(), target, kind,
                                       builder.getStringAttr(bytes),
                                       /*properties=*/nullptr, kernels);
    gpu::BinaryOp::create(builder, module.getLoc(), module.getName(),
                          module.getOffloadingHandlerAttr(),
                          ArrayRef<Attribute>{object});
    module.erase();
  }
};
} // namespace
