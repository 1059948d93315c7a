//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Target/BytecodeProbe.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;

/// How the child says that it came to the end, with a module or with errors.
/// Not 0 or 1, with which LLVM gives up.
static constexpr int kGood = 42;
static constexpr int kRefused = 43;

/// Seconds of processor time: far more than the reader needs for what fits into
/// memory, and less than a person waits.
static rlim_t processorSeconds(size_t bytes) { return 10 + (bytes >> 20); }

/// Reads, writes the errors to `report`, and ends the process.
[[noreturn]] static void readInChild(llvm::MemoryBufferRef bytecode,
                                     std::unique_ptr<MLIRContext> context,
                                     int report) {
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP})
    std::signal(signal, SIG_DFL);
  rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  rlim_t seconds = processorSeconds(bytecode.getBufferSize());
  rlimit limit{seconds, seconds};
  setrlimit(RLIMIT_CPU, &limit);
  // Should a lock have been held by another thread when the process was
  // copied, nobody will release it here.
  alarm(static_cast<unsigned>(10 * seconds));
  // What the allocator says about a heap that was written over.
  close(STDOUT_FILENO);
  close(STDERR_FILENO);

  llvm::SourceMgr sourceMgr;
  sourceMgr.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBuffer(bytecode,
                                       /*RequiresNullTerminator=*/false),
      llvm::SMLoc());
  std::string errors;
  context->getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
    errors += (errors.empty() ? "" : "; ") + diagnostic.str();
  });
  OwningOpRef<Operation *> op = parseSourceFile(sourceMgr, context.get());
  bool good = static_cast<bool>(op);
  // Freeing makes the allocator find out whether its heap was written over.
  op = nullptr;
  context.reset();
  errors.resize(std::min<size_t>(errors.size(), 4000)); // Fits into a pipe.
  if (!good && write(report, errors.data(), errors.size()) < 0)
    good = false;
  _exit(good ? kGood : kRefused);
}

bool lodestone::probeBytecode(llvm::MemoryBufferRef bytecode,
                              const DialectRegistry &registry,
                              std::string &why) {
  // Made before the fork, so that the child needs few locks that others share.
  auto context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->allowUnregisteredDialects();
  int report[2];
  if (pipe(report) != 0)
    return true; // No process to be had: read it unprobed.
  pid_t child = fork();
  if (child == 0)
    readInChild(bytecode, std::move(context), report[1]);
  close(report[1]);
  char errors[4096];
  size_t length = 0;
  while (child > 0 && length < sizeof(errors)) {
    ssize_t got = read(report[0], errors + length, sizeof(errors) - length);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      break;
    length += static_cast<size_t>(got);
  }
  close(report[0]);
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return true; // Someone else collected the child.
  if (child < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == kGood))
    return true;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kRefused) {
    // Reading it here to get the same errors would be dangerous: the reader
    // may have written past an array before it noticed.
    why = length ? std::string(errors, length) : "the bytecode is damaged";
    return false;
  }
  why = "the bytecode is damaged: MLIR's reader ";
  if (WIFSIGNALED(status) &&
      llvm::is_contained({SIGXCPU, SIGKILL, SIGALRM}, WTERMSIG(status)))
    why += "does not come to an end";
  else if (WIFSIGNALED(status))
    why += "crashes on it (" + std::string(strsignal(WTERMSIG(status))) + ")";
  else
    why += "gives up on it";
  return false;
}
