//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OtherLDS.h"

#include "lodestone/Dialect/LDS/IR/LDSDialect.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Interfaces/CallInterfaces.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace lodestone::lds;

/// Bytes of a global's type, if it is an array of scalars or vectors.
static std::optional<uint64_t> getGlobalBytes(Type type) {
  uint64_t count = 1;
  while (auto array = dyn_cast<LLVM::LLVMArrayType>(type)) {
    std::optional<uint64_t> product =
        llvm::checkedMulUnsigned<uint64_t>(count, array.getNumElements());
    if (!product)
      return std::nullopt;
    count = *product;
    type = array.getElementType();
  }
  if (count == 0)
    return 0;
  if (std::optional<uint64_t> bytes = getElementBytes(type))
    return llvm::checkedMulUnsigned<uint64_t>(*bytes, count);
  return std::nullopt;
}

bool lodestone::lds::isDynamicLDS(LLVM::GlobalOp global) {
  return global.getAddrSpace() == kLDSAddressSpace &&
         getGlobalBytes(global.getGlobalType()) == 0;
}

const OtherLDSFinder::Summary &OtherLDSFinder::summarize(Operation *function) {
  auto [it, isNew] = summaries.try_emplace(function);
  Summary &summary = it->second;
  if (!isNew)
    return summary;

  if (auto gpuFunc = dyn_cast<gpu::GPUFuncOp>(function))
    for (BlockArgument memory : gpuFunc.getWorkgroupAttributions())
      if (auto type = dyn_cast<MemRefType>(memory.getType()))
        summary.attributionBytes = llvm::SaturatingAdd(
            summary.attributionBytes, getMemRefBytes(type).value_or(0));

  llvm::SmallSetVector<LLVM::GlobalOp, 8> globals;
  llvm::SmallSetVector<Operation *, 8> callees;
  auto noteDynamicUse = [&](Operation *op) {
    if (!summary.dynamicUse)
      summary.dynamicUse = op;
  };
  // Asking an operation for an interface that it doesn't have is what would
  // take most of the time here, so each kind of operation is asked once.
  llvm::SmallDenseMap<OperationName, bool> calls;
  auto isCall = [&](Operation *op) {
    auto [it, isNew] = calls.try_emplace(op->getName(), false);
    if (isNew)
      it->second = isa<CallOpInterface>(op);
    return it->second;
  };
  function->walk([&](Operation *op) {
    if (isa<gpu::DynamicSharedMemoryOp>(op)) {
      noteDynamicUse(op);
    } else if (auto address = dyn_cast<LLVM::AddressOfOp>(op)) {
      auto type = dyn_cast<LLVM::LLVMPointerType>(address.getType());
      if (!type || type.getAddressSpace() != kLDSAddressSpace)
        return;
      auto global = symbols.lookupNearestSymbolFrom<LLVM::GlobalOp>(
          op, address.getGlobalNameAttr());
      if (!global)
        return;
      if (isDynamicLDS(global))
        noteDynamicUse(op);
      else
        globals.insert(global);
    } else if (isCall(op)) {
      auto call = cast<CallOpInterface>(op);
      auto callee = dyn_cast<SymbolRefAttr>(call.getCallableForCallee());
      if (!callee)
        return;
      Operation *target = symbols.lookupNearestSymbolFrom(op, callee);
      if (isa_and_present<FunctionOpInterface>(target))
        callees.insert(target);
    }
  });
  summary.staticGlobals = globals.takeVector();
  summary.callees = callees.takeVector();
  return summary;
}

OtherLDS OtherLDSFinder::find(Operation *kernel) {
  OtherLDS found;
  llvm::SmallSetVector<LLVM::GlobalOp, 8> globals;
  llvm::SetVector<Operation *> functions;
  functions.insert(kernel);
  for (unsigned i = 0; i < functions.size(); ++i) {
    const Summary &summary = summarize(functions[i]);
    found.staticBytes =
        llvm::SaturatingAdd(found.staticBytes, summary.attributionBytes);
    if (!found.dynamicUse)
      found.dynamicUse = summary.dynamicUse;
    globals.insert_range(summary.staticGlobals);
    functions.insert_range(summary.callees);
  }
  for (LLVM::GlobalOp global : globals)
    found.staticBytes = llvm::SaturatingAdd(
        found.staticBytes, getGlobalBytes(global.getGlobalType()).value_or(0));
  return found;
}
