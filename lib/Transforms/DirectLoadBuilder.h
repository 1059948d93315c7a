//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What a copy becomes: one DMA, or several narrower ones.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_LIB_TRANSFORMS_DIRECTLOADBUILDER_H
#define LODESTONE_LIB_TRANSFORMS_DIRECTLOADBUILDER_H

#include "DMAAddress.h"
#include "FlatBuffer.h"

#include "lodestone/Transforms/CloneForThread.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"

namespace lodestone {

struct DirectLoadOptions {
  /// Make copies out of several narrower DMAs if the chip doesn't take theirs.
  bool narrow = true;
  /// Memrefs whose sizes or strides aren't constant have less than 2^32 bytes,
  /// and no negative strides.
  bool assumeSmallBuffers = false;
};

/// Plans and makes the DMAs of one kernel.
class DirectLoadBuilder {
public:
  DirectLoadBuilder(mlir::FunctionOpInterface kernel, ThreadValues &values,
                    const ChipInfo &chip, DirectLoadOptions options);

  /// Refuses `copy` if it has no DMAs; changes nothing that computes.
  void check(DirectCopy &copy);

  /// Makes the DMAs of `copy`, which passed check(). Its ops stay until
  /// eraseCopies(), since the values of `values` are known by address.
  void form(const DirectCopy &copy);
  void eraseCopies();

  /// Bytes of a lane in each DMA of `copy`, 0 if it can't be made of any.
  unsigned getWidth(const DirectCopy &copy) const;
  unsigned getNumDMAs() const { return numDMAs; }

private:
  /// Where a lane reads.
  struct LaneSource {
    mlir::Value memref;
    llvm::SmallVector<mlir::Value> indices;
    /// The lane copies only if this is set (zero-fill: else it brings zeros).
    mlir::Value guard;
  };

  /// A DMA, and what it was made of.
  struct MadeDMA {
    mlir::Block *block;
    mlir::Value source;
    mlir::Value target;
    /// What zero-fill depends on, or null.
    mlir::Value zeroFill;
    DMAAddress address;
    mlir::amdgpu::GatherToLDSOp op;
  };

  bool hasLaneAddresses() const {
    return chip.dmaCounter == DMACounter::asynccnt;
  }
  /// The `scf.if` right around `copy`, if lanes may differ in taking it.
  mlir::scf::IfOp getGuard(const DirectCopy &copy) const;
  bool checkWindow(DirectCopy &copy, unsigned width);
  bool checkNarrowing(DirectCopy &copy);
  std::string whyNoBuffer(const DirectCopy &copy) const;
  bool checkZeroFill(DirectCopy &copy, unsigned width);
  mlir::Value getThread(unsigned perCell, unsigned part);
  CloneForThread &getCloner(unsigned perCell, unsigned part);
  mlir::Value getWaveOffset(mlir::OpBuilder &builder, const DirectCopy &copy);
  mlir::Value getFlatTarget(mlir::OpBuilder &builder, const DirectCopy &copy);
  LaneSource getSource(mlir::OpBuilder &builder, const DirectCopy &copy,
                       unsigned perCell, unsigned part);
  void readThroughBuffer(mlir::OpBuilder &builder, const DirectCopy &copy,
                         LaneSource &source);
  void makeGuarded(mlir::OpBuilder &builder, const DirectCopy &copy,
                   mlir::Value guard,
                   llvm::function_ref<void(mlir::OpBuilder &)> make);
  bool shareAddress(mlir::OpBuilder &builder, const DirectCopy &copy,
                    const DMAAddress &address, mlir::Type type);

  mlir::FunctionOpInterface kernel;
  ThreadValues &values;
  const ChipInfo &chip;
  DirectLoadOptions options;
  /// The kernel's first op; what all copies share is built before it.
  mlir::Operation *anchor;
  mlir::Value waveStart;
  std::map<std::pair<unsigned, unsigned>, std::unique_ptr<CloneForThread>>
      cloners;
  llvm::DenseMap<mlir::Value, FlatBuffer> buffers;
  /// The last DMA with addresses of its own to each target.
  llvm::DenseMap<mlir::Value, MadeDMA> lastDMAs;
  llvm::SmallVector<mlir::Operation *> dead;
  unsigned numDMAs = 0;
};

} // namespace lodestone

#endif // LODESTONE_LIB_TRANSFORMS_DIRECTLOADBUILDER_H
