//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Rewrites the accesses of swizzled allocations to physical offsets.
///
//===----------------------------------------------------------------------===//

#include "PhysicalOffset.h"

#include "lodestone/Analysis/SwizzledAllocation.h"
#include "lodestone/Dialect/LDS/IR/LDSLayout.h"
#include "lodestone/Transforms/LDSTransforms.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Remarks.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace lodestone;
using namespace lodestone::lds;

static remark::RemarkOpts remarkOpts(StringRef name, Operation *op,
                                     const ApplySwizzlesOptions &options) {
  Operation *kernel = isa<gpu::GPUFuncOp>(op) ? op : getKernel(op);
  auto symbol = dyn_cast_or_null<SymbolOpInterface>(kernel);
  return remark::RemarkOpts::name(name)
      .category(options.category)
      .function(symbol ? symbol.getName() : "");
}

namespace {
/// Rewrites all accesses of one allocation that isn't refused.
class AccessRewriter {
public:
  AccessRewriter(SwizzledAllocation &allocation,
                 const ApplySwizzlesOptions &options)
      : allocation(allocation), options(options) {}

  /// Returns how many accesses became several.
  unsigned run();

private:
  void retypeRoots();
  /// The root `index` as a memref of `element`.
  Value getRoot(unsigned index, Type element);

  /// What one access is rewritten with.
  struct Plan {
    SwizzledView *view;
    Type element;
    uint64_t elementBytes;
    /// Elements of one new access, and of all.
    int64_t pieceElements, elements;
    llvm::MaybeAlign alignment;
  };
  Plan makePlan(const SwizzledAccess &swizzled);

  /// The element of the root at which byte `extra` after the access's first one
  /// is.
  Value getElement(ImplicitLocOpBuilder &builder, const MemRefAccess &access,
                   const Plan &plan, int64_t extra);
  void rewrite(const SwizzledAccess &swizzled);
  Value rewriteVector(ImplicitLocOpBuilder &builder, const MemRefAccess &access,
                      const Plan &plan);
  Value rewriteElement(ImplicitLocOpBuilder &builder,
                       const MemRefAccess &access, const Plan &plan);

