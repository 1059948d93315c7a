//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Declarations of Lodestone's passes, generated from Passes.td.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_TRANSFORMS_PASSES_H
#define LODESTONE_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace lodestone {

#define GEN_PASS_DECL
#include "lodestone/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lodestone/Transforms/Passes.h.inc"

} // namespace lodestone

#endif // LODESTONE_TRANSFORMS_PASSES_H
