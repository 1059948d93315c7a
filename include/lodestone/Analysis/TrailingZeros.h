//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// How many low bits of an integer are zero for sure: what powers of two divide
/// an address.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_ANALYSIS_TRAILINGZEROS_H
#define LODESTONE_ANALYSIS_TRAILINGZEROS_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Value.h"
#include "mlir/IR/ValueRange.h"
#include "llvm/ADT/DenseMap.h"

namespace lodestone {

/// Low zero bits of index and integer values. Powers of two only, since these
/// divisors survive the wrap-around of any width. Remembers what it has found,
/// so the IR must not change under it.
class TrailingZeros {
public:
  /// Of zero: this many.
  static constexpr unsigned kAll = 64;

  /// The low bits of `value` that are zero whenever it is computed.
  unsigned of(mlir::Value value);

  /// The same of an affine expression; `operands` are dimensions, then symbols.
  unsigned of(mlir::AffineExpr expr, mlir::ValueRange operands,
              unsigned numDims);

private:
  unsigned compute(mlir::Value value);

  llvm::DenseMap<mlir::Value, unsigned> known;
  unsigned depth = 0;
};

} // namespace lodestone

#endif // LODESTONE_ANALYSIS_TRAILINGZEROS_H
