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

  auto refuse = [&](LoadOp load, const Twine &rule) {
    InFlightDiagnostic diag = emitOpError(rule);
    diag.attachNote(load.getLoc()) << "this load breaks it";
    return diag;
  };
  FailureOr<std::optional<uint64_t>> known = getNumWarps(*this);
  if (failed(known))
    return failure();
  uint32_t taken = 0;
  for (LoadOp load : loads) {
    if (!load.getWarpUsedHintAttr())
      return refuse(load, "needs a hint on each load");
    if (load.getBarrier())
      return refuse(load, "can't have a barrier on a load");
    if (load.getGlobal().getType().getRank() !=
        loads.front().getGlobal().getType().getRank())
      return refuse(load,
                    "needs loads of the same rank, but one has rank " +
                        Twine(loads.front().getGlobal().getType().getRank()) +
                        " and another " +
                        Twine(load.getGlobal().getType().getRank()));
    auto warps = dyn_cast<WarpsAttr>(load.getWarpUsedHintAttr());
    FailureOr<WarpSet> set = getWarpSet(load, *known  ? **known
                                              : warps ? warps.getOf()
                                                      : WarpSet::kMaxWarps);
    if (failed(set))
      return failure();
    if (uint32_t both = taken & set->mask())
      return refuse(load, "needs hints without a common warp, but two have " +
                              WarpSet::formatMask(both));
    taken |= set->mask();
  }
  return success();
}
