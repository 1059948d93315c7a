//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The transfer functions of LDSProvenance: the table in its header, as code.
///
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/AddressBase.h"
#include "lodestone/Analysis/InductionRange.h"
#include "lodestone/Analysis/LDSAccess.h"
#include "lodestone/Analysis/ProvenanceArithmetic.h"
#include "lodestone/Dialect/LDS/IR/LDSDialect.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/Utils/InferIntRangeCommon.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace lodestone;

/// The bits of an address or number held by `type`; nothing for other types.
/// Flat pointers hold LDS addresses as offsets from the LDS aperture; those
/// offsets are what is tracked.
static std::optional<unsigned> widthOf(Type type) {
  if (isPointerInto(type, kLDSAddressSpace) ||
      isPointerInto(type, kFlatAddressSpace))
    return kAddressBits;
  if (auto integer = dyn_cast<IntegerType>(type))
    if (integer.getWidth() <= 64)
      return integer.getWidth();
  return std::nullopt;
}

/// A value of `type` that nothing is known about.
static Provenance opaque(Type type) {
  // A number that was loaded or passed in is not an address into LDS unless it
  // is turned into one, and `inttoptr` of a plain number is unknown.
  if (auto integer = dyn_cast<IntegerType>(type))
    if (integer.getWidth() <= 64)
      return Provenance::number(
          ConstantIntRanges::maxRange(integer.getWidth()));
  return Provenance::unknown();
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// Ops that `transfer` understands, so that their operands matter.
static bool isTransparent(Operation *op) {
  return isa<LLVM::AddOp, LLVM::SubOp, LLVM::MulOp, LLVM::AndOp, LLVM::OrOp,
             LLVM::XOrOp, LLVM::ShlOp, LLVM::LShrOp, LLVM::AShrOp, LLVM::UDivOp,
             LLVM::SDivOp, LLVM::URemOp, LLVM::SRemOp, LLVM::UMinOp,
             LLVM::UMaxOp, LLVM::SMinOp, LLVM::SMaxOp, LLVM::GEPOp,
             LLVM::PtrToIntOp, LLVM::IntToPtrOp, LLVM::AddrSpaceCastOp,
             LLVM::BitcastOp, LLVM::FreezeOp, LLVM::TruncOp, LLVM::ZExtOp,
             LLVM::SExtOp, LLVM::SelectOp, ROCDL::ReadfirstlaneOp,
             ROCDL::MbcntLoOp, ROCDL::MbcntHiOp>(op) ||
         isLaunder(op);
}

/// The value that an extractvalue reads, if its aggregate was built in sight.
static Value extractedValue(LLVM::ExtractValueOp extract) {
  Value aggregate = extract.getContainer();
  while (auto insert = aggregate.getDefiningOp<LLVM::InsertValueOp>()) {
    if (insert.getPosition() == extract.getPosition())
      return insert.getValue();
    // A partial overlap of the two positions is left alone.
    ArrayRef<int64_t> a = insert.getPosition(), b = extract.getPosition();
    size_t common = std::min(a.size(), b.size());
    if (a.take_front(common) == b.take_front(common))
      return {};
    aggregate = insert.getContainer();
  }
  return {};
}

/// Calls `fn` with each value that a predecessor passes for `argument`; false
/// if a predecessor can't be read.
static bool forEachIncoming(BlockArgument argument,
                            llvm::function_ref<void(Value)> fn) {
  Block *block = argument.getOwner();
  for (auto it = block->pred_begin(), e = block->pred_end(); it != e; ++it) {
    auto branch = dyn_cast<BranchOpInterface>((*it)->getTerminator());
    if (!branch)
      return false;
    SuccessorOperands operands =
        branch.getSuccessorOperands(it.getSuccessorIndex());
    Value incoming = operands[argument.getArgNumber()];
    if (!incoming)
      return false;
    fn(incoming);
  }
  return true;
}

void LDSProvenance::collectInputs(Value value,
                                  SmallVectorImpl<Value> &inputs) const {
  auto addIfTracked = [&](Value input) {
    if (widthOf(input.getType()))
      inputs.push_back(input);
  };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (!widthOf(value.getType()))
      return;
    Operation *parent = argument.getOwner()->getParentOp();
    if (argument.getOwner()->isEntryBlock()) {
      if (isa<LLVM::LLVMFuncOp>(parent) && !mayBeCalledFromOutside(parent))
        for (Operation *call : callsOf(parent))
          if (argument.getArgNumber() <
              cast<LLVM::CallOp>(call).getCalleeOperands().size())
            addIfTracked(cast<LLVM::CallOp>(call)
                             .getCalleeOperands()[argument.getArgNumber()]);
      return;
    }
    if (const auto &induction = inductionRange(argument)) {
      addIfTracked(induction->init);
      addIfTracked(induction->bound);
      return;
    }
    forEachIncoming(argument, addIfTracked);
    return;
  }
  Operation *op = value.getDefiningOp();
  if (auto extract = dyn_cast<LLVM::ExtractValueOp>(op)) {
    if (Value source = extractedValue(extract))
      addIfTracked(source);
    return;
  }
  if (auto select = dyn_cast<LLVM::SelectOp>(op)) {
    addIfTracked(select.getTrueValue());
    addIfTracked(select.getFalseValue());
    return;
  }
  // Of an op that isn't understood it still matters whether it is given an
  // address; a load's result is not derived from the pointer.
  if (isTransparent(op) || !isa<LLVM::AliasAnalysisOpInterface>(op))
    for (Value operand : op->getOperands())
      addIfTracked(operand);
}

