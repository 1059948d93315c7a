//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/SwizzledAllocation.h"
#include "lodestone/Analysis/TrailingZeros.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace lodestone;
using namespace lodestone::lds;

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// The low bits of the access's byte offset that are zero for sure, in an
/// allocation that starts at a multiple of `baseAlignment`.
static unsigned getOffsetZeros(const MemRefAccess &access,
                               const SwizzledView &view, uint64_t baseAlignment,
                               TrailingZeros &zeros) {
  unsigned result = TrailingZeros::kAll;
  auto include = [&](unsigned of, int64_t bytes) {
    if (bytes != 0)
      result =
          std::min<unsigned>(result, of + llvm::countr_zero<uint64_t>(bytes));
  };
  for (const ByteTerm &term : view.offset) {
    if (auto value = dyn_cast<Value>(term.value))
      include(zeros.of(value), term.bytes);
    else if (int64_t constant = *getConstantIntValue(term.value))
      include(llvm::countr_zero<uint64_t>(constant), term.bytes);
  }
  for (auto [dim, stride] : llvm::enumerate(view.strides))
    include(access.map ? zeros.of(access.map.getResult(dim), access.operands,
                                  access.map.getNumDims())
                       : zeros.of(access.operands[dim]),
            stride);
  // Address and base being multiples, their difference is one.
  if (access.alignment && *access.alignment <= baseAlignment)
    result = std::max<unsigned>(result, llvm::Log2_64(*access.alignment));
  return result;
}

