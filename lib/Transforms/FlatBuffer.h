//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A memref in global memory as a buffer of one dimension, from its first
/// element to its last one and no further.
///
/// What reads at the extent or behind it gets zeros. A memref whose rows are
/// apart has bytes in its buffer that aren't its own: those between the rows.
/// That an index is inside of a row is for the caller to make sure of.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_LIB_TRANSFORMS_FLATBUFFER_H
#define LODESTONE_LIB_TRANSFORMS_FLATBUFFER_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>
#include <string>

namespace lodestone {

/// The bytes from the first element of a memref to the end of its last one, 0
/// if it has no elements; nothing if they aren't constant, or a stride is
/// negative.
std::optional<uint64_t> getFlatBytes(mlir::MemRefType type);

struct FlatBuffer {
  mlir::Value memref;
  /// Elements from one index of a dimension to the next.
  llvm::SmallVector<mlir::OpFoldResult> strides;
  /// Elements of the buffer.
  mlir::OpFoldResult extent;

  /// Why a memref of this type has no buffer; empty if it has. With
  /// `assumeSmall`, sizes and strides that aren't constant are taken to make
  /// less than 2^32 bytes, and no stride of them to be negative.
  static std::string whyNot(mlir::MemRefType type, bool assumeSmall);

  /// The buffer of `memref`, which is the same in all lanes and has one.
  static FlatBuffer create(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value memref);

  /// The element of the buffer that is at `indices` of the memref.
  mlir::Value getIndex(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::ValueRange indices) const;
};

} // namespace lodestone

#endif // LODESTONE_LIB_TRANSFORMS_FLATBUFFER_H
