//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_DIALECT_LDS_IR_LDSOPS
#define LODESTONE_DIALECT_LDS_IR_LDSOPS

include "mlir/IR/OpBase.td"

def LDS_Dialect : Dialect {
  let name = "lds";
  let cppNamespace = "::lodestone::lds";
  let summary = "Named regions of the local data share";
}

#endif // LODESTONE_DIALECT_LDS_IR_LDSOPS
