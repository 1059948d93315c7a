//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// MLIR's diagnostics on their way to Python: records, exceptions, handlers.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_PYTHON_DIAGNOSTICS_H
#define LODESTONE_PYTHON_DIAGNOSTICS_H

#include "IR.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Threading.h"

namespace lodestone::python {

/// A diagnostic with its notes, taken out of MLIR's engine.
struct DiagnosticInfo {
  DiagnosticInfo(const ContextPtr &context, mlir::Diagnostic &diagnostic);

  mlir::DiagnosticSeverity severity;
  std::string message;
  Location location;
  std::vector<DiagnosticInfo> notes;

  /// `file:line:column: severity: message` and the notes, a line each.
  std::string str() const;
};

/// The first file location in `location`, or null.
mlir::FileLineColLoc findFileLocation(mlir::LocationAttr location);

/// Raises lodestone's MLIRError.
[[noreturn]] void raiseMLIRError(const std::string &message,
                                 const std::vector<DiagnosticInfo> &errors);

/// Collects the errors that this thread meets. Passes that run on MLIR's thread
/// pool count: MLIR replays their diagnostics on the thread that started them.
/// Warnings and remarks go on to the handlers the user attached.
class ErrorCapture {
public:
  explicit ErrorCapture(const ContextPtr &context);
  [[noreturn]] void raise(const std::string &message) {
    raiseMLIRError(message, errors);
  }
  std::vector<DiagnosticInfo> errors;

private:
  mlir::ScopedDiagnosticHandler handler;
};

/// Runs `work` without the GIL and raises MLIRError with `message` and what was
/// reported if its result is a failure (false, a failed LogicalResult, a null
/// type, attribute, owning reference ...).
template <typename Work>
auto capturing(const ContextPtr &context, const std::string &message,
               Work &&work) {
  ErrorCapture capture(context);
  auto result = [&] {
    nb::gil_scoped_release release;
    return work();
  }();
  if constexpr (std::is_same_v<decltype(result), llvm::LogicalResult>) {
    if (failed(result))
      capture.raise(message);
  } else {
    if (!result)
      capture.raise(message);
    return result;
  }
}

/// Marks a tree as being worked on without the GIL.
class BusyScope {
public:
  explicit BusyScope(const TreePtr &tree) : tree(tree) {
    tree->requireIdle();
    tree->busy = true;
    ++tree->context->running;
  }
  ~BusyScope() {
    tree->busy = false;
    --tree->context->running;
  }

private:
  TreePtr tree;
};

/// Verifies `op` unless its tree is known to be valid. Raises MLIRError.
void ensureVerified(const Op &op, const std::string &message);

} // namespace lodestone::python

#endif // LODESTONE_PYTHON_DIAGNOSTICS_H
