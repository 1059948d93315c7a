//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Dialect/LDS/IR/LDSLayout.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

#include <map>
#include <tuple>

using namespace mlir;
using namespace lodestone::lds;

SmallVector<RegionOp> lodestone::lds::getRegions(Block &entry) {
  return llvm::to_vector(entry.getOps<RegionOp>());
}

Operation *lodestone::lds::getKernel(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent;
       parent = parent->getParentOp())
    if (isa<gpu::GPUFuncOp, gpu::LaunchOp, LLVM::LLVMFuncOp>(parent))
      return parent;
  return nullptr;
}

std::string lodestone::lds::describeKernel(Operation *kernel) {
  auto symbol = dyn_cast_or_null<SymbolOpInterface>(kernel);
  return symbol ? ("kernel '" + symbol.getName() + "'").str() : "kernel";
}

//===----------------------------------------------------------------------===//
// What holds between the regions of a kernel
//===----------------------------------------------------------------------===//

namespace {
/// The regions of a kernel by name, and the pairs that may share bytes.
class Names {
public:
  /// Fails, with an error, if a name is declared twice or unknown.
  LogicalResult read(ArrayRef<RegionOp> regions);

  /// True if one of `a` and `b` overlays the other.
  bool mayShare(unsigned a, unsigned b) const {
    return pairs.contains({std::min(a, b), std::max(a, b)});
  }

  /// The position of the region `name`. Precondition: `read` succeeded and
  /// `name` is from an `overlays`.
  unsigned lookup(Attribute name) const { return byName.lookup(name); }

private:
  llvm::DenseMap<Attribute, unsigned> byName;
  llvm::DenseSet<std::pair<unsigned, unsigned>> pairs;
};

/// A region with bytes, and its position in program order.
struct Interval {
  unsigned index;
  uint64_t begin;
  uint64_t end;
};
} // namespace

/// The bytes of `op`, as far as known, for messages.
static std::string describeBytes(RegionOp op) {
  std::string text = std::to_string(op.getByteSize().value_or(0)) + " bytes";
  if (IntegerAttr offset = op.getOffsetAttr())
    text += " at offset " + std::to_string(offset.getInt());
  return text;
}

static std::string describeBytes(const Interval &interval) {
  return "bytes [" + std::to_string(interval.begin) + ", " +
         std::to_string(interval.end) + ")";
}

LogicalResult Names::read(ArrayRef<RegionOp> regions) {
  for (auto [index, region] : llvm::enumerate(regions)) {
    RegionOp op = region;
    StringAttr name = op.getRegionNameAttr();
    if (!name)
      continue;
    auto [it, isNew] = byName.try_emplace(name, index);
    if (isNew)
      continue;
    RegionOp first = regions[it->second];
    InFlightDiagnostic diag = op.emitOpError();
    diag << "'@" << name.getValue() << "' (" << describeBytes(op)
         << ") has the name of another region (" << describeBytes(first)
         << ") of " << describeKernel(op->getParentOp());
    diag.attachNote(first.getLoc()) << "the other region is here";
    return diag;
  }

  for (auto [index, region] : llvm::enumerate(regions)) {
    RegionOp op = region;
    ArrayAttr overlays = op.getOverlaysAttr();
    for (Attribute name :
         overlays ? overlays.getValue() : ArrayRef<Attribute>()) {
      auto it = byName.find(name);
      if (it != byName.end()) {
        unsigned other = it->second;
        pairs.insert({std::min<unsigned>(index, other),
                      std::max<unsigned>(index, other)});
        continue;
      }
      InFlightDiagnostic diag = op.emitOpError();
      diag << "'@" << op.getRegionName() << "' (" << describeBytes(op)
           << ") overlays '@" << cast<StringAttr>(name).getValue()
           << "', which is no region of " << describeKernel(op->getParentOp());
      return diag;
    }
  }
  return success();
}

/// Checks that intervals with a byte in common are declared overlays. Each pair
/// that is looked at is a declared one, apart from the last: so the time is
/// that of sorting plus the number of declarations.
static LogicalResult checkOverlaps(ArrayRef<RegionOp> regions,
                                   MutableArrayRef<Interval> intervals,
                                   const Names &names) {
  llvm::sort(intervals, [](const Interval &a, const Interval &b) {
    return std::tie(a.begin, a.index) < std::tie(b.begin, b.index);
  });
  // Those that reach beyond the begin of the current one.
  SmallVector<Interval> open;
  for (const Interval &current : intervals) {
    llvm::erase_if(open,
                   [&](const Interval &o) { return o.end <= current.begin; });
    for (const Interval &other : open) {
      if (names.mayShare(current.index, other.index))
        continue;
      bool isLater = current.index > other.index;
      const Interval &later = isLater ? current : other;
      const Interval &earlier = isLater ? other : current;
      RegionOp op = regions[later.index], first = regions[earlier.index];
      InFlightDiagnostic diag = op.emitOpError();
      diag << "'@" << op.getRegionName() << "' (" << describeBytes(later)
           << ") shares " << std::min(current.end, other.end) - current.begin
           << " bytes with '@" << first.getRegionName() << "' ("
           << describeBytes(earlier) << "); add 'overlays @"
           << first.getRegionName()
           << "' if they are never live at the same time";
      diag.attachNote(first.getLoc())
          << "'@" << first.getRegionName() << "' is here";
      return diag;
    }
    open.push_back(current);
  }
  return success();
}

