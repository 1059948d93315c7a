//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Rewrites that several passes share.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_TRANSFORMS_LDSTRANSFORMS_H
#define LODESTONE_TRANSFORMS_LDSTRANSFORMS_H

#include "lodestone/Support/Chip.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir {
class OpBuilder;
class Operation;
} // namespace mlir

namespace lodestone {

/// The chip that `op` is compiled for: `option` if it isn't empty, else that of
/// the #rocdl.target of the gpu.module that `op` is or is in, else `fallback`.
/// Reports an unknown chip at that module, or at `op` if there is none.
mlir::FailureOr<const ChipInfo *> resolveChip(mlir::Operation *op,
                                              llvm::StringRef option,
                                              llvm::StringRef fallback);

/// Lanes of a wave on the chip that `kernel` is compiled for: `option` if it
/// isn't empty, else that of its gpu.module's #rocdl.target. 0 if there is
/// none; an unknown chip is reported.
mlir::FailureOr<unsigned> resolveWaveSize(mlir::Operation *kernel,
                                          llvm::StringRef option);

struct ApplySwizzlesOptions {
  /// Category of the remarks: the pass.
  llvm::StringRef category;
  /// A refusal is an error.
  bool strict = false;
  /// Removes the swizzle of a refused allocation.
  bool dropRefused = false;
};

/// What `applySwizzles` did: allocations rewritten and refused, and accesses
/// that became several.
struct ApplySwizzlesCounts {
  unsigned applied = 0;
  unsigned refused = 0;
  unsigned split = 0;
};

/// Puts the swizzles of the allocations in `root` and below into the indices of
/// their accesses, as `lds-apply-swizzles` describes. An allocation that has
/// one becomes a memref of one dimension, which is accessed directly, at
/// physical offsets. Fails, with an error, at invalid attributes and if a
/// refusal is an error.
mlir::FailureOr<ApplySwizzlesCounts>
applySwizzles(mlir::Operation *root, const ApplySwizzlesOptions &options);

/// A value that is `scalar`, which LLVM doesn't know: it goes through an empty
/// piece of inline assembly in a scalar register. Precondition: it is uniform.
mlir::Value createLaunder(mlir::OpBuilder &builder, mlir::Value scalar);

/// Hides from LLVM's alias analysis what DMAs' addresses are based on.
///
/// LLVM takes an LDS-DMA to write one lane's bytes at its address, and compares
/// that address with a read's by their common base and constant offsets; it
/// then finds reads of the other lanes' bytes, and of the later of two DMAs in
/// a slot, not to alias. An empty piece of inline assembly between the base and
/// the DMA ends the comparison. It costs one SGPR per base and survives -O3,
/// which readfirstlane and inttoptr don't.
///
/// Legal always: the assembly returns its operand. An SGPR can hold it: the
/// base is a constant, or, where it isn't, the DMA's address itself goes
/// through the assembly right before the DMA, and that is uniform there.
class LaunderedAddresses {
public:
  /// Recomputes the operand `pointer` of `dma` from a laundered base, or else
  /// launders it itself. A base is laundered once; computations that DMAs share
  /// stay shared.
  void apply(mlir::Operation *dma, mlir::Value pointer);

  /// Erases the plain computations that no read shares. Call it last.
  void eraseUnused();

private:
  mlir::Value launder(mlir::Value base);
  mlir::Value rebuild(mlir::Value value, mlir::Value base);

  /// From values to their laundered twins.
  llvm::DenseMap<mlir::Value, mlir::Value> twins;
  /// Pointers that DMAs no longer use.
  llvm::DenseSet<mlir::Value> replaced;
};

} // namespace lodestone

#endif // LODESTONE_TRANSFORMS_LDSTRANSFORMS_H
