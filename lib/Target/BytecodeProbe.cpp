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

#include <csignal>
#include <cstring>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;

/// How the child says that it came to the end. Not 0 or 1, with which LLVM
/// gives up.
static constexpr int kSurvived = 42;

/// Seconds of processor time: far more than the reader needs for what fits into
/// memory, and less than a person waits.
static rlim_t processorSeconds(size_t bytes) { return 10 + (bytes >> 20); }

[[noreturn]] static void readInChild(llvm::MemoryBufferRef bytecode,
                                     MLIRContext &context) {
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
  OwningOpRef<Operation *> op = parseSourceFile(sourceMgr, &context);
  _exit(kSurvived);
}

bool lodestone::surviveBytecode(llvm::MemoryBufferRef bytecode,
                                const DialectRegistry &registry,
                                std::string &why) {
  // Made before the fork, so that the child needs few locks that others share.
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();
  context.getDiagEngine().registerHandler([](Diagnostic &) {});
  pid_t child = fork();
  if (child < 0)
    return true; // No process to be had: read it unprobed.
  if (child == 0)
    readInChild(bytecode, context);
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return true; // Someone else collected the child.
  if (WIFEXITED(status) && WEXITSTATUS(status) == kSurvived)
    return true;
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
