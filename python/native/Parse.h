//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Reading and writing IR, shared by operations, modules and `compile`.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_PYTHON_PARSE_H
#define LODESTONE_PYTHON_PARSE_H

#include "Diagnostics.h"

#include <optional>

namespace lodestone::python {

/// Parses text (str) or bytecode (bytes). `what` ends the message of the
/// MLIRError: "unable to parse ...". With `moduleOnly`, a list of operations at
/// top level becomes a module. Bytecode that isn't `trusted`, because it didn't
/// come from a writer in this process, is read twice (see probeBytecode()).
OpPtr parse(const ContextPtr &context, nb::handle source,
            const std::string &sourceName, const std::string &what,
            bool moduleOnly, bool trusted = false);

/// Writes bytecode; raises MLIRError if the operation is invalid or the version
/// unknown.
void writeBytecode(const OpPtr &op, llvm::raw_ostream &os,
                   std::optional<int64_t> version);

} // namespace lodestone::python

#endif // LODESTONE_PYTHON_PARSE_H
