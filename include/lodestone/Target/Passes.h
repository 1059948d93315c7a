
///
/// \file
/// The passes of lib/Target, generated from Passes.td, and the two pipelines.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_TARGET_PASSES_H
#define LODESTONE_TARGET_PASSES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"

#include <optional>

namespace lodestone {

#define GEN_PASS_DECL
#include "lodestone/Target/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lodestone/Target/Passes.h.inc"

/// Which copies global -> LDS become LDS-DMAs.
enum class DirectToLDS {
  /// None: what the kernel says is what it does.
  off,
  /// Those that are one DMA each.
  automatic,
  /// All that legally can, also those made of several narrower DMAs.
  on
};

/// "off", "auto" or "on"; nothing for another name.
std::optional<DirectToLDS> parseDirectToLDS(llvm::StringRef name);

/// The rules of `tdm-infer-warp-hints`.
enum class TDMHintRule { complementary, leadingGroup, onePerSimd };

/// The rule by the name of its option, as "leading-group"; nothing for another
/// name.
std::optional<TDMHintRule> parseTDMHintRule(llvm::StringRef name);

/// The message for a name that isn't one.
std::string unknownTDMHintRuleMessage(llvm::StringRef name);

/// Reads and writes one of a list. MLIR's list options ignore `cl::values`.
struct TDMHintRuleParser : llvm::cl::basic_parser<TDMHintRule> {
  using basic_parser::basic_parser;
  bool parse(llvm::cl::Option &option, llvm::StringRef argName,
             llvm::StringRef arg, TDMHintRule &rule);
  llvm::StringRef getValueName() const override { return "rule"; }
  static void print(llvm::raw_ostream &os, TDMHintRule rule);
};

/// Options of `lodestone-to-rocdl`.
struct ToROCDLOptions : mlir::PassPipelineOptions<ToROCDLOptions> {
  Option<std::string> chip{*this, "chip",
                           llvm::cl::desc("The chip to compile for, as gfx950"),
                           llvm::cl::init("")};
  Option<bool> aliasScopes{
      *this, "alias-scopes",
      llvm::cl::desc("Attach alias scopes to LDS accesses (default: true)"),
      llvm::cl::init(true)};
  Option<bool> strict{
      *this, "strict",
      llvm::cl::desc("What cannot be tagged with a scope is an error"),
      llvm::cl::init(false)};
  Option<bool> inverseSwizzle{
      *this, "inverse-swizzle",
      llvm::cl::desc("Store what is copied to LDS linearly, and load it as the "
                     "swizzle wants it (default: false)"),
      llvm::cl::init(false)};
  Option<unsigned> registerBudget{
      *this, "register-budget",
      llvm::cl::desc(
          "Vector registers of a lane that copies to LDS may take to "
          "load everything before they store; 0: leave their order"),
      llvm::cl::init(0)};
  Option<DirectToLDS> directToLDS{
      *this, "direct-to-lds",
      llvm::cl::desc("Which copies from global memory to LDS become LDS-DMAs"),
      llvm::cl::init(DirectToLDS::off),
      llvm::cl::values(
          clEnumValN(DirectToLDS::off, "off", "None (default)"),
          clEnumValN(DirectToLDS::automatic, "auto", "Those of one DMA each"),
          clEnumValN(DirectToLDS::on, "on", "All that can"))};
  ListOption<TDMHintRule, TDMHintRuleParser> tdmHints{
      *this, "tdm-hints",
      llvm::cl::desc(
          "Rules that choose the warps of TDM loads (default: none): "
          "complementary, leading-group, one-per-simd")};
  Option<bool> tdmFuse{
      *this, "tdm-fuse",
      llvm::cl::desc("Make one instruction of adjacent TDM loads on disjoint "
                     "warps (default: false)"),
      llvm::cl::init(false)};
  Option<bool> assumeSmallBuffers{
      *this, "assume-small-buffers",
      llvm::cl::desc("Take memrefs of dynamic sizes or strides that LDS-DMAs "
                     "read to have less than 2^32 bytes, and no negative "
                     "stride (default: false)"),
      llvm::cl::init(false)};
  Option<bool> separateGlobals{
      *this, "separate-globals",
      llvm::cl::desc("Lower each lds.region to a global of its own"),
      llvm::cl::init(false)};
  Option<unsigned> indexBitwidth{
      *this, "index-bitwidth",
      llvm::cl::desc("Bits of `index`, 32 or 64; 0: as the data layout says"),
      llvm::cl::init(0)};
  Option<bool> barePointers{
      *this, "bare-pointers",
      llvm::cl::desc("Pass a memref to a kernel as one pointer; each must then "
                     "have a static shape (default: a memref descriptor)"),
      llvm::cl::init(false)};
};

/// Options of `lodestone-to-binary`: those and what code generation needs.
struct ToBinaryOptions : ToROCDLOptions {
  Option<std::string> format{
      *this, "format",
      llvm::cl::desc("What the gpu.binary holds: isa, hsaco (default), fatbin"),
      llvm::cl::init("hsaco")};
  Option<bool> check{
      *this, "check",
      llvm::cl::desc("Check the waits of the machine code (default: true)"),
      llvm::cl::init(true)};
  Option<unsigned> optLevel{*this, "O",
                            llvm::cl::desc("LLVM's optimization level, 0 to 3"),
                            llvm::cl::init(3)};
  Option<std::string> features{
      *this, "features",
      llvm::cl::desc("Features of the target machine, as +xnack"),
      llvm::cl::init("")};
  Option<std::string> linker{
      *this, "lld",
      llvm::cl::desc("The ld.lld to link with; searched for if empty"),
      llvm::cl::init("")};
  Option<std::string> rocmPath{
      *this, "rocm-path",
      llvm::cl::desc("The ROCm installation with the device libraries"),
      llvm::cl::init("")};
};

/// Adds the passes that take each `gpu.module` in a module from upstream
/// dialects and `lds` to the LLVM and ROCDL dialects.
///
/// Kernel arguments, in order, each at its natural alignment: a scalar, vector
/// or `!llvm.ptr` is itself; a memref of rank r is its descriptor, (pointer,
/// aligned pointer, offset, r sizes, r strides) with the integers of index
/// width, or just the aligned pointer with `barePointers`. The resource report
/// has the offsets.
void buildToROCDLPipeline(mlir::OpPassManager &passes,
                          const ToROCDLOptions &options);

/// Adds the passes that attach alias scopes, and pack static LDS globals so
/// that LLVM keeps them, to an op pass manager of a `gpu.module` in the LLVM
/// dialect.
void addAliasScopePasses(mlir::OpPassManager &passes, llvm::StringRef chip,
                         bool strict);

/// buildToROCDLPipeline's passes, and on to a `gpu.binary` for each
/// `gpu.module`.
void buildToBinaryPipeline(mlir::OpPassManager &passes,
                           const ToBinaryOptions &options);

/// Registers the passes and the pipelines by name.
void registerTargetPasses();

} // namespace lodestone

#endif // LODESTONE_TARGET_PASSES_H
