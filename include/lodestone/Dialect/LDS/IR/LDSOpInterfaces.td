//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_DIALECT_LDS_IR_LDSOPINTERFACES
#define LODESTONE_DIALECT_LDS_IR_LDSOPINTERFACES

include "mlir/IR/OpBase.td"

def LDS_AsyncCopyOpInterface : OpInterface<"AsyncCopyOpInterface"> {
  let cppNamespace = "::lodestone::lds";
  let description = [{
    An op that copies into LDS and completes later, at a wait on a counter of the
    hardware. `lds.wait_group` counts these ops.
  }];
  let methods = [
    InterfaceMethod<"The counter that the instructions of the copy increment. "
                    "All copies that one counter tracks complete in order.",
                    "::lodestone::DMACounter", "getCopyCounter">,
    InterfaceMethod<"How many instructions that increment the counter a wave "
                    "issues at least when it executes the op; an op that may "
                    "issue none returns 0.",
                    "unsigned", "getMinCopyInstructions">
  ];
}

#endif // LODESTONE_DIALECT_LDS_IR_LDSOPINTERFACES
