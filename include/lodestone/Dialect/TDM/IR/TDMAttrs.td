//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_DIALECT_TDM_IR_TDMATTRS
#define LODESTONE_DIALECT_TDM_IR_TDMATTRS

include "lodestone/Dialect/TDM/IR/TDMBase.td"
include "mlir/IR/CommonAttrConstraints.td"

class TDM_Attr<string name, string mnemonic_> : AttrDef<TDM_Dialect, name> {
  let mnemonic = mnemonic_;
}

def TDM_WarpsAttr : TDM_Attr<"Warps", "warps"> {
  let summary = "The warps that move the data of a copy, as two masks";
  let description = [{
    The warps of a workgroup of `of` warps whose id is `anchor` with any of the bits
    of `free` added. As a mask of warps, the example is `0xf0`.

    ```mlir
    #tdm.warps<free = 0b011, anchor = 0b100, of = 8>
    ```

    The masks are decimal, hexadecimal (`0x3`) or binary (`0b011`) numbers.

    Legal when `of` is a power of two that is at most 32, and `free` and `anchor`
    are below it and have no bit in common.
  }];
  let parameters = (ins "uint32_t":$free, "uint32_t":$anchor, "uint32_t":$of);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The decoded set; what the verifier lets pass always has one.
    ::lodestone::WarpSet getWarpSet() const;
  }];
}

def TDM_PaddingAttr : TDM_Attr<"Padding", "padding"> {
  let summary = "The gaps that a load leaves in LDS";
  let description = [{
    After each `interval` dwords (of four bytes) that a load writes to LDS,
    `amount` dwords are left as they are. What is counted are the bytes of the
    block in row-major order.

    Rows of 64 f16, a bank conflict away from each other without it:

    ```mlir
    #tdm.padding<interval = 32, amount = 4>
    ```

    Legal when `interval` is a power of two from 2 to 256 and `amount` is from 1
    to 128: what the descriptor can say.
  }];
  let parameters = (ins "int64_t":$interval, "int64_t":$amount);
  let assemblyFormat = "`<` struct($interval, $amount) `>`";
  let genVerifyDecl = 1;
}

def TDM_IterationAttr : TDM_Attr<"Iteration", "iteration"> {
  let summary = "A copy that is repeated at other addresses";
  let description = [{
    The copy is done `count` times, each time `global_step` elements further on in
    global memory and `lds_step` elements further on in LDS. What is outside of
    the tensor is decided by the position of the first one.

    ```mlir
    #tdm.iteration<count = 4, global_step = 8192, lds_step = 1024>
    ```

    Legal when `count` is from 1 to 256, `global_step` below 2^48 and `lds_step`
    below 2^32.
  }];
  let parameters = (ins "int64_t":$count, "int64_t":$global_step,
                        "int64_t":$lds_step);
  let assemblyFormat = "`<` struct($count, $global_step, $lds_step) `>`";
  let genVerifyDecl = 1;
}

/// The mask of the warps, or the two masks that it is made of.
def TDM_WarpHintAttr : AnyAttrOf<[I32Attr, TDM_WarpsAttr],
    "a mask of warps (i32) or #tdm.warps">;

#endif // LODESTONE_DIALECT_TDM_IR_TDMATTRS
