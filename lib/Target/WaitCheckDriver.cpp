//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The wait checker on other compilers' kernels: LLVM IR and MIR.
///
//===----------------------------------------------------------------------===//

#include "lodestone/Support/Chip.h"
#include "lodestone/Support/ParserLimits.h"
#include "lodestone/Target/Codegen.h"
#include "lodestone/Target/CrashGuard.h"
#include "lodestone/Target/WaitCheck.h"

#include "llvm/Analysis/RuntimeLibcallInfo.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/CodeGen/MIRParser/MIRParser.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/PassInfo.h"
#include "llvm/PassRegistry.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using namespace lodestone;

namespace {

/// Everything that LLVM works on. On the heap, since it must be leaked when
/// LLVM gives up half way (see runGuarded).
struct Job {
  std::vector<LLVMDiagnostic> diagnostics;
  LLVMContext context;
  std::unique_ptr<TargetMachine> machine;
  std::unique_ptr<MIRParser> parser;
  std::unique_ptr<Module> module;
  WaitCheckReport report;

  Job() { collectDiagnostics(context, diagnostics); }

  void error(const Twine &message) {
    diagnostics.push_back({DS_Error, message.str(), {}, {}});
  }
  void error(const SMDiagnostic &problem) {
    diagnostics.push_back({DS_Error,
                           problem.getMessage().str(),
                           {},
                           problem.getFilename().str(),
                           unsigned(std::max(problem.getLineNo(), 0)),
                           unsigned(problem.getColumnNo() + 1)});
  }
};

} // namespace

/// The chip that the functions of `module` are for; `asked` must not differ.
static bool prepareMachine(Job &job, const WaitCheckOptions &options) {
  Module &module = *job.module;
  std::string chip = options.chip;
  for (const Function &function : module) {
    StringRef cpu = function.getFnAttribute("target-cpu").getValueAsString();
    if (cpu.empty() || function.isDeclaration() || cpu == chip)
      continue;
    if (!chip.empty()) {
      job.error("function '" + function.getName() + "' is for " + cpu +
                ", not for " + chip);
      return false;
    }
    chip = cpu.str();
  }
  if (chip.empty()) {
    job.error("no chip given, and no function has a target-cpu; the known ones "
              "are " +
              knownChips());
    return false;
  }
  if (!lookupChip(chip)) {
    job.error("unknown chip '" + chip + "'; the known ones are " +
              knownChips());
    return false;
  }
  if (module.getTargetTriple().empty())
    module.setTargetTriple(Triple(kTargetTriple));
  if (!module.getTargetTriple().isAMDGCN()) {
    job.error("the module is for '" + module.getTargetTriple().str() +
              "', not for " + kTargetTriple);
    return false;
  }
  std::string problem;
  job.machine = createTargetMachine(chip, "", options.optLevel, problem);
  if (!job.machine) {
    job.error(problem);
    return false;
  }
  if (module.getDataLayout().isDefault())
    module.setDataLayout(job.machine->createDataLayout());
  return true;
}

/// Runs `work` on a fresh job so that nothing it does can end the process, and
/// hands over what came out.
static bool runJob(StringRef contents, StringRef name, WaitCheckReport &report,
                   std::vector<CheckError> &errors,
                   function_ref<void(Job &)> work) {
  unsigned line = 0;
  if (!isBitcode(contents.bytes_begin(), contents.bytes_end()))
    if (auto deep = findUnparsable(contents, TextSyntax::llvm, line)) {
      errors.push_back({{name.str(), line, 1}, *deep});
      return false;
    }
  auto job = std::make_unique<Job>();
  std::string why;
  bool finished = runGuarded([&] { work(*job); }, why);
  std::vector<LLVMDiagnostic> diagnostics;
  diagnostics.swap(job->diagnostics);
  bool failed = !finished || hasErrors(diagnostics);
  if (!failed)
    report = std::move(job->report);
  if (!finished) {
    (void)job.release();
    diagnostics.push_back({DS_Error, "LLVM gave up: " + why, {}, {}});
  }
  for (const LLVMDiagnostic &diagnostic : diagnostics) {
    if (diagnostic.severity != DS_Error)
      continue;
    std::string file = diagnostic.file.empty() ? name.str() : diagnostic.file;
    errors.push_back(
        {{file, diagnostic.line, diagnostic.column}, diagnostic.message});
  }
  return !failed;
}

