

#include "BackEnd.h"
#include "GPUModules.h"
#include "lodestone/Dialect/LDS/IR/LDSDialect.h"
#include "lodestone/Support/Chip.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVM/ROCDL/Utils.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace lodestone;

namespace {
/// Upstream's translation of a gpu.module, so that function attributes, module
/// flags and device libraries are as `gpu-module-to-binary` has them.
class Translator : public ROCDL::SerializeGPUModuleBase {
public:
  Translator(gpu::GPUModuleOp module, ROCDL::ROCDLTargetAttr target,
             const gpu::TargetOptions &options)
      : SerializeGPUModuleBase(*module, target, options) {}

  /// Sets `llvmModule` or leaves it null after an error diagnostic.
  void translate(llvm::LLVMContext &context,
                 std::unique_ptr<llvm::Module> &llvmModule,
                 bool &missingLibraries) {
    std::unique_ptr<llvm::Module> made = translateToLLVMIR(context);
    if (!made)
      return;
    setDataLayoutAndTriple(*made);
    handleModulePreLink(*made);
    if (failed(checkLibraries(*made))) {
      missingLibraries = true;
      return;
    }
    auto libraries = loadBitcodeFiles(*made);
    if (!libraries)
      return;
    if (!libraries->empty() && failed(linkFiles(*made, std::move(*libraries))))
      return;
    handleModulePostLink(*made);
    llvmModule = std::move(made);
  }

private:
  /// Upstream says only that a directory is missing; say who needs it.
  LogicalResult checkLibraries(llvm::Module &module) {
    if (deviceLibs == ROCDL::AMDGCNLibraries::None)
      return success();
    SmallString<128> path(getToolkitPath());
    llvm::sys::path::append(path, "amdgcn", "bitcode");
    if (!getToolkitPath().empty() && llvm::sys::fs::is_directory(path))
      return success();
    StringRef user = "a device library";
    for (llvm::Function &function : module)
      if (function.isDeclaration() && (function.getName().starts_with("__oc")))
        user = function.getName();
    return getOperation().emitError("'")
           << user << "' needs ROCm's device libraries, which are not in '"
           << path
           << "'; install rocm-device-libs and set ROCM_PATH, or use ops that "
              "need no library (as rocdl.exp2 for math.exp2)";
  }
};

/// The options of `#rocdl.target` on `module` with what `options` says on top.
ROCDL::ROCDLTargetAttr makeTarget(gpu::GPUModuleOp module, StringRef chip,
                                  const CompileOptions &options) {
  MLIRContext *context = module.getContext();
  ROCDL::ROCDLTargetAttr given = getROCDLTarget(module);
  if (!given)
    return ROCDL::ROCDLTargetAttr::get(context, options.optLevel, kTargetTriple,
                                       chip, options.features);
  StringRef features =
      options.features.empty() ? given.getFeatures() : options.features;
  return ROCDL::ROCDLTargetAttr::get(context, options.optLevel, kTargetTriple,
                                     chip, features, given.getAbi(),
                                     given.getFlags(), given.getLink());
}

/// Where a diagnostic of LLVM belongs: its debug location, else the function it
/// names, else the gpu.module.
Location locateInModule(gpu::GPUModuleOp module,
                        const LLVMDiagnostic &diagnostic) {
  if (!diagnostic.file.empty())
    return FileLineColLoc::get(module.getContext(), diagnostic.file,
                               diagnostic.line, diagnostic.column);
  if (!diagnostic.function.empty())
    if (Operation *function = module.lookupSymbol(diagnostic.function))
      return function->getLoc();
  return module.getLoc();
}

} // namespace

LogicalResult lodestone::compileAsIs(gpu::GPUModuleOp module,
                                     const CompileOptions &options,
                                     CompiledModule &result,
                                     CompileFailure &failure) {
  failure = CompileFailure::input;
  auto locate = [&](const LLVMDiagnostic &diagnostic) {
    return locateInModule(module, diagnostic);
  };
  ROCDL::ROCDLTargetAttr target = makeTarget(module, result.chip, options);
  if (options.onLowered)
    options.onLowered(module);

  LLVMUnit unit;
  std::string problem;
  unit.machine = createTargetMachine(result.chip, target.getFeatures(),
                                     options.optLevel, problem);
  if (!unit.machine)
    return module.emitError(problem);

  // MLIR's diagnostics are passed on after the stage: their handlers are the
  // user's code, which must not run inside the guard.
  SmallVector<Diagnostic> said;
  bool missingLibraries = false;
  LogicalResult translated = [&] {
    ScopedDiagnosticHandler handler(
        module.getContext(),
        [&](Diagnostic &diagnostic) { said.push_back(std::move(diagnostic)); });
    return runStage("the translation to its IR", unit, locate,
                    result.seconds.translate, [&] {
                      gpu::TargetOptions paths(options.rocmPath);
                      Translator translator(module, target, paths);
                      translator.translate(*unit.context, unit.module,
                                           missingLibraries);
                    });
  }();
  for (Diagnostic &diagnostic : said)
    module.getContext()->getDiagEngine().emit(std::move(diagnostic));
  if (missingLibraries)
    failure = CompileFailure::missingTool;
  if (failed(translated))
    return mlir::failure();
  if (!unit.module)
    return said.empty() ? LogicalResult(module.emitError(
                              "the translation to LLVM IR failed"))
                        : mlir::failure();

  CompileOptions machineOptions = options;
  machineOptions.features = target.getFeatures().str();
  if (failed(runBackEnd(unit, /*optimize=*/true, machineOptions, locate, result,
                        failure)))
    return mlir::failure();
  for (KernelResources &kernel : result.kernels) {
    Operation *function = module.lookupSymbol(kernel.name);
    std::optional<uint64_t> size =
        function ? lds::getDynamicSize(function) : std::nullopt;
    if (!size)
      continue;
    kernel.dynamicLDSBytes = *size;
    computeOccupancy(kernel, *lookupChip(result.chip));
  }
  return success();
}