/// Why an access through `view` can't be rewritten; empty if it can.
static std::string checkAccess(const MemRefAccess &access,
                               const SwizzledView &view, uint64_t granule,
                               unsigned offsetZeros) {
  auto memref = cast<MemRefType>(view.memref.getType());
  Type element = memref.getElementType();
  uint64_t elementBytes = getElementBytes(element).value_or(0);
  if (elementBytes == 0 || granule % elementBytes != 0)
    return "its element of " + std::to_string(elementBytes) +
           " bytes does not divide the granule of " + std::to_string(granule) +
           " bytes";
  uint64_t aligned = uint64_t(1) << std::min(offsetZeros, 32u);
  if (aligned < elementBytes)
    return "an element of " + std::to_string(elementBytes) +
           " bytes may be at any multiple of " + std::to_string(aligned);
  if (!access.isPlainTransfer())
    return "it is masked, permuted or out of bounds";
  bool isTransposed = isa<amdgpu::TransposeLoadOp>(access.op);
  if (access.type == element && !isTransposed)
    return "";
  auto vector = dyn_cast<VectorType>(access.type);
  if (!vector || vector.isScalable() || vector.getRank() == 0 ||
      vector.getElementType() != element)
    return "it does not move elements of the memref";
  if (llvm::any_of(vector.getShape().drop_back(),
                   [](int64_t size) { return size != 1; }))
    return "it moves a vector of several dimensions";
  if (view.strides.empty() ||
      view.strides.back() != static_cast<int64_t>(elementBytes))
    return "the elements that it moves are not consecutive";
  if (!isTransposed)
    return "";
  uint64_t bytes = elementBytes * vector.getNumElements();
  if (bytes > std::min(granule, aligned))
    return "it moves " + std::to_string(bytes) +
           " bytes of each lane at offsets aligned to " +
           std::to_string(aligned) + ", over a granule of " +
           std::to_string(granule) + " bytes, and can't be split";
  return "";
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// Byte strides of a view whose type has constant ones.
static std::optional<SmallVector<int64_t>> getByteStrides(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  std::optional<uint64_t> element = getElementBytes(type.getElementType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!element || failed(type.getStridesAndOffset(strides, offset)) ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return std::nullopt;
  for (int64_t &stride : strides)
    if (llvm::MulOverflow(stride, static_cast<int64_t>(*element), stride))
      return std::nullopt;
  return strides;
}

/// The view that `op` makes of `parent`: with an empty `reason` if it is none,
/// and nothing at all with a reason if it is one that can't be followed.
static std::optional<SwizzledView>
makeView(Operation *op, const SwizzledView &parent, std::string &reason) {
  if (!isa<memref::SubViewOp, memref::CastOp, memref::CollapseShapeOp,
           memref::ExpandShapeOp, memref::ViewOp, memref::AssumeAlignmentOp,
           memref::ReinterpretCastOp, memref::TransposeOp,
           memref::MemorySpaceCastOp>(op))
    return std::nullopt;

  SwizzledView view = parent;
  view.memref = op->getResult(0);
  if (isa<memref::ReinterpretCastOp, memref::TransposeOp,
          memref::MemorySpaceCastOp>(op) ||
      !isa<MemRefType>(view.memref.getType())) {
    reason = "its layout isn't followed";
    return std::nullopt;
  }
  if (isa<memref::CastOp, memref::AssumeAlignmentOp>(op))
    return view;
  if (auto subview = dyn_cast<memref::SubViewOp>(op)) {
    view.strides.clear();
    llvm::SmallBitVector dropped = subview.getDroppedDims();
    for (auto [dim, stride] : llvm::enumerate(parent.strides)) {
      view.offset.push_back({subview.getMixedOffsets()[dim], stride});
      if (dropped.test(dim))
        continue;
      std::optional<int64_t> step =
          getConstantIntValue(subview.getMixedStrides()[dim]);
      int64_t bytes;
      if (!step || llvm::MulOverflow(*step, stride, bytes)) {
        reason = "the stride of dimension " + std::to_string(dim) +
                 " is no constant";
        return std::nullopt;
      }
      view.strides.push_back(bytes);
    }
    return view;
  }
  std::optional<SmallVector<int64_t>> strides = getByteStrides(view.memref);
  if (!strides) {
    reason = "its strides are no constants";
    return std::nullopt;
  }
  view.strides = *strides;
  if (auto shift = dyn_cast<memref::ViewOp>(op))
    view.offset.push_back({shift.getByteShift(), 1});
  return view;
}

namespace {
/// Follows the uses of an allocation.
class Collector {
public:
  explicit Collector(SwizzledAllocation &allocation) : allocation(allocation) {}

  /// Looks at a use of the view `index`.
  void visit(OpOperand &use, unsigned index);

private:
  void refuse(llvm::StringLiteral name, Operation *op, const Twine &reason) {
    allocation.refusal = SwizzleRefusal{name, op, reason.str()};
  }

  SwizzledAllocation &allocation;
  TrailingZeros zeros;
};
} // namespace

void Collector::visit(OpOperand &use, unsigned index) {
  Operation *op = use.getOwner();
  StringRef opName = op->getName().getStringRef();
  // A copy: making a view may move the list.
  SwizzledView view = allocation.views[index];
  if (isa<memref::DeallocOp>(op))
    return;
  std::string reason;
  if (std::optional<SwizzledView> child = makeView(op, view, reason)) {
    allocation.views.push_back(std::move(*child));
    return;
  }
  if (!reason.empty())
    return refuse("swizzle-unsupported-view", op,
                  "a view of it by " + opName + " is not supported: " + reason);
  std::optional<MemRefAccess> access = MemRefAccess::get(op);
  if (access && access->memref == view.memref &&
      access->stored != view.memref) {
    unsigned offsetZeros =
        getOffsetZeros(*access, view, allocation.getAlignment(), zeros);
    reason = checkAccess(*access, view, allocation.swizzle.getGranule(),
                         offsetZeros);
    if (!reason.empty())
      return refuse("swizzle-unsupported-access", op,
                    "an access by " + opName + " is not supported: " + reason);
    allocation.accesses.push_back({*access, index, offsetZeros});
    return;
  }
  if (isa<amdgpu::GatherToLDSOp, lds::WaveLoadOp>(op))
    return refuse("swizzle-unsupported-access", op,
                  opName + " writes the lanes' bytes one after the other, "
                           "whatever the swizzle");
  refuse("swizzle-escapes", op,
         "its address goes to " + opName +
             ", which may access its bytes without the swizzle");
}

//===----------------------------------------------------------------------===//
// Uses
//===----------------------------------------------------------------------===//

/// The values of a global in LDS; a refusal if there is something that isn't
/// one.
static void findGlobalUses(SwizzledAllocation &allocation) {
  auto global = cast<memref::GlobalOp>(allocation.op);
  auto refuse = [&](Operation *op, const char *reason) {
    allocation.refusal = SwizzleRefusal{"swizzle-escapes", op, reason};
  };
  if (global.getInitialValue() && !global.isUninitialized())
    return refuse(global, "it has an initial value");
  Operation *table = SymbolTable::getNearestSymbolTable(global->getParentOp());
  auto uses = SymbolTable::getSymbolUses(global, table);
  if (!uses)
    return refuse(global, "its uses are not known");
  for (SymbolTable::SymbolUse use : *uses) {
    auto value = dyn_cast<memref::GetGlobalOp>(use.getUser());
    if (!value)
      return refuse(use.getUser(), "something else than memref.get_global "
                                   "refers to it");
    allocation.roots.push_back(value);
  }
}

void SwizzledAllocation::follow() {
  if (isa<memref::GlobalOp>(op))
    findGlobalUses(*this);
  for (auto [index, root] : llvm::enumerate(roots))
    views.push_back(
        {root, static_cast<unsigned>(index), {}, *getByteStrides(root)});
  Collector collector(*this);
  for (unsigned i = 0; i < views.size(); ++i)
    for (OpOperand &use : views[i].memref.getUses()) {
      if (refusal)
        return;
      collector.visit(use, i);
    }
}
