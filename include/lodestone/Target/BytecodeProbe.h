//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Finds out what MLIR's reader does with a piece of bytecode.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_TARGET_BYTECODEPROBE_H
#define LODESTONE_TARGET_BYTECODEPROBE_H

#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/MemoryBufferRef.h"

#include <string>

namespace lodestone {

/// True if MLIR's reader takes `bytecode`. If it reports errors, crashes, ends
/// the process or hangs, false with `why` set.
///
/// The reader of MLIR 22 trusts indices and sizes in places, and writes past
/// the end of its arrays on damaged bytecode, which no handler can repair. So
/// it is first let loose on the bytes in a forked process, which takes about
/// as long as the reading. `registry` should have the dialects that the real
/// context knows; unknown ones are let through.
bool probeBytecode(llvm::MemoryBufferRef bytecode,
                   const mlir::DialectRegistry &registry, std::string &why);

} // namespace lodestone

#endif // LODESTONE_TARGET_BYTECODEPROBE_H
