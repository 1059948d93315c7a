//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Dialect/LDS/IR/LDSDialect.h"

#include "lodestone/Dialect/LDS/IR/LDSDialect.cpp.inc"

void lodestone::lds::LDSDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "lodestone/Dialect/LDS/IR/LDSOps.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "lodestone/Dialect/LDS/IR/LDSOps.cpp.inc"
