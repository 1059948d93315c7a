//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Target/Codegen.h"
#include "BarrierGuard.h"

#include "llvm/Analysis/RuntimeLibcallInfo.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/PassInfo.h"
#include "llvm/PassRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Triple.h"

#include <chrono>

using namespace lodestone;

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

namespace {
struct Collector final : llvm::DiagnosticHandler {
  explicit Collector(std::vector<LLVMDiagnostic> &diagnostics)
      : diagnostics(diagnostics) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    // Remarks are many and nobody asked for them here.
    if (info.getSeverity() == llvm::DS_Remark ||
        info.getSeverity() == llvm::DS_Note)
      return true;
    LLVMDiagnostic diagnostic{info.getSeverity(), {}, {}, {}};
    llvm::raw_string_ostream text(diagnostic.message);
    if (auto *source = llvm::dyn_cast<llvm::DiagnosticInfoSrcMgr>(&info)) {
      // Print what is wrong and not the caret art around it.
      text << source->getSMDiag().getMessage();
    } else {
      llvm::DiagnosticPrinterRawOStream printer(text);
      info.print(printer);
    }
    // The base class has no kind of its own to ask for with isa<>.
    if (auto *located =
            dynamic_cast<const llvm::DiagnosticInfoWithLocationBase *>(&info)) {
      diagnostic.function = located->getFunction().getName().str();
      if (located->isLocationAvailable()) {
        llvm::StringRef file;
        located->getLocation(file, diagnostic.line, diagnostic.column);
        diagnostic.file = file.str();
      }
      // The location goes with the diagnostic; its text need not repeat it.
      llvm::StringRef message = diagnostic.message;
      if (message.consume_front(located->getLocationStr() + ": "))
        diagnostic.message = message.str();
    }
    diagnostics.push_back(std::move(diagnostic));
    return true; // handled: LLVM must neither print nor exit
  }

  std::vector<LLVMDiagnostic> &diagnostics;
};
} // namespace

void lodestone::collectDiagnostics(llvm::LLVMContext &context,
                                   std::vector<LLVMDiagnostic> &diagnostics) {
  context.setDiagnosticHandler(std::make_unique<Collector>(diagnostics));
}

bool lodestone::hasErrors(const std::vector<LLVMDiagnostic> &diagnostics) {
  return llvm::any_of(diagnostics, [](const LLVMDiagnostic &diagnostic) {
    return diagnostic.severity == llvm::DS_Error;
  });
}

//===----------------------------------------------------------------------===//
// Target machine and optimizer
//===----------------------------------------------------------------------===//

void lodestone::initializeAMDGPU() {
  static const bool once = [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeAMDGPUAsmParser();
    return true;
  }();
  (void)once;
}

/// LLVM prints a line about a feature that it doesn't know, and goes on.
static bool checkFeatures(const llvm::Target &target, llvm::StringRef features,
                          std::string &error) {
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      target.createMCSubtargetInfo(llvm::Triple(kTargetTriple), "", ""));
  for (llvm::StringRef feature : llvm::split(features, ',')) {
    llvm::StringRef name = feature.trim();
    bool hasSign = name.consume_front("+") || name.consume_front("-");
    if (hasSign && llvm::any_of(subtarget->getAllProcessorFeatures(),
                                [&](const llvm::SubtargetFeatureKV &known) {
                                  return name == known.Key;
                                }))
      continue;
    error = "unknown feature '" + feature.str() +
            "'; features are those of LLVM's AMDGPU backend with a sign, "
            "separated by commas, as in +xnack,-sramecc";
    return false;
  }
  return true;
}

std::unique_ptr<llvm::TargetMachine>
lodestone::createTargetMachine(llvm::StringRef chip, llvm::StringRef features,
                               unsigned optLevel, std::string &error) {
  if (optLevel > 3) {
    error = "optimization level " + std::to_string(optLevel) +
            " is not one of 0, 1, 2, 3";
    return nullptr;
  }
  initializeAMDGPU();
  llvm::Triple triple(kTargetTriple);
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  if (!features.empty() && !checkFeatures(*target, features, error))
    return nullptr;
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, chip, features, {}, std::nullopt));
  if (!machine) {
    error = "this LLVM cannot generate code for AMDGPU";
    return nullptr;
  }
  machine->setOptLevel(static_cast<llvm::CodeGenOptLevel>(optLevel));
  return machine;
}

