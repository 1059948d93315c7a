//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Dialect/TDM/IR/TDMCopy.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace lodestone;
using namespace lodestone::tdm;

// An attribute of a known kind, without its name.
template <typename Attr>
static ParseResult parseStripped(OpAsmParser &parser, Attr &attribute) {
  attribute = dyn_cast_or_null<Attr>(Attr::parse(parser, Type()));
  return success(attribute != nullptr);
}

template <typename Attr>
static void printStripped(OpAsmPrinter &printer, Operation *, Attr attribute) {
  attribute.print(printer);
}

#define GET_OP_CLASSES
#include "lodestone/Dialect/TDM/IR/TDMOps.cpp.inc"

// TENSORcnt counts each tensor instruction, those that move nothing included
// (CDNA5 ISA, "Tensor data mover"). A copy takes one at least.
DMACounter LoadOp::getCopyCounter() { return DMACounter::tensorcnt; }
unsigned LoadOp::getMinCopyInstructions() { return 1; }
DMACounter GatherOp::getCopyCounter() { return DMACounter::tensorcnt; }
unsigned GatherOp::getMinCopyInstructions() { return 1; }
DMACounter FusedLoadOp::getCopyCounter() { return DMACounter::tensorcnt; }
unsigned FusedLoadOp::getMinCopyInstructions() { return 1; }

LogicalResult FusedLoadOp::verifyRegions() {
  SmallVector<LoadOp> loads;
  for (Operation &op : getBody().front()) {
    auto load = dyn_cast<LoadOp>(op);
    if (!load) {
      InFlightDiagnostic diag = emitOpError("may hold tdm.load only");
      diag.attachNote(op.getLoc()) << "this is " << op.getName();
      return diag;
    }
    loads.push_back(load);
  }
  if (loads.size() < 2 || loads.size() > 4)
    return emitOpError() << "must have 2 to 4 loads, but has " << loads.size();

  if (failed(getNumWarps(*this)))
    return failure();
  for (auto [i, load] : llvm::enumerate(loads)) {
    FailureOr<std::optional<FuseObstacle>> obstacle =
        findFuseObstacle(ArrayRef(loads).take_front(i), load);
    if (failed(obstacle))
      return failure();
    if (*obstacle) {
      InFlightDiagnostic diag = emitOpError((*obstacle)->message);
      diag.attachNote(load.getLoc()) << "this load breaks it";
      return diag;
    }
  }
  return success();
}
