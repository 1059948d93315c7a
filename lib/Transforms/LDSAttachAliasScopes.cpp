//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Transforms/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace lodestone {
#define GEN_PASS_DEF_LDSATTACHALIASSCOPES
#include "lodestone/Transforms/Passes.h.inc"
} // namespace lodestone

namespace {
struct LDSAttachAliasScopes final
    : lodestone::impl::LDSAttachAliasScopesBase<LDSAttachAliasScopes> {
  void runOnOperation() override {}
};
} // namespace
