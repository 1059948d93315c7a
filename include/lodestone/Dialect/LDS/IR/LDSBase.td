//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_DIALECT_LDS_IR_LDSBASE
#define LODESTONE_DIALECT_LDS_IR_LDSBASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def LDS_Dialect : Dialect {
  let name = "lds";
  let cppNamespace = "::lodestone::lds";
  let summary = "Named regions of the local data share";
  let description = [{
    The local data share (LDS) is the memory that the waves of one workgroup
    share. A kernel that overlaps copies into it with reads from it has to know
    which bytes belong to what; this dialect is where that is written down.

    `lds.region` gives a name to a piece of the kernel's dynamic LDS. The
    verifier sees all regions of a kernel and rejects layouts in which two
    regions share bytes without saying so. `lds-lower-regions` turns the regions
    into offsets from the start of the dynamic LDS and leaves behind
    `#lds.extent` attributes, from which later passes know the bytes that a
    pointer can reach.

    **The contract of a region.** Whatever address is computed from the pointer
    or memref of a region stays inside of the region. Everything that Lodestone
    proves about LDS accesses rests on this.

    Attributes on operations of other dialects:

    - `lds.extent`, an `#lds.extent`, on an `llvm.getelementptr` or an
      `llvm.mlir.global`: the region whose address this is.
    - `lds.dynamic_size`, an `i64`, on a kernel: the bytes of dynamic LDS that a
      launch of this kernel must pass.
    - `lds.swizzle`, a swizzle, on a `memref.alloc`, `memref.alloca` or
      `memref.global` in workgroup memory, or on a workgroup attribution of a
      `gpu.func`: what `swizzle` is on an `lds.region`.

    **What a swizzle means.** It belongs to an allocation. The indices of accesses
    to the memref, and to views of it, stay logical: the byte at offset q from the
    start of the allocation is at offset sigma(q) in LDS. A kernel therefore
    computes the same without the swizzle, unless it looks at the bytes through
    another region that overlays this one. `lds-apply-swizzles` puts sigma into
    the indices; no other pass lowers it.
  }];

  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::LLVM::LLVMDialect"
  ];
  let discardableAttrs = (ins
    "::lodestone::lds::ExtentAttr":$extent,
    "::mlir::IntegerAttr":$dynamic_size,
    "::lodestone::lds::SwizzleAttrInterface":$swizzle
  );
  let hasOperationAttrVerify = 1;
  let useDefaultAttributePrinterParser = 1;
}

#endif // LODESTONE_DIALECT_LDS_IR_LDSBASE
