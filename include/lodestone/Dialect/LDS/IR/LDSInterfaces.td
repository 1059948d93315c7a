//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_DIALECT_LDS_IR_LDSINTERFACES
#define LODESTONE_DIALECT_LDS_IR_LDSINTERFACES

include "mlir/IR/Interfaces.td"

def LDS_SwizzleAttrInterface : AttrInterface<"SwizzleAttrInterface"> {
  let cppNamespace = "::lodestone::lds";
  let description = [{
    A map from the logical to the physical byte offsets of an LDS allocation,
    both from its start. No two bytes may go to the same place. Implement it to
    use a swizzle that this dialect doesn't have; where it is put on an
    allocation, the verifier checks it byte by byte.
  }];
  let methods = [
    InterfaceMethod<"The physical offset of the byte at a logical one.",
      "uint64_t", "apply", (ins "uint64_t":$offset)>,
    InterfaceMethod<[{
        The logical offset of the byte at a physical one, or nothing if there is
        padding.
      }],
      "std::optional<uint64_t>", "invert", (ins "uint64_t":$offset)>,
    InterfaceMethod<[{
        A power of two: the bytes of each aligned block of this size stay
        together, in order and aligned.
      }],
      "uint64_t", "getGranule">,
    InterfaceMethod<[{
        A positive number P such that apply(q + P) = apply(q) + I for every q,
        with an I that doesn't depend on q.
      }],
      "uint64_t", "getPeriod">,
    InterfaceMethod<[{
        Emits arithmetic that maps `offset`, of index or integer type and taken
        as unsigned: `apply`, or `invert` where that is defined.
      }],
      "::mlir::Value", "emit", (ins "::mlir::OpBuilder &":$builder,
        "::mlir::Location":$loc, "::mlir::Value":$offset,
        "::lodestone::lds::SwizzleDirection":$direction)>,
    InterfaceMethod<[{
        The simplest attribute for the same map; null for the identity.
      }],
      "::mlir::Attribute", "getCanonical", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return $_attr;">,
    InterfaceMethod<[{
        Checks that the first `bytes` bytes go to different bytes below
        `available`. Returns what is wrong, empty if nothing is.
      }],
      "std::string", "checkTile",
      (ins "uint64_t":$bytes, "uint64_t":$available), /*methodBody=*/"",
      /*defaultImplementation=*/[{
        // Through the interface: methods may be an external model's.
        auto self = ::mlir::cast<SwizzleAttrInterface>(
            ::mlir::Attribute($_attr));
        return ::lodestone::checkSwizzledTile(
            [&](uint64_t q) { return self.apply(q); }, self.getGranule(),
            bytes, available);
      }]>,
    InterfaceMethod<[{
        One past the largest physical offset of the first `bytes` bytes.
      }],
      "uint64_t", "getImageBytes", (ins "uint64_t":$bytes), /*methodBody=*/"",
      /*defaultImplementation=*/[{
        auto self = ::mlir::cast<SwizzleAttrInterface>(
            ::mlir::Attribute($_attr));
        return ::lodestone::getSwizzledBytes(
            [&](uint64_t q) { return self.apply(q); }, self.getGranule(),
            bytes);
      }]>,
  ];
}

#endif // LODESTONE_DIALECT_LDS_IR_LDSINTERFACES
