//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/LDSAccess.h"
#include "lodestone/Analysis/DeviceLayout.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace lodestone;

bool lodestone::isPointerInto(Type type, unsigned space) {
  auto pointer = dyn_cast<LLVM::LLVMPointerType>(type);
  return pointer && pointer.getAddressSpace() == space;
}

static std::optional<int64_t> constantInt(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  return std::nullopt;
}

/// The operand of a DMA whose lanes move `laneBytes` each. The 12-byte form
/// leaves every fourth dword untouched, so it spans what the 16-byte form does.
static LDSOperand dmaOperand(Value pointer, std::optional<int64_t> laneBytes,
                             std::optional<int64_t> offset, unsigned waveSize) {
  // The immediate offset has 12 bits; what else is there is a mistake.
  if (!laneBytes || *laneBytes <= 0 || *laneBytes > 16 || !offset ||
      !llvm::isUInt<12>(*offset))
    return {pointer, 0, std::nullopt};
  int64_t stride = *laneBytes <= 4 ? 4 : 16;
  return {pointer, *offset, stride * waveSize};
}

std::optional<DMACounter> lodestone::mayContainLDSDMA(Operation *op) {
  auto counterOf = [](StringRef text) {
    return text.contains("tensor")  ? DMACounter::tensorcnt
           : text.contains("async") ? DMACounter::asynccnt
                                    : DMACounter::vmcnt;
  };
  // A false hit costs speed, a miss would cost a wait.
  if (auto asmOp = dyn_cast<LLVM::InlineAsmOp>(op)) {
    StringRef text = asmOp.getAsmString();
    if (text.contains("lds") &&
        (text.contains("load") || text.contains("tensor")))
      return counterOf(text);
  }
  if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op)) {
    StringRef name = call.getIntrin();
    if (name.starts_with("llvm.amdgcn.") && name.contains("lds") &&
        name.contains("load"))
      return counterOf(name);
  }
  return std::nullopt;
}

/// The bytes that one lane reads or writes with `op` through its pointer.
static std::optional<int64_t> bytesPerLane(Operation *op,
                                           const DeviceLayout &layout) {
  auto sizeOf = [&](Type type) { return layout.sizeOf(type); };
  // A length is unsigned; one past the address space is a mistake, and
  // whatever it touches isn't known.
  auto length = [](Value bytes) -> std::optional<int64_t> {
    std::optional<int64_t> constant = constantInt(bytes);
    if (!constant || *constant < 0 || !llvm::isUInt<32>(*constant))
      return std::nullopt;
    return constant;
  };
  return llvm::TypeSwitch<Operation *, std::optional<int64_t>>(op)
      .Case([&](LLVM::LoadOp load) { return sizeOf(load.getType()); })
      .Case([&](LLVM::StoreOp store) {
        return sizeOf(store.getValue().getType());
      })
      .Case(
          [&](LLVM::AtomicRMWOp rmw) { return sizeOf(rmw.getVal().getType()); })
      .Case([&](LLVM::AtomicCmpXchgOp xchg) {
        return sizeOf(xchg.getVal().getType());
      })
      .Case([&](LLVM::MemcpyOp copy) { return length(copy.getLen()); })
      .Case([&](LLVM::MemmoveOp move) { return length(move.getLen()); })
      .Case([&](LLVM::MemsetOp set) { return length(set.getLen()); })
      // A transposing read hands each lane other lanes' data, but the bytes
      // touched are those that the lanes' own addresses name, one result each.
      .Case<ROCDL::ds_read_tr4_b64, ROCDL::ds_read_tr8_b64,
            ROCDL::ds_read_tr16_b64>(
          [&](auto read) { return sizeOf(read.getType()); })
      // Twelve bytes a lane, at a 16-byte pitch.
      .Case([](ROCDL::ds_read_tr6_b96) { return std::optional<int64_t>(16); })
      .Default([](Operation *) { return std::nullopt; });
}