bool lodestone::checkLLVMIR(StringRef contents, StringRef name,
                            const WaitCheckOptions &options,
                            WaitCheckReport &report,
                            std::vector<CheckError> &errors) {
  return runJob(contents, name, report, errors, [&](Job &job) {
    SMDiagnostic problem;
    job.module = parseIR(MemoryBufferRef(contents, name), problem, job.context);
    if (!job.module)
      return job.error(problem);
    if (!prepareMachine(job, options))
      return;
    std::string text;
    raw_string_ostream os(text);
    if (verifyModule(*job.module, &os))
      return job.error("invalid LLVM IR: " + StringRef(text).trim());
    CodegenOptions codegen;
    codegen.globalISel = options.globalISel;
    codegen.afterWaits = [&] { return createWaitCheckPass(job.report); };
    codegen.stopAfterWaits = true;
    CodegenOutput output;
    std::string error;
    if (!generateCode(*job.module, *job.machine, codegen, output, error))
      job.error(error);
  });
}

namespace {
/// How far the code of a MIR file has come.
enum class Stage {
  /// Right after instruction selection: in SSA form.
  selected,
  /// Past the wait insertion, by all appearances.
  waitsInserted,
  between
};
} // namespace

static Stage stageOf(const MachineFunction &function) {
  if (function.getRegInfo().getNumVirtRegs() != 0)
    return function.getRegInfo().isSSA() ? Stage::selected : Stage::between;
  // The memory legalizer's proposals, which the wait insertion settles.
  const TargetInstrInfo &info = *function.getSubtarget().getInstrInfo();
  for (const MachineBasicBlock &block : function)
    for (const MachineInstr &instr : block.instrs())
      if (info.getName(instr.getOpcode()).ends_with("_soft"))
        return Stage::between;
  return Stage::waitsInserted;
}

/// Adds the check, and what comes before it if the code is only selected.
static bool addPasses(Job &job, legacy::PassManager &passes,
                      MachineModuleInfoWrapperPass *machineModule,
                      Stage stage) {
  if (stage == Stage::waitsInserted) {
    passes.add(machineModule);
    passes.add(createWaitCheckPass(job.report));
    return true;
  }
  const PassInfo *waits = PassRegistry::getPassRegistry()->getPassInfo(
      llvm::StringRef("si-insert-waitcnts"));
  if (!waits) {
    job.error("this LLVM has no pass 'si-insert-waitcnts' to check after");
    return false;
  }
  TargetPassConfig *config = job.machine->createPassConfig(passes);
  config->setDisableVerify(true);
  passes.add(config);
  passes.add(machineModule);
  const TargetOptions &target = job.machine->Options;
  passes.add(new RuntimeLibraryInfoWrapper(
      job.machine->getTargetTriple(), target.ExceptionModel,
      target.FloatABIType, target.EABIVersion, target.MCOptions.ABIName,
      target.VecLib));
  config->insertPass(waits->getTypeInfo(),
                     IdentifyingPassPtr(createWaitCheckPass(job.report)));
  config->addMachinePasses();
  config->setInitialized();
  return true;
}

bool lodestone::checkMIR(StringRef contents, StringRef name,
                         const WaitCheckOptions &options,
                         WaitCheckReport &report,
                         std::vector<CheckError> &errors) {
  return runJob(contents, name, report, errors, [&](Job &job) {
    SMDiagnostic problem;
    job.parser = createMIRParser(MemoryBuffer::getMemBufferCopy(contents, name),
                                 job.context);
    if (!job.parser)
      return job.error("not MIR");
    job.module = job.parser->parseIRModule();
    if (!job.module) {
      if (!hasErrors(job.diagnostics))
        job.error("the LLVM IR in this MIR cannot be read");
      return;
    }
    if (!prepareMachine(job, options))
      return;
    legacy::PassManager passes;
    auto machineModule =
        std::make_unique<MachineModuleInfoWrapperPass>(job.machine.get());
    MachineModuleInfo &functions = machineModule->getMMI();
    if (job.parser->parseMachineFunctions(*job.module, functions)) {
      if (!hasErrors(job.diagnostics))
        job.error("the machine functions in this MIR cannot be read");
      return;
    }
    std::optional<Stage> stage;
    for (const Function &function : *job.module) {
      const MachineFunction *code = functions.getMachineFunction(function);
      if (!code)
        continue;
      Stage one = stageOf(*code);
      if (one == Stage::between || (stage && *stage != one))
        return job.error(
            "function '" + function.getName() +
            "' is neither right after instruction selection nor past the "
            "insertion of waits; write the MIR with "
            "-stop-after=si-insert-waitcnts or -stop-after=finalize-isel");
      stage = one;
    }
    if (!stage)
      return job.error("no machine function to check");
    if (addPasses(job, passes, machineModule.release(), *stage))
      passes.run(*job.module);
  });
}
