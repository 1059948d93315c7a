//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The alias-scope plan of a lowered module, as plain dictionaries whose keys
/// are the fields of the data classes in lodestone/analyzer.py.
///
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"

#include "lodestone/Analysis/AliasScopePlan.h"
#include "lodestone/Support/Chip.h"
#include "lodestone/Transforms/LDSTransforms.h"

#include "mlir/IR/SymbolTable.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

using namespace lodestone;
using namespace lodestone::python;

using Dict = nb::typed<nb::dict, nb::str, nb::any>;

static void addPlace(Dict &dict, mlir::Operation *op) {
  mlir::FileLineColLoc file =
      op ? findFileLocation(op->getLoc()) : mlir::FileLineColLoc();
  dict["file"] = file ? nb::object(nb::cast(file.getFilename().str()))
                      : nb::object(nb::none());
  dict["line"] = file ? file.getLine() : 0;
  dict["column"] = file ? file.getColumn() : 0;
}

/// The symbol of a static global; empty for the kernel's dynamic LDS.
static std::string rootName(mlir::Operation *root) {
  if (!root)
    return "";
  mlir::StringAttr name = mlir::SymbolTable::getSymbolName(root);
  return name ? name.str() : "";
}

static Dict toDict(const ByteRange &bytes) {
  Dict dict;
  dict["object"] = rootName(bytes.root);
  dict["begin"] = bytes.begin;
  dict["end"] = bytes.end == LDSObject::kUnbounded
                    ? nb::object(nb::none())
                    : nb::object(nb::int_(bytes.end));
  return dict;
}

static const char *kindName(LDSAccessKind kind) {
  switch (kind) {
  case LDSAccessKind::ordinary:
    return "access";
  case LDSAccessKind::dma:
    return "dma";
  case LDSAccessKind::untaggableDMA:
    return "untaggable-dma";
  case LDSAccessKind::otherCounterDMA:
    return "other-counter-dma";
  }
  return "access";
}

static Dict toDict(const KernelPlan &plan, const PlannedAccess &access) {
  Dict dict;
  dict["op"] = access.access.op->getName().getStringRef().str();
  dict["kind"] = kindName(access.access.kind);
  mlir::LLVM::LLVMFuncOp function = access.function;
  dict["function"] = function ? function.getName().str() : std::string();
  addPlace(dict, access.access.op);
  nb::list scopes;
  if (access.footprint) {
    nb::list footprint;
    for (const ByteRange &bytes : *access.footprint)
      footprint.append(toDict(bytes));
    dict["footprint"] = footprint;
    if (access.set < plan.sets.size())
      for (unsigned range : plan.sets[access.set].ranges)
        scopes.append(nb::cast(plan.ranges[range].name));
  } else {
    dict["footprint"] = nb::none();
  }
  dict["ranges"] = scopes;
  dict["tagged"] = access.isTagged();
  dict["refusal"] =
      access.isTagged() ? std::string() : getRemarkName(access.refusal).str();
  dict["reason"] = access.reason;
  return dict;
}

static nb::typed<nb::list, Dict>
planModule(const OpPtr &op, const std::string &chip, bool launder) {
  mlir::Operation *root = op->get();
  ensureVerified(*op, "the module is invalid");
  std::vector<KernelPlan> plans;
  {
    BusyScope busy(op->tree);
    capturing(op->context(), "the module cannot be analyzed", [&] {
      for (mlir::Operation *module : collectDeviceModules(root)) {
        mlir::FailureOr<const ChipInfo *> info =
            resolveChip(module, chip, "gfx950");
        if (failed(info))
          return mlir::failure();
        AliasScopePlanOptions options;
        options.waveSize = (*info)->waveSize;
        options.launder = launder;
        llvm::append_range(plans, planAliasScopes(module, options));
      }
      return mlir::success();
    });
  }
  nb::typed<nb::list, Dict> kernels;
  for (const KernelPlan &plan : plans) {
    mlir::LLVM::LLVMFuncOp kernel = plan.kernel;
    Dict dict;
    dict["name"] = kernel ? kernel.getName().str() : std::string();
    addPlace(dict, kernel);
    nb::list ranges, accesses, globals;
    for (const DMARange &range : plan.ranges) {
      Dict entry = toDict(range.bytes);
      entry["name"] = range.name;
      ranges.append(entry);
    }
    for (const PlannedAccess &access : plan.accesses)
      accesses.append(toDict(plan, access));
    for (mlir::Operation *global : plan.staticGlobals)
      globals.append(nb::cast(rootName(global)));
    dict["ranges"] = ranges;
    dict["accesses"] = accesses;
    dict["static_globals"] = globals;
    dict["has_dma"] = plan.hasDMA;
    kernels.append(dict);
  }
  return kernels;
}

void lodestone::python::bindAnalysis(nb::module_ &m) {
  m.def("plan_alias_scopes", &planModule, nb::arg("operation"), nb::arg("chip"),
        nb::arg("launder") = true,
        "The plan for each kernel of a module in the LLVM dialect.");
}
