//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/InitAll.h"
#include "lodestone/Dialect/LDS/IR/LDSDialect.h"
#include "lodestone/Dialect/TDM/IR/TDMDialect.h"
#include "lodestone/Target/Passes.h"
#include "lodestone/Transforms/Passes.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"

void lodestone::registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<lds::LDSDialect, tdm::TDMDialect>();
}

void lodestone::registerAllPasses() {
  static const bool once = [] {
    registerLodestonePasses();
    registerTargetPasses();
    return true;
  }();
  (void)once;
}

void lodestone::registerEverything(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllGPUToLLVMIRTranslations(registry);
  mlir::registerAllPasses();
  lodestone::registerAllDialects(registry);
  lodestone::registerAllPasses();
}
