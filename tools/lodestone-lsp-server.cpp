//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// `lodestone-lsp-server`: the MLIR language server with Lodestone's dialects.
///
//===----------------------------------------------------------------------===//

#include "lodestone/InitAll.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  lodestone::registerEverything(registry);
  return failed(mlir::MlirLspServerMain(argc, argv, registry));
}