LogicalResult lodestone::lds::verifyLayout(ArrayRef<RegionOp> regions) {
  Names names;
  if (failed(names.read(regions)))
    return failure();
  SmallVector<Interval> intervals;
  for (auto [index, region] : llvm::enumerate(regions)) {
    RegionOp op = region;
    IntegerAttr offset = op.getOffsetAttr();
    std::optional<uint64_t> size = op.getByteSize();
    if (op.getRegionNameAttr() && offset && offset.getInt() >= 0 && size)
      intervals.push_back({static_cast<unsigned>(index),
                           static_cast<uint64_t>(offset.getInt()),
                           offset.getInt() + *size});
  }
  return checkOverlaps(regions, intervals, names);
}

//===----------------------------------------------------------------------===//
// Placement
//===----------------------------------------------------------------------===//

namespace {
/// The bytes that are taken, as disjoint intervals.
class TakenBytes {
public:
  void insert(uint64_t begin, uint64_t end);

  /// The lowest multiple of `align` at which `size` bytes are free.
  uint64_t firstFit(uint64_t size, uint64_t align);

private:
  /// Begin -> end; no two touch.
  std::map<uint64_t, uint64_t> intervals;
  /// The last answer for (size, align). Bytes are never given back, so the next
  /// answer can't be lower; that keeps many equal regions linear.
  llvm::DenseMap<std::pair<uint64_t, uint64_t>, uint64_t> lastFit;
};
} // namespace

void TakenBytes::insert(uint64_t begin, uint64_t end) {
  auto it = intervals.upper_bound(begin);
  if (it != intervals.begin() && std::prev(it)->second >= begin)
    --it;
  while (it != intervals.end() && it->first <= end) {
    begin = std::min(begin, it->first);
    end = std::max(end, it->second);
    it = intervals.erase(it);
  }
  intervals.emplace_hint(it, begin, end);
}

uint64_t TakenBytes::firstFit(uint64_t size, uint64_t align) {
  uint64_t &offset = lastFit[{size, align}];
  auto it = intervals.upper_bound(offset);
  if (it != intervals.begin())
    --it;
  for (; it != intervals.end() && it->first < offset + size; ++it)
    if (it->second > offset)
      offset = llvm::alignTo(it->second, align);
  return offset;
}

/// The offset for an overlay that has none: the first of the regions that it
/// overlays that have their place says where. Fails with an error if none has.
static FailureOr<uint64_t>
placeOverlay(RegionOp op, ArrayRef<RegionOp> regions,
             ArrayRef<std::optional<uint64_t>> offsets, const Names &names) {
  std::optional<uint64_t> lowest;
  for (Attribute name : op.getOverlaysAttr())
    if (std::optional<uint64_t> offset = offsets[names.lookup(name)])
      lowest = std::min(lowest.value_or(*offset), *offset);
  if (lowest)
    return llvm::alignTo(*lowest, op.getAlign());
  RegionOp other = regions[names.lookup(op.getOverlaysAttr()[0])];
  InFlightDiagnostic diag = op.emitOpError();
  diag << "'@" << op.getRegionName() << "' (" << describeBytes(op)
       << ") has no offset, and neither has '@" << other.getRegionName()
       << "' (" << describeBytes(other)
       << "), which it overlays, at this point; give one of them an offset or "
          "change their order";
  diag.attachNote(other.getLoc())
      << "'@" << other.getRegionName() << "' is here";
  return diag;
}

FailureOr<KernelLayout>
lodestone::lds::placeRegions(ArrayRef<RegionOp> regions) {
  Names names;
  if (failed(names.read(regions)))
    return failure();

  // Regions with an offset come first, wherever they stand, so that the others
  // are never put on top of them.
  TakenBytes taken;
  SmallVector<std::optional<uint64_t>> offsets(regions.size());
  for (auto [index, region] : llvm::enumerate(regions)) {
    RegionOp op = region;
    if (!op.getOffset())
      continue;
    offsets[index] = *op.getOffset();
    taken.insert(*op.getOffset(), *op.getOffset() + *op.getByteSize());
  }

  KernelLayout layout;
  SmallVector<Interval> intervals;
  for (auto [index, region] : llvm::enumerate(regions)) {
    RegionOp op = region;
    uint64_t size = *op.getByteSize();
    if (!offsets[index]) {
      bool isOverlay = op.getOverlaysAttr() && !op.getOverlaysAttr().empty();
      FailureOr<uint64_t> offset =
          isOverlay ? placeOverlay(op, regions, offsets, names)
                    : FailureOr<uint64_t>(taken.firstFit(size, op.getAlign()));
      if (failed(offset))
        return failure();
      if (*offset > kMaxRegionEnd || size > kMaxRegionEnd - *offset)
        return op.emitOpError()
               << "'@" << op.getRegionName() << "' of " << size
               << " bytes finds no place below offset " << kMaxRegionEnd;
      offsets[index] = *offset;
      taken.insert(*offset, *offset + size);
    }
    PlacedRegion placed{op, *offsets[index], size};
    layout.bytes = std::max(layout.bytes, placed.end());
    layout.align = std::max<uint64_t>(layout.align, op.getAlign());
    layout.regions.push_back(placed);
    intervals.push_back(
        {static_cast<unsigned>(index), placed.offset, placed.end()});
  }
  if (failed(checkOverlaps(regions, intervals, names)))
    return failure();
  return layout;
}
