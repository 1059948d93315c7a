//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Dialect/LDS/IR/LDSDialect.h"
#include "lodestone/Transforms/LDSTransforms.h"
#include "lodestone/Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace lodestone {
#define GEN_PASS_DEF_LDSAPPLYSWIZZLES
#include "lodestone/Transforms/Passes.h.inc"
} // namespace lodestone

using namespace mlir;
using namespace lodestone;

namespace {
struct LDSApplySwizzles final
    : lodestone::impl::LDSApplySwizzlesBase<LDSApplySwizzles> {
  using LDSApplySwizzlesBase::LDSApplySwizzlesBase;

  void runOnOperation() override {
    ApplySwizzlesOptions options;
    options.category = "lds-apply-swizzles";
    options.strict = strict;
    options.dropRefused = dropRefused;
    FailureOr<ApplySwizzlesCounts> counts =
        applySwizzles(getOperation(), options);
    if (failed(counts))
      return signalPassFailure();
    numApplied += counts->applied;
    numRefused += counts->refused;
    numSplit += counts->split;
  }
};
} // namespace
