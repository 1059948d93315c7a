//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Dialect/TDM/IR/TDMDialect.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

#include "lodestone/Dialect/TDM/IR/TDMDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "lodestone/Dialect/TDM/IR/TDMAttrs.cpp.inc"

#include "lodestone/Dialect/TDM/IR/TDMInterfaces.cpp.inc"

using namespace mlir;
using namespace lodestone;
using namespace lodestone::tdm;

void TDMDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "lodestone/Dialect/TDM/IR/TDMAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "lodestone/Dialect/TDM/IR/TDMOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// #tdm.warps
//===----------------------------------------------------------------------===//

/// Parses `name = number`; `0b` numbers, too, which MLIR's lexer splits.
static ParseResult parseMask(AsmParser &parser, StringRef name,
                             uint32_t &value) {
  if (parser.parseKeyword(name) || parser.parseEqual())
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  uint64_t number;
  if (parser.parseInteger(number))
    return failure();
  // "0b011" is the integer 0 and the keyword b011.
  StringRef word;
  if (number == 0 && succeeded(parser.parseOptionalKeyword(&word)) &&
      (!word.starts_with("b") || word.drop_front().getAsInteger(2, number)))
    return parser.emitError(loc) << "'0" << word << "' is not a binary number";
  if (number > UINT32_MAX)
    return parser.emitError(loc)
           << name << " " << number << " does not fit into 32 bits";
  value = number;
  return success();
}

Attribute WarpsAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  uint32_t free, anchor, of;
  if (parser.parseLess() || parseMask(parser, "free", free) ||
      parser.parseComma() || parseMask(parser, "anchor", anchor) ||
      parser.parseComma() || parseMask(parser, "of", of) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<WarpsAttr>(loc, parser.getContext(), free, anchor,
                                      of);
}

void WarpsAttr::print(AsmPrinter &printer) const {
  printer << "<" << getWarpSet().pair() << ">";
}

LogicalResult WarpsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                uint32_t free, uint32_t anchor, uint32_t of) {
  WarpSetError error;
  if (WarpSet::fromPair(free, anchor, of, error))
    return success();
  return emitError() << error.message;
}

WarpSet WarpsAttr::getWarpSet() const {
  WarpSetError error;
  return *WarpSet::fromPair(getFree(), getAnchor(), getOf(), error);
}

//===----------------------------------------------------------------------===//
// Other attributes
//===----------------------------------------------------------------------===//

LogicalResult PaddingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t interval, int64_t amount) {
  if (interval < 2 || interval > 256 || !llvm::isPowerOf2_64(interval))
    return emitError() << "padding interval must be a power of two from 2 to "
                          "256 dwords, but is "
                       << interval;
  if (amount < 1 || amount > 128)
    return emitError() << "padding amount must be from 1 to 128 dwords, but is "
                       << amount;
  return success();
}

LogicalResult
IterationAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                      int64_t count, int64_t globalStep, int64_t ldsStep) {
  if (count < 1 || count > 256)
    return emitError() << "iteration count must be from 1 to 256, but is "
                       << count;
  if (globalStep < 0 || globalStep >= int64_t(1) << 48)
    return emitError() << "iteration global_step must be from 0 to 2^48 - 1 "
                          "elements, but is "
                       << globalStep;
  if (ldsStep < 0 || ldsStep > UINT32_MAX)
    return emitError()
           << "iteration lds_step must be from 0 to 2^32 - 1 elements, but is "
           << ldsStep;
  return success();
}
