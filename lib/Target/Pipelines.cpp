

#include "lodestone/Support/Chip.h"
#include "lodestone/Target/Passes.h"

#include "mlir/Conversion/AMDGPUToROCDL/AMDGPUToROCDL.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/GPUToROCDL/GPUToROCDLPass.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

#include "lodestone/Transforms/Passes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace lodestone;

std::optional<DirectToLDS> lodestone::parseDirectToLDS(StringRef name) {
  return llvm::StringSwitch<std::optional<DirectToLDS>>(name)
      .Case("off", DirectToLDS::off)
      .Case("auto", DirectToLDS::automatic)
      .Case("on", DirectToLDS::on)
      .Default(std::nullopt);
}

static constexpr std::pair<StringLiteral, TDMHintRule> kTDMHintRules[] = {
    {"complementary", TDMHintRule::complementary},
    {"leading-group", TDMHintRule::leadingGroup},
    {"one-per-simd", TDMHintRule::onePerSimd}};

std::optional<TDMHintRule> lodestone::parseTDMHintRule(StringRef name) {
  for (auto [known, rule] : kTDMHintRules)
    if (name == known)
      return rule;
  return std::nullopt;
}

std::string lodestone::unknownTDMHintRuleMessage(StringRef name) {
  return ("'" + name + "' is no rule for hints; rules are " +
          llvm::join(llvm::make_first_range(kTDMHintRules), ", "))
      .str();
}

bool TDMHintRuleParser::parse(llvm::cl::Option &option, StringRef,
                              StringRef arg, TDMHintRule &rule) {
  std::optional<TDMHintRule> parsed = parseTDMHintRule(arg);
  if (!parsed)
    return option.error(unknownTDMHintRuleMessage(arg));
  rule = *parsed;
  return false;
}

void TDMHintRuleParser::print(llvm::raw_ostream &os, TDMHintRule rule) {
  for (auto [name, known] : kTDMHintRules)
    if (rule == known)
      os << name;
}

/// The passes on copies of the tensor data mover, which want structured control
/// flow.
static void addTDMPasses(OpPassManager &kernels,
                         const ToROCDLOptions &options) {
  ArrayRef<TDMHintRule> rules = options.tdmHints;
  auto isOn = [&](TDMHintRule rule) { return llvm::is_contained(rules, rule); };
  TDMInferWarpHintsOptions hints;
  hints.chip = options.chip;
  hints.complementary = isOn(TDMHintRule::complementary);
  hints.leadingGroup = isOn(TDMHintRule::leadingGroup);
  hints.onePerSimd = isOn(TDMHintRule::onePerSimd);
  if (hints.complementary || hints.leadingGroup || hints.onePerSimd)
    kernels.addPass(createTDMInferWarpHints(hints));
  if (options.tdmFuse)
    kernels.addPass(createTDMFuseCopies());
}

/// The passes on copies global -> LDS, which want memrefs and structured
/// control flow.
static void addCopyPasses(OpPassManager &kernels,
                          const ToROCDLOptions &options) {
  LDSUnrollBuffersOptions unroll;
  unroll.chip = options.chip;
  unroll.maxFactor = options.unrollBuffers;
  unroll.stores = options.directToLDS != DirectToLDS::off;
  kernels.addPass(createLDSUnrollBuffers(unroll));
  if (options.inverseSwizzle) {
    LDSInverseSwizzleOptions inverse;
    inverse.chip = options.chip;
    kernels.addPass(createLDSInverseSwizzle(inverse));
  }
  kernels.addPass(createLDSApplySwizzles());
  LDSVerifyDirectLoadsOptions verify;
  verify.chip = options.chip;
  kernels.addPass(createLDSVerifyDirectLoads(verify));
  if (options.directToLDS != DirectToLDS::off) {
    LDSFormDirectLoadsOptions direct;
    direct.chip = options.chip;
    direct.narrow = options.directToLDS == DirectToLDS::on;
    direct.assumeSmallBuffers = options.assumeSmallBuffers;
    kernels.addPass(createLDSFormDirectLoads(direct));
  }
  // For the copies that are left: one whose load and store are apart, each
  // under a condition of its own, isn't known as a copy any more.
  if (options.registerBudget) {
    LDSSplitCopyPhasesOptions phases;
    phases.registerBudget = options.registerBudget;
    kernels.addPass(createLDSSplitCopyPhases(phases));
  }
  LDSLowerAsyncGroupsOptions groups;
  groups.chip = options.chip;
  kernels.addPass(createLDSLowerAsyncGroups(groups));
}

