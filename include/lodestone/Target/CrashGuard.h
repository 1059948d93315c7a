//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Runs LLVM code so that no input can take the process down.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_TARGET_CRASHGUARD_H
#define LODESTONE_TARGET_CRASHGUARD_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace lodestone {

/// Runs `fn` and returns true if it came back. If LLVM gave up inside (it
/// reports a "fatal error" for what the backend cannot select, or crashes),
/// returns false and sets `why` to LLVM's words.
///
/// The backend of LLVM 22 ends the process on some bad inputs. Here its
/// fatal-error handler, and the signals of a crash, jump out of `fn` instead,
/// as clang's libclang does. Nothing between the fault and this call is
/// destroyed: the caller must leak (release) whatever LLVM objects `fn` was
/// working on, and must not rely on anything that `fn` wrote except through
/// `why`. Locks must not be held and user callbacks must not be run inside.
///
/// The process-wide handlers are in place only while some thread is inside.
/// Several threads may be.
bool runGuarded(llvm::function_ref<void()> fn, std::string &why);

} // namespace lodestone

#endif // LODESTONE_TARGET_CRASHGUARD_H
