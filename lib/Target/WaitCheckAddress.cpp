//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WaitCheckAddress.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/AMDGPUAddrSpace.h"

using namespace llvm;
using namespace lodestone;

static constexpr unsigned kBudget = 20000;
static constexpr unsigned kMaxAlternatives = 16;

/// LLVM's analyses of loops; built when the first phi is met, since most
/// kernels that are unrolled have none that matters.
struct AddressAnalysis::Loops {
  TargetLibraryInfoImpl libraryImpl;
  TargetLibraryInfo library;
  AssumptionCache assumptions;
  DominatorTree dominators;
  LoopInfo loops;
  ScalarEvolution evolution;

  explicit Loops(Function &function)
      : libraryImpl(function.getParent()->getTargetTriple()),
        library(libraryImpl, &function), assumptions(function),
        dominators(function), loops(dominators),
        evolution(function, library, assumptions, dominators, loops) {}
};

AddressAnalysis::AddressAnalysis(const Function &function)
    : function(function) {}
AddressAnalysis::~AddressAnalysis() = default;

AddressAnalysis::Loops &AddressAnalysis::getLoops() {
  // ScalarEvolution wants a mutable function but doesn't change it.
  if (!loops)
    loops = std::make_unique<Loops>(const_cast<Function &>(function));
  return *loops;
}

static Address make(Address::Base base, const Value *object = nullptr) {
  Address address;
  address.base = base;
  address.object = object;
  if (base != Address::unknown && base != Address::number)
    address.offset = ConstantRange(APInt(32, 0));
  return address;
}

static Addresses unknownAddress() { return {Address()}; }

/// Adds `address` to `set`, keeping one range for each object.
static void insert(Addresses &set, const Address &address) {
  for (Address &have : set) {
    if (have.base == address.base && have.object == address.object) {
      have.offset = have.offset.unionWith(address.offset);
      return;
    }
  }
  set.push_back(address);
}

static Addresses moved(Addresses set, const ConstantRange &distance) {
  for (Address &address : set)
    address.offset = address.offset.add(distance);
  return set;
}

static bool allNumbers(const Addresses &set) {
  return llvm::all_of(
      set, [](const Address &a) { return a.base == Address::number; });
}

static bool anyUnknown(const Addresses &set) {
  return llvm::any_of(
      set, [](const Address &a) { return a.base == Address::unknown; });
}

Addresses AddressAnalysis::evaluate(const Value *value) {
  budget = kBudget;
  depth = 0;
  return compute(value);
}

Addresses AddressAnalysis::compute(const Value *value) {
  auto known = cache.find(value);
  if (known != cache.end())
    return known->second;
  if (budget == 0 || depth > kMaxDepth)
    return unknownAddress();
  --budget;
  ++depth;
  llvm::scope_exit leave([&] { --depth; });

  Addresses result = visit(value);
  if (result.empty() || anyUnknown(result) || result.size() > kMaxAlternatives)
    result = unknownAddress();
  else if (value->getType()->isIntegerTy() && allNumbers(result))
    result = {make(Address::number)},
    result[0].offset = number(value).zextOrTrunc(32);
  // What hangs on a phi in progress holds only inside of it, and so does what
  // the budget cut off.
  bool final = budget != 0 && llvm::none_of(result, [](const Address &a) {
                 return a.base == Address::pendingPhi;
               });
  if (final)
    cache[value] = result;
  return result;
}

Addresses AddressAnalysis::visit(const Value *value) {
  Type *type = value->getType();
  if (type->isPointerTy()) {
    unsigned space = type->getPointerAddressSpace();
    if (space != AMDGPUAS::LOCAL_ADDRESS && space != AMDGPUAS::FLAT_ADDRESS)
      return {make(Address::elsewhere)};
  } else if (!type->isIntegerTy()) {
    return unknownAddress();
  }

  if (isa<ConstantInt>(value))
    return {make(Address::number)};
  if (const auto *global = dyn_cast<GlobalVariable>(value)) {
    if (type->getPointerAddressSpace() != AMDGPUAS::LOCAL_ADDRESS)
      return {make(Address::elsewhere)};
    const DataLayout &layout = global->getParent()->getDataLayout();
    // The backend lays every zero-size variable at the end of static LDS.
    if (layout.getTypeAllocSize(global->getValueType()) == 0)
      return {make(Address::dynamicLDS)};
    return {make(Address::staticLDS, global)};
  }
  if (const auto *alias = dyn_cast<GlobalAlias>(value))
    return compute(alias->getAliasee());
  if (isa<Argument>(value)) {
    if (!type->isPointerTy())
      return {make(Address::number)};
    // The host has no generic pointer into a kernel's LDS.
    if (type->getPointerAddressSpace() == AMDGPUAS::FLAT_ADDRESS &&
        function.getCallingConv() == CallingConv::AMDGPU_KERNEL)
      return {make(Address::elsewhere)};
    return {make(Address::argument, value)};
  }
  if (const auto *phi = dyn_cast<PHINode>(value))
    return visitPhi(phi);
  if (const auto *op = dyn_cast<Operator>(value))
    return visitOperator(op);
  return unknownAddress();
}

