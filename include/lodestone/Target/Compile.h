
///
/// \file
/// From a module or LLVM IR to checked code: what the pipeline
/// `lodestone-to-binary`, the Python package and the command line share.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_TARGET_COMPILE_H
#define LODESTONE_TARGET_COMPILE_H

#include "lodestone/Target/Passes.h"
#include "lodestone/Target/Resources.h"
#include "lodestone/Target/WaitCheck.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/MemoryBufferRef.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class Module;
} // namespace llvm

namespace lodestone {

/// How far to compile.
enum class OutputFormat {
  /// Assembly text.
  isa,
  /// A linked code object, as hipModuleLoad takes it; assembly text as well.
  hsaco,
  /// The code object in a HIP fat binary (clang-offload-bundler's format);
  /// assembly text and the code object as well.
  fatbin
};

/// "isa", "hsaco" or "fatbin"; nothing for another name.
std::optional<OutputFormat> parseOutputFormat(llvm::StringRef name);

struct CompileOptions {
  /// "gfx950". If empty: what the gpu.module's `#rocdl.target` says, or the
  /// `target-cpu` of the functions of LLVM IR.
  std::string chip;
  /// "+xnack" and the like.
  std::string features;
  OutputFormat format = OutputFormat::hsaco;
  /// LLVM's optimization level, 0 to 3.
  unsigned optLevel = 3;
  /// Attach alias scopes to LDS accesses.
  bool aliasScopes = true;
  /// Check the waits of the machine code; if a kernel with scopes fails,
  /// compile it without.
  bool check = true;
  /// What the scopes pass refuses to tag is an error, and so is a finding of
  /// the check.
  bool strict = false;
  /// See ToROCDLOptions.
  unsigned unrollBuffers = 4;
  bool inverseSwizzle = false;
  unsigned registerBudget = 0;
  DirectToLDS directToLDS = DirectToLDS::off;
  std::vector<TDMHintRule> tdmHints;
  bool tdmFuse = false;
  bool assumeSmallBuffers = false;
  bool separateGlobals = false;
  bool barePointers = false;
  unsigned indexBitwidth = 0;
  /// Path of `ld.lld`; if empty see findLinker().
  std::string linker;
  /// A ROCm installation with device libraries (for `__ocml_*`); if empty
  /// $ROCM_PATH and upstream's default are tried.
  std::string rocmPath;
  /// Read resources from the code object. For `isa` this assembles the text.
  bool resources = true;
  /// Generate with GlobalISel, which drops what the alias scopes need: meant
  /// for tests of the check.
  bool globalISel = false;
  /// compileLLVMIR only: run LLVM's -O pipeline first. Off, since the IR of
  /// another compiler has mostly been through it.
  bool optimizeLLVMIR = false;

  /// Called with the module in the LLVM dialect (scopes attached), with the
  /// LLVM IR before and after optimization, all for reading. Runs on the
  /// compiling thread, once more for a fallback.
  std::function<void(mlir::gpu::GPUModuleOp)> onLowered;
  std::function<void(const llvm::Module &)> onLLVMIR;
  std::function<void(const llvm::Module &)> onOptimizedLLVMIR;
};

/// Seconds spent, a fallback's included.
struct CompileTimes {
  /// MLIR passes: to the LLVM dialect, and the alias scopes. For several
  /// gpu.modules the first one carries what they share.
  double pipeline = 0;
  double translate = 0;
  double optimize = 0;
  /// Without `check`.
  double codegen = 0;
  double check = 0;
  double assemble = 0;
  double link = 0;

  double total() const {
    return pipeline + translate + optimize + codegen + check + assemble + link;
  }
};

/// One gpu.module (or LLVM IR module), compiled.
struct CompiledModule {
  std::string name;
  std::string chip;
  std::string isa;
  /// The linked ELF; empty for `isa`.
  std::string codeObject;
  /// The bundle; empty unless asked for.
  std::string fatBinary;
  std::vector<KernelResources> kernels;
  /// What the wait check says about the code that is in here; nothing if it
  /// didn't run.
  std::optional<WaitCheckReport> check;
  /// True if the code with alias scopes failed the check, so that this is the
  /// code without; `taggedCheck` says what was wrong with the other.
  bool untaggedFallback = false;
  std::optional<WaitCheckReport> taggedCheck;
  CompileTimes seconds;
};

/// Why a compile failed; the diagnostics have the details.
enum class CompileFailure {
  none,
  /// The input, or an option, is wrong or not supported.
  input,
  /// A tool (ld.lld) or library (ROCm's device libraries) is missing.
  missingTool,
  /// `strict`: a refusal of the alias-scope pass or a finding of the check.
  strict
};

struct CompileResult {
  std::vector<CompiledModule> modules;
  CompileFailure failure = CompileFailure::none;
};

/// Compiles each gpu.module in `module`, which stays as it is.
///
/// The verdict. A kernel is first compiled with alias scopes. If the wait check
/// finds something in its machine code, it is compiled without, which makes
/// LLVM wait for every LDS-DMA at every LDS access, and that code is checked,
/// too; a warning says so. One kind of finding is no reason to fall back: if it
/// is only that an address cannot be bounded (`WaitOverlap::unknown`), and all
/// LDS of the module is in `lds.region`s, whose contract is that an address
/// stays in its region, the code with scopes is kept, and a warning says that
/// it rests on that contract. With `strict` either is an error. Errors and
/// warnings are diagnostics in its context, where registerEverything()'s
/// dialects must be available. Several threads may compile, each with a context
/// of its own.
mlir::LogicalResult compile(mlir::ModuleOp module,
                            const CompileOptions &options,
                            CompileResult &result);

/// The second half of compile(): `gpuModule` is in the LLVM dialect already (as
/// `lodestone-to-rocdl{alias-scopes=false}` leaves it) and stays as it is.
mlir::LogicalResult compileLowered(mlir::gpu::GPUModuleOp gpuModule,
                                   const CompileOptions &options,
                                   CompiledModule &result,
                                   CompileFailure &failure);

/// Compiles LLVM IR, text or bitcode, for another compiler's kernels: code
/// generation and the check, no alias scopes and no fallback. Diagnostics go to
/// `context`.
mlir::LogicalResult compileLLVMIR(llvm::MemoryBufferRef ir,
                                  mlir::MLIRContext &context,
                                  const CompileOptions &options,
                                  CompileResult &result);

/// The `ld.lld` to link with: `preferred` if given, else $LODESTONE_LLD, else
/// the one beside the LLVM that Lodestone was built with, else the first on
/// PATH. Empty if there is none.
std::string findLinker(llvm::StringRef preferred = {});

} // namespace lodestone

#endif // LODESTONE_TARGET_COMPILE_H
