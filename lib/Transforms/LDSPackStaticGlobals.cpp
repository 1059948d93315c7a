//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Puts a kernel's static LDS globals into one, so that the backend keeps the
/// alias scopes on their accesses.
///
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/AliasScopePlan.h"
#include "lodestone/Analysis/DeviceLayout.h"
#include "lodestone/Dialect/LDS/IR/LDSDialect.h"
#include "lodestone/Transforms/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/Support/MathExtras.h"

namespace lodestone {
#define GEN_PASS_DEF_LDSPACKSTATICGLOBALS
#include "lodestone/Transforms/Passes.h.inc"
} // namespace lodestone

using namespace mlir;
using namespace lodestone;

namespace {

constexpr StringLiteral kCategory = "lds-pack-static-globals";

struct LDSPackStaticGlobals final
    : lodestone::impl::LDSPackStaticGlobalsBase<LDSPackStaticGlobals> {
  void runOnOperation() override {
    for (Operation *module : collectDeviceModules(getOperation())) {
      CollectedKernels kernels = collectKernels(module);
      for (KernelPlan &plan : kernels.plans)
        if (plan.hasDMA && plan.staticGlobals.size() > 1)
          pack(module, plan);
    }
  }

private:
  void pack(Operation *module, KernelPlan &plan);
};

/// A global's place in the one that replaces it.
struct Member {
  LLVM::GlobalOp global;
  unsigned order;
  uint64_t alignment;
  uint64_t size;
  uint64_t offset = 0;
  SmallVector<LLVM::AddressOfOp> uses;
};

} // namespace

/// LDS has no initial contents; anything but undef is not to be dropped.
static bool hasContents(LLVM::GlobalOp global) {
  if (global.getValueOrNull())
    return true;
  Block *initializer = global.getInitializerBlock();
  if (!initializer)
    return false;
  auto ret = dyn_cast<LLVM::ReturnOp>(initializer->getTerminator());
  return !ret || ret.getNumOperands() != 1 ||
         !isa_and_nonnull<LLVM::UndefOp, LLVM::PoisonOp>(
             ret.getOperand(0).getDefiningOp());
}

/// The alignment that the backend would give: wide accesses need it, and it
/// raises that of large objects (AMDGPULowerModuleLDS, "super-align").
static uint64_t alignmentOf(LLVM::GlobalOp global, uint64_t size,
                            const DeviceLayout &layout) {
  uint64_t natural = layout.alignmentOf(global.getGlobalType());
  uint64_t super = size > 8 ? 16 : size > 4 ? 8 : size > 2 ? 4 : 2;
  return std::max({natural, super, global.getAlignment().value_or(1)});
}

void LDSPackStaticGlobals::pack(Operation *module, KernelPlan &plan) {
  LLVM::LLVMFuncOp kernel = plan.kernel;
  DeviceLayout layout;
  llvm::DenseMap<Operation *, unsigned> memberOf;
  SmallVector<Member> members;
  auto refuse = [&](Operation *op, StringRef why) {
    ++numRefused;
    remark::missed(op->getLoc(), remark::RemarkOpts::name("not-packed")
                                     .category(kCategory)
                                     .function(kernel.getSymName()))
        << remark::reason("static LDS globals of '{0}' stay apart: {1}",
                          kernel.getSymName().str(), why.str());
  };
  for (Operation *op : plan.staticGlobals) {
    auto global = cast<LLVM::GlobalOp>(op);
    if (hasContents(global))
      return refuse(op, "one has an initial value");
    uint64_t size = layout.sizeOf(global.getGlobalType()).value_or(0);
    unsigned order = members.size();
    memberOf[op] = order;
    members.push_back(
        {global, order, alignmentOf(global, size, layout), size, 0, {}});
  }

  // Every use must be an address taken in the kernel or its helpers.
  llvm::SmallPtrSet<Operation *, 4> own(plan.functions.begin(),
                                        plan.functions.end());
  SymbolTableCollection symbols;
  auto uses = SymbolTable::getSymbolUses(&module->getRegion(0));
  if (!uses)
    return refuse(module, "an unknown operation may refer to them");
  for (const SymbolTable::SymbolUse &use : *uses) {
    Operation *target = symbols.lookupSymbolIn(module, use.getSymbolRef());
    auto it = memberOf.find(target);
    if (!target || it == memberOf.end())
      continue;
    auto address = dyn_cast<LLVM::AddressOfOp>(use.getUser());
    if (!address || !own.contains(address->getParentOfType<LLVM::LLVMFuncOp>()))
      return refuse(use.getUser(), "one is used outside the kernel");
    members[it->second].uses.push_back(address);
  }

  // The strictest alignment first: then only sizes leave gaps.
  llvm::sort(members, [](const Member &a, const Member &b) {
    return std::tuple(b.alignment, a.order) < std::tuple(a.alignment, b.order);
  });
  uint64_t end = 0;
  for (Member &member : members) {
    member.offset = llvm::alignTo(end, member.alignment);
    end = member.offset + member.size;
  }
  if (end > std::numeric_limits<int32_t>::max())
    return refuse(module, "together they exceed 31 bits of address");

  SymbolTable symbolTable(module);
  OpBuilder builder(members.front().global);
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), end);
  auto packed = LLVM::GlobalOp::create(
      builder, kernel.getLoc(), type, /*isConstant=*/false,
      LLVM::Linkage::Internal, ("__lds_" + kernel.getSymName()).str(),
      /*value=*/Attribute(), members.front().alignment, kLDSAddressSpace);
  symbolTable.insert(packed);
  for (Member &member : members) {
    auto extent =
        lds::ExtentAttr::get(&getContext(), member.global.getSymNameAttr(),
                             member.offset, member.size);
    for (LLVM::AddressOfOp use : member.uses) {
      builder.setInsertionPoint(use);
      Value base = LLVM::AddressOfOp::create(builder, use.getLoc(), packed);
      auto address = LLVM::GEPOp::create(
          builder, use.getLoc(), use.getType(), type, base,
          ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(member.offset)},
          LLVM::GEPNoWrapFlags::inbounds);
      address->setAttr(lds::LDSDialect::ExtentAttrHelper::getNameStr(), extent);
      use.replaceAllUsesWith(address.getResult());
      use.erase();
    }
    member.global.erase();
    ++numPacked;
  }
  remark::passed(
      packed.getLoc(),
      remark::RemarkOpts::name("packed").category(kCategory).function(
          kernel.getSymName()))
      << remark::metric("Globals", members.size())
      << remark::metric("Bytes", end);
}