const Value *lodestone::passedThrough(const CallBase *call) {
  if (const auto *assembly = dyn_cast<InlineAsm>(call->getCalledOperand())) {
    // `asm "" : "=s"(x) : "0"(y)`: hides y from the optimizer.
    if (!StringRef(assembly->getAsmString()).trim().empty() ||
        call->arg_size() != 1 ||
        call->getType() != call->getArgOperand(0)->getType())
      return nullptr;
    InlineAsm::ConstraintInfoVector constraints = assembly->ParseConstraints();
    if (constraints.size() < 2 || constraints[0].Type != InlineAsm::isOutput ||
        constraints[1].Type != InlineAsm::isInput ||
        constraints[1].Codes.size() != 1 || constraints[1].Codes[0] != "0")
      return nullptr;
    // Behind them only clobbers.
    for (const auto &constraint : drop_begin(constraints, 2))
      if (constraint.Type != InlineAsm::isClobber)
        return nullptr;
    return call->getArgOperand(0);
  }
  switch (call->getIntrinsicID()) {
  case Intrinsic::amdgcn_readfirstlane:
  case Intrinsic::amdgcn_readlane:
  case Intrinsic::launder_invariant_group:
  case Intrinsic::strip_invariant_group:
  case Intrinsic::ssa_copy:
  case Intrinsic::amdgcn_addrspacecast_nonnull:
    return call->getArgOperand(0);
  default:
    return nullptr;
  }
}

Addresses AddressAnalysis::visitOperator(const Operator *op) {
  Type *type = op->getType();
  switch (op->getOpcode()) {
  case Instruction::GetElementPtr:
    return visitGEP(cast<GEPOperator>(op));
  case Instruction::AddrSpaceCast:
  case Instruction::Freeze:
    return compute(op->getOperand(0));
  case Instruction::BitCast:
    if (op->getOperand(0)->getType() == type)
      return compute(op->getOperand(0));
    break;
  case Instruction::PtrToInt:
  case Instruction::PtrToAddr: {
    // Of an address somewhere else nothing is known as a number.
    if (type->getIntegerBitWidth() < 32)
      break;
    Addresses result = compute(op->getOperand(0));
    if (llvm::any_of(result, [](const Address &a) {
          return a.base == Address::elsewhere || a.base == Address::number;
        }))
      return unknownAddress();
    return result;
  }
  case Instruction::IntToPtr: {
    Addresses result = compute(op->getOperand(0));
    // As a generic address a number needn't be in LDS, but may.
    if (type->getPointerAddressSpace() != AMDGPUAS::LOCAL_ADDRESS &&
        llvm::any_of(
            result, [](const Address &a) { return a.base == Address::number; }))
      return unknownAddress();
    return result;
  }
  case Instruction::Trunc:
    if (type->getIntegerBitWidth() >= 32)
      return compute(op->getOperand(0));
    return {make(Address::number)};
  case Instruction::ZExt:
  case Instruction::SExt:
    // Offsets count modulo 2^32; what is narrower holds no address.
    if (op->getOperand(0)->getType()->getIntegerBitWidth() >= 32)
      return compute(op->getOperand(0));
    return {make(Address::number)};
  case Instruction::Select:
    return unionOf({op->getOperand(1), op->getOperand(2)});
  case Instruction::Add:
  case Instruction::Sub:
  case Instruction::Or:
  case Instruction::And:
  case Instruction::Xor:
    return visitBinary(op);
  case Instruction::Call:
    if (const Value *through = passedThrough(cast<CallBase>(op)))
      return compute(through);
    break;
  default:
    break;
  }
  // A number, as far as anyone can tell: multiplied, loaded, returned.
  if (type->isIntegerTy())
    return {make(Address::number)};
  return unknownAddress();
}

Addresses AddressAnalysis::unionOf(ArrayRef<const Value *> values) {
  Addresses result;
  for (const Value *value : values)
    for (const Address &address : compute(value))
      insert(result, address);
  return result;
}

Addresses AddressAnalysis::visitGEP(const GEPOperator *gep) {
  const DataLayout &layout = function.getParent()->getDataLayout();
  unsigned width = layout.getIndexTypeSizeInBits(gep->getType());
  SmallMapVector<Value *, APInt, 4> variables;
  APInt constant(width, 0);
  if (!gep->collectOffset(layout, width, variables, constant))
    return unknownAddress();
  ConstantRange distance(constant.sextOrTrunc(32));
  for (const auto &[index, scale] : variables) {
    ConstantRange range = number(index).sextOrTrunc(32);
    distance =
        distance.add(range.multiply(ConstantRange(scale.sextOrTrunc(32))));
  }
  return moved(compute(gep->getPointerOperand()), distance);
}

