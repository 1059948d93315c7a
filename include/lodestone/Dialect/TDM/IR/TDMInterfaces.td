//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_DIALECT_TDM_IR_TDMINTERFACES
#define LODESTONE_DIALECT_TDM_IR_TDMINTERFACES

include "mlir/IR/OpBase.td"
include "mlir/IR/Interfaces.td"

class TDM_Accessor<string description, string type, string name>
    : InterfaceMethod<description, type, name>;

// What a copy may have; ops that can't, inherit the answer.
class TDM_OptionalAccessor<string description, string type, string name>
    : InterfaceMethod<description, type, name, (ins), "",
                      "return " # type # "();">;

def TDM_CopyOpInterface : OpInterface<"CopyOpInterface"> {
  let cppNamespace = "::lodestone::tdm";
  let description = [{
    A copy of one block between a tensor in global memory and LDS. The verifier of
    the copies, their lowering, and the passes that choose hints see copies
    through this interface.
  }];
  let methods = [
    TDM_Accessor<"The tensor: a memref in global memory.",
                 "::mlir::Value", "getGlobal">,
    TDM_Accessor<"Where the block is in LDS: one memref, or one for each piece "
                 "of a partitioned block.",
                 "::mlir::OperandRange", "getLds">,
    TDM_Accessor<"Where the block starts in the tensor, in elements, one for each "
                 "dimension (for a gather, the columns only).",
                 "::mlir::OperandRange", "getOffsets">,
    TDM_Accessor<"An i1 that is false when nothing is to be moved, or null.",
                 "::mlir::Value", "getPred">,
    TDM_Accessor<"The hint: an i32 mask, a `#tdm.warps`, or null.",
                 "::mlir::Attribute", "getWarpUsedHintAttr">,
    InterfaceMethod<"Sets the hint.", "void", "setHint",
                    (ins "::mlir::Attribute":$hint), "",
                    "$_op->setAttr($_op.getWarpUsedHintAttrName(), hint);">,
    TDM_Accessor<"The shape of the block if it isn't that of the LDS memref.",
                 "::mlir::DenseI64ArrayAttr", "getBlockAttr">,
    TDM_Accessor<"True when the tensor data mover is to return early.",
                 "bool", "getEarlyTimeout">,
    TDM_OptionalAccessor<"The gaps in LDS, or null.",
                 "::lodestone::tdm::PaddingAttr", "getPaddingAttr">,
    TDM_OptionalAccessor<"The dimension along which `getLds` are the pieces.",
                 "::mlir::IntegerAttr", "getPartitionDimAttr">,
    TDM_OptionalAccessor<"The repetition, or null.",
                 "::lodestone::tdm::IterationAttr", "getIterationAttr">,
    TDM_OptionalAccessor<"The LDS barrier that the copy arrives at, or null.",
                 "::mlir::Value", "getBarrier">,
    TDM_OptionalAccessor<"The workgroups of the cluster that get the block, as "
                 "an i16 mask, or null.",
                 "::mlir::Value", "getWorkgroupMask">,
    TDM_OptionalAccessor<"The rows of a gather, a vector of integers, or null.",
                 "::mlir::Value", "getRows">,
    InterfaceMethod<"True for global memory to LDS.", "bool", "isLoad", (ins),
                    "", "return true;">,
  ];
  let verify = [{ return ::lodestone::tdm::verifyCopy($_op); }];
}

#endif // LODESTONE_DIALECT_TDM_IR_TDMINTERFACES
