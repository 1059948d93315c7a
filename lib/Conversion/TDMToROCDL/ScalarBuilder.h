//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Integer arithmetic that is folded while it is built.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_CONVERSION_TDMTOROCDL_SCALARBUILDER_H
#define LODESTONE_CONVERSION_TDMTOROCDL_SCALARBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace lodestone::tdm {

/// Builds i1, i32 and i64 values at one location. What is constant becomes an
/// arith.constant.
class ScalarBuilder {
public:
  ScalarBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  mlir::Value constant(int64_t value, unsigned bits = 32) {
    return mlir::arith::ConstantIntOp::create(builder, loc, value, bits);
  }
  /// `value`, an integer or index, as an integer of `bits` bits: cut off, or
  /// extended with zeros.
  mlir::Value resize(mlir::Value value, unsigned bits) {
    mlir::Type type = builder.getIntegerType(bits);
    if (value.getType().isIndex())
      return builder.createOrFold<mlir::arith::IndexCastUIOp>(loc, type, value);
    if (value.getType().getIntOrFloatBitWidth() > bits)
      return builder.createOrFold<mlir::arith::TruncIOp>(loc, type, value);
    if (value.getType().getIntOrFloatBitWidth() < bits)
      return builder.createOrFold<mlir::arith::ExtUIOp>(loc, type, value);
    return value;
  }

  mlir::Value add(mlir::Value a, mlir::Value b) {
    return binary<mlir::arith::AddIOp>(a, b);
  }
  mlir::Value subtract(mlir::Value a, mlir::Value b) {
    return binary<mlir::arith::SubIOp>(a, b);
  }
  mlir::Value bitAnd(mlir::Value a, mlir::Value b) {
    return binary<mlir::arith::AndIOp>(a, b);
  }
  mlir::Value bitOr(mlir::Value a, mlir::Value b) {
    return binary<mlir::arith::OrIOp>(a, b);
  }
  mlir::Value multiply(mlir::Value a, mlir::Value b) {
    return binary<mlir::arith::MulIOp>(a, b);
  }
  mlir::Value multiply(mlir::Value a, int64_t b) {
    return multiply(a, sameType(b, a));
  }
  mlir::Value bitAnd(mlir::Value a, int64_t b) {
    return bitAnd(a, sameType(b, a));
  }
  mlir::Value bitXor(mlir::Value a, int64_t b) {
    return binary<mlir::arith::XOrIOp>(a, sameType(b, a));
  }
  mlir::Value shiftLeft(mlir::Value a, unsigned bits) {
    return binary<mlir::arith::ShLIOp>(a, sameType(bits, a));
  }
  mlir::Value shiftRight(mlir::Value a, unsigned bits) {
    return binary<mlir::arith::ShRUIOp>(a, sameType(bits, a));
  }
  mlir::Value isEqual(mlir::Value a, int64_t b) {
    return builder.createOrFold<mlir::arith::CmpIOp>(
        loc, mlir::arith::CmpIPredicate::eq, a, sameType(b, a));
  }
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) {
    std::optional<int64_t> x = mlir::getConstantIntValue(a),
                           y = mlir::getConstantIntValue(b);
    if (x && x == y)
      return a;
    return builder.createOrFold<mlir::arith::SelectOp>(loc, condition, a, b);
  }

private:
  mlir::Value sameType(int64_t value, mlir::Value other) {
    return constant(value, other.getType().getIntOrFloatBitWidth());
  }
  template <typename Op> mlir::Value binary(mlir::Value a, mlir::Value b) {
    return builder.createOrFold<Op>(loc, a, b);
  }

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace lodestone::tdm

#endif // LODESTONE_CONVERSION_TDMTOROCDL_SCALARBUILDER_H
