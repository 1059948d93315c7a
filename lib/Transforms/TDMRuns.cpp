//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TDMRuns.h"

#include "lodestone/Analysis/TDMInFlight.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace lodestone;
using namespace lodestone::tdm;

SmallVector<Operation *> tdm::getFunctionsWithLoads(Operation *root) {
  llvm::SetVector<Operation *> functions;
  root->walk([&](LoadOp load) {
    Operation *function = load->getParentOp();
    while (function && !isa<FunctionOpInterface, gpu::LaunchOp>(function))
      function = function->getParentOp();
    if (function)
      functions.insert(function);
  });
  return functions.takeVector();
}

/// Whether `op` belongs to `function` and not to one inside of it.
static bool isOwnedBy(Operation *op, Operation *function) {
  Operation *parent = op->getParentOp();
  while (parent && !isa<FunctionOpInterface, gpu::LaunchOp>(parent))
    parent = parent->getParentOp();
  return parent == function;
}

SmallVector<Run> tdm::collectRuns(Operation *function) {
  SmallVector<Run> runs;
  function->walk<WalkOrder::PreOrder>([&](Block *block) {
    if (block->empty() || isa<FusedLoadOp>(block->getParentOp()) ||
        !isOwnedBy(&block->front(), function))
      return;
    Run run;
    auto close = [&] {
      if (!run.empty())
        runs.push_back(std::exchange(run, {}));
    };
    for (Operation &op : *block) {
      if (auto load = dyn_cast<LoadOp>(op))
        run.push_back(load);
      else if (!isMemoryEffectFree(&op))
        close();
    }
    close();
  });
  return runs;
}

std::string tdm::findForeignCount(Operation *function) {
  if (!isLaunched(function))
    return "the function is not a kernel; who calls it may wait for its copies";
  std::string reason;
  function->walk([&](Operation *op) {
    if (isa<ROCDL::WaitTensorcntOp>(op))
      reason = "the kernel has a rocdl.s.wait.tensorcnt, which counts "
               "instructions";
    else if (isa<CallOpInterface>(op))
      reason = "the kernel calls a function, which may wait for its copies";
    return reason.empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  return reason;
}