  SwizzledAllocation &allocation;
  const ApplySwizzlesOptions &options;
  TrailingZeros zeros;
  llvm::DenseMap<std::pair<unsigned, Type>, Value> rootsAs;
  /// Loads that are replaced may be in the offsets of views.
  IRMapping replaced;
  unsigned numSplit = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Allocations
//===----------------------------------------------------------------------===//

void AccessRewriter::retypeRoots() {
  MemRefType type = allocation.type;
  uint64_t bytes = allocation.swizzle.getImageBytes(*getMemRefBytes(type));
  int64_t elements = bytes / *getElementBytes(type.getElementType());
  auto flat =
      MemRefType::get({elements}, type.getElementType(),
                      MemRefLayoutAttrInterface(), type.getMemorySpace());
  if (auto global = dyn_cast<memref::GlobalOp>(allocation.op))
    global.setType(flat);
  for (Value root : allocation.roots)
    root.setType(flat);
}

Value AccessRewriter::getRoot(unsigned index, Type element) {
  Value root = allocation.roots[index];
  auto type = cast<MemRefType>(root.getType());
  if (type.getElementType() == element)
    return root;
  Value &view = rootsAs[{index, element}];
  if (view)
    return view;
  // Elements change by memref.view alone, which is of bytes.
  OpBuilder builder(root.getContext());
  builder.setInsertionPointAfterValue(root);
  int64_t elements = type.getNumElements() / *getElementBytes(element);
  Value zero = arith::ConstantIndexOp::create(builder, root.getLoc(), 0);
  view = memref::ViewOp::create(builder, root.getLoc(),
                                MemRefType::get({elements}, element,
                                                MemRefLayoutAttrInterface(),
                                                type.getMemorySpace()),
                                root, zero, ValueRange());
  return view;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

AccessRewriter::Plan AccessRewriter::makePlan(const SwizzledAccess &swizzled) {
  Plan plan;
  plan.view = &allocation.views[swizzled.view];
  auto memref = cast<MemRefType>(plan.view->memref.getType());
  plan.element = memref.getElementType();
  plan.elementBytes = *getElementBytes(plan.element);
  plan.elements = 1;
  if (swizzled.access.type != plan.element)
    plan.elements = cast<VectorType>(swizzled.access.type).getNumElements();

  // What stays together: aligned blocks of this many bytes.
  uint64_t block = std::min(allocation.swizzle.getGranule(),
                            uint64_t(1) << std::min(swizzled.offsetZeros, 32u));
  uint64_t elements = plan.elements;
  plan.pieceElements = elements;
  uint64_t pieceAlign = block;
  if (elements * plan.elementBytes > block) {
    plan.pieceElements =
        std::min(block / plan.elementBytes, elements & -elements);
    pieceAlign = plan.pieceElements * plan.elementBytes;
  }

  // What is known of the address: from the allocation, or from the access,
  // which then says it of the allocation, as its offset is aligned, too.
  uint64_t base = allocation.getAlignment();
  if (uint64_t stated = swizzled.access.alignment.value_or(1); stated <= block)
    base = std::max(base, stated);
  uint64_t alignment =
      std::min({base, pieceAlign,
                llvm::PowerOf2Ceil(plan.pieceElements * plan.elementBytes)});
  if (alignment > 1 && isa<VectorType>(swizzled.access.type))
    plan.alignment = llvm::Align(alignment);
  return plan;
}

Value AccessRewriter::getElement(ImplicitLocOpBuilder &builder,
                                 const MemRefAccess &access, const Plan &plan,
                                 int64_t extra) {
  PhysicalOffset offset(builder, allocation.swizzle, zeros);
  auto add = [&](OpFoldResult term, int64_t bytes) {
    if (auto value = dyn_cast<Value>(term))
      term = replaced.lookupOrDefault(value);
    offset.add(term, bytes);
  };
  for (const ByteTerm &term : plan.view->offset)
    add(term.value, term.bytes);
  SmallVector<Value> indices = access.getIndices(builder);
  for (auto [index, stride] : llvm::zip(indices, plan.view->strides))
    add(index, stride);
  add(builder.getIndexAttr(extra), 1);
  return offset.emit(plan.elementBytes);
}

Value AccessRewriter::rewriteElement(ImplicitLocOpBuilder &builder,
                                     const MemRefAccess &access,
                                     const Plan &plan) {
  Value root = getRoot(plan.view->root, plan.element);
  Value index = getElement(builder, access, plan, 0);
  if (auto atomic = dyn_cast<memref::AtomicRMWOp>(access.op))
    return memref::AtomicRMWOp::create(builder, atomic.getKind(), access.stored,
                                       root, index);
  if (!access.stored)
    return memref::LoadOp::create(builder, root, index, access.nontemporal);
  memref::StoreOp::create(builder, access.stored, root, index,
                          access.nontemporal);
  return nullptr;
}

Value AccessRewriter::rewriteVector(ImplicitLocOpBuilder &builder,
                                    const MemRefAccess &access,
                                    const Plan &plan) {
  auto type = VectorType::get({plan.elements}, plan.element);
  auto pieceType = VectorType::get({plan.pieceElements}, plan.element);
  bool isSplit = plan.pieceElements != plan.elements;
  if (isSplit) {
    ++numSplit;
    remark::analysis(access.op->getLoc(),
                     remarkOpts("swizzle-splits-access", access.op, options))
        << remark::reason("{0} bytes become accesses of {1}",
                          plan.elements * plan.elementBytes,
                          plan.pieceElements * plan.elementBytes);
  }
  auto part = [&](Value vector, int64_t first) -> Value {
    if (!vector || !isSplit)
      return vector;
    return vector::ExtractStridedSliceOp::create(
        builder, vector, ArrayRef<int64_t>{first},
        ArrayRef<int64_t>{plan.pieceElements}, ArrayRef<int64_t>{1});
  };
  Value stored = access.stored;
  if (stored && stored.getType() != type)
    stored = vector::ShapeCastOp::create(builder, type, stored);
  Value result;
  for (int64_t first = 0; first < plan.elements; first += plan.pieceElements) {
    Value root = getRoot(plan.view->root, plan.element);
    Value index = getElement(builder, access, plan, first * plan.elementBytes);
    Value mask = part(access.mask, first);
    Value piece;
    if (isa<amdgpu::TransposeLoadOp>(access.op))
      piece = amdgpu::TransposeLoadOp::create(builder, pieceType, root, index);
    else if (stored && mask)
      vector::MaskedStoreOp::create(builder, root, index, mask,
                                    part(stored, first), plan.alignment);
    else if (stored)
      vector::StoreOp::create(builder, part(stored, first), root, index,
                              access.nontemporal, plan.alignment);
    else if (mask)
      piece = vector::MaskedLoadOp::create(builder, pieceType, root, index,
                                           mask, part(access.passThru, first),
                                           plan.alignment);
    else
      piece = vector::LoadOp::create(builder, pieceType, root, index,
                                     access.nontemporal, plan.alignment);
    if (!piece || !isSplit) {
      result = piece;
      continue;
    }
    if (!result)
      result = arith::ConstantOp::create(builder, builder.getZeroAttr(type));
    result = vector::InsertStridedSliceOp::create(
        builder, piece, result, ArrayRef<int64_t>{first}, ArrayRef<int64_t>{1});
  }
  if (result && result.getType() != access.type)
    result = vector::ShapeCastOp::create(builder, access.type, result);
  return result;
}

void AccessRewriter::rewrite(const SwizzledAccess &swizzled) {
  Operation *op = swizzled.access.op;
  // Again: what it stores may have been loaded by one that is rewritten.
  MemRefAccess access = *MemRefAccess::get(op);
  Plan plan = makePlan(swizzled);
  ImplicitLocOpBuilder builder(op->getLoc(), op);
  Value result;
  if (access.type == plan.element)
    result = rewriteElement(builder, access, plan);
  else
    result = rewriteVector(builder, access, plan);
  if (op->getNumResults() == 1 && result) {
    replaced.map(op->getResult(0), result);
    op->getResult(0).replaceAllUsesWith(result);
  }
}

unsigned AccessRewriter::run() {
  retypeRoots();
  for (const SwizzledAccess &access : allocation.accesses)
    rewrite(access);
  for (const SwizzledAccess &access : allocation.accesses)
    access.access.op->erase();
  for (SwizzledView &view : llvm::reverse(allocation.views)) {
    Value root = allocation.roots[view.root];
    if (view.memref == root)
      continue;
    // Only deallocation is left.
    view.memref.replaceAllUsesWith(root);
    view.memref.getDefiningOp()->erase();
  }
  allocation.dropSwizzle();
  return numSplit;
}

//===----------------------------------------------------------------------===//
// Driver
//===----------------------------------------------------------------------===//

/// Reports a refusal. Fails if it is an error.
static LogicalResult report(SwizzledAllocation &allocation,
                            const ApplySwizzlesOptions &options) {
  const SwizzleRefusal &refusal = *allocation.refusal;
  std::string text;
  llvm::raw_string_ostream(text)
      << "swizzle " << allocation.swizzle << " of " << allocation.describe()
      << " is not applied: " << refusal.reason;
  remark::missed(refusal.op->getLoc(),
                 remarkOpts(refusal.name, refusal.op, options))
      << remark::reason("{0}", text);
  if (options.dropRefused) {
    allocation.dropSwizzle();
    remark::missed(allocation.op->getLoc(),
                   remarkOpts("swizzle-dropped", allocation.op, options))
        << remark::reason("{0} is left without a swizzle",
                          allocation.describe());
  }
  if (!options.strict)
    return success();
  InFlightDiagnostic diag = refusal.op->emitError() << text;
  if (refusal.op != allocation.op)
    diag.attachNote(allocation.op->getLoc()) << "the allocation is here";
  return failure();
}

FailureOr<ApplySwizzlesCounts>
lodestone::applySwizzles(Operation *root, const ApplySwizzlesOptions &options) {
  auto allocations = collectSwizzledAllocations(root);
  if (failed(allocations))
    return failure();
  ApplySwizzlesCounts counts;
  LogicalResult result = success();
  for (SwizzledAllocation &allocation : *allocations) {
    if (!allocation.swizzle.getCanonical()) {
      allocation.dropSwizzle();
      continue;
    }
    // One after the other: a rewrite moves what the next one's views refer to.
    allocation.follow();
    if (allocation.refusal) {
      ++counts.refused;
      if (failed(report(allocation, options)))
        result = failure();
      continue;
    }
    ++counts.applied;
    std::string swizzle;
    llvm::raw_string_ostream(swizzle) << allocation.swizzle;
    size_t accesses = allocation.accesses.size();
    unsigned split = AccessRewriter(allocation, options).run();
    counts.split += split;
    remark::passed(allocation.op->getLoc(),
                   remarkOpts("swizzle-applied", allocation.op, options))
        << (swizzle + " of " + allocation.describe())
        << remark::metric("Accesses", accesses)
        << remark::metric("Split", split);
  }
  if (failed(result))
    return failure();
  return counts;
}
