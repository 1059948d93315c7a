//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The decision, for every LDS access of a module, which alias scopes it may
/// carry and why not where it may not. The plan changes nothing;
/// `lds-attach-alias-scopes` carries it out and `lodestone.analyze` shows it.
///
/// ## What must hold
///
/// - A scope stands for bytes of LDS that DMAs write and that are waited for as
///   one: a *DMA range*. DMA ranges of one kernel don't overlap. It is a whole
///   buffer wherever accesses don't keep its parts apart.
/// - A DMA carries the scopes of the ranges that it may write. One that can't
/// be
///   traced carries the *wildcard* scope, which no noalias list ever holds.
/// - An access carries noalias for exactly the ranges that it can't touch.
/// - DMAs that may write the same ranges carry identical lists, so that LLVM
///   gives them one slot.
/// - An access carries metadata only where LLVM's slots are complete for it
///   (DMASlots.h), because any metadata at all makes LLVM look at slots only.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_ANALYSIS_ALIASSCOPEPLAN_H
#define LODESTONE_ANALYSIS_ALIASSCOPEPLAN_H

#include "lodestone/Analysis/LDSAccess.h"
#include "lodestone/Analysis/LDSProvenance.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <memory>
#include <string>
#include <vector>

namespace lodestone {

/// Why an access stays without metadata, or a DMA gets the wildcard.
enum class ScopeRefusal {
  none,
  /// The pointer can't be traced to an LDS object.
  unknownPointer,
  /// A flat pointer that may or may not point into LDS.
  flatPointer,
  /// Every byte that the access may touch lies outside its object.
  outsideObject,
  /// A DMA that the access overlaps isn't in LLVM's list of slots on every
  /// path.
  unprimedDMA,
  /// A DMA of the kernel can't carry scopes.
  untaggableDMA,
  /// Two or more static LDS globals, whose metadata the backend replaces.
  staticLDSConflict,
  /// A DMA's address isn't hidden from LLVM's alias analysis.
  needsLaunder,
};

/// The stable name of the remark for `refusal`, such as "unknown-pointer".
llvm::StringRef getRemarkName(ScopeRefusal refusal);

/// A DMA range and the name of its scope.
struct DMARange {
  ByteRange bytes;
  std::string name;
};

/// A set of DMA ranges that some access or DMA touches; accesses with equal
/// sets carry equal metadata.
struct RangeSet {
  llvm::SmallVector<unsigned, 2> ranges;
  /// An ordinary access may touch any byte from its first range to its last.
  bool contiguous = false;
  /// For a DMA's set: its slot. -1 if no DMA has this set.
  int slot = -1;
};

struct PlannedAccess {
  LDSAccess access;
  mlir::LLVM::LLVMFuncOp function;
  /// The bytes that it may touch; nothing if unknown.
  std::optional<llvm::SmallVector<ByteRange, 1>> footprint;
  /// Index into KernelPlan::sets; meaningless if the footprint is unknown.
  unsigned set = 0;
  ScopeRefusal refusal = ScopeRefusal::none;
  /// The values behind the refusal, a clause for a diagnostic.
  std::string reason;
  /// The operation that the refusal is about, if it is another one.
  mlir::Operation *culprit = nullptr;

  bool isDMA() const { return access.kind == LDSAccessKind::dma; }
  /// The access gets scopes (for a DMA: others than the wildcard).
  bool isTagged() const { return refusal == ScopeRefusal::none; }
};

/// The plan for the functions that call each other: a kernel and its helpers.
struct KernelPlan {
  /// The first function, a kernel if there is one.
  mlir::LLVM::LLVMFuncOp kernel;
  /// All of them, callers before callees where there is no recursion.
  llvm::SmallVector<mlir::LLVM::LLVMFuncOp, 1> functions;
  std::vector<DMARange> ranges;
  std::vector<RangeSet> sets;
  /// In program order, function by function.
  std::vector<PlannedAccess> accesses;
  /// The fences, and the barriers that fence.
  llvm::SmallVector<mlir::Operation *> synchronization;
  /// The static LDS globals that the kernel uses.
  llvm::SmallVector<mlir::Operation *> staticGlobals;
  bool hasDMA = false;
};

struct AliasScopePlanOptions {
  unsigned waveSize = 64;
  /// The caller will launder every DMA's address. If not, only DMAs that are
  /// laundered already count as safe.
  bool launder = true;
};

struct CollectedKernels {
  /// Of the module; nothing solved yet.
  std::unique_ptr<LDSProvenance> provenance;
  std::vector<KernelPlan> plans;
};

/// What `planAliasScopes` starts from: the kernels of `module` with their
/// accesses in program order, and nothing decided.
CollectedKernels collectKernels(mlir::Operation *module,
                                unsigned waveSize = 64);

/// Plans for all kernels of `module` (a gpu.module or a builtin module whose
/// functions are of the LLVM dialect). Kernels without a DMA have no accesses
/// listed: nothing waits for DMAs there.
std::vector<KernelPlan> planAliasScopes(mlir::Operation *module,
                                        const AliasScopePlanOptions &options);

/// The gpu.modules in `root`, and `root` itself if it holds LLVM functions.
llvm::SmallVector<mlir::Operation *>
collectDeviceModules(mlir::Operation *root);

} // namespace lodestone

#endif // LODESTONE_ANALYSIS_ALIASSCOPEPLAN_H
