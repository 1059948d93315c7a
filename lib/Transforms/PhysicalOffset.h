//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Emits where a byte of a swizzled allocation is.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_LIB_TRANSFORMS_PHYSICALOFFSET_H
#define LODESTONE_LIB_TRANSFORMS_PHYSICALOFFSET_H

#include "lodestone/Analysis/TrailingZeros.h"
#include "lodestone/Dialect/LDS/IR/LDSLayout.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/OpDefinition.h"

namespace lodestone {

/// Adds up a logical offset and applies the swizzle to it. All arithmetic wraps
/// around, as that of indices does.
///
/// Multiples of the swizzle's period stay outside of it where its arithmetic
/// allows that: what is the same for many accesses is then computed once, and
/// constants become immediate offsets of the instructions.
class PhysicalOffset {
public:
  PhysicalOffset(mlir::ImplicitLocOpBuilder &builder,
                 lds::SwizzleAttrInterface swizzle, TrailingZeros &zeros);

  /// Adds `term * bytes`; `term` is an index.
  void add(mlir::OpFoldResult term, uint64_t bytes);

  /// The physical offset of all that was added, in `unit`s of bytes of which it
  /// is a multiple.
  mlir::Value emit(uint64_t unit);

private:
  /// `value * bytes`.
  struct Term {
    mlir::Value value;
    uint64_t bytes;
  };
  struct Sum {
    llvm::SmallVector<Term, 4> terms;
    uint64_t constant = 0;
  };
  struct Part;

  /// True if `value * bytes` needn't go through the swizzle.
  bool mayStayOutside(mlir::Value value, uint64_t bytes);
  static std::optional<Term> joinDivision(Term a, Term b);
  std::optional<Part> split(mlir::Value value, uint64_t bytes);
  void addTo(Sum &sum, mlir::Value value, uint64_t bytes);
  mlir::Value emit(const Sum &sum, uint64_t unit);

  mlir::ImplicitLocOpBuilder &builder;
  lds::SwizzleAttrInterface swizzle;
  TrailingZeros &zeros;
  bool modular;
  uint64_t period;
  /// What the swizzle has to see, and what is added after it.
  Sum inside, outside;
};

} // namespace lodestone

#endif // LODESTONE_LIB_TRANSFORMS_PHYSICALOFFSET_H
