//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A swizzle that isn't the lds dialect's: an array of integers that says where
/// each cell of 16 bytes goes. Reads a module from standard input, applies
/// swizzles, and prints it.
///
//===----------------------------------------------------------------------===//

#include "lodestone/Dialect/LDS/IR/LDSSwizzle.h"
#include "lodestone/InitAll.h"
#include "lodestone/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/InitLLVM.h"

using namespace mlir;
using namespace lodestone::lds;

namespace {
constexpr uint64_t kCell = 16;

struct Permutation
    : SwizzleAttrInterface::ExternalModel<Permutation, DenseArrayAttr> {
  static ArrayRef<int64_t> cells(Attribute attribute) {
    return cast<DenseI64ArrayAttr>(attribute).asArrayRef();
  }

  uint64_t apply(Attribute attribute, uint64_t offset) const {
    ArrayRef<int64_t> to = cells(attribute);
    uint64_t cell = offset / kCell, row = cell / to.size();
    return (row * to.size() + to[cell % to.size()]) * kCell + offset % kCell;
  }
  std::optional<uint64_t> invert(Attribute attribute, uint64_t offset) const {
    ArrayRef<int64_t> to = cells(attribute);
    uint64_t cell = offset / kCell, row = cell / to.size();
    auto from = llvm::find(to, static_cast<int64_t>(cell % to.size()));
    return (row * to.size() + (from - to.begin())) * kCell + offset % kCell;
  }
  uint64_t getGranule(Attribute) const { return kCell; }
  uint64_t getPeriod(Attribute attribute) const {
    return cells(attribute).size() * kCell;
  }
  Value emit(Attribute attribute, OpBuilder &builder, Location loc, Value q,
             SwizzleDirection) const {
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(builder, loc, value);
    };
    // Only what the test needs: each cell's distance, by comparison.
    Value column =
        arith::RemUIOp::create(builder, loc, q, constant(getPeriod(attribute)));
    Value cell = arith::DivUIOp::create(builder, loc, column, constant(kCell));
    Value distance = constant(0);
    for (auto [from, to] : llvm::enumerate(cells(attribute))) {
      Value here = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         cell, constant(from));
      distance = arith::SelectOp::create(
          builder, loc, here,
          constant((to - static_cast<int64_t>(from)) * int64_t(kCell)),
          distance);
    }
    return arith::AddIOp::create(builder, loc, q, distance);
  }
};
} // namespace

int main(int argc, char **argv) {
  DialectRegistry registry;
  lodestone::registerEverything(registry);
  registry.addExtension(+[](MLIRContext *context, BuiltinDialect *) {
    DenseArrayAttr::attachInterface<Permutation>(*context);
  });
  return asMainReturnCode(
      MlirOptMain(argc, argv, "An own swizzle attribute\n", registry));
}
