//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IR.h"

using namespace lodestone::python;

NB_MODULE(_native, m) {
  m.doc() = "Lodestone's native module; use lodestone.ir and "
            "lodestone.passmanager.";
  // Classes that others' signatures name come first.
  bindDiagnostics(m);
  bindLocation(m);
  nb::class_<Op>(m, "Operation", "An operation.");
  nb::class_<BlockRef>(m, "Block", "A block of operations.");
  nb::class_<InsertionPoint>(m, "InsertionPoint",
                             "Where new operations go; use it in `with`.");
  bindContext(m);
  bindTypes(m);
  bindAttributes(m);
  bindValues(m);
  bindOperation(m);
  bindBlocks(m);
  bindInsertionPoint(m);
  bindModule(m);
  bindSymbolTable(m);
  bindPassManager(m);
  bindRemarks(m);
  bindCompile(m);
  bindAnalysis(m);
  bindTDM(m);
  bindSwizzle(m);
}
