//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Support/ParserLimits.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace lodestone;

/// The end of the string or comment that starts at `at`, or `at` if none does.
static size_t skipOpaque(StringRef text, size_t at, TextSyntax syntax) {
  bool mlir = syntax == TextSyntax::mlir;
  if (mlir ? text.substr(at, 2) == "//" : text[at] == ';')
    return std::min(text.find('\n', at), text.size());
  if (text[at] != '"')
    return at;
  for (size_t i = at + 1; i < text.size(); ++i) {
    if (mlir && text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      return i + 1;
    else if (mlir && text[i] == '\n')
      return i; // Not a string after all; the parser will say so.
  }
  return text.size();
}

/// True if `array<index` stands there, the bracket right before `at`.
static bool isArrayOfIndex(StringRef text, size_t at, TextSyntax syntax) {
  auto isInWord = [](char c) {
    return llvm::isAlnum(c) || StringRef("_.$-").contains(c);
  };
  StringRef before = text.take_front(at - 1).rtrim();
  if (syntax != TextSyntax::mlir || !before.consume_back("array") ||
      (!before.empty() && isInWord(before.back())))
    return false;
  StringRef type = text.substr(at).ltrim();
  return type.consume_front("index") &&
         (type.empty() || !isInWord(type.front()));
}

std::optional<std::string>
lodestone::findUnparsable(StringRef text, TextSyntax syntax, unsigned &line) {
  SmallVector<char, 64> closers;
  for (size_t i = 0; i < text.size();) {
    if (size_t end = skipOpaque(text, i, syntax); end != i) {
      i = end;
      continue;
    }
    char c = text[i++];
    switch (c) {
    case '(':
      closers.push_back(')');
      break;
    case '[':
      closers.push_back(']');
      break;
    case '{':
      closers.push_back('}');
      break;
    case '<':
      // A comparison is no bracket.
      if (text.substr(i).starts_with("="))
        break;
      if (isArrayOfIndex(text, i, syntax)) {
        line = 1 + text.take_front(i).count('\n');
        return "an array attribute can't have elements of type 'index'";
      }
      closers.push_back('>');
      break;
    case '>':
      // Nor is an arrow, or a comparison.
      if (closers.empty() || closers.back() != '>' ||
          (i >= 2 && text[i - 2] == '-') || text.substr(i).starts_with("="))
        break;
      closers.pop_back();
      break;
    case ')':
    case ']':
    case '}': {
      // Drop what was opened in between and is none, such as a less-than sign.
      size_t open = closers.size();
      while (open > 0 && closers[open - 1] != c)
        --open;
      if (open > 0)
        closers.truncate(open - 1);
      break;
    }
    default:
      break;
    }
    if (closers.size() > kMaxNesting) {
      line = 1 + text.take_front(i).count('\n');
      return "more than " + std::to_string(kMaxNesting) +
             " brackets are open here; nest less deeply";
    }
  }
  return std::nullopt;
}
