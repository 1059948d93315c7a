
///
/// \file
/// One LLVM module on its way to a code object. Private to lib/Target.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_LIB_TARGET_BACKEND_H
#define LODESTONE_LIB_TARGET_BACKEND_H

#include "lodestone/Target/Codegen.h"
#include "lodestone/Target/Compile.h"

#include "mlir/IR/Location.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace lodestone {

/// An LLVM module with everything that it hangs on to. On a fault inside LLVM
/// the objects are in no state to be destroyed: leak() forgets them.
struct LLVMUnit {
  std::vector<LLVMDiagnostic> diagnostics;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> module;

  LLVMUnit();
  void leak();
};

/// Where in the source a diagnostic of LLVM belongs.
using Locator = llvm::function_ref<mlir::Location(const LLVMDiagnostic &)>;

/// Emits what LLVM said as MLIR diagnostics; fails if there was an error.
mlir::LogicalResult
emitDiagnostics(const std::vector<LLVMDiagnostic> &diagnostics, Locator locate);

/// Calls `fn` under the crash guard and adds its time to `seconds`. If LLVM
/// gave up, leaks `unit`, emits an error that names `stage`, and fails; fails
/// as well on an error that LLVM reported in the ordinary way.
mlir::LogicalResult runStage(llvm::StringRef stage, LLVMUnit &unit,
                             Locator locate, double &seconds,
                             llvm::function_ref<void()> fn);

/// Optimizes (if asked to) and generates code for `unit`, checks it, and goes
/// as far as `options` says. Fills everything of `result` but the names; errors
/// are emitted. A finding of the check is no failure here.
mlir::LogicalResult runBackEnd(LLVMUnit &unit, bool optimize,
                               const CompileOptions &options, Locator locate,
                               CompiledModule &result, CompileFailure &failure);

/// Translates `module`, which is in the LLVM dialect, and runs the back end on
/// it, with the tags that it has. `result` has its name and chip.
mlir::LogicalResult compileAsIs(mlir::gpu::GPUModuleOp module,
                                const CompileOptions &options,
                                CompiledModule &result,
                                CompileFailure &failure);

} // namespace lodestone

#endif // LODESTONE_LIB_TARGET_BACKEND_H
