//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Which TDM copies may be in flight at each point of a function, and what that
/// means for waits and for accesses to LDS.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_ANALYSIS_TDMINFLIGHT_H
#define LODESTONE_ANALYSIS_TDMINFLIGHT_H

#include "lodestone/Analysis/CopyPhases.h"
#include "lodestone/Dialect/TDM/IR/TDMDialect.h"

#include "mlir/Analysis/DataFlow/DenseAnalysis.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

namespace lodestone::tdm {

/// What is known about the copies before or after an operation: the meet over
/// all paths that lead there.
class InFlight : public mlir::dataflow::AbstractDenseLattice {
public:
  using AbstractDenseLattice::AbstractDenseLattice;

  /// Instructions that the last k copies took, for each k from 0 on: the
  /// smallest number of all paths. kFewer where no path has so many copies.
  llvm::SmallVector<unsigned> instructions;
  static constexpr unsigned kFewer = ~0u;
  /// The copies that aren't done for the whole workgroup; each is a group of
  /// its own.
  CopyPhases copies;
  /// False until some path is known to lead here.
  bool isReached = false;

  mlir::ChangeResult
  join(const mlir::dataflow::AbstractDenseLattice &other) override;
  void print(llvm::raw_ostream &os) const override;
};

/// True for what `tdm.wait` counts as one copy. A `tdm.fused_load` is one; its
/// members are none.
bool isCopy(mlir::Operation *op);

/// True for a kernel and a gpu.launch: no copy is in flight when it begins.
bool isLaunched(mlir::Operation *function);

/// The copies of one function.
struct FlowResult {
  /// For each tdm.wait the count for TENSORcnt, at most `maxTensorcnt`.
  llvm::DenseMap<mlir::Operation *, unsigned> tensorcnt;
};

/// Follows the copies through `function`. `instructions` says how many tensor
/// instructions a copy takes (at least 1).
///
/// Emits an error at each operation that reads or writes LDS which a copy
/// writes (or writes what one reads) though it can be reached without a wait
/// for that copy and a barrier after it, and fails. Where it isn't known
/// whether the two touch the same bytes, that is a missed remark.
///
/// An access is known to touch a copy's bytes when both are at constant places
/// in the same LDS object and the bytes of its memref are among the copy's.
mlir::FailureOr<FlowResult>
followCopies(mlir::Operation *function, unsigned maxTensorcnt,
             llvm::function_ref<unsigned(mlir::Operation *)> instructions);

/// For each tdm.wait of `function` the sum of the `weight`s of the copies that
/// it lets be in flight (of the last `most` of them), the smallest of all paths
/// that lead there; nothing where no path has so many copies. Copies of callers
/// and callees weigh 1. Fails where the analysis does.
mlir::FailureOr<llvm::MapVector<WaitOp, std::optional<unsigned>>>
weighWaits(mlir::Operation *function, unsigned most,
           llvm::function_ref<unsigned(mlir::Operation *)> weight);

} // namespace lodestone::tdm

#endif // LODESTONE_ANALYSIS_TDMINFLIGHT_H
