//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The layout of a kernel's dynamic LDS: which bytes each `lds.region` has. The
/// verifier of `lds.region` and `lds-lower-regions` share the rules in here.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_DIALECT_LDS_IR_LDSLAYOUT_H
#define LODESTONE_DIALECT_LDS_IR_LDSLAYOUT_H

#include "lodestone/Dialect/LDS/IR/LDSDialect.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace lodestone::lds {

/// A region that has its place.
struct PlacedRegion {
  // A handle: that the place is constant says nothing about the operation.
  mutable RegionOp op;
  /// Bytes from the start of the kernel's dynamic LDS, and bytes.
  uint64_t offset;
  uint64_t size;

  uint64_t end() const { return offset + size; }
};

/// The regions of one kernel, all placed. Invariant: two regions with a byte in
/// common are declared to be overlays.
struct KernelLayout {
  /// In program order.
  llvm::SmallVector<PlacedRegion> regions;
  /// Bytes of dynamic LDS that the kernel needs: the largest end of a region.
  uint64_t bytes = 0;
  /// The largest alignment of a region; the dynamic LDS must start at a
  /// multiple.
  uint64_t align = 1;
};

/// The regions that `entry`, the entry block of a kernel, declares, in order.
/// Linear in the number of its operations.
llvm::SmallVector<RegionOp> getRegions(mlir::Block &entry);

/// The kernel that `op` belongs to: the nearest `gpu.func`, `llvm.func` or
/// `gpu.launch` around it, or null.
mlir::Operation *getKernel(mlir::Operation *op);

/// "kernel 'gemm'", for messages; "kernel" for a `gpu.launch`.
std::string describeKernel(mlir::Operation *kernel);

/// Checks what holds between the regions of one kernel: no name twice, no
/// unknown name in `overlays`, and no bytes in common between regions whose
/// offset is given, unless declared. Emits an error with a note at the other
/// region. Takes n log n time for n regions and names in `overlays` together.
/// Skips what it can't read of operations that were not verified yet.
mlir::LogicalResult verifyLayout(llvm::ArrayRef<RegionOp> regions);

/// Gives each region its place (see `lds.region` for the rules) and checks
/// again that no two share bytes undeclared. `regions` are those of one kernel
/// and have passed the verifier. Emits an error on failure.
llvm::FailureOr<KernelLayout> placeRegions(llvm::ArrayRef<RegionOp> regions);

} // namespace lodestone::lds

#endif // LODESTONE_DIALECT_LDS_IR_LDSLAYOUT_H
