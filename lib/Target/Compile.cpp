

#include "BackEnd.h"
#include "GPUModules.h"
#include "lodestone/Dialect/LDS/IR/LDSDialect.h"
#include "lodestone/Support/Chip.h"
#include "lodestone/Target/Passes.h"
#include "lodestone/Transforms/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"

#include <chrono>

using namespace mlir;
using namespace lodestone;

std::optional<OutputFormat> lodestone::parseOutputFormat(StringRef name) {
  if (name == "isa")
    return OutputFormat::isa;
  if (name == "hsaco")
    return OutputFormat::hsaco;
  if (name == "fatbin")
    return OutputFormat::fatbin;
  return std::nullopt;
}

namespace {
using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A copy of `module` that stands beside it, so that what surrounds it (a data
/// layout on the outer module, say) holds for it, too; erased at the end.
class Copy {
public:
  explicit Copy(gpu::GPUModuleOp module) {
    OpBuilder builder(module);
    copy = module->getBlock() ? cast<gpu::GPUModuleOp>(builder.clone(*module))
                              : module.clone();
  }
  Copy(const Copy &) = delete;
  ~Copy() { copy.erase(); }

  gpu::GPUModuleOp get() { return copy; }

  /// Runs passes that `add` adds; their time goes to `seconds`.
  LogicalResult run(llvm::function_ref<void(OpPassManager &)> add,
                    double &seconds) {
    Clock::time_point start = Clock::now();
    PassManager passes(copy.getContext(), gpu::GPUModuleOp::getOperationName());
    add(passes);
    LogicalResult result = passes.run(copy);
    seconds += secondsSince(start);
    return result;
  }

private:
  gpu::GPUModuleOp copy;
};

/// "1 finding", "2 findings".
std::string countFindings(const WaitCheckReport &report) {
  size_t count = report.findings.size();
  return std::to_string(count) + (count == 1 ? " finding" : " findings");
}

/// True if each LDS global of `module` has a declared extent or is the dynamic
/// LDS that addresses with declared extents are computed from, and nothing else
/// is.
bool hasOnlyDeclaredLDS(gpu::GPUModuleOp module) {
  llvm::SmallPtrSet<Operation *, 8> globals;
  for (auto global : module.getOps<LLVM::GlobalOp>())
    if (global.getAddrSpace() == lds::kLDSAddressSpace)
      globals.insert(global);
  if (globals.empty())
    return false;
  WalkResult walked = module.walk([&](LLVM::AddressOfOp address) {
    if (cast<LLVM::LLVMPointerType>(address.getType()).getAddressSpace() !=
        lds::kLDSAddressSpace)
      return WalkResult::advance();
    return WalkResult(
        success(llvm::all_of(address->getUsers(), [](Operation *user) {
          return lds::getExtent(user) != nullptr;
        })));
  });
  return !walked.wasInterrupted();
}

/// Removes alias metadata from everything in `module` that may touch LDS, so
/// that LLVM waits for all LDS-DMAs. Tags that came with the input go, too:
/// they may be what is wrong.
void stripLDSTags(gpu::GPUModuleOp module) {
  module.walk([](LLVM::AliasAnalysisOpInterface op) {
    // A flat (generic) pointer may point to LDS.
    if (llvm::none_of(op.getAccessedOperands(), [](Value pointer) {
          auto type = dyn_cast<LLVM::LLVMPointerType>(pointer.getType());
          return !type || type.getAddressSpace() == 0 ||
                 type.getAddressSpace() == lds::kLDSAddressSpace;
        }))
      return;
    op.setAliasScopes(nullptr);
    op.setNoAliasScopes(nullptr);
    op.setTBAATags(nullptr);
  });
}

/// Says what the check found in code that is kept as it is: a warning, or an
/// error with `strict`.
LogicalResult reportFindings(gpu::GPUModuleOp module, bool strict,
                             const WaitCheckReport &report,
                             CompileFailure &failure) {
  InFlightDiagnostic diagnostic =
      strict ? module.emitError() : module.emitWarning();
  diagnostic << "gpu.module @" << module.getName()
             << " fails the wait check: " << countFindings(report);
  for (const WaitFinding &finding : report.findings)
    diagnostic.attachNote() << finding.message();
  if (!strict)
    return success();
  failure = CompileFailure::strict;
  return diagnostic;
}

/// Decides what becomes of code with alias scopes (in `result`) that the wait
/// check has findings on; `module` is the one without.
LogicalResult judge(gpu::GPUModuleOp module, const CompileOptions &options,
                    CompiledModule &result, CompileFailure &failure) {
  const WaitCheckReport &report = *result.check;
  if (options.strict)
    return reportFindings(module, /*strict=*/true, report, failure);
  // Static LDS is packed here, too: LLVM may lose waits without any scopes when
  // there are several globals. Each of them has an extent then.
  Copy copy(module);
  if (failed(copy.run(
          [](OpPassManager &passes) {
            passes.addPass(createLDSPackStaticGlobals());
          },
          result.seconds.pipeline)))
    return mlir::failure();
  if (!report.hasBoundedFindings() && hasOnlyDeclaredLDS(copy.get())) {
    InFlightDiagnostic warning =
        module.emitWarning("gpu.module @")
        << module.getName()
        << " waits for the right LDS-DMAs only if addresses stay in their "
           "lds.region, which the wait check cannot see ("
        << countFindings(report) << ")";
    warning.attachNote() << report.findings.front().message();
    return success();
  }

  // The backend lost a wait. What it makes of the same kernel without scopes is
  // slower and, as a rule, right.
  stripLDSTags(copy.get());
  CompiledModule untagged;
  untagged.name = result.name;
  untagged.chip = result.chip;
  untagged.seconds = result.seconds;
  untagged.untaggedFallback = true;
  untagged.taggedCheck = std::move(result.check);
  if (failed(compileAsIs(copy.get(), options, untagged, failure)))
    return mlir::failure();
  result = std::move(untagged);
  InFlightDiagnostic warning =
      module.emitWarning("gpu.module @")
      << module.getName()
      << " is compiled without alias scopes: with them "
         "the machine code fails the wait check ("
      << countFindings(*result.taggedCheck) << ")";
  warning.attachNote() << result.taggedCheck->findings.front().message();
  warning.report();
  if (!result.check->findings.empty())
    return reportFindings(module, /*strict=*/false, *result.check, failure);
  return success();
}
} // namespace

LogicalResult lodestone::compileLowered(gpu::GPUModuleOp module,
                                        const CompileOptions &options,
                                        CompiledModule &result,
                                        CompileFailure &failure) {
  failure = CompileFailure::input;
  result.name = module.getName().str();
  result.chip = options.chip;
  if (result.chip.empty())
    if (ROCDL::ROCDLTargetAttr target = getROCDLTarget(module))
      result.chip = target.getChip().str();
  if (failed(checkChip(module, result.chip)) ||
      failed(checkGPUModule(module, result.chip, /*requireKernels=*/true)))
    return mlir::failure();
  if (!options.aliasScopes) {
    if (failed(compileAsIs(module, options, result, failure)))
      return mlir::failure();
    if (!result.check || result.check->findings.empty())
      return success();
    return reportFindings(module, options.strict, *result.check, failure);
  }

  Copy tagged(module);
  if (failed(tagged.run(
          [&](OpPassManager &passes) {
            addAliasScopePasses(passes, result.chip, options.strict);
          },
          result.seconds.pipeline))) {
    if (options.strict)
      failure = CompileFailure::strict;
    return mlir::failure();
  }
  if (failed(compileAsIs(tagged.get(), options, result, failure)))
    return mlir::failure();
  if (!result.check || result.check->findings.empty())
    return success();
  return judge(module, options, result, failure);
}

LogicalResult lodestone::compile(ModuleOp module, const CompileOptions &options,
                                 CompileResult &result) {
  result = CompileResult();
  result.failure = CompileFailure::input;
  if (failed(checkHasGPUModule(module)))
    return failure();

  Clock::time_point start = Clock::now();
  OwningOpRef<ModuleOp> lowered = module.clone();
  CompileOptions chosen = options;
  if (chosen.chip.empty())
    for (auto gpuModule : lowered->getOps<gpu::GPUModuleOp>())
      if (ROCDL::ROCDLTargetAttr target = getROCDLTarget(gpuModule))
        chosen.chip = target.getChip().str();
  ToROCDLOptions pipeline;
  pipeline.chip = chosen.chip;
  pipeline.aliasScopes = false;
  // Without scopes, LLVM doesn't tell the buffers apart anyway.
  pipeline.unrollBuffers = options.aliasScopes ? options.unrollBuffers : 0;
  pipeline.inverseSwizzle = options.inverseSwizzle;
  pipeline.registerBudget = options.registerBudget;
  pipeline.directToLDS = options.directToLDS;
  pipeline.tdmHints = options.tdmHints;
  pipeline.tdmFuse = options.tdmFuse;
  pipeline.assumeSmallBuffers = options.assumeSmallBuffers;
  pipeline.separateGlobals = options.separateGlobals;
  pipeline.barePointers = options.barePointers;
  pipeline.indexBitwidth = options.indexBitwidth;
  PassManager passes(module.getContext());
  buildToROCDLPipeline(passes, pipeline);
  if (failed(passes.run(*lowered)))
    return failure();
  double pipelineSeconds = secondsSince(start);

  for (auto gpuModule :
       llvm::make_early_inc_range(lowered->getOps<gpu::GPUModuleOp>())) {
    CompiledModule compiled;
    compiled.seconds.pipeline = std::exchange(pipelineSeconds, 0);
    if (failed(compileLowered(gpuModule, chosen, compiled, result.failure)))
      return failure();
    result.modules.push_back(std::move(compiled));
  }
  result.failure = CompileFailure::none;
  return success();
}
