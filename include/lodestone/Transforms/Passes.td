//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_TRANSFORMS_PASSES
#define LODESTONE_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def LDSAttachAliasScopes : Pass<"lds-attach-alias-scopes"> {
  let summary = "Attach alias scopes to LDS accesses and LDS-DMAs";
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // LODESTONE_TRANSFORMS_PASSES
