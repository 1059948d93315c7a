//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/AddressBase.h"
#include "lodestone/Transforms/LDSTransforms.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace lodestone;

Value lodestone::createLaunder(OpBuilder &builder, Value scalar) {
  auto asmOp = LLVM::InlineAsmOp::create(
      builder, scalar.getLoc(), /*res=*/scalar.getType(),
      /*operands=*/scalar, /*asm_string=*/"", /*constraints=*/"=s,0",
      /*has_side_effects=*/false, /*is_align_stack=*/false,
      LLVM::TailCallKind::None, /*asm_dialect=*/LLVM::AsmDialectAttr(),
      /*operand_attrs=*/ArrayAttr());
  return asmOp.getResult(0);
}

Value LaunderedAddresses::launder(Value base) {
  Value &twin = twins[base];
  if (twin)
    return twin;
  OpBuilder builder(base.getContext());
  builder.setInsertionPointAfterValue(base);
  return twin = createLaunder(builder, base);
}

Value LaunderedAddresses::rebuild(Value value, Value base) {
  if (value == base)
    return launder(base);
  if (Value twin = twins.lookup(value))
    return twin;
  // getAddressBase came this way, so there is an op with one operand that leads
  // on to the base.
  Operation *op = value.getDefiningOp();
  IRMapping mapping;
  for (Value operand : op->getOperands())
    if (operand == base || getAddressBase(operand) == base) {
      mapping.map(operand, rebuild(operand, base));
      break;
    }
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Operation *clone = builder.clone(*op, mapping);
  return twins[value] =
             clone->getResult(cast<OpResult>(value).getResultNumber());
}

/// True for an address that is the same for all lanes wherever it is computed.
static bool isConstantAddress(Value value) {
  while (auto gep = value.getDefiningOp<LLVM::GEPOp>()) {
    if (!gep.getDynamicIndices().empty())
      return false;
    value = gep.getBase();
  }
  return value.getDefiningOp<LLVM::AddressOfOp>() != nullptr;
}

void LaunderedAddresses::apply(Operation *dma, Value pointer) {
  Value base = getAddressBase(pointer);
  if (isLaunder(base.getDefiningOp()))
    return;
  // The lanes that run the DMA agree on its address. Those that run the code
  // which computed it from the base may be more, and may not. The assembly
  // needs an SGPR, which LLVM gives to what it can prove uniform only.
  OpBuilder builder(dma);
  Value laundered;
  if (isConstantAddress(base))
    laundered = rebuild(pointer, base);
  if (!laundered || !isLaundered(laundered))
    laundered = createLaunder(
        builder, ROCDL::ReadfirstlaneOp::create(builder, dma->getLoc(),
                                                pointer.getType(), pointer));
  for (OpOperand &operand : dma->getOpOperands())
    if (operand.get() == pointer)
      operand.set(laundered);
  replaced.insert(pointer);
}

void LaunderedAddresses::eraseUnused() {
  // Only now: `twins` has the values as keys, and a freed one's address may
  // come back.
  twins.clear();
  SmallVector<Operation *> worklist;
  for (Value pointer : replaced)
    if (Operation *op = pointer.getDefiningOp())
      worklist.push_back(op);
  replaced.clear();
  llvm::DenseSet<Operation *> erased;
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    if (erased.contains(op) || !isOpTriviallyDead(op))
      continue;
    for (Value operand : op->getOperands())
      if (Operation *next = operand.getDefiningOp())
        worklist.push_back(next);
    erased.insert(op);
    op->erase();
  }
}
