//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Swizzles in IR: which allocation has one, and the arithmetic that applies
/// it.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_DIALECT_LDS_IR_LDSSWIZZLE_H
#define LODESTONE_DIALECT_LDS_IR_LDSSWIZZLE_H

#include "lodestone/Dialect/LDS/IR/LDSDialect.h"

namespace lodestone::lds {

/// Emits the arithmetic of `swizzle`, or of its inverse, on `offset`, a byte
/// offset of index type or of an integer type with at least 32 bits that is not
/// negative. The result is right for all offsets below 2^31.
mlir::Value emitSwizzle(mlir::OpBuilder &builder, mlir::Location loc,
                        const Swizzle &swizzle, mlir::Value offset,
                        SwizzleDirection direction);

/// The attribute for `swizzle`; null for the identity, and for what no
/// attribute expresses (phases that are no power of two, undone padding).
mlir::Attribute getSwizzleAttr(mlir::MLIRContext *context,
                               const Swizzle &swizzle);

/// The map of a swizzle attribute of this dialect; nothing for others.
std::optional<Swizzle> getSwizzle(mlir::Attribute attribute);

/// The swizzle of the allocation `allocation`: the result of an `lds.region`,
/// `memref.alloc`, `memref.alloca` or `memref.get_global`, or a workgroup
/// attribution of a `gpu.func`. Null if it has none, or no valid one.
SwizzleAttrInterface getSwizzle(mlir::Value allocation);

/// Checks that `swizzle` can be on an allocation of `type` with room for
/// `available` bytes. A missing `available` is as many as it takes.
mlir::LogicalResult
verifySwizzle(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
              SwizzleAttrInterface swizzle, mlir::Type type,
              std::optional<uint64_t> available);

} // namespace lodestone::lds

#endif // LODESTONE_DIALECT_LDS_IR_LDSSWIZZLE_H
