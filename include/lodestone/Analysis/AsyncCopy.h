//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Which ops copy into LDS and complete later, at the level of upstream's
/// dialects (amdgpu, rocdl), and what other ops do to the same counters and to
/// LDS.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_ANALYSIS_ASYNCCOPY_H
#define LODESTONE_ANALYSIS_ASYNCCOPY_H

#include "lodestone/Support/Chip.h"

#include "mlir/IR/Operation.h"

#include <optional>

namespace lodestone {

/// What a wave issues when it executes an op.
struct AsyncIssue {
  DMACounter counter;
  /// Instructions that increment the counter for certain; what LLVM may merge,
  /// move over a wait, or remove, isn't counted.
  unsigned atLeast;
  /// The op copies into LDS; if not, it only counts.
  bool isCopy;
};

/// What `op` issues, or nothing. Copies are `amdgpu.gather_to_lds`, rocdl's
/// LDS-DMAs and async loads, `AsyncCopyOpInterface`, and whatever intrinsic
/// called by name or inline assembly may be one. Of other accesses to global
/// memory only volatile and atomic ones count (CDNA3 ISA 4.4: vmcnt counts
/// every vector-memory access, in order).
std::optional<AsyncIssue> getAsyncIssue(mlir::Operation *op);

/// True if `op` may write LDS with ordinary instructions, which are done at a
/// wait on lgkmcnt (gfx12: dscnt).
bool mayStoreToLDS(mlir::Operation *op);

} // namespace lodestone

#endif // LODESTONE_ANALYSIS_ASYNCCOPY_H
