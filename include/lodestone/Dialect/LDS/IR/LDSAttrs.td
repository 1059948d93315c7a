//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_DIALECT_LDS_IR_LDSATTRS
#define LODESTONE_DIALECT_LDS_IR_LDSATTRS

include "lodestone/Dialect/LDS/IR/LDSBase.td"

class LDS_Attr<string name, string mnemonic_> : AttrDef<LDS_Dialect, name> {
  let mnemonic = mnemonic_;
}

def LDS_ExtentAttr : LDS_Attr<"Extent", "extent"> {
  let summary = "The bytes of a region";
  let description = [{
    Names a piece of a kernel's dynamic LDS and its bytes: those from `offset`
    up to, but not including, `offset + size`, counted from the start of the
    kernel's dynamic LDS. `lds-lower-regions` puts it, as the discardable
    attribute `lds.extent`, on the operation that computes the region's address.
    On a part of a static LDS global (`lds-pack-static-globals`), the offset is
    from the start of that global.

    Example:

    ```mlir
    %a = llvm.getelementptr %lds[0, 16384]
      {lds.extent = #lds.extent<"A1", offset = 16384, size = 16384>}
      : (!llvm.ptr<3>) -> !llvm.ptr<3>, !llvm.array<0 x i8>
    ```

    Legal when the name isn't empty, the size isn't zero, and the last byte's
    offset fits into 31 bits, which is what an LDS address and a constant index of
    `llvm.getelementptr` can both express.
  }];
  let parameters = (ins
    "::mlir::StringAttr":$name,
    "uint64_t":$offset,
    "uint64_t":$size
  );
  let assemblyFormat = "`<` $name `,` struct($offset, $size) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The first byte after the region.
    uint64_t getEnd() const { return getOffset() + getSize(); }
  }];
}

#endif // LODESTONE_DIALECT_LDS_IR_LDSATTRS
