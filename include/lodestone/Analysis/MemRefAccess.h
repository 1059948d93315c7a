//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// One form for the operations that read or write elements of a memref.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_ANALYSIS_MEMREFACCESS_H
#define LODESTONE_ANALYSIS_MEMREFACCESS_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace lodestone {

/// What an operation that reads or writes elements of a memref does, whichever
/// it is. A load if there is nothing `stored`.
struct MemRefAccess {
  mlir::Operation *op = nullptr;
  mlir::Value memref;
  /// What it moves: an element, or a vector of consecutive ones.
  mlir::Type type;
  /// The indices, or the operands of `map`, if there is one, whose results are.
  mlir::ValueRange operands;
  mlir::AffineMap map;
  mlir::Value stored;
  /// Of masked accesses.
  mlir::Value mask, passThru;
  /// Bytes that its address is a multiple of, if it says so.
  std::optional<uint64_t> alignment;
  bool nontemporal = false;

  /// Nothing for other operations. Transfers are only accesses of consecutive
  /// elements if the caller finds them to be.
  static std::optional<MemRefAccess> get(mlir::Operation *op);

  /// The indices; `builder` stands at `op`, where those of affine accesses are
  /// computed.
  llvm::SmallVector<mlir::Value> getIndices(mlir::OpBuilder &builder) const;

  /// False for transfers that permute, or that leave elements out because of a
  /// mask or a bound: those that are no load or store of a vector.
  bool isPlainTransfer() const;
};

} // namespace lodestone

#endif // LODESTONE_ANALYSIS_MEMREFACCESS_H
