//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_DIALECT_TDM_IR_TDMBASE
#define LODESTONE_DIALECT_TDM_IR_TDMBASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def TDM_Dialect : Dialect {
  let name = "tdm";
  let cppNamespace = "::lodestone::tdm";
  let summary = "Copies by the tensor data mover";
  let description = [{
    The tensor data mover (TDM) of gfx1250 copies a block of a tensor of rank 1 to
    5 between global memory and the local data share (LDS), asynchronously. This
    dialect has its copies, the wait for them, and the hint which warps of the
    workgroup issue them. `convert-tdm-to-rocdl` turns them into descriptors and
    ROCDL ops.

    **A copy is an operation of the workgroup.** All of its warps execute it, with
    the same operands; how the block is divided among them is the lowering's
    business. Nothing is in LDS before each warp has waited for its part
    (`tdm.wait`) and the workgroup has passed a barrier after that.

    **A hint is a hint.** `warp_used_hint` chooses the warps that move data; what
    lands in LDS is the same with and without it. The other warps issue the
    instruction, too, as one that moves nothing. A hint is legal when it is an
    axis-aligned subcube of the warp ids: there are two masks `free` and `anchor`
    without a common bit, and the active warps are exactly those whose id is
    `anchor` with any of the bits of `free` added.

    The number of warps is the known size of the workgroup divided by 32, the
    lanes of a warp on gfx1250: `known_block_size` of a `gpu.func`, the constant
    sizes of a `gpu.launch`, `rocdl.reqd_work_group_size` of an `llvm.func`.
    `convert-tdm-to-rocdl` needs it; the verifier checks what depends on it where
    it is there.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
  let useDefaultAttributePrinterParser = 1;
}

#endif // LODESTONE_DIALECT_TDM_IR_TDMBASE
