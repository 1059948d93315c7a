//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What the parsers of MLIR 22 and LLVM 22 would crash at.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_SUPPORT_PARSERLIMITS_H
#define LODESTONE_SUPPORT_PARSERLIMITS_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace lodestone {

/// What the text is written in; decides where strings and comments end.
enum class TextSyntax { mlir, llvm };

/// The most brackets that may be open at a time. The parsers, verifiers,
/// printers and passes of MLIR and LLVM recurse, and the stack of a thread of
/// 8 MiB ends somewhere beyond 10 000.
inline constexpr unsigned kMaxNesting = 1000;

/// Nothing if the parsers can read `text`; else an error message, with `line`
/// set: where more than kMaxNesting brackets are open, or, in MLIR, at an array
/// attribute whose elements are of type `index`, which the parser takes to have
/// a width. Linear in the text.
std::optional<std::string> findUnparsable(llvm::StringRef text,
                                          TextSyntax syntax, unsigned &line);

} // namespace lodestone

#endif // LODESTONE_SUPPORT_PARSERLIMITS_H
