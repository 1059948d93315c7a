//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The `lds` dialect: named regions of a kernel's local data share.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_DIALECT_LDS_IR_LDSDIALECT_H
#define LODESTONE_DIALECT_LDS_IR_LDSDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"

#include "lodestone/Dialect/LDS/IR/LDSDialect.h.inc"

#define GET_OP_CLASSES
#include "lodestone/Dialect/LDS/IR/LDSOps.h.inc"

#endif // LODESTONE_DIALECT_LDS_IR_LDSDIALECT_H
