

#include "BackEnd.h"
#include "Link.h"
#include "lodestone/Support/Chip.h"
#include "lodestone/Target/CrashGuard.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Verifier.h"

#include <chrono>

using namespace mlir;
using namespace lodestone;

LLVMUnit::LLVMUnit() : context(std::make_unique<llvm::LLVMContext>()) {
  collectDiagnostics(*context, diagnostics);
}

void LLVMUnit::leak() {
  (void)module.release();
  (void)machine.release();
  (void)context.release();
}

LogicalResult
lodestone::emitDiagnostics(const std::vector<LLVMDiagnostic> &diagnostics,
                           Locator locate) {
  // LLVM repeats itself when several passes look at the same thing.
  llvm::StringSet<> emitted;
  for (const LLVMDiagnostic &diagnostic : diagnostics) {
    if (!emitted
             .insert(diagnostic.message + '\0' + diagnostic.file + '\0' +
                     std::to_string(diagnostic.line))
             .second)
      continue;
    Location location = locate(diagnostic);
    if (diagnostic.severity == llvm::DS_Error)
      emitError(location, diagnostic.message);
    else
      emitWarning(location, diagnostic.message);
  }
  return failure(hasErrors(diagnostics));
}

LogicalResult lodestone::runStage(StringRef stage, LLVMUnit &unit,
                                  Locator locate, double &seconds,
                                  llvm::function_ref<void()> fn) {
  auto start = std::chrono::steady_clock::now();
  std::string why;
  bool finished = runGuarded(fn, why);
  seconds +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  std::vector<LLVMDiagnostic> diagnostics;
  diagnostics.swap(unit.diagnostics);
  if (!finished) {
    unit.leak();
    diagnostics.push_back({llvm::DS_Error,
                           "LLVM gave up in " + stage.str() + ": " + why,
                           {},
                           {}});
  }
  return emitDiagnostics(diagnostics, locate);
}

/// Calls of functions that nothing defines link into a code object that no
/// runtime can load.
static LogicalResult checkDefined(const llvm::Module &module, Locator locate) {
  for (const llvm::Function &function : module) {
    if (!function.isDeclaration() || function.isIntrinsic() ||
        function.use_empty() || function.hasExternalWeakLinkage())
      continue;
    LLVMDiagnostic diagnostic{llvm::DS_Error,
                              "function '" + function.getName().str() +
                                  "' is called but not defined",
                              function.getName().str(),
                              {}};
    emitError(locate(diagnostic), diagnostic.message);
    return failure();
  }
  return success();
}

/// The target as HIP's bundles name it: the chip and the features that a code
/// object may depend on, in alphabetical order.
static std::string bundleTarget(StringRef chip, StringRef features) {
  std::string target = chip.str();
  for (StringRef name : {"sramecc", "xnack"})
    for (StringRef feature : llvm::split(features, ','))
      if (!feature.empty() && feature.drop_front() == name)
        target += (":" + name + feature.take_front()).str();
  return target;
}

LogicalResult lodestone::runBackEnd(LLVMUnit &unit, bool optimize,
                                    const CompileOptions &options,
                                    Locator locate, CompiledModule &result,
                                    CompileFailure &failed) {
  failed = CompileFailure::input;
  CompileTimes &seconds = result.seconds;
  const ChipInfo *chip = lookupChip(result.chip);
  auto fail = [&](const llvm::Twine &message) {
    LLVMDiagnostic nowhere{llvm::DS_Error, {}, {}, {}};
    return LogicalResult(emitError(locate(nowhere), message));
  };

  if (mlir::failed(
          runStage("the verifier", unit, locate, seconds.translate, [&] {
            std::string problem;
            llvm::raw_string_ostream stream(problem);
            if (llvm::verifyModule(*unit.module, &stream))
              unit.diagnostics.push_back(
                  {llvm::DS_Error,
                   "invalid LLVM IR: " + StringRef(problem).trim().str(),
                   {},
                   {}});
          })))
    return mlir::failure();
  if (options.onLLVMIR)
    options.onLLVMIR(*unit.module);
  if (optimize &&
      mlir::failed(
          runStage("its optimizer", unit, locate, seconds.optimize, [&] {
            optimizeLLVM(*unit.module, *unit.machine, options.optLevel);
          })))
    return mlir::failure();
  if (options.onOptimizedLLVMIR)
    options.onOptimizedLLVMIR(*unit.module);
  bool link = options.format != OutputFormat::isa;
  if (link && mlir::failed(checkDefined(*unit.module, locate)))
    return mlir::failure();

  // The text is generated and then assembled: one code generation gives
  // both, and what is shipped is what can be read. Assembling takes a few
  // percent of the time of code generation.
  CodegenOptions codegen;
  codegen.globalISel = options.globalISel;
  WaitCheckReport report;
  if (options.check)
    codegen.afterWaits = [&] { return createWaitCheckPass(report); };
  CodegenOutput output;
  double stageSeconds = 0;
  std::string problem;
  if (mlir::failed(
          runStage("its code generator", unit, locate, stageSeconds, [&] {
            generateCode(*unit.module, *unit.machine, codegen, output, problem);
          })))
    return mlir::failure();
  seconds.codegen += stageSeconds - output.afterWaitsSeconds;
  seconds.check += output.afterWaitsSeconds;
  if (!problem.empty())
    return fail(problem);
  result.isa = output.bytes.str().str();
  if (options.check)
    result.check = std::move(report);

  llvm::SmallString<0> object;
  if ((link || options.resources) &&
      mlir::failed(
          runStage("its assembler", unit, locate, seconds.assemble, [&] {
            assemble(result.isa, *unit.machine, object, unit.diagnostics);
          })))
    return mlir::failure();
  if (options.resources) {
    auto kernels = readKernelResources(object, chip);
    if (!kernels)
      return fail(llvm::toString(kernels.takeError()));
    result.kernels = std::move(*kernels);
  }
  if (!link) {
    failed = CompileFailure::none;
    return success();
  }

  std::string linker = findLinker(options.linker);
  if (linker.empty()) {
    failed = CompileFailure::missingTool;
    if (!options.linker.empty())
      return fail("the linker '" + options.linker +
                  "' cannot be executed; name an ld.lld of LLVM");
    return fail(
        "ld.lld not found; install it (Debian: apt-get install lld-22), "
        "put it on PATH, or name it in LODESTONE_LLD");
  }
  auto start = std::chrono::steady_clock::now();
  llvm::Expected<std::string> linked = linkCodeObject(object, linker);
  if (!linked)
    return fail(llvm::toString(linked.takeError()));
  result.codeObject = std::move(*linked);
  if (options.format == OutputFormat::fatbin)
    result.fatBinary = bundleCodeObject(
        result.codeObject, bundleTarget(result.chip, options.features));
  seconds.link +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  failed = CompileFailure::none;
  return success();
}