//===----------------------------------------------------------------------===//
// Transfer
//===----------------------------------------------------------------------===//

const std::optional<InductionRange> &
LDSProvenance::inductionRange(BlockArgument argument) const {
  auto [it, isNew] = inductions.try_emplace(argument);
  if (isNew)
    it->second = InductionRange::match(argument, dominance);
  return it->second;
}

Provenance LDSProvenance::transferBlockArgument(BlockArgument argument) const {
  if (!widthOf(argument.getType()))
    return opaque(argument.getType());
  Operation *parent = argument.getOwner()->getParentOp();
  if (argument.getOwner()->isEntryBlock()) {
    if (!isa<LLVM::LLVMFuncOp>(parent) || mayBeCalledFromOutside(parent))
      return opaque(argument.getType());
    Provenance result;
    for (Operation *op : callsOf(parent)) {
      auto operands = cast<LLVM::CallOp>(op).getCalleeOperands();
      if (argument.getArgNumber() >= operands.size())
        return Provenance::unknown();
      result.join(lookup(operands[argument.getArgNumber()]));
    }
    return callsOf(parent).empty() ? opaque(argument.getType()) : result;
  }
  if (const auto &induction = inductionRange(argument)) {
    const Provenance &init = lookup(induction->init);
    const Provenance &bound = lookup(induction->bound);
    if (init.isBottom() || bound.isBottom())
      return {};
    if (init.mayBeAddress())
      return Provenance::unknown();
    if (!bound.mayBeAddress()) {
      auto hull = [](const Provenance &set) {
        ConstantIntRanges range = set.getElements().front().range;
        for (const ProvenanceElement &element : set.getElements().drop_front())
          range = range.rangeUnion(element.range);
        return range;
      };
      if (auto range = induction->rangeFor(hull(init), hull(bound)))
        return Provenance::number(*range);
    }
    return opaque(argument.getType());
  }
  Provenance result;
  bool complete = forEachIncoming(
      argument, [&](Value incoming) { result.join(lookup(incoming)); });
  return complete ? result : opaque(argument.getType());
}

Provenance LDSProvenance::transferGEP(Operation *op) const {
  auto gep = cast<LLVM::GEPOp>(op);
  Provenance result = lookup(gep.getBase());
  if (result.isBottom())
    return result;
  // The offset of each index, as LLVM's data layout has it.
  Type type = gep.getElemType();
  bool first = true;
  LLVM::GEPIndicesAdaptor<ValueRange> indices = gep.getIndices();
  for (auto index : indices) {
    if (!std::exchange(first, false)) {
      if (auto structure = dyn_cast<LLVM::LLVMStructType>(type)) {
        auto field = dyn_cast<IntegerAttr>(index);
        if (!field)
          return Provenance::unknown();
        std::optional<int64_t> offset =
            layout.fieldOffset(structure, field.getInt());
        if (!offset)
          return Provenance::unknown();
        result = add(result,
                     Provenance::number(constantRange(*offset, kAddressBits)));
        type = structure.getBody()[field.getInt()];
        continue;
      }
      if (auto array = dyn_cast<LLVM::LLVMArrayType>(type))
        type = array.getElementType();
      else if (auto vector = dyn_cast<VectorType>(type))
        type = vector.getElementType();
      else
        return Provenance::unknown();
    }
    auto constant = dyn_cast<IntegerAttr>(index);
    if (constant && constant.getValue().isZero())
      continue;
    std::optional<int64_t> stride = layout.sizeOf(type);
    if (!stride)
      return Provenance::unknown();
    if (constant) {
      // Modulo 2^32, so that no index can overflow.
      uint64_t bytes = static_cast<uint64_t>(constant.getInt()) *
                       static_cast<uint64_t>(*stride);
      result =
          add(result, Provenance::number(constantRange(bytes, kAddressBits)));
      continue;
    }
    const Provenance &dynamic = lookup(cast<Value>(index));
    if (dynamic.isBottom())
      return {};
    // What is added to a pointer doesn't change what it is based on.
    if (dynamic.mayBeAddress()) {
      result =
          add(result,
              Provenance::number(ConstantIntRanges::maxRange(kAddressBits)));
      continue;
    }
    Provenance scaled;
    for (const ProvenanceElement &element : dynamic.getElements()) {
      // GEP extends its indices by sign, or cuts them.
      ConstantIntRanges range = resized(element.range, kAddressBits);
      if (*stride != 1)
        range =
            intrange::inferMul({range, constantRange(*stride, kAddressBits)});
      scaled.join(Provenance::number(range));
    }
    result = add(result, scaled);
  }
  return lds::getExtent(op) ? enterRegion(op, result) : result;
}

