//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Replaces the regions of one kernel by addresses in dynamic LDS.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_CONVERSION_LDSTOLLVM_LOWERKERNEL_H
#define LODESTONE_CONVERSION_LDSTOLLVM_LOWERKERNEL_H

#include "lodestone/Dialect/LDS/IR/LDSLayout.h"

#include "mlir/IR/SymbolTable.h"

namespace mlir {
class LLVMTypeConverter;
} // namespace mlir

namespace lodestone::lds {

/// Replaces the regions in `layout`, all those of `kernel` and at least one, by
/// addresses with an `lds.extent`, and sets the kernel's `lds.dynamic_size`.
///
/// `symbols` is the symbol table that `kernel` is in; the globals are looked up
/// in it and inserted where it begins. `types` converts memrefs in workgroup
/// memory. With `separateGlobals` each region gets a global of its name, apart
/// from regions that share bytes; otherwise all are in one.
void lowerKernel(mlir::Operation *kernel, const KernelLayout &layout,
                 mlir::SymbolTable &symbols,
                 const mlir::LLVMTypeConverter &types, bool separateGlobals);

} // namespace lodestone::lds

#endif // LODESTONE_CONVERSION_LDSTOLLVM_LOWERKERNEL_H
