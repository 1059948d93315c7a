//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Copies global -> LDS through registers that an LDS-DMA can make instead.
///
/// ## What must hold for a copy to become a DMA
///
/// - What is loaded is stored and used for nothing else.
/// - All lanes of a wave store side by side, in the order of the lanes: the
///   hardware writes `LDS[M0 + lane * width]` (CDNA3 ISA 10.3, CDNA4 ISA 10.3).
///   gfx1250's async loads take an LDS address from each lane instead.
/// - Nobody sees that the bytes arrive later, or that another lane of the wave
///   brings them. Either the copy is in a group: before anything else happens
///   to the workgroup, `lds.commit_group` closes it, and by the contract of
///   that op its bytes are left alone until the wait. Or else a barrier comes
///   next on every path; then a wait goes right before the barrier, and between
///   the last barrier and that one nothing else touches the allocation.
/// - Lanes that bring zeros without a buffer that gives them store them, which
///   is done before an earlier DMA to the same bytes: only in a group, of which
///   the bytes are its own.
/// - The source isn't written between the load and the end of the copy.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_ANALYSIS_DIRECTCOPY_H
#define LODESTONE_ANALYSIS_DIRECTCOPY_H

#include "lodestone/Analysis/Refusal.h"
#include "lodestone/Analysis/ThreadValues.h"
#include "lodestone/Support/Chip.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinTypes.h"

#include <vector>

namespace lodestone {

/// A load from global memory and the store to LDS of what it loads.
struct DirectCopy {
  mlir::Operation *load;
  mlir::Operation *store;
  mlir::Value source;
  llvm::SmallVector<mlir::Value> sourceIndices;
  mlir::TypedValue<mlir::MemRefType> target;
  llvm::SmallVector<mlir::Value> targetIndices;
  /// What a thread moves: a scalar, or a vector of one dimension.
  mlir::Type type;
  unsigned elementBytes;
  unsigned laneBytes;
  /// The `scf.if` that yields the loaded value, or else zeros; null without. A
  /// handle: that the copy is constant says nothing about the operation.
  mutable mlir::scf::IfOp zeroFill;
  /// Why zeros can't come from behind a buffer's end, so that the lanes that
  /// bring zeros have to store them; empty if they needn't.
  std::string noBuffer;
  /// The LDS allocations of which one is written; none if they aren't known.
  llvm::SmallVector<mlir::Value> allocations;

  /// The barriers that publish what is copied and need a wait in front of them;
  /// none if the copy is in a group.
  llvm::SmallVector<mlir::Operation *> barriers;
  std::optional<Refusal> refusal;
};

/// The copies of `kernel`, in program order. Those with a refusal are here,
/// too.
std::vector<DirectCopy> findDirectCopies(mlir::FunctionOpInterface kernel);

/// Sets `barriers` of each copy that has no refusal, or its refusal.
void checkSynchronization(std::vector<DirectCopy> &copies,
                          mlir::FunctionOpInterface kernel);

/// Bytes from the start of `memref`, of identity layout, to the element at
/// `indices`, for each thread; nothing if they aren't known, with `unknown`
/// set.
std::optional<ThreadForm>
evaluateOffset(ThreadValues &values, mlir::Value memref,
               mlir::ValueRange indices, mlir::Value &unknown,
               ThreadValues::Iterations iterations = {});

/// The same for the target of `copy`: for all iterations of the loops around it
/// together, or for each.
std::optional<llvm::SmallVector<ThreadForm, 1>>
evaluateTargetOffsets(ThreadValues &values, const DirectCopy &copy,
                      mlir::Value &unknown);

/// Two lanes of a wave whose values differ, of a form from which
/// `bytesPerLane * lane` is taken off.
struct LaneConflict {
  unsigned wave;
  unsigned lane;
  /// Of lane 0 and of `lane`: the known parts of the form.
  int64_t first;
  int64_t other;
};
std::optional<LaneConflict> findLaneConflict(const ThreadForm &form,
                                             const ThreadValues &values,
                                             int64_t bytesPerLane);

/// The largest power of two, at most 16, that divides the form in all threads,
/// whatever its unknown values are.
unsigned getFormAlignment(const ThreadForm &form);

} // namespace lodestone

#endif // LODESTONE_ANALYSIS_DIRECTCOPY_H
