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

/// `residue` modulo `modulus`; a modulus of 0 stands for a constant.
struct Residue {
  uint64_t modulus;
  uint64_t residue;
  /// The value is one of [low, max + slack], with the largest signed number of
  /// its type as max, and no operation before it wrapped. Else its residue is
  /// known for powers of two only, which all wrapping keeps.
  bool isExact;
  uint64_t low;
  int64_t slack;
};

/// The residue of an integer that is built of counters of loops and constants,
/// or nothing. `index` may have 32 or 64 bits.
std::optional<Residue> getResidue(mlir::Value value);

/// The constant that `op`, a remainder or a mask of low bits, always gives.
std::optional<uint64_t> foldRemainder(mlir::Operation *op);

} // namespace lodestone

#endif // LODESTONE_LIB_TRANSFORMS_RESIDUES_H
