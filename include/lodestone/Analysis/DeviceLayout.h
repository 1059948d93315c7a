//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// How large the types of the LLVM dialect are on AMD GPUs.
///
/// MLIR's own DataLayout knows that only where a module carries a `dlti` spec,
/// which lowered modules don't: without, a `!llvm.ptr<3>` has eight bytes and
/// an i64 is aligned to four. The backend uses the layout of its target
/// whatever the module says, so this class asks LLVM for that one.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_ANALYSIS_DEVICELAYOUT_H
#define LODESTONE_ANALYSIS_DEVICELAYOUT_H

#include "mlir/IR/Types.h"
#include "llvm/ADT/DenseMap.h"

#include <memory>
#include <optional>

namespace lodestone {

class DeviceLayout {
public:
  DeviceLayout();
  ~DeviceLayout();
  DeviceLayout(const DeviceLayout &) = delete;
  DeviceLayout &operator=(const DeviceLayout &) = delete;

  /// Bytes from one element of `type` in memory to the next, and all that a
  /// load or store of it touches. Nothing for types without a fixed size.
  std::optional<int64_t> sizeOf(mlir::Type type) const;
  /// ABI alignment in bytes; 1 for types without a size.
  uint64_t alignmentOf(mlir::Type type) const;
  /// Bytes from the start of the struct `type` to its member `index`.
  std::optional<int64_t> fieldOffset(mlir::Type type, unsigned index) const;

private:
  struct Translator;
  Translator &translator() const;

  /// Made at the first type that isn't obvious.
  mutable std::unique_ptr<Translator> lazyTranslator;
  mutable llvm::DenseMap<mlir::Type, std::optional<int64_t>> sizes;
};

} // namespace lodestone

#endif // LODESTONE_ANALYSIS_DEVICELAYOUT_H
