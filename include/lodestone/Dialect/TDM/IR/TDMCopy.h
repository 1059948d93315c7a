//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What a TDM copy moves, and which warp moves which part of it. The verifier,
/// the lowering and the passes that choose hints share these rules.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_DIALECT_TDM_IR_TDMCOPY_H
#define LODESTONE_DIALECT_TDM_IR_TDMCOPY_H

#include "lodestone/Dialect/TDM/IR/TDMDialect.h"

namespace lodestone::tdm {

/// Lanes of a warp: the TDM is on chips with waves of 32.
inline constexpr unsigned kWarpLanes = 32;
/// The longest side of a tile that a descriptor can express.
inline constexpr int64_t kMaxTileDim = 65535;

/// The work items of the workgroup that executes `op`: `known_block_size` of a
/// gpu.func, the constants of a gpu.launch, the attributes of an llvm.func.
/// Nothing if they aren't known.
std::optional<uint64_t> getWorkgroupSize(mlir::Operation *op);

/// The warps of the workgroup that executes `op`. Nothing if they aren't known;
/// an error at `op` if the workgroup isn't a whole number of warps.
mlir::FailureOr<std::optional<uint64_t>> getNumWarps(mlir::Operation *op);

/// What a copy moves. Dimension 0 is the outermost one. Precondition of `of`:
/// the types passed the first of the verifier's rules.
struct CopyShape {
  llvm::SmallVector<int64_t> block;
  /// The block, divided by the number of pieces along the partitioned
  /// dimension; the block itself without a partition.
  llvm::SmallVector<int64_t> piece;
  unsigned pieces = 1;
  unsigned partitionDim = 0;
  unsigned elementBytes = 0;

  unsigned rank() const { return block.size(); }
  static CopyShape of(CopyOpInterface op);
};

/// Bytes from the start of a padded block to the byte that is the `linear`-th
/// of the block.
int64_t getPaddedOffset(int64_t linear, PaddingAttr padding);

/// How the block is divided among the warps.
struct Distribution {
  /// The warps that move data. Part p is that of the warp whose free bits,
  /// packed, are p.
  WarpSet warps;
  /// The parts of one instruction along each dimension; their product is the
  /// number of active warps. The low bits of p are the position along
  /// dimension 0, the next ones that along dimension 1, and so on.
  llvm::SmallVector<int64_t> parts;
  /// What a warp moves with one instruction. A gather's last instruction may
  /// move fewer rows.
  llvm::SmallVector<int64_t> tile;
  /// Pieces that one instruction fills.
  unsigned piecesAtOnce = 1;
  unsigned instructions = 1;
};

/// Divides the block of `op` among `numWarps` warps. Emits an error at `op`,
/// the first rule of the verifier that is broken. Without a hint, uses as many
/// warps as the block can be divided among.
mlir::FailureOr<Distribution> distribute(CopyOpInterface op, uint64_t numWarps);

/// The set of warps that the hint of `op` names, all without a hint. Emits an
/// error at `op`.
mlir::FailureOr<WarpSet> getWarpSet(CopyOpInterface op, uint64_t numWarps);

/// Why a load can't be a member of a `tdm.fused_load`.
struct FuseObstacle {
  /// In kebab-case: no-hint, has-barrier, different-rank or common-warp.
  llvm::StringRef name;
  /// The rule and the values.
  std::string message;
};

/// Why `load` can't join `members`, which can be together, in a fused load;
/// nothing if it can. Fails, with an error at the load, if a hint is not legal.
mlir::FailureOr<std::optional<FuseObstacle>>
findFuseObstacle(llvm::ArrayRef<LoadOp> members, LoadOp load);

/// The indices that one gather instruction has room for.
unsigned getMaxRows(mlir::Type rowIndexType);

} // namespace lodestone::tdm

#endif // LODESTONE_DIALECT_TDM_IR_TDMCOPY_H
