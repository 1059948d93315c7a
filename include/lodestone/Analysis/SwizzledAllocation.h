//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A swizzled LDS allocation, the views of it and the accesses through them.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_ANALYSIS_SWIZZLEDALLOCATION_H
#define LODESTONE_ANALYSIS_SWIZZLEDALLOCATION_H

#include "lodestone/Analysis/MemRefAccess.h"
#include "lodestone/Dialect/LDS/IR/LDSSwizzle.h"

#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SmallVector.h"

#include <vector>

namespace lodestone {

/// A number of bytes that is a value, or a constant, times a constant.
struct ByteTerm {
  mlir::OpFoldResult value;
  int64_t bytes;
};

/// A view of an allocation, or the allocation itself: element (i, j, ...) is at
/// the sum of `offset` plus i * strides[0] + j * strides[1] + ... bytes, in
/// logical offsets from the start of the allocation.
struct SwizzledView {
  mlir::Value memref;
  /// Index of the allocation's value in `roots`.
  unsigned root;
  llvm::SmallVector<ByteTerm> offset;
  llvm::SmallVector<int64_t> strides;
};

/// An access through a view.
struct SwizzledAccess {
  MemRefAccess access;
  /// Index of the view in `views`.
  unsigned view;
  /// Low bits of its logical byte offset that are zero for sure.
  unsigned offsetZeros;
};

/// Why an allocation can't have its swizzle applied.
struct SwizzleRefusal {
  /// Name of the remark.
  llvm::StringLiteral name;
  mlir::Operation *op;
  std::string reason;
};

/// An allocation with a swizzle, and what uses it.
struct SwizzledAllocation {
  /// What declares it: `lds.region`, `memref.alloc`, `memref.alloca`,
  /// `memref.global`, or the `gpu.func` of a workgroup attribution.
  mlir::Operation *op;
  lds::SwizzleAttrInterface swizzle;
  mlir::MemRefType type;
  /// Its values: one, or for a global one for each `memref.get_global`.
  llvm::SmallVector<mlir::Value> roots;
  /// From here on empty until `follow`. Parents before the views of them; the
  /// first are the roots.
  llvm::SmallVector<SwizzledView> views;
  llvm::SmallVector<SwizzledAccess> accesses;
  std::optional<SwizzleRefusal> refusal;

  /// Finds the views and accesses. Refuses the allocation, by name, unless all
  /// of its uses are views with constant strides (`swizzle-unsupported-view`),
  /// accesses of consecutive elements that don't tear an element
  /// (`swizzle-unsupported-access`), and deallocation (`swizzle-escapes`).
  void follow();

  /// Bytes that the start of the allocation is a multiple of, as far as known.
  uint64_t getAlignment() const;

  /// "region '@A'", for messages.
  std::string describe() const;

  /// Removes the attribute; the kernel then has no swizzle here.
  void dropSwizzle();
};

/// The swizzled allocations in `root` and below. Fails, with an error, at an
/// attribute on a workgroup attribution that is no valid swizzle (others have
/// been verified).
mlir::FailureOr<std::vector<SwizzledAllocation>>
collectSwizzledAllocations(mlir::Operation *root);

} // namespace lodestone

#endif // LODESTONE_ANALYSIS_SWIZZLEDALLOCATION_H
