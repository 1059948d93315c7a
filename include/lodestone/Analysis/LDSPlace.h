//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The place of a memref in LDS, as far as the operations that make it say.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_ANALYSIS_LDSPLACE_H
#define LODESTONE_ANALYSIS_LDSPLACE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

#include <cstdint>
#include <optional>

namespace lodestone {

/// Where the bytes of a memref are: in the object that it is a view of.
struct LDSPlace {
  /// The value that views were taken of: an allocation, if one was found.
  mlir::Value root;
  /// `root` is one object that nothing else reaches, and the same one whenever
  /// this code runs.
  bool isObject = false;
  /// The bytes [begin, end) of the object, if they are constant.
  struct Bytes {
    int64_t begin, end;
  };
  std::optional<Bytes> bytes;

  static LDSPlace of(mlir::Value memref);
};

enum class Overlap { no, maybe, within };

/// Whether `access` has bytes in common with `place`; `within` if it has no
/// others.
Overlap compare(const LDSPlace &access, const LDSPlace &place);

} // namespace lodestone

#endif // LODESTONE_ANALYSIS_LDSPLACE_H
