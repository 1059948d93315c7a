//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What an operation of the LLVM and ROCDL dialects does to the local data
/// share (LDS): the one place that knows which ops are LDS-DMAs and how many
/// bytes an access touches.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_ANALYSIS_LDSACCESS_H
#define LODESTONE_ANALYSIS_LDSACCESS_H

#include "lodestone/Support/Chip.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace mlir {
class Operation;
class Type;
} // namespace mlir

namespace lodestone {

class DeviceLayout;

/// The LLVM address space of the LDS.
constexpr unsigned kLDSAddressSpace = 3;
/// The generic ("flat") address space, whose pointers may point into LDS.
constexpr unsigned kFlatAddressSpace = 0;

/// True if `type` is an LLVM pointer into address space `space`.
bool isPointerInto(mlir::Type type, unsigned space);

/// The counter of the LDS-DMA that `op` may be without being one of rocdl's
/// ops: inline assembly, or an intrinsic called by name. Text is all there is
/// to go by, so the match is wide.
std::optional<DMACounter> mayContainLDSDMA(mlir::Operation *op);

/// One pointer through which an operation touches LDS, and which bytes relative
/// to that pointer: [offset, offset + size).
struct LDSOperand {
  mlir::Value pointer;
  /// Bytes from the pointer to the first byte touched.
  int64_t offset = 0;
  /// Bytes touched by the wave as one if it is a DMA, else by one lane; nothing
  /// if it isn't known.
  std::optional<int64_t> size;
};

enum class LDSAccessKind {
  /// A read, write or atomic by ordinary instructions.
  ordinary,
  /// A copy global -> LDS that bypasses registers and completes later, at a
  /// wait on vmcnt, and that can carry alias scopes.
  dma,
  /// A DMA in a form that can't carry scopes: inline assembly, or an intrinsic
  /// called by name.
  untaggableDMA,
  /// One of gfx1250's asynchronous copies, which other counters track.
  otherCounterDMA
};

struct LDSAccess {
  mlir::Operation *op;
  LDSAccessKind kind;
  llvm::SmallVector<LDSOperand, 1> operands;
  /// Some operand is a flat pointer: it may or may not point into LDS.
  bool throughFlatPointer = false;
};

/// Describes what `op` does to LDS, or nothing if it doesn't touch it by
/// itself. A call that carries alias metadata is an ordinary access without
/// operands: nothing is known of it. A DMA writes `waveSize` lanes' bytes in a
/// row from its pointer, which is uniform; its memory operand in LLVM covers
/// one lane only (source: CDNA3 ISA 10.3, CDNA4 ISA 10.3: LDS address = M0 +
/// inst_offset + lane * 4, or lane * 16 for the 12- and 16-byte forms).
std::optional<LDSAccess> getLDSAccess(mlir::Operation *op, unsigned waveSize,
                                      const DeviceLayout &layout);

} // namespace lodestone

#endif // LODESTONE_ANALYSIS_LDSACCESS_H