/// True for the bulk of a kernel's ops. A look at the operands' types is much
/// cheaper than looking up the interface.
static bool isAddressArithmetic(Operation *op) {
  if (isa<LLVM::GEPOp, LLVM::PtrToIntOp, LLVM::AddrSpaceCastOp>(op))
    return true;
  return llvm::none_of(op->getOperandTypes(),
                       llvm::IsaPred<LLVM::LLVMPointerType>) &&
         !isa<LLVM::InlineAsmOp, LLVM::CallIntrinsicOp, LLVM::CallOp,
              LLVM::InvokeOp, ROCDL::TensorLoadToLDSOp,
              ROCDL::TensorLoadToLDSD2Op>(op);
}

std::optional<LDSAccess> lodestone::getLDSAccess(Operation *op,
                                                 unsigned waveSize,
                                                 const DeviceLayout &layout) {
  if (isAddressArithmetic(op))
    return std::nullopt;
  if (mayContainLDSDMA(op))
    return LDSAccess{op, LDSAccessKind::untaggableDMA, {}};
  if (isa<LLVM::InlineAsmOp>(op))
    return std::nullopt;
  if (auto dma = dyn_cast<ROCDL::RawPtrBufferLoadLdsOp>(op))
    return LDSAccess{op,
                     LDSAccessKind::dma,
                     {dmaOperand(dma.getLdsPtr(), constantInt(dma.getSize()),
                                 constantInt(dma.getOffset()), waveSize)}};
  if (auto dma = dyn_cast<ROCDL::LoadToLDSOp>(op))
    return LDSAccess{op,
                     LDSAccessKind::dma,
                     {dmaOperand(dma.getLdsPtr(), dma.getSize(),
                                 dma.getOffset(), waveSize)}};
  if (auto dma = dyn_cast<ROCDL::GlobalLoadLDSOp>(op))
    return LDSAccess{op,
                     LDSAccessKind::dma,
                     {dmaOperand(dma.getLdsPtr(), dma.getSize(),
                                 dma.getOffset(), waveSize)}};
  if (isa<ROCDL::GlobalLoadAsyncToLDSB8Op, ROCDL::GlobalLoadAsyncToLDSB32Op,
          ROCDL::GlobalLoadAsyncToLDSB64Op, ROCDL::GlobalLoadAsyncToLDSB128Op,
          ROCDL::ClusterLoadAsyncToLDSB8Op, ROCDL::ClusterLoadAsyncToLDSB32Op,
          ROCDL::ClusterLoadAsyncToLDSB64Op, ROCDL::ClusterLoadAsyncToLDSB128Op,
          ROCDL::TensorLoadToLDSOp, ROCDL::TensorLoadToLDSD2Op>(op))
    return LDSAccess{op, LDSAccessKind::otherCounterDMA, {}};

  auto interface = dyn_cast<LLVM::AliasAnalysisOpInterface>(op);
  if (!interface)
    return std::nullopt;
  LDSAccess access{op, LDSAccessKind::ordinary, {}};
  // What a call touches is up to the callee. Metadata on it counts all the
  // same: LLVM's inliner puts it on everything that the callee does.
  if (isa<LLVM::CallOp, LLVM::InvokeOp>(op)) {
    if (interface.getAliasScopesOrNull() ||
        interface.getNoAliasScopesOrNull() || interface.getTBAATagsOrNull())
      return access;
    return std::nullopt;
  }
  for (Value pointer : interface.getAccessedOperands()) {
    bool flat = isPointerInto(pointer.getType(), kFlatAddressSpace);
    if (!flat && !isPointerInto(pointer.getType(), kLDSAddressSpace))
      continue;
    access.throughFlatPointer |= flat;
    access.operands.push_back({pointer, 0, std::nullopt});
  }
  if (access.operands.empty())
    return std::nullopt;
  std::optional<int64_t> size = bytesPerLane(op, layout);
  for (LDSOperand &operand : access.operands)
    operand.size = size;
  return access;
}
