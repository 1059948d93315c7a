//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/DeviceLayout.h"

#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Target/LLVMIR/TypeToLLVM.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace lodestone;

struct DeviceLayout::Translator {
  llvm::LLVMContext context;
  LLVM::TypeToLLVMIRTranslator types{context};
  llvm::DataLayout layout{
      llvm::Triple("amdgcn-amd-amdhsa").computeDataLayout()};

  /// The type in LLVM IR, or null if it has no fixed size.
  llvm::Type *translate(Type type) {
    if (!LLVM::isCompatibleType(type))
      return nullptr;
    llvm::Type *result = types.translateType(type);
    if (!result || !result->isSized() || result->isScalableTy())
      return nullptr;
    return result;
  }
};

DeviceLayout::DeviceLayout() = default;
DeviceLayout::~DeviceLayout() = default;

DeviceLayout::Translator &DeviceLayout::translator() const {
  if (!lazyTranslator)
    lazyTranslator = std::make_unique<Translator>();
  return *lazyTranslator;
}

std::optional<int64_t> DeviceLayout::sizeOf(Type type) const {
  // Nearly all types are these, and need no translation: numbers, and arrays of
  // what has a size, which have no padding of their own.
  if (type.isIntOrFloat()) {
    unsigned bits = type.getIntOrFloatBitWidth();
    if (bits == 8 || bits == 16 || bits == 32 || bits == 64)
      return bits / 8;
  }
  if (auto array = dyn_cast<LLVM::LLVMArrayType>(type)) {
    std::optional<int64_t> element = sizeOf(array.getElementType());
    int64_t size;
    if (!element ||
        llvm::MulOverflow<int64_t>(*element, array.getNumElements(), size))
      return std::nullopt;
    return size;
  }
  auto [it, isNew] = sizes.try_emplace(type);
  if (isNew)
    if (llvm::Type *translated = translator().translate(type))
      it->second = translator().layout.getTypeAllocSize(translated);
  return it->second;
}

uint64_t DeviceLayout::alignmentOf(Type type) const {
  if (llvm::Type *translated = translator().translate(type))
    return translator().layout.getABITypeAlign(translated).value();
  return 1;
}

std::optional<int64_t> DeviceLayout::fieldOffset(Type type,
                                                 unsigned index) const {
  auto *structure =
      llvm::dyn_cast_or_null<llvm::StructType>(translator().translate(type));
  if (!structure || index >= structure->getNumElements())
    return std::nullopt;
  return translator()
      .layout.getStructLayout(structure)
      ->getElementOffset(index)
      .getFixedValue();
}
