//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

///
/// \file
/// What operations on memrefs may touch, before lowering.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_ANALYSIS_MEMORYACCESS_H
#define LODESTONE_ANALYSIS_MEMORYACCESS_H

#include "mlir/IR/Operation.h"

namespace lodestone {

/// True for a memref that all threads of a block see alike and that isn't LDS:
/// global memory, or a buffer of it.
bool isGlobalMemory(mlir::Value memref);

/// True for a memref in LDS.
bool isLDS(mlir::Value memref);

/// True for what reads global memory through a memref, and nothing else.
bool isGlobalLoad(mlir::Operation *op);

/// The LDS allocations that `memref` may be a view of: each an operation's
/// result or a block's argument. Nothing if they can't be told. `views` gets
/// the views on the way.
std::optional<llvm::SmallVector<mlir::Value>>
getLDSRoots(mlir::Value memref,
            llvm::SmallVectorImpl<mlir::Operation *> *views = nullptr);

/// True unless two allocations can't have a byte in common. Regions of a
/// kernel's dynamic LDS have none in common unless one overlays the other.
bool mayShareBytes(mlir::Value root, mlir::Value other);

/// What an operation itself may touch; nested operations are not looked at.
/// Memory of one thread only isn't listed.
struct MemoryAccess {
  bool readsGlobal = false;
  bool writesGlobal = false;
  /// Allocations in LDS, and whether it may be any LDS.
  llvm::SmallVector<mlir::Value> ldsRoots;
  bool anyLDS = false;

  bool mayTouchLDS(mlir::Value root) const;

  static MemoryAccess of(mlir::Operation *op);
};

/// True if `llvm.noalias` on an argument tells the global memory of a load and
/// of a writer, each of which accesses it through one memref, apart.
bool isKnownDistinct(mlir::Operation *load, mlir::Operation *writer);

} // namespace lodestone

#endif // LODESTONE_ANALYSIS_MEMORYACCESS_H
