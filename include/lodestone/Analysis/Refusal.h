//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Why a pass leaves something as it is.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_ANALYSIS_REFUSAL_H
#define LODESTONE_ANALYSIS_REFUSAL_H

#include "mlir/IR/Operation.h"

#include <string>

namespace lodestone {

/// Why something isn't done: a missed remark.
struct Refusal {
  /// The name of the remark, in kebab case.
  llvm::StringRef name;
  /// The rule, and the values.
  std::string reason;
  /// The operation that is in the way, if there is one.
  mlir::Operation *culprit = nullptr;
};

} // namespace lodestone

#endif // LODESTONE_ANALYSIS_REFUSAL_H
