//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The `tdm` dialect: copies by the tensor data mover.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_DIALECT_TDM_IR_TDMDIALECT_H
#define LODESTONE_DIALECT_TDM_IR_TDMDIALECT_H

#include "lodestone/Dialect/LDS/IR/LDSDialect.h"
#include "lodestone/Support/WarpSet.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace lodestone::tdm {
/// Checks one copy; see `tdm.load` for the rules and their order.
mlir::LogicalResult verifyCopy(mlir::Operation *op);
} // namespace lodestone::tdm

#define GET_ATTRDEF_CLASSES
#include "lodestone/Dialect/TDM/IR/TDMAttrs.h.inc"

#include "lodestone/Dialect/TDM/IR/TDMDialect.h.inc"

#include "lodestone/Dialect/TDM/IR/TDMInterfaces.h.inc"

#define GET_OP_CLASSES
#include "lodestone/Dialect/TDM/IR/TDMOps.h.inc"

#endif // LODESTONE_DIALECT_TDM_IR_TDMDIALECT_H
