//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Which warps are ahead in a warp-pipelined loop.
///
/// In such a loop the warps of a workgroup work in groups that are a stage
/// apart, so that one computes while another moves data. What sets them apart
/// is an extra barrier before the loop that only some execute:
///
///   %late = arith.cmpi uge, %tid, %c128 : index
///   scf.if %late { gpu.barrier }
///   scf.for ... { stage 0; gpu.barrier; stage 1; gpu.barrier }
///
/// Whoever waits at it pairs it with the others' first barrier in the loop, and
/// is one barrier behind from there on.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_ANALYSIS_WARPSTAGGER_H
#define LODESTONE_ANALYSIS_WARPSTAGGER_H

#include "mlir/IR/Operation.h"

#include <optional>
#include <string>

namespace lodestone {

/// How the warps of a workgroup are set apart in a loop.
struct WarpStagger {
  /// The warps that passed the fewest extra barriers, as a mask; nothing if all
  /// are in step, or if that isn't known.
  std::optional<uint32_t> leading;
  /// Why that isn't known, and the operation that is in the way.
  std::string unknown;
  mlir::Operation *obstacle = nullptr;
};

/// The outermost loop of `kernel` around `op`, or null.
mlir::Operation *getOutermostLoop(mlir::Operation *op, mlir::Operation *kernel);

/// The stagger in `loop`, an outermost one of the kernel `kernel` with
/// `numWarps` (at most 32) warps of `warpLanes` lanes. Linear in what precedes
/// the loop and is in it.
///
/// The answer may steer what costs time only, never what is right: that all
/// warps run a loop equally often is taken for granted.
WarpStagger findWarpStagger(mlir::Operation *loop, mlir::Operation *kernel,
                            unsigned numWarps, unsigned warpLanes);

} // namespace lodestone

#endif // LODESTONE_ANALYSIS_WARPSTAGGER_H
