//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What an address is computed from, and launders: pieces of inline assembly
/// that hide that from LLVM.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_ANALYSIS_ADDRESSBASE_H
#define LODESTONE_ANALYSIS_ADDRESSBASE_H

#include "mlir/IR/Value.h"

namespace lodestone {

/// True for inline assembly that hands its operand through unchanged, which
/// hides from LLVM's alias analysis what the operand points to.
bool isLaunder(mlir::Operation *op);

/// Walks from an LDS pointer to what it is computed from, as long as one
/// operand of a pure op carries the address on: through getelementptr, add, and
/// the casts between pointers and integers. Stops at a region's address, a
/// launder, a block argument, a select, or whatever else.
mlir::Value getAddressBase(mlir::Value pointer);

/// True if LLVM's alias analysis can't tell what `address` is based on, because
/// it is computed from a launder.
bool isLaundered(mlir::Value address);

} // namespace lodestone

#endif // LODESTONE_ANALYSIS_ADDRESSBASE_H
