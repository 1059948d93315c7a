//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// LLVM IR to AMDGPU assembly and objects in this process, with room for
/// machine passes of our own. Knows no MLIR.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_TARGET_CODEGEN_H
#define LODESTONE_TARGET_CODEGEN_H

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/Target/TargetMachine.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class LLVMContext;
class MachineFunctionPass;
class Module;
} // namespace llvm

namespace lodestone {

/// The target triple of everything that Lodestone compiles.
inline constexpr llvm::StringLiteral kTargetTriple = "amdgcn-amd-amdhsa";

/// What LLVM said while it compiled. LLVM knows source locations only where the
/// module has debug info; `function` (may be empty) is the next best.
struct LLVMDiagnostic {
  llvm::DiagnosticSeverity severity;
  std::string message;
  std::string function;
  std::string file;
  unsigned line = 0;
  unsigned column = 0;
};

/// Collects what LLVM says about the modules of `context` into `diagnostics`,
/// which must outlive them. Without it LLVM prints and ends the process on an
/// error. Optimization remarks are dropped.
void collectDiagnostics(llvm::LLVMContext &context,
                        std::vector<LLVMDiagnostic> &diagnostics);

/// True if one of `diagnostics` is an error.
bool hasErrors(const std::vector<LLVMDiagnostic> &diagnostics);

/// Makes LLVM's AMDGPU backend known to the process. Cheap when called again;
/// safe from several threads.
void initializeAMDGPU();

/// A target machine for `chip`, or null with `error` set. `optLevel` is 0 to 3.
std::unique_ptr<llvm::TargetMachine>
createTargetMachine(llvm::StringRef chip, llvm::StringRef features,
                    unsigned optLevel, std::string &error);

/// Runs LLVM's default pipeline for -O`optLevel` on `module`.
void optimizeLLVM(llvm::Module &module, llvm::TargetMachine &machine,
                  unsigned optLevel);

/// Makes a machine pass for one code generation, or null for none; the pass
/// manager owns it.
using MachinePassFactory = std::function<llvm::MachineFunctionPass *()>;

struct CodegenOptions {
  /// Assembly text if set, an object file if not.
  bool assembly = true;
  /// Generate with GlobalISel instead of SelectionDAG.
  bool globalISel = false;
  /// Run this right after `si-insert-waitcnts`, when every wait is in place
  /// and memory operands still point to the IR.
  MachinePassFactory afterWaits;
  /// Stop after `afterWaits`; nothing is emitted.
  bool stopAfterWaits = false;
};

struct CodegenOutput {
  /// Assembly text or an ELF object.
  llvm::SmallString<0> bytes;
  /// Seconds in all and, of them, in `afterWaits`.
  double seconds = 0;
  double afterWaitsSeconds = 0;
};

/// Generates code for `module`, which is used up. Returns false with `error`
/// set if the code generator cannot be put together; problems with the module
/// itself go to the diagnostic handler of its context.
bool generateCode(llvm::Module &module, llvm::TargetMachine &machine,
                  const CodegenOptions &options, CodegenOutput &output,
                  std::string &error);

/// Assembles `assembly` for the chip of `machine` to an ELF object. Errors
/// (inline assembly that is wrong shows here) are added to `diagnostics`.
bool assemble(llvm::StringRef assembly, const llvm::TargetMachine &machine,
              llvm::SmallVectorImpl<char> &object,
              std::vector<LLVMDiagnostic> &diagnostics);

} // namespace lodestone

#endif // LODESTONE_TARGET_CODEGEN_H