/// The passes that come before alias scopes.
static void addLowering(OpPassManager &passes, const ToROCDLOptions &options) {
  CheckGPUModulesOptions check;
  check.chip = options.chip;
  // A library of device functions is fine until a binary is asked for.
  check.requireKernels = false;
  passes.addPass(createCheckGPUModules(check));

  OpPassManager &kernels = passes.nest<gpu::GPUModuleOp>();
  kernels.addPass(createInlinerPass());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  addCopyPasses(kernels, options);
  addTDMPasses(kernels, options);
  kernels.addPass(createLDSHoistAllocations());
  kernels.addPass(createLowerVectorOps());
  VectorTransferToSCFOptions transfers;
  kernels.addPass(
      createConvertVectorToSCFPass(transfers.enableFullUnroll(true)));
  kernels.addPass(createLowerVectorOps());
  ConvertTDMToROCDLOptions tdm;
  tdm.chip = options.chip;
  tdm.indexBitwidth = options.indexBitwidth;
  kernels.addPass(createConvertTDMToROCDL(tdm));
  kernels.addPass(memref::createExpandStridedMetadataPass());
  kernels.addPass(createLowerAffinePass());
  kernels.addPass(createSCFToControlFlowPass());

  LDSLowerRegionsOptions regions;
  regions.chip = options.chip;
  regions.separateGlobals = options.separateGlobals;
  regions.indexBitwidth = options.indexBitwidth;
  kernels.addPass(createLDSLowerRegions(regions));

  ConvertGpuOpsToROCDLOpsOptions toROCDL;
  toROCDL.chipset = options.chip;
  toROCDL.indexBitwidth = options.indexBitwidth;
  toROCDL.useBarePtrCallConv = options.barePointers;
  toROCDL.runtime = gpu::amd::Runtime::HIP;
  kernels.addPass(createConvertGpuOpsToROCDLOps(toROCDL));
  // Kernels that were llvm.func from the start may still hold amdgpu ops.
  ConvertAMDGPUToROCDLPassOptions amdgpu;
  amdgpu.chipset = options.chip;
  kernels.addPass(createConvertAMDGPUToROCDLPass(amdgpu));
  kernels.addPass(createReconcileUnrealizedCastsPass());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createCheckLowered());
}

void lodestone::addAliasScopePasses(OpPassManager &passes, StringRef chip,
                                    bool strict) {
  passes.addPass(createLDSPackStaticGlobals());
  LDSAttachAliasScopesOptions scopes;
  scopes.chip = chip.str();
  scopes.strict = strict;
  passes.addPass(createLDSAttachAliasScopes(scopes));
}

void lodestone::buildToROCDLPipeline(OpPassManager &passes,
                                     const ToROCDLOptions &options) {
  addLowering(passes, options);
  if (options.aliasScopes)
    addAliasScopePasses(passes.nest<gpu::GPUModuleOp>(), options.chip,
                        options.strict);
}

void lodestone::buildToBinaryPipeline(OpPassManager &passes,
                                      const ToBinaryOptions &options) {
  addLowering(passes, options);
  // Scopes are attached by this pass, which also needs the code without them.
  GPUModulesToBinaryOptions binary;
  binary.chip = options.chip;
  binary.format = options.format;
  binary.aliasScopes = options.aliasScopes;
  binary.check = options.check;
  binary.strict = options.strict;
  binary.optLevel = options.optLevel;
  binary.features = options.features;
  binary.linker = options.linker;
  binary.rocmPath = options.rocmPath;
  passes.addPass(createGPUModulesToBinary(binary));
}

void lodestone::registerTargetPasses() {
  registerLodestoneTargetPasses();
  PassPipelineRegistration<ToROCDLOptions>(
      "lodestone-to-rocdl",
      "Lower each gpu.module from upstream dialects and lds to the LLVM and "
      "ROCDL dialects, and attach alias scopes to its LDS accesses",
      buildToROCDLPipeline);
  PassPipelineRegistration<ToBinaryOptions>(
      "lodestone-to-binary",
      "Compile each gpu.module to a gpu.binary with checked machine code",
      buildToBinaryPipeline);
}
