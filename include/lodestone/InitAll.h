//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Registration of everything that Lodestone adds to MLIR. The tools, the
/// plugin entry points and the Python module call these and nothing else.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_INITALL_H
#define LODESTONE_INITALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace lodestone {

/// Adds Lodestone's dialects and their interface implementations to `registry`.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Registers Lodestone's passes and named pipelines in MLIR's global pass
/// registry. Calling it again has no effect.
void registerAllPasses();

/// What a stand-alone tool or the Python module needs: all of upstream's
/// dialects, extensions, translations to LLVM IR and passes, and Lodestone's. A
/// plugin must not call this: its host has registered upstream already.
void registerEverything(mlir::DialectRegistry &registry);

} // namespace lodestone

#endif // LODESTONE_INITALL_H
