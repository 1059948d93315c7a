//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

///
/// \file
/// The copies of tiles from global memory to LDS that the threads of a block
/// make together.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_ANALYSIS_TILECOPIES_H
#define LODESTONE_ANALYSIS_TILECOPIES_H

#include "lodestone/Analysis/Refusal.h"
#include "lodestone/Analysis/ThreadValues.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <optional>
#include <variant>

namespace lodestone {

/// A store to LDS as memref.store and the vector dialect's stores have it.
struct LDSStore {
  mlir::Operation *op = nullptr;
  mlir::Value value;
  mlir::Value memref;
  mlir::ValueRange indices;
  /// What one thread stores, in elements of the memref and in bytes.
  int64_t cellElements = 0;
  int64_t cellBytes = 0;

  /// Nothing for what isn't such a store of whole elements, one after the
  /// other, into a memref whose strides are known.
  static std::optional<LDSStore> match(mlir::Operation *op);
};

/// A load from global memory and the store to LDS of what it loaded, which may
/// go through bit casts, a select, or the results of `scf.if` on the way (where
/// the other side says what is stored instead), or be carried by an `scf.for`
/// to the next iteration.
struct TileCopy {
  /// The most iterations of loops around a copy that are looked at.
  static constexpr int64_t kMaxSteps = 1024;

  LDSStore store;
  /// Mostly one; several if a condition chooses between them.
  llvm::SmallVector<mlir::Operation *, 1> loads;
  /// The allocation that is stored to.
  mlir::Value root;
  /// Conditions around the store that differ between threads, innermost first.
  llvm::SmallVector<mlir::scf::IfOp> guards;
  /// Conditions that are the same for all threads, inside of one of `loops`.
  llvm::SmallVector<mlir::scf::IfOp> uniformConditions;
  /// The loops without a barrier around the store, and how often each runs,
  /// innermost first.
  llvm::SmallVector<mlir::scf::ForOp> loops;
  llvm::SmallVector<int64_t> trips;
  /// The operation, `store.op` or one of the above, that all threads of the
  /// block must run together.
  mlir::Operation *unit = nullptr;

  /// Iteration `step` of all loops together, the innermost counting fastest.
  llvm::SmallVector<ThreadValues::Iteration> getIterations(int64_t step) const;
  int64_t getNumSteps() const;
};

/// The iter_arg of an `scf.for` that `value` is, or whose last value it is;
/// null if it is neither.
mlir::BlockArgument getIterArg(mlir::Value value);

/// The loads from global memory whose values reach `value`, unchanged but for
/// bit casts, under some condition or in a later iteration. `isOnlyUse` tells
/// whether nothing else uses what was loaded.
llvm::SmallVector<mlir::Operation *> findCopiedLoads(mlir::Value value,
                                                     bool &isOnlyUse);

/// The copy that `op` is the store of. Nothing if it isn't one; a refusal if it
/// is one whose steps can't be told. A store of something else than what was
/// loaded counts if `mayBeFill`; it has no loads.
std::optional<std::variant<TileCopy, Refusal>>
matchTileCopy(mlir::Operation *op, ThreadValues &values,
              bool mayBeFill = false);

/// As many low bits of an offset tell all offsets into LDS apart: no chip has
/// 2^24 bytes of it (Support/Chip.h).
inline constexpr unsigned kLDSOffsetBits = 24;

/// The offset of the first element that an access touches, in elements from the
/// start of `memref`, or null if the value it returns in `unknown` isn't known.
std::optional<ThreadForm> getElementOffset(mlir::Value memref,
                                           mlir::ValueRange indices,
                                           ThreadValues &values,
                                           ThreadValues::Iterations iterations,
                                           mlir::Value &unknown);

} // namespace lodestone

#endif // LODESTONE_ANALYSIS_TILECOPIES_H