Addresses AddressAnalysis::visitBinary(const Operator *op) {
  const Value *lhs = op->getOperand(0), *rhs = op->getOperand(1);
  Addresses left = compute(lhs), right = compute(rhs);
  bool leftNumber = allNumbers(left), rightNumber = allNumbers(right);
  if (leftNumber && rightNumber)
    return {make(Address::number)};
  if (op->getOpcode() == Instruction::Sub) {
    // A difference of addresses is a number that we know nothing about.
    if (!rightNumber)
      return {make(Address::number)};
    ConstantRange amount = number(rhs).sextOrTrunc(32);
    if (amount.isFullSet())
      return unknownAddress();
    return moved(left, ConstantRange(APInt(32, 0)).sub(amount));
  }
  if (leftNumber) {
    std::swap(lhs, rhs);
    std::swap(left, right);
    std::swap(leftNumber, rightNumber);
  }
  // Two addresses at once (or what may be either).
  if (!rightNumber)
    return unknownAddress();
  ConstantRange amount = number(rhs).zextOrTrunc(32);
  // `a + (b - a)` is in another object; a GEP may not do that, integers may.
  if (amount.isFullSet())
    return unknownAddress();
  uint64_t most = amount.getUnsignedMax().getZExtValue();
  ConstantRange zero(APInt(32, 0));
  ConstantRange upTo =
      ConstantRange::getNonEmpty(APInt(32, 0), APInt(32, most) + 1);
  switch (op->getOpcode()) {
  case Instruction::Add:
    return moved(left, number(rhs).sextOrTrunc(32));
  case Instruction::Or:
    if (const auto *disjoint = dyn_cast<PossiblyDisjointInst>(op);
        disjoint && disjoint->isDisjoint())
      return moved(left, amount);
    return moved(left, upTo);
  case Instruction::Xor:
    return moved(left, upTo.add(zero.sub(upTo)));
  case Instruction::And: {
    // Rounding down to a multiple of a power of two.
    const APInt *mask = amount.getSingleElement();
    if (mask && mask->isNegatedPowerOf2())
      return moved(left, zero.sub(ConstantRange(APInt(32, 0), -*mask)));
    return {make(Address::number)};
  }
  default:
    return unknownAddress();
  }
}

SmallVector<const Value *, 2> AddressAnalysis::starts(const PHINode *phi) {
  const Loop *loop = getLoops().loops.getLoopFor(phi->getParent());
  SmallVector<const Value *, 2> values;
  for (unsigned i = 0, e = phi->getNumIncomingValues(); i != e; ++i)
    if (!loop->contains(phi->getIncomingBlock(i)))
      values.push_back(phi->getIncomingValue(i));
  return values;
}

std::optional<ConstantRange> AddressAnalysis::travel(const PHINode *phi) {
  Loops &info = getLoops();
  Loop *loop = info.loops.getLoopFor(phi->getParent());
  if (!loop || loop->getHeader() != phi->getParent() ||
      !info.evolution.isSCEVable(phi->getType()))
    return std::nullopt;
  const auto *evolution = dyn_cast<SCEVAddRecExpr>(
      info.evolution.getSCEV(const_cast<PHINode *>(phi)));
  if (!evolution || evolution->getLoop() != loop || !evolution->isAffine())
    return std::nullopt;
  const auto *step =
      dyn_cast<SCEVConstant>(evolution->getStepRecurrence(info.evolution));
  const auto *times = dyn_cast<SCEVConstant>(
      info.evolution.getConstantMaxBackedgeTakenCount(loop));
  if (!step || !times || times->getAPInt().getActiveBits() > 31 ||
      step->getAPInt().getSignificantBits() > 31)
    return std::nullopt;
  int64_t distance = step->getAPInt().getSExtValue() *
                     int64_t(times->getAPInt().getZExtValue());
  if (distance > INT32_MAX || distance < -INT32_MAX)
    return std::nullopt;
  unsigned width =
      phi->getType()->isIntegerTy() ? phi->getType()->getIntegerBitWidth() : 32;
  if (width < 32 || width > 64)
    return std::nullopt;
  APInt low(width, std::min<int64_t>(distance, 0), /*isSigned=*/true);
  APInt high(width, std::max<int64_t>(distance, 0), /*isSigned=*/true);
  return ConstantRange::getNonEmpty(low, high + 1);
}

Addresses AddressAnalysis::visitPhi(const PHINode *phi) {
  if (!pendingPhis.insert(phi).second)
    return {make(Address::pendingPhi, phi)};
  llvm::scope_exit leave([&] { pendingPhis.erase(phi); });

  if (std::optional<ConstantRange> distance = travel(phi))
    return moved(unionOf(starts(phi)), distance->sextOrTrunc(32));

  SmallVector<const Value *, 4> incoming(phi->incoming_values());
  Addresses all = unionOf(incoming), result;
  bool moves = false;
  for (const Address &address : all) {
    if (address.base != Address::pendingPhi || address.object != phi) {
      result.push_back(address);
      continue;
    }
    // Around the loop and back: unmoved adds nothing, moved may get anywhere.
    const APInt *by = address.offset.getSingleElement();
    moves |= !by || !by->isZero();
  }
  if (moves)
    for (Address &address : result)
      address.offset = ConstantRange::getFull(32);
  return result;
}
