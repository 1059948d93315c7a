

#include "BackEnd.h"
#include "lodestone/Support/Chip.h"
#include "lodestone/Support/ParserLimits.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace lodestone;

/// The `target-cpu` that the functions of `module` agree on. LLVM obeys it
/// whatever the target machine is, so it is not only a default.
static FailureOr<std::string> findChip(const llvm::Module &module,
                                       StringRef asked, Location location) {
  std::string chip = asked.str();
  for (const llvm::Function &function : module) {
    StringRef cpu = function.getFnAttribute("target-cpu").getValueAsString();
    if (cpu.empty() || function.isDeclaration() || cpu == chip)
      continue;
    if (!chip.empty())
      return emitError(location, "function '")
             << function.getName() << "' is for " << cpu << ", not for "
             << chip;
    chip = cpu.str();
  }
  if (chip.empty())
    return emitError(location, "no chip given, and no function has a "
                               "target-cpu; set chip to one of ")
           << knownChips();
  if (!lookupChip(chip))
    return emitError(location, "unknown chip '")
           << chip << "'; the known ones are " << knownChips();
  return chip;
}

LogicalResult lodestone::compileLLVMIR(llvm::MemoryBufferRef ir,
                                       MLIRContext &context,
                                       const CompileOptions &options,
                                       CompileResult &result) {
  result = CompileResult();
  result.failure = CompileFailure::input;
  StringRef name = ir.getBufferIdentifier();
  Location file = FileLineColLoc::get(&context, name, 0, 0);
  auto locate = [&](const LLVMDiagnostic &diagnostic) -> Location {
    StringRef at = diagnostic.file.empty() ? name : StringRef(diagnostic.file);
    return FileLineColLoc::get(&context, at, diagnostic.line,
                               diagnostic.column);
  };

  unsigned line = 0;
  StringRef text = ir.getBuffer();
  if (!llvm::isBitcode(text.bytes_begin(), text.bytes_end()))
    if (auto deep = findUnparsable(text, TextSyntax::llvm, line))
      return emitError(FileLineColLoc::get(&context, name, line, 1), *deep);

  LLVMUnit unit;
  CompiledModule compiled;
  if (failed(runStage("the reader of its IR", unit, locate,
                      compiled.seconds.translate, [&] {
                        llvm::SMDiagnostic problem;
                        unit.module = llvm::parseIR(ir, problem, *unit.context);
                        if (!unit.module)
                          unit.diagnostics.push_back(
                              {llvm::DS_Error,
                               problem.getMessage().str(),
                               {},
                               name.str(),
                               unsigned(std::max(problem.getLineNo(), 0)),
                               unsigned(problem.getColumnNo() + 1)});
                      })))
    return failure();

  llvm::Module &module = *unit.module;
  if (module.getTargetTriple().empty())
    module.setTargetTriple(llvm::Triple(kTargetTriple));
  if (!module.getTargetTriple().isAMDGCN())
    return emitError(file, "the module is for '")
           << module.getTargetTriple().str() << "', not for " << kTargetTriple;
  if (llvm::all_of(module, [](const llvm::Function &function) {
        return function.isDeclaration();
      }))
    return emitError(file,
                     "the module defines no function, so there is nothing "
                     "to compile");
  FailureOr<std::string> chip = findChip(module, options.chip, file);
  if (failed(chip))
    return failure();
  std::string problem;
  unit.machine =
      createTargetMachine(*chip, options.features, options.optLevel, problem);
  if (!unit.machine)
    return emitError(file, problem);
  if (module.getDataLayout().isDefault())
    module.setDataLayout(unit.machine->createDataLayout());

  compiled.name = module.getModuleIdentifier();
  compiled.chip = *chip;
  if (failed(runBackEnd(unit, options.optimizeLLVMIR, options, locate, compiled,
                        result.failure)))
    return failure();
  if (compiled.check && !compiled.check->findings.empty()) {
    InFlightDiagnostic diagnostic =
        options.strict ? emitError(file) : emitWarning(file);
    diagnostic << "the machine code fails the wait check ("
               << compiled.check->findings.size()
               << (compiled.check->findings.size() == 1 ? " finding)"
                                                        : " findings)");
    for (const WaitFinding &finding : compiled.check->findings)
      diagnostic.attachNote() << finding.message();
    if (options.strict) {
      result.failure = CompileFailure::strict;
      return diagnostic;
    }
  }
  result.modules.push_back(std::move(compiled));
  return success();
}
