//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

///
/// \file
/// The value of an integer in each thread of a block, computed for all of them
/// instead of argued about. Blocks have at most 1024 threads, so a statement
/// about all threads is proved by looking at each.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_ANALYSIS_THREADVALUES_H
#define LODESTONE_ANALYSIS_THREADVALUES_H

#include "lodestone/Analysis/BlockUniformity.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <array>
#include <map>
#include <memory>
#include <optional>

namespace lodestone {

/// A number for each thread of a block; one entry if all are the same. Thread
/// `t` is x + size.x * (y + size.y * z).
class Lanes {
public:
  Lanes(int64_t uniform = 0) : values{uniform} {}
  explicit Lanes(llvm::SmallVector<int64_t, 1> perThread);

  int64_t operator[](size_t thread) const {
    return values.size() == 1 ? values[0] : values[thread];
  }
  bool isUniform() const { return values.size() == 1; }
  bool isZero() const { return isUniform() && values[0] == 0; }
  size_t getNumEntries() const { return values.size(); }
  bool operator==(const Lanes &other) const { return values == other.values; }

private:
  llvm::SmallVector<int64_t, 1> values;
};

/// constant + sum of coefficient * value, modulo 2^width, in each thread. The
/// values are the same in all threads of the block, and otherwise unknown.
struct ThreadForm {
  struct Term {
    mlir::Value value;
    /// Tells the values apart that `value` has in different iterations of the
    /// loops whose iteration was given.
    unsigned instance;
    Lanes coefficient;
  };

  /// Bits that are known: at most those of the type. All numbers are
  /// sign-extended from them. `index` counts as 64 bits.
  unsigned width = 64;
  Lanes constant;
  llvm::SmallVector<Term, 1> terms;

  /// True if the value in each thread is known.
  bool isConstant() const { return terms.empty(); }
  bool isUniform() const;
  /// True if `other` differs from this by the same known number in all
  /// iterations, for each thread: their terms are the same.
  bool hasTermsOf(const ThreadForm &other) const;
};

/// Evaluates integers of a kernel for all threads of a block.
///
/// What holds for `index` holds whether it is lowered to 32 or to 64 bits:
/// where the two could differ, the value is unknown. Integers wrap as their
/// type says. Division by zero and shifts by too much make a value unknown.
class ThreadValues {
public:
  /// The `n`-th iteration, counted from 0, of a loop.
  struct Iteration {
    mlir::scf::ForOp loop;
    int64_t number;
  };
  using Iterations = llvm::ArrayRef<Iteration>;

  /// Nothing if the size of `function`'s blocks isn't known (`known_block_size`
  /// or `rocdl.reqd_work_group_size`), or isn't one that a GPU can run.
  /// `waveSize` is needed for what depends on it; 0 if not known.
  static std::optional<ThreadValues> get(mlir::FunctionOpInterface function,
                                         unsigned waveSize);

  unsigned getNumThreads() const { return size[0] * size[1] * size[2]; }
  std::array<unsigned, 3> getBlockSize() const { return size; }
  unsigned getWaveSize() const { return waveSize; }
  const BlockUniformity &getUniformity() const { return uniformity; }

  /// The value of `value`, in the given iterations of loops around it, or null
  /// if it isn't known. A loop that isn't listed is in any iteration, the same
  /// for all threads. The form lives as long as this object.
  const ThreadForm *evaluate(mlir::Value value, Iterations iterations = {});

  /// Why `evaluate` gave null: the value that isn't known by itself.
  mlir::Value getUnknown(mlir::Value value, Iterations iterations = {});

  /// True if all threads of a block (of each wave) have the same value.
  bool isBlockUniform(mlir::Value value, Iterations iterations = {});
  bool isWaveUniform(mlir::Value value, Iterations iterations = {});

  /// How often a loop runs, if that is a constant.
  static std::optional<int64_t> getTripCount(mlir::scf::ForOp loop);

private:
  /// Numbers a set of iterations; 0 is the empty set.
  using Context = unsigned;
  using Key = std::pair<mlir::Value, Context>;
  struct Entry {
    std::unique_ptr<ThreadForm> form;
    /// If there is no form.
    mlir::Value unknown;
  };

  ThreadValues(mlir::FunctionOpInterface function, std::array<unsigned, 3> size,
               unsigned waveSize)
      : uniformity(function), size(size), waveSize(waveSize) {}

  Context getContext(llvm::SmallVector<std::pair<mlir::Operation *, int64_t>>);
  Key getKey(mlir::Value value, Context context);
  void getDependencies(Key key, llvm::SmallVectorImpl<Key> &dependencies);
  Entry compute(Key key, llvm::ArrayRef<Key> dependencies);
  const Entry &lookUp(Key key);

  BlockUniformity uniformity;
  std::array<unsigned, 3> size;
  unsigned waveSize;
  std::map<llvm::SmallVector<std::pair<mlir::Operation *, int64_t>>, Context>
      contextNumbers;
  llvm::SmallVector<llvm::SmallVector<std::pair<mlir::Operation *, int64_t>>>
      contexts{{}};
  llvm::DenseMap<Key, Entry> cache;
  /// Numbers kept in `cache`; a bound on them bounds time and memory.
  size_t numEntries = 0;
};

} // namespace lodestone

#endif // LODESTONE_ANALYSIS_THREADVALUES_H
