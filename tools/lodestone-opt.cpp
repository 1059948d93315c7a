//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// `lodestone-opt`: mlir-opt with Lodestone built in, so that passes have flags
/// of their own and no plugin needs loading.
///
/// Exit codes: 0 done, 1 bad usage or input, 3 a crash, which is a bug (the
/// dump of the stack shows whose). MLIR 22 crashes on some inputs, for example
/// damaged bytecode, so the work is done by a child process. For a debugger
/// LODESTONE_OPT_NO_CHILD=1 turns that off.
///
//===----------------------------------------------------------------------===//

#include "lodestone/InitAll.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int run(int argc, char **argv) {
  mlir::DialectRegistry registry;
  lodestone::registerEverything(registry);
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Lodestone optimizer driver\n", registry));
}

int main(int argc, char **argv) {
  pid_t child = std::getenv("LODESTONE_OPT_NO_CHILD") ? -1 : fork();
  if (child == 0)
    prctl(PR_SET_PDEATHSIG, SIGKILL); // Who ends this process means the child.
  if (child <= 0)
    return run(argc, argv);
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return 1;
  if (WIFEXITED(status))
    return WEXITSTATUS(status);
  int signal = WTERMSIG(status);
  if (signal == SIGPIPE)
    return 1; // Who read the output has seen enough.
  if (llvm::is_contained({SIGINT, SIGTERM, SIGKILL}, signal))
    return 128 + signal; // Not a crash.
  llvm::errs() << "lodestone-opt: error: crashed (" << strsignal(signal)
               << "); the input may be damaged or nested too deeply, or a pass "
                  "has a bug: see the stack above\n";
  return 3;
}