Provenance LDSProvenance::enterRegion(Operation *op,
                                      const Provenance &address) const {
  if (address.isBottom() || address.isUnknown())
    return address;
  const LDSObject *base = address.getElements().front().object;
  uint64_t begin = lds::getExtent(op).getOffset();
  // The extent counts from the start of the root, so that must be known; and
  // an address that can't be the region's first byte belies the extent.
  bool consistent =
      base && llvm::all_of(
                  address.getElements(), [&](const ProvenanceElement &element) {
                    return element.object && element.object->root == base->root;
                  });
  consistent &= llvm::any_of(address.getElements(),
                             [&](const ProvenanceElement &element) {
                               return element.range.smin().sle(begin) &&
                                      element.range.smax().sge(begin);
                             });
  if (!consistent)
    return Provenance::unknown();
  return Provenance::of(objectForExtent(op, base),
                        constantRange(begin, kAddressBits));
}

Provenance LDSProvenance::transfer(Value value) const {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return transferBlockArgument(argument);
  Operation *op = value.getDefiningOp();
  std::optional<unsigned> width = widthOf(value.getType());
  if (!width)
    return opaque(value.getType());
  auto operand = [&](unsigned i) -> const Provenance & {
    return lookup(op->getOperand(i));
  };
  // Until all operands have a state, neither does the result.
  if (!isa<LLVM::SelectOp, LLVM::GEPOp, LLVM::ExtractValueOp,
           LLVM::AliasAnalysisOpInterface>(op))
    for (Value input : op->getOperands())
      if (widthOf(input.getType()) && lookup(input).isBottom())
        return {};
  auto numbers = [&](auto infer) {
    return onNumbers(operand(0), operand(1), infer);
  };
  auto withFlags = [](auto infer) {
    return [infer](ArrayRef<ConstantIntRanges> args) {
      return infer(args, intrange::OverflowFlags::None);
    };
  };

  return llvm::TypeSwitch<Operation *, Provenance>(op)
      .Case([&](LLVM::ConstantOp constant) {
        auto integer = dyn_cast<IntegerAttr>(constant.getValue());
        if (!integer || integer.getValue().getBitWidth() != *width)
          return opaque(value.getType());
        return Provenance::number(
            ConstantIntRanges::constant(integer.getValue()));
      })
      .Case([&](LLVM::ZeroOp) {
        return isa<IntegerType>(value.getType())
                   ? Provenance::number(constantRange(0, *width))
                   : Provenance::unknown();
      })
      .Case([&](LLVM::AddressOfOp address) {
        auto global = dyn_cast_or_null<LLVM::GlobalOp>(
            symbols.lookup(address.getGlobalName()));
        if (!global || global.getAddrSpace() != kLDSAddressSpace)
          return Provenance::unknown();
        return Provenance::of(objectFor(global),
                              constantRange(0, kAddressBits));
      })
      .Case([&](LLVM::GEPOp gep) { return transferGEP(gep); })
      .Case([&](LLVM::AddOp) { return add(operand(0), operand(1)); })
      .Case([&](LLVM::SubOp) { return subtract(operand(0), operand(1)); })
      .Case([&](LLVM::OrOp orOp) {
        if (orOp.getIsDisjoint())
          return add(operand(0), operand(1));
        return numbers(intrange::inferOr);
      })
      .Case([&](LLVM::AndOp) { return bitAnd(operand(0), operand(1)); })
      .Case([&](LLVM::XOrOp) { return numbers(intrange::inferXor); })
      .Case([&](LLVM::MulOp) { return numbers(withFlags(intrange::inferMul)); })
      .Case([&](LLVM::ShlOp) { return numbers(withFlags(intrange::inferShl)); })
      .Case([&](LLVM::LShrOp) { return numbers(intrange::inferShrU); })
      .Case([&](LLVM::AShrOp) { return numbers(intrange::inferShrS); })
      .Case([&](LLVM::UDivOp) { return numbers(intrange::inferDivU); })
      .Case([&](LLVM::SDivOp) { return numbers(intrange::inferDivS); })
      .Case([&](LLVM::URemOp) { return numbers(intrange::inferRemU); })
      .Case([&](LLVM::SRemOp) { return numbers(intrange::inferRemS); })
      .Case([&](LLVM::UMinOp) { return numbers(intrange::inferMinU); })
      .Case([&](LLVM::UMaxOp) { return numbers(intrange::inferMaxU); })
      .Case([&](LLVM::SMinOp) { return numbers(intrange::inferMinS); })
      .Case([&](LLVM::SMaxOp) { return numbers(intrange::inferMaxS); })
      .Case([&](LLVM::TruncOp) {
        return convert(operand(0), *width, [&](const ConstantIntRanges &range) {
          return intrange::truncRange(range, *width);
        });
      })
      .Case([&](LLVM::ZExtOp) {
        return convert(operand(0), *width, [&](const ConstantIntRanges &range) {
          return intrange::extUIRange(range, *width);
        });
      })
      .Case([&](LLVM::SExtOp) {
        return convert(operand(0), *width, [&](const ConstantIntRanges &range) {
          return intrange::extSIRange(range, *width);
        });
      })
      .Case<LLVM::PtrToIntOp, LLVM::AddrSpaceCastOp, LLVM::BitcastOp,
            LLVM::FreezeOp, LLVM::IntToPtrOp, LLVM::InlineAsmOp,
            ROCDL::ReadfirstlaneOp>([&](Operation *) {
        // A bitcast from a vector, and assembly that isn't a launder.
        if (!isTransparent(op) || !widthOf(op->getOperand(0).getType()))
          return opaque(value.getType());
        return convert(operand(0), *width, [&](const ConstantIntRanges &range) {
          return resized(range, *width);
        });
      })
      .Case([&](LLVM::SelectOp select) {
        Provenance result = lookup(select.getTrueValue());
        result.join(lookup(select.getFalseValue()));
        return result;
      })
      .Case([&](LLVM::ExtractValueOp extract) {
        Value source = extractedValue(extract);
        return source ? lookup(source) : opaque(value.getType());
      })
      .Case([&](ROCDL::ThreadIdXOp) {
        return Provenance::number(upTo(maxWorkItems(op, 0) - 1, *width));
      })
      .Case([&](ROCDL::ThreadIdYOp) {
        return Provenance::number(upTo(maxWorkItems(op, 1) - 1, *width));
      })
      .Case([&](ROCDL::ThreadIdZOp) {
        return Provenance::number(upTo(maxWorkItems(op, 2) - 1, *width));
      })
      // mbcnt adds to its second operand the set bits of the first below the
      // lane: lo counts among 32 lanes, hi after lo stays below the wave size.
      .Case([&](ROCDL::MbcntLoOp) {
        return onNumbers(
            operand(1),
            Provenance::number(upTo(std::min(waveSize, 32u), *width)),
            withFlags(intrange::inferAdd));
      })
      .Case([&](ROCDL::MbcntHiOp hi) {
        auto lo = hi.getIn1().getDefiningOp<ROCDL::MbcntLoOp>();
        const Provenance &start = lo ? lookup(lo.getIn1()) : operand(1);
        return onNumbers(start.isBottom() ? operand(1) : start,
                         Provenance::number(upTo(waveSize - 1, *width)),
                         withFlags(intrange::inferAdd));
      })
      .Default([&](Operation *) {
        // Lanes' exchanges, calls, ...: what they do with an address isn't
        // known. What memory holds is not an address (see `opaque`).
        if (!isa<LLVM::AliasAnalysisOpInterface>(op))
          for (Value input : op->getOperands())
            if (widthOf(input.getType()) && lookup(input).mayBeAddress())
              return Provenance::unknown();
        return opaque(value.getType());
      });
}
