//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

///
/// \file
/// Prints what ThreadValues finds for the operands of each operation with the
/// attribute `show`, whose value gives the iterations of the loops around the
/// operation, from the innermost outwards.
///
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/ThreadValues.h"
#include "lodestone/InitAll.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace lodestone;

static void print(const Lanes &lanes) {
  llvm::raw_ostream &os = llvm::outs();
  if (lanes.isUniform()) {
    os << lanes[0];
    return;
  }
  os << '[';
  for (size_t i = 0; i < lanes.getNumEntries(); ++i)
    os << (i ? " " : "") << lanes[i];
  os << ']';
}

static void show(Operation *op, ThreadValues &values, AsmState &state) {
  llvm::raw_ostream &os = llvm::outs();
  SmallVector<ThreadValues::Iteration> iterations;
  Operation *inside = op;
  if (auto numbers = op->getAttrOfType<DenseI64ArrayAttr>("show"))
    for (int64_t number : numbers.asArrayRef()) {
      auto loop = inside->getParentOfType<scf::ForOp>();
      iterations.push_back({loop, number});
      inside = loop;
    }
  for (Value operand : op->getOperands()) {
    operand.printAsOperand(os, state);
    const ThreadForm *form = values.evaluate(operand, iterations);
    if (!form) {
      os << ": unknown because of ";
      values.getUnknown(operand, iterations).printAsOperand(os, state);
    } else {
      os << ": ";
      print(form->constant);
      for (const ThreadForm::Term &term : form->terms) {
        os << " + ";
        print(term.coefficient);
        os << " * ";
        term.value.printAsOperand(os, state);
      }
      os << " mod 2^" << form->width;
    }
    if (values.isBlockUniform(operand, iterations))
      os << ", block-uniform";
    else if (values.isWaveUniform(operand, iterations))
      os << ", wave-uniform";
    os << '\n';
  }
}

int main(int argc, char **argv) {
  DialectRegistry registry;
  registerEverything(registry);
  MLIRContext context(registry);
  context.allowUnregisteredDialects();
  auto module = parseSourceFile<ModuleOp>(argc > 1 ? argv[1] : "-", &context);
  if (!module)
    return 1;
  module->walk([](gpu::GPUFuncOp kernel) {
    llvm::outs() << kernel.getName() << ":\n";
    auto values = ThreadValues::get(kernel, /*waveSize=*/4);
    if (!values) {
      llvm::outs() << "no block size\n";
      return;
    }
    AsmState state(kernel);
    kernel.walk([&](Operation *op) {
      if (op->hasAttr("show"))
        show(op, *values, state);
    });
  });
  return 0;
}
