//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The LDS that a kernel uses besides its regions: static LDS, which takes
/// room, and dynamic LDS as a whole, which would share bytes with the regions.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_CONVERSION_LDSTOLLVM_OTHERLDS_H
#define LODESTONE_CONVERSION_LDSTOLLVM_OTHERLDS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace lodestone::lds {

/// True if `global` is a name for the start of the dynamic LDS: it is in LDS
/// and takes no bytes.
bool isDynamicLDS(mlir::LLVM::GlobalOp global);

/// What a kernel and the functions that it calls use.
struct OtherLDS {
  /// Bytes of static LDS, without padding between them. Globals of a type whose
  /// size isn't known count nothing, so this is a lower bound.
  uint64_t staticBytes = 0;
  /// The first operation found that takes the address of the dynamic LDS other
  /// than through an `lds.region`, or null.
  mlir::Operation *dynamicUse = nullptr;
};

/// Finds the LDS that functions use. Each function is read once, however many
/// kernels call it.
class OtherLDSFinder {
public:
  explicit OtherLDSFinder(mlir::SymbolTableCollection &symbols)
      : symbols(symbols) {}

  /// What `kernel` and its callees, as far as they have a body in reach, use.
  OtherLDS find(mlir::Operation *kernel);

private:
  /// What one function uses by itself.
  struct Summary {
    uint64_t attributionBytes = 0;
    mlir::Operation *dynamicUse = nullptr;
    llvm::SmallVector<mlir::LLVM::GlobalOp> staticGlobals;
    llvm::SmallVector<mlir::Operation *> callees;
  };

  const Summary &summarize(mlir::Operation *function);

  mlir::SymbolTableCollection &symbols;
  llvm::DenseMap<mlir::Operation *, Summary> summaries;
};

} // namespace lodestone::lds

#endif // LODESTONE_CONVERSION_LDSTOLLVM_OTHERLDS_H
