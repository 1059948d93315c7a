//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Arithmetic on the lattice of LDSProvenance: what sums, differences and masks
/// of addresses and numbers are. Ranges come from MLIR's range inference.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_ANALYSIS_PROVENANCEARITHMETIC_H
#define LODESTONE_ANALYSIS_PROVENANCEARITHMETIC_H

#include "lodestone/Analysis/LDSProvenance.h"

namespace lodestone {

/// LDS addresses have 32 bits.
constexpr unsigned kAddressBits = 32;

/// `value`, modulo 2^width.
mlir::ConstantIntRanges constantRange(int64_t value, unsigned width);

/// The numbers in [0, last].
mlir::ConstantIntRanges upTo(uint64_t last, unsigned width);

/// `range` in another width. What it stands for are numbers modulo 2^width, so
/// sign extension keeps small negative offsets small.
mlir::ConstantIntRanges resized(const mlir::ConstantIntRanges &range,
                                unsigned width);

/// Applies `fn` to every pair of elements; the result is unknown if `fn`
/// refuses a pair.
Provenance combine(const Provenance &lhs, const Provenance &rhs,
                   llvm::function_ref<std::optional<ProvenanceElement>(
                       const ProvenanceElement &, const ProvenanceElement &)>
                       fn);

/// Address + number or number + number; the sum of two addresses is unknown.
Provenance add(const Provenance &lhs, const Provenance &rhs);

/// Address - number, number - number, or the distance within one object.
Provenance subtract(const Provenance &lhs, const Provenance &rhs);

/// An address rounded down, or its lowest bits; of numbers, any mask.
Provenance bitAnd(const Provenance &lhs, const Provenance &rhs);

using RangeFunction = llvm::function_ref<mlir::ConstantIntRanges(
    llvm::ArrayRef<mlir::ConstantIntRanges>)>;

/// A function of numbers; of addresses the result is unknown.
Provenance onNumbers(const Provenance &lhs, const Provenance &rhs,
                     RangeFunction fn);

/// Changes the width of every element: of numbers by `fn`, of addresses modulo
/// 2^32. An address that is cut is unknown.
Provenance convert(
    const Provenance &operand, unsigned width,
    llvm::function_ref<mlir::ConstantIntRanges(const mlir::ConstantIntRanges &)>
        fn);

} // namespace lodestone

#endif // LODESTONE_ANALYSIS_PROVENANCEARITHMETIC_H
