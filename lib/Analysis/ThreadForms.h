//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Arithmetic on the values of all threads, which ThreadArithmetic.cpp puts
/// together for each operation. Where `type` is `index`, what 32 and 64 bits
/// would not agree on isn't known.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_LIB_ANALYSIS_THREADFORMS_H
#define LODESTONE_LIB_ANALYSIS_THREADFORMS_H

#include "lodestone/Analysis/ThreadArithmetic.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace lodestone {

using MaybeForm = std::optional<ThreadForm>;

/// The arith and index dialects' operations that aren't linear.
enum class Binary {
  bitAnd,
  bitOr,
  bitXor,
  shrU,
  shrS,
  divU,
  divS,
  ceilDivU,
  ceilDivS,
  floorDivS,
  remU,
  remS,
  minU,
  minS,
  maxU,
  maxS,
  mulHighU,
  mulHighS
};

/// True if all of `form` is known and `index` of 32 and of 64 bits agree on it.
bool isExact(const ThreadForm &form, mlir::Type type, bool isUnsigned);

/// a * b, one of which must be known.
MaybeForm multiply(const ThreadForm &a, const ThreadForm &b,
                   unsigned numThreads);

MaybeForm applyBinary(Binary op, const ThreadForm &a, const ThreadForm &b,
                      mlir::Type type, unsigned numThreads);

/// `type` is that of the operands.
MaybeForm applyCompare(mlir::arith::CmpIPredicate predicate,
                       const ThreadForm &a, const ThreadForm &b,
                       mlir::Type type, unsigned numThreads);

MaybeForm shiftLeft(const ThreadForm &a, const ThreadForm &b, mlir::Type type,
                    unsigned numThreads);

/// From one integer type or index to another. What isn't known keeps the bits
/// that the conversion keeps.
MaybeForm convert(const ThreadForm &form, mlir::Type from, mlir::Type to,
                  bool isSigned, unsigned numThreads);

} // namespace lodestone

#endif // LODESTONE_LIB_ANALYSIS_THREADFORMS_H
