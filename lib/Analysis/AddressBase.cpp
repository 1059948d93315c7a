//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/AddressBase.h"
#include "lodestone/Dialect/LDS/IR/LDSDialect.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace lodestone;

bool lodestone::isLaunder(Operation *op) {
  auto asmOp = dyn_cast_or_null<LLVM::InlineAsmOp>(op);
  return asmOp && asmOp.getAsmString().empty() &&
         asmOp.getOperands().size() == 1 && asmOp->getNumResults() == 1 &&
         asmOp->getResult(0).getType() == asmOp.getOperands()[0].getType() &&
         (asmOp.getConstraints() == "=s,0" || asmOp.getConstraints() == "=v,0");
}

/// The base of `value` if it carries an address, else null. `budget` bounds the
/// ops looked at: sums can share operands many times over.
static Value findBase(Value value, unsigned &budget) {
  bool isPointer = isa<LLVM::LLVMPointerType>(value.getType());
  Operation *op = value.getDefiningOp();
  if (!op || budget == 0 || lds::getExtent(op))
    return isPointer ? value : Value();
  --budget;
  if (isLaunder(op))
    return value;
  if (auto gep = dyn_cast<LLVM::GEPOp>(op))
    return findBase(gep.getBase(), budget);
  if (auto cast = dyn_cast<LLVM::PtrToIntOp>(op))
    return findBase(cast.getArg(), budget);
  if (auto add = dyn_cast<LLVM::AddOp>(op)) {
    if (Value base = findBase(add.getLhs(), budget))
      return base;
    return findBase(add.getRhs(), budget);
  }
  if (auto cast = dyn_cast<LLVM::IntToPtrOp>(op))
    if (Value base = findBase(cast.getArg(), budget))
      return base;
  return isPointer ? value : Value();
}

Value lodestone::getAddressBase(Value pointer) {
  unsigned budget = 64;
  return findBase(pointer, budget);
}

bool lodestone::isLaundered(Value address) {
  return isLaunder(getAddressBase(address).getDefiningOp());
}
