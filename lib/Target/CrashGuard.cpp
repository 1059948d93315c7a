//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Target/CrashGuard.h"

#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <mutex>

using namespace lodestone;

namespace {
/// What the fatal-error handler tells the guard on the same thread.
struct FatalError {
  bool reported = false;
  // A plain buffer: the handler jumps out of frames that are never unwound, so
  // it had better not own memory.
  char text[2048];
};

thread_local FatalError *currentGuard = nullptr;

void report(FatalError &guard, const char *reason) {
  // The innermost of LLVM's notes on what it is doing: mostly the pass and the
  // function.
  std::string doing;
  if (auto *entry = static_cast<const llvm::PrettyStackTraceEntry *>(
          llvm::SavePrettyStackState())) {
    llvm::raw_string_ostream stream(doing);
    entry->print(stream);
  }
  llvm::StringRef note = llvm::StringRef(doing).trim();
  std::snprintf(guard.text, sizeof(guard.text), "%s%s%.*s%s", reason,
                note.empty() ? "" : " (", static_cast<int>(note.size()),
                note.data(), note.empty() ? "" : ")");
  guard.reported = true;
}

void onFatalError(void *, const char *reason, bool) {
  FatalError *guard = currentGuard;
  llvm::CrashRecoveryContext *context =
      llvm::CrashRecoveryContext::GetCurrent();
  if (!guard || !context) {
    // Not one of our compiles: behave as LLVM does without a handler, which
    // exits as soon as this returns.
    llvm::errs() << "LLVM ERROR: " << reason << '\n';
    return;
  }
  report(*guard, reason);
  context->HandleExit(1);
}

/// Installs the process-wide handlers while at least one thread compiles.
class HandlerLease {
public:
  HandlerLease() {
    std::lock_guard<std::mutex> lock(mutex);
    if (users++ == 0) {
      llvm::CrashRecoveryContext::Enable();
      llvm::install_fatal_error_handler(onFatalError);
    }
  }
  ~HandlerLease() {
    std::lock_guard<std::mutex> lock(mutex);
    if (--users == 0) {
      llvm::remove_fatal_error_handler();
      llvm::CrashRecoveryContext::Disable();
    }
  }

private:
  static std::mutex mutex;
  static unsigned users;
};

std::mutex HandlerLease::mutex;
unsigned HandlerLease::users = 0;
} // namespace

bool lodestone::runGuarded(llvm::function_ref<void()> fn, std::string &why) {
  HandlerLease lease;
  FatalError fatal;
  FatalError *outer = currentGuard;
  const void *prettyStack = llvm::SavePrettyStackState();
  currentGuard = &fatal;
  llvm::CrashRecoveryContext context;
  bool finished = context.RunSafely(fn);
  currentGuard = outer;
  if (finished)
    return true;

  llvm::RestorePrettyStackState(prettyStack);
  why = fatal.reported
            ? llvm::StringRef(fatal.text).rtrim().str()
            : "crashed with signal " + std::to_string(context.RetCode - 128);
  return false;
}
