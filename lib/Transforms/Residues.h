//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What is left of an integer when it is divided: where a loop stands in a
/// round of iterations.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_LIB_TRANSFORMS_RESIDUES_H
#define LODESTONE_LIB_TRANSFORMS_RESIDUES_H

#include "mlir/IR/Operation.h"

#include <optional>

namespace lodestone {

/// The constant that `op`, a remainder or a mask of low bits, always gives: if
/// it is of an integer that is built of counters of loops and constants.
/// `index` may have 32 or 64 bits.
std::optional<uint64_t> foldRemainder(mlir::Operation *op);

} // namespace lodestone

#endif // LODESTONE_LIB_TRANSFORMS_RESIDUES_H
