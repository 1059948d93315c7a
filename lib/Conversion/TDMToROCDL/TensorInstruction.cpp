//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorInstruction.h"
#include "ScalarBuilder.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace lodestone;
using namespace lodestone::tdm;

Value tdm::buildIsActive(const WarpSet &warps, Value warp, Location loc,
                         OpBuilder &builder) {
  if (warps.isAll())
    return {};
  ScalarBuilder scalars(builder, loc);
  uint32_t fixed = (warps.numWarps() - 1) & ~warps.free();
  return scalars.isEqual(scalars.bitAnd(warp, fixed), warps.anchor());
}

TensorInstruction tdm::fuse(ArrayRef<TensorInstruction> members,
                            ArrayRef<WarpSet> warps, Value warp, Location loc,
                            OpBuilder &builder) {
  ScalarBuilder scalars(builder, loc);
  TensorInstruction result = members.back();
  for (auto [member, set] :
       llvm::reverse(llvm::zip_equal(members.drop_back(), warps.drop_back()))) {
    result.needsAllGroups |= member.needsAllGroups;
    Value isActive = buildIsActive(set, warp, loc, builder);
    // Word 0 is zero on the warps of the others.
    result.words[0] = scalars.bitOr(member.words[0], result.words[0]);
    for (unsigned i = 1; i < result.words.size(); ++i)
      result.words[i] =
          scalars.select(isActive, member.words[i], result.words[i]);
  }
  return result;
}

void tdm::create(const TensorInstruction &instruction, Location loc,
                 OpBuilder &builder) {
  auto group = [&](unsigned index) -> Value {
    unsigned begin = kTDMGroupStart[index], end = kTDMGroupStart[index + 1];
    auto type = VectorType::get(end - begin, builder.getI32Type());
    return vector::FromElementsOp::create(
        builder, loc, type,
        ArrayRef<Value>(instruction.words).slice(begin, end - begin));
  };
  // The cache policy is the default one.
  IntegerAttr policy = builder.getI32IntegerAttr(0);
  Value g0 = group(0), g1 = group(1);
  ArrayAttr none;
  if (!instruction.needsAllGroups) {
    if (instruction.isLoad)
      ROCDL::TensorLoadToLDSD2Op::create(builder, loc, g0, g1, policy, none,
                                         none, none);
    else
      ROCDL::TensorStoreFromLDSD2Op::create(builder, loc, g0, g1, policy, none,
                                            none, none);
    return;
  }
  Value g2 = group(2), g3 = group(3);
  if (instruction.isLoad)
    ROCDL::TensorLoadToLDSOp::create(builder, loc, g0, g1, g2, g3, policy, none,
                                     none, none);
  else
    ROCDL::TensorStoreFromLDSOp::create(builder, loc, g0, g1, g2, g3, policy,
                                        none, none, none);
}
