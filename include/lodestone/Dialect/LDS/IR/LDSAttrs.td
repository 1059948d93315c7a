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
include "lodestone/Dialect/LDS/IR/LDSInterfaces.td"

class LDS_Attr<string name, string mnemonic_, list<Trait> traits = []>
    : AttrDef<LDS_Dialect, name, traits> {
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

//===----------------------------------------------------------------------===//
// Swizzles
//===----------------------------------------------------------------------===//

/// A swizzle that `lodestone::Swizzle` can express.
class LDS_SwizzleAttr<string name, string mnemonic>
    : LDS_Attr<name, mnemonic, [DeclareAttrInterfaceMethods<
        LDS_SwizzleAttrInterface,
        ["getCanonical", "checkTile", "getImageBytes"]>]> {
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The map.
    ::lodestone::Swizzle getSwizzle() const;
  }];
  let extraClassDefinition = [{
    uint64_t $cppClass::apply(uint64_t offset) const {
      return getSwizzle().apply(offset);
    }
    std::optional<uint64_t> $cppClass::invert(uint64_t offset) const {
      return getSwizzle().invert(offset);
    }
    uint64_t $cppClass::getGranule() const { return getSwizzle().getGranule(); }
    uint64_t $cppClass::getPeriod() const { return getSwizzle().getPeriod(); }
    ::mlir::Value $cppClass::emit(
        ::mlir::OpBuilder &builder, ::mlir::Location loc, ::mlir::Value offset,
        SwizzleDirection direction) const {
      return emitSwizzle(builder, loc, getSwizzle(), offset, direction);
    }
    ::mlir::Attribute $cppClass::getCanonical() const {
      return getSwizzleAttr(getContext(), getSwizzle());
    }
    std::string $cppClass::checkTile(uint64_t bytes, uint64_t available) const {
      return getSwizzle().checkTile(bytes, available);
    }
    uint64_t $cppClass::getImageBytes(uint64_t bytes) const {
      return getSwizzle().getImageBytes(bytes);
    }
  }];
}

def LDS_XorAttr : LDS_SwizzleAttr<"Xor", "xor"> {
  let summary = "A swizzle by xor of the byte offset with a part of itself";
  let description = [{
    p = q ^ ((q & mask) >> `shift`), where the mask has `bits` bits from bit
    `base` + `shift` on. With a negative `shift` the mask starts at bit `base`,
    and its bits go to the left. CuTe's `Swizzle<bits, base, shift>` on byte
    offsets.

    The granule is 2^`base` bytes, the period 2^(`bits` + `base` + |`shift`|). It
    undoes itself if |`shift`| is at least `bits`, and not otherwise.

    Example:

    ```mlir
    // The eight 16-byte cells of a 128-byte row, xor the row modulo 8.
    %a = lds.region @A swizzle(#lds.xor<bits = 3, base = 4, shift = 3>)
      : memref<64x64xf16, #gpu.address_space<workgroup>>
    ```

    Legal when `shift` isn't 0 (or `bits` is: the identity), and the period is at
    most 2^20 bytes.
  }];
  let parameters = (ins "uint64_t":$bits, "uint64_t":$base, "int64_t":$shift);
  let assemblyFormat = "`<` struct(params) `>`";
}

def LDS_CoordXorAttr : LDS_SwizzleAttr<"CoordXor", "coord_xor"> {
  let summary = "A swizzle by xor of the column with the row";
  let description = [{
    In rows of `row_bytes` bytes, the byte at (row, c) goes to
    (row, c ^ (((row >> `base_row`) & (2^`bits` - 1)) << `base_col`)). FlyDSL's
    `CoordSwizzle`.

    The granule is 2^`base_col` bytes, the period `row_bytes` * 2^(`bits` +
    `base_row`). It undoes itself. It is the same as `#lds.xor<bits, base_col,
    log2(row_bytes) + base_row - base_col>` if `row_bytes` is a power of two, and
    canonicalization makes it that.

    Example:

    ```mlir
    // 12 cells a row can't be swizzled by 8 phases, but by 4.
    %a = lds.region @A
      swizzle(#lds.coord_xor<bits = 2, base_row = 0, base_col = 4, row_bytes = 192>)
      : memref<64x96xf16, #gpu.address_space<workgroup>>
    ```

    Legal when a row is a multiple of 2^(`bits` + `base_col`) bytes, and the
    period is at most 2^20 bytes.
  }];
  let parameters = (ins "uint64_t":$bits, "uint64_t":$base_row,
                        "uint64_t":$base_col, "uint64_t":$row_bytes);
  let assemblyFormat = "`<` struct(params) `>`";
}

def LDS_RotateAttr : LDS_SwizzleAttr<"Rotate", "rotate"> {
  let summary = "A swizzle that rotates each row by its number";
  let description = [{
    In rows of n = `row_bytes` / `cell_bytes` cells, cell j of row i goes to cell
    (j + `step` * i) mod n. For any n, other than xor. It does not undo itself
    (unless n is 2).

    The granule is `cell_bytes` (times the power of two in `step`, as far as it
    divides the row), the period `row_bytes` * n / gcd(n, `step`).

    Example:

    ```mlir
    %a = lds.region @A swizzle(#lds.rotate<cell_bytes = 16, row_bytes = 192>)
      : memref<64x96xf16, #gpu.address_space<workgroup>>
    ```

    Legal when `cell_bytes` is a power of two that divides `row_bytes`, and the
    period is at most 2^20 bytes.
  }];
  let parameters = (ins "uint64_t":$cell_bytes, "uint64_t":$row_bytes,
                        DefaultValuedParameter<"uint64_t", "1">:$step);
  let assemblyFormat = "`<` struct(params) `>`";
}

def LDS_PaddedAttr : LDS_SwizzleAttr<"Padded", "padded"> {
  let summary = "Rows with padding behind each";
  let description = [{
    The byte c of row i, of `row_bytes` bytes, goes to
    i * (`row_bytes` + `pad_bytes`) + c. The allocation grows by the padding; that
    of a region must have room for it in its `size`.

    The granule is the largest power of two that divides both `row_bytes` and
    `pad_bytes`, the period `row_bytes`.

    Example:

    ```mlir
    %a = lds.region @A size(9200) swizzle(#lds.padded<row_bytes = 128, pad_bytes = 16>)
      : memref<64x64xf16, #gpu.address_space<workgroup>>
    ```

    Legal when a row with its padding has at most 2^20 bytes, and isn't empty.
  }];
  let parameters = (ins "uint64_t":$row_bytes, "uint64_t":$pad_bytes);
  let assemblyFormat = "`<` struct(params) `>`";
}

def LDS_ComposeAttr : LDS_SwizzleAttr<"Compose", "compose"> {
  let summary = "Several swizzles, the first applied first";
  let description = [{
    The composition of swizzles of this dialect, from left to right. Its granule
    is the smallest of theirs.

    Example:

    ```mlir
    %a = lds.region @A size(9200) swizzle(#lds.compose<
        #lds.xor<bits = 3, base = 4, shift = 3>,
        #lds.padded<row_bytes = 1024, pad_bytes = 16>>)
      : memref<64x64xf16, #gpu.address_space<workgroup>>
    ```

    Legal when the period is at most 2^20 bytes.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::Attribute">:$parts);
  let assemblyFormat = "`<` $parts `>`";
}

#endif // LODESTONE_DIALECT_LDS_IR_LDSATTRS
