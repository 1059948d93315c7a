//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// From the copies of the `tdm` dialect to tensor instructions and the words of
/// their descriptors.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_CONVERSION_TDMTOROCDL_TENSORINSTRUCTION_H
#define LODESTONE_CONVERSION_TDMTOROCDL_TENSORINSTRUCTION_H

#include "lodestone/Dialect/TDM/IR/TDMCopy.h"
#include "lodestone/Support/TDMDescriptor.h"

#include "mlir/IR/Builders.h"

namespace lodestone::tdm {

/// A tensor instruction that is still to be created. The words are i32; those
/// that are null are zero. Everything that depends on the warp is computed from
/// its id, which is in a scalar register, by integer operations that the scalar
/// unit has.
struct TensorInstruction {
  bool isLoad;
  /// Needs groups 2 and 3; else the `.d2` form will do. LLVM takes that form,
  /// too, when it finds these groups to be zero, though a third dimension of
  /// the tile or the rows of a gather are lost with it: they must not be.
  bool needsAllGroups;
  std::array<mlir::Value, std::tuple_size_v<TDMWords>> words;
};

/// The instructions that `op` takes on the warp with the id `warp`. Emits an
/// error at `op` if a field has no room for a constant.
mlir::FailureOr<llvm::SmallVector<TensorInstruction>>
buildInstructions(CopyOpInterface op, const Distribution &distribution,
                  mlir::Value warp, mlir::OpBuilder &builder);

/// The i1 that is true on the warps of `warps`; null if all are.
mlir::Value buildIsActive(const WarpSet &warps, mlir::Value warp,
                          mlir::Location loc, mlir::OpBuilder &builder);

/// One instruction that does what `members` do, each on its warps. The members
/// are predicated, and no two on the same warp.
TensorInstruction fuse(llvm::ArrayRef<TensorInstruction> members,
                       llvm::ArrayRef<WarpSet> warps, mlir::Value warp,
                       mlir::Location loc, mlir::OpBuilder &builder);

/// Creates the operation for `instruction`. What differs between versions of
/// LLVM about tensor instructions is in here.
void create(const TensorInstruction &instruction, mlir::Location loc,
            mlir::OpBuilder &builder);

} // namespace lodestone::tdm

#endif // LODESTONE_CONVERSION_TDMTOROCDL_TENSORINSTRUCTION_H
