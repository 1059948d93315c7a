//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

///
/// \file
/// A permutation of a block's threads, found from a table and made of
/// bit operations.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_TRANSFORMS_THREADPERMUTATION_H
#define LODESTONE_TRANSFORMS_THREADPERMUTATION_H

#include "mlir/IR/Builders.h"

#include <optional>
#include <string>

namespace lodestone {

/// tau(t, n) = M t ^ N n ^ c: linear over the bits of the thread number t and
/// of the iteration numbers n of the loops around. All permutations that xors
/// of shifted bits make are of this form.
class ThreadPermutation {
public:
  /// The permutation with the values `table[step][t]`, where `step` counts the
  /// iterations of loops that run `trips` times, the first counting fastest.
  /// Nothing unless every single value is that of the form above.
  static std::optional<ThreadPermutation>
  fit(llvm::ArrayRef<llvm::SmallVector<unsigned>> table,
      llvm::ArrayRef<int64_t> trips);

  bool isIdentity() const;
  bool dependsOn(unsigned loop) const;

  /// The part that depends on the thread, and that which depends on the number
  /// of an iteration of loop `loop`, as index; xor-ed together they make tau.
  mlir::Value emitThreadPart(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::Value thread) const;
  mlir::Value emitLoopPart(mlir::OpBuilder &builder, mlir::Location loc,
                           unsigned loop, mlir::Value iteration) const;

  /// As in `t ^ (t & 0x38) >> 3`.
  std::string str() const;

  bool operator==(const ThreadPermutation &other) const {
    return constant == other.constant && columns == other.columns;
  }

private:
  /// What bit i of the thread number (`columns[0]`), or of the number of an
  /// iteration of loop l (`columns[1 + l]`), flips.
  llvm::SmallVector<llvm::SmallVector<unsigned>> columns;
  unsigned constant = 0;
};

} // namespace lodestone

#endif // LODESTONE_TRANSFORMS_THREADPERMUTATION_H
