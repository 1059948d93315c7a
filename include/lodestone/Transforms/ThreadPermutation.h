//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

///
/// \file
/// A permutation of a block's threads: its closed form, found from a table.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_TRANSFORMS_THREADPERMUTATION_H
#define LODESTONE_TRANSFORMS_THREADPERMUTATION_H

#include "mlir/IR/Builders.h"

#include <optional>
#include <string>

namespace lodestone {

/// A function of the thread number t and of the iteration numbers n of the
/// loops around, in one of two forms. It counts threads, or more generally the
/// cells of a tile:
/// - bits: M t ^ N n ^ c, linear over bits; what xors of shifted bits make;
/// - rotation: in rows of `cells` threads, column j of row i becomes
///   (j + a i + b n + c) mod cells.
class ThreadPermutation {
public:
  /// The permutation with the values `table[step][t]`, where `step` counts the
  /// iterations of loops that run `trips` times, the first counting fastest.
  /// Nothing unless every single value is that of one of the forms.
  static std::optional<ThreadPermutation>
  fit(llvm::ArrayRef<llvm::SmallVector<unsigned>> table,
      llvm::ArrayRef<int64_t> trips);

  bool dependsOn(unsigned loop) const;
  /// True if neither depends on loops, and both are the same: also where the
  /// loops are others.
  bool isSameInAllIterations(const ThreadPermutation &other) const;

  /// The permuted number of `thread`, an index, in the given iterations, null
  /// for loops that it doesn't depend on. What depends on the thread only is
  /// built with `outer`, the rest with `inner`.
  mlir::Value emit(mlir::OpBuilder &outer, mlir::OpBuilder &inner,
                   mlir::Location loc, mlir::Value thread,
                   llvm::ArrayRef<mlir::Value> iterations) const;

  /// As in `t ^ (t & 56) >> 3`, with `thread` for t and n0 for the innermost
  /// loop's iteration.
  std::string str(llvm::StringRef thread = "t") const;

  bool operator==(const ThreadPermutation &other) const {
    return cells == other.cells && constant == other.constant &&
           columns == other.columns;
  }

private:
  using Table = llvm::ArrayRef<llvm::SmallVector<unsigned>>;
  static ThreadPermutation fitBits(Table table, llvm::ArrayRef<int64_t> trips);
  static ThreadPermutation
  fitRotation(Table table, llvm::ArrayRef<int64_t> trips, unsigned cells);
  unsigned apply(unsigned thread, llvm::ArrayRef<int64_t> iterations) const;
  bool makes(Table table, llvm::ArrayRef<int64_t> trips) const;

  /// Of a rotation, the threads of a row; 0 for the other form.
  unsigned cells = 0;
  /// What bit i of the thread number (`columns[0]`), or of the number of an
  /// iteration of loop l (`columns[1 + l]`), flips. Of a rotation, the one
  /// number that a row or an iteration adds.
  llvm::SmallVector<llvm::SmallVector<unsigned>> columns;
  unsigned constant = 0;
};

} // namespace lodestone

#endif // LODESTONE_TRANSFORMS_THREADPERMUTATION_H