void lodestone::optimizeLLVM(llvm::Module &module, llvm::TargetMachine &machine,
                             unsigned optLevel) {
  static const llvm::OptimizationLevel levels[] = {
      llvm::OptimizationLevel::O0, llvm::OptimizationLevel::O1,
      llvm::OptimizationLevel::O2, llvm::OptimizationLevel::O3};
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  // Spelled out as upstream's serializer has it, so that an untagged kernel
  // comes out the same.
  llvm::PipelineTuningOptions tuning;
  tuning.LoopUnrolling = true;
  tuning.LoopInterleaving = true;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = true;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::OptimizationLevel level = levels[std::min(optLevel, 3u)];
  llvm::ModulePassManager passes =
      optLevel == 0 ? builder.buildO0DefaultPipeline(level)
                    : builder.buildPerModuleDefaultPipeline(level);
  passes.run(module, modules);
}

//===----------------------------------------------------------------------===//
// Code generation
//===----------------------------------------------------------------------===//

namespace {
using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Two of these around a pass measure it, function by function.
struct StopWatch final : llvm::MachineFunctionPass {
  StopWatch(Clock::time_point &started, double *total)
      : MachineFunctionPass(ID), started(started), total(total) {}

  llvm::StringRef getPassName() const override { return "Lodestone stopwatch"; }
  void getAnalysisUsage(llvm::AnalysisUsage &usage) const override {
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }
  bool runOnMachineFunction(llvm::MachineFunction &) override {
    if (total)
      *total += secondsSince(started);
    else
      started = Clock::now();
    return false;
  }

  static char ID;
  Clock::time_point &started;
  double *total; // null in the watch that starts
};
char StopWatch::ID = 0;
} // namespace

bool lodestone::generateCode(llvm::Module &module, llvm::TargetMachine &machine,
                             const CodegenOptions &options,
                             CodegenOutput &output, std::string &error) {
  Clock::time_point start = Clock::now();
  Clock::time_point passStart;
  machine.setGlobalISel(options.globalISel);
  if (options.globalISel)
    machine.setGlobalISelAbort(llvm::GlobalISelAbortMode::Disable);

  llvm::raw_svector_ostream stream(output.bytes);
  llvm::legacy::PassManager passes;
  // From here on as CodeGenTargetMachineImpl::addPassesToEmitFile, which has no
  // room for a pass in the middle.
  auto *machineModule = new llvm::MachineModuleInfoWrapperPass(&machine);
  llvm::TargetPassConfig *config = machine.createPassConfig(passes);
  config->setDisableVerify(true);
  passes.add(config);
  passes.add(machineModule);
  const llvm::TargetOptions &target = machine.Options;
  passes.add(new llvm::RuntimeLibraryInfoWrapper(
      machine.getTargetTriple(), target.ExceptionModel, target.FloatABIType,
      target.EABIVersion, target.MCOptions.ABIName, target.VecLib));
  addBarrierGuards(*config);
  llvm::MachineFunctionPass *afterWaits =
      options.afterWaits ? options.afterWaits() : nullptr;
  if (afterWaits) {
    const llvm::PassInfo *waits =
        llvm::PassRegistry::getPassRegistry()->getPassInfo(
            // A plain literal would be taken for the address of a pass ID.
            llvm::StringRef("si-insert-waitcnts"));
    if (!waits) {
      error = "this LLVM has no pass 'si-insert-waitcnts' to check after";
      return false;
    }
    auto insert = [&](llvm::Pass *pass) {
      config->insertPass(waits->getTypeInfo(), llvm::IdentifyingPassPtr(pass));
    };
    insert(new StopWatch(passStart, nullptr));
    insert(afterWaits);
    insert(new StopWatch(passStart, &output.afterWaitsSeconds));
  }
  if (config->addISelPasses()) {
    error = "this LLVM has no instruction selector for AMDGPU";
    return false;
  }
  config->addMachinePasses();
  config->setInitialized();
  if (!options.stopAfterWaits &&
      machine.addAsmPrinter(passes, stream, nullptr,
                            options.assembly
                                ? llvm::CodeGenFileType::AssemblyFile
                                : llvm::CodeGenFileType::ObjectFile,
                            machineModule->getMMI().getContext())) {
    error = "this LLVM cannot write AMDGPU code";
    return false;
  }
  passes.add(llvm::createFreeMachineFunctionPass());
  passes.run(module);
  output.seconds = secondsSince(start);
  return true;
}
