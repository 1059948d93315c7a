//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Where an LDS address points: which object, and which bytes of it.
///
/// ## The lattice
///
///     bottom  <  a set of (object, offsets)  <  unknown
///
/// A value of pointer or integer type is described by a small set of elements.
/// An element pairs an LDS object with the range of its offsets from the
/// object's root; an element without an object is a plain number. `unknown` is
/// a value that may hold any LDS address. Joining takes the union; an element's
/// range only grows, and jumps to its bound after a few growths (widening), so
/// a fixed point is reached.
///
/// ## Transfer functions
///
/// | op                                   | result |
/// |--------------------------------------|-------------------------------------|
/// | addressof                            | the object, offset 0 | |
/// getelementptr, add, `or disjoint`    | offsets add up                      |
/// | sub                                  | pointer - number, number - number |
/// | and with a negative constant -2^k    | pointer rounded down | | ptrtoint,
/// inttoptr, addrspacecast,   | the operand                         | |
/// bitcast, readfirstlane, freeze,    |                                     |
/// |   the launder's `inline_asm "=s,0"`  | | | select, block arguments,
/// arguments   | the union over what may flow in     | |   of functions whose
/// calls are known |                                     | | mul, shl, lshr,
/// udiv, ..., min, max  | numbers only: MLIR's range inference| | workitem.id,
/// mbcnt                   | the block size, the wave's lanes    | | anything
/// else                        | unknown if a pointer, else a number | | | of
/// any value; unknown if an operand | |                                      |
/// holds an address                    |
///
/// Addresses are computed modulo 2^32, as LDS addresses are in hardware.
///
/// ## Objects
///
/// Every external `[0 x i8]` global names the same memory: the kernel's dynamic
/// LDS, which starts at one run-time address. They are one root, whatever
/// LLVM's alias analysis makes of their names. A declared extent (see
/// `#lds.extent`) is an object of its own with that root: by contract, nothing
/// computed from its pointer leaves it.
///
/// ## Why this is not a client of MLIR's DataFlowSolver
///
/// The attach pass may cost no more than `cse`. SCCP, the smallest client of
/// the solver, takes nine times as long as `cse` on a function of 10^5
/// LLVM-dialect ops, because the solver visits every op and keeps a state for
/// every value. This analysis walks backwards from the pointers it is asked
/// about and solves on that slice alone.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_ANALYSIS_LDSPROVENANCE_H
#define LODESTONE_ANALYSIS_LDSPROVENANCE_H

#include "lodestone/Analysis/DeviceLayout.h"
#include "lodestone/Analysis/InductionRange.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <deque>
#include <limits>

namespace lodestone {

/// A piece of LDS that pointers are derived from. Objects with different roots
/// never overlap; objects with one root overlap if their bytes do.
struct LDSObject {
  /// The static global, or null for the kernel's dynamic LDS.
  mlir::Operation *root;
  /// The bytes that a pointer derived from this object may reach, [begin, end),
  /// counted from the start of the root. `end` is `kUnbounded` if not known.
  int64_t begin;
  int64_t end;
  /// What to call it: the global's or the region's name.
  llvm::StringRef name;
  /// Alignment in bytes of the root's first byte.
  uint64_t alignment;

  static constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::max();
};

/// The bytes [begin, end) of one root that an access may touch.
struct ByteRange {
  mlir::Operation *root;
  int64_t begin;
  int64_t end;

  bool overlaps(const ByteRange &other) const {
    return root == other.root && begin < other.end && other.begin < end;
  }
  bool operator==(const ByteRange &other) const {
    return root == other.root && begin == other.begin && end == other.end;
  }
};

/// An element of the lattice's set. `object` null means a plain number.
struct ProvenanceElement {
  const LDSObject *object;
  mlir::ConstantIntRanges range;
};

/// One value of the lattice.
class Provenance {
public:
  /// More elements with one object than this are merged into their hull.
  static constexpr unsigned kMaxElements = 16;
  /// With more elements than this a value is unknown.
  static constexpr unsigned kMaxObjects = 256;

  static Provenance unknown() {
    Provenance result;
    result.isTop = true;
    return result;
  }
  static Provenance of(const LDSObject *object,
                       const mlir::ConstantIntRanges &range) {
    Provenance result;
    result.elements.push_back({object, range});
    return result;
  }
  static Provenance number(const mlir::ConstantIntRanges &range) {
    return of(nullptr, range);
  }

  bool isBottom() const { return !isTop && elements.empty(); }
  bool isUnknown() const { return isTop; }
  /// Some element is an address, or everything may be.
  bool mayBeAddress() const;
  llvm::ArrayRef<ProvenanceElement> getElements() const { return elements; }

  /// Joins `other` into this; true if this changed. With `widen`, a range that
  /// grows is taken to its type's full range.
  bool join(const Provenance &other, bool widen = false);

private:
  void insert(const ProvenanceElement &element, bool widen, bool &changed);

  llvm::SmallVector<ProvenanceElement, 1> elements;
  bool isTop = false;
};

/// Solves for the provenance of chosen pointers in a module of the LLVM
/// dialect.
class LDSProvenance {
public:
  /// `module` holds the functions and globals (a gpu.module or a builtin
  /// module); `waveSize` bounds mbcnt.
  /// Reads all of the module once; `visit` is shown each operation of each
  /// function on the way.
  LDSProvenance(
      mlir::Operation *module, unsigned waveSize,
      llvm::function_ref<void(mlir::LLVM::LLVMFuncOp, mlir::Operation *)>
          visit = nullptr);

  /// Computes the provenance of `pointers` and of all that they depend on.
  void solve(llvm::ArrayRef<mlir::Value> pointers);

  /// The solution for `value`, one of the pointers solved for or a value that
  /// they depend on.
  const Provenance &lookup(mlir::Value value) const;

  /// The bytes touched by an access of `size` bytes (unknown if none) at
  /// `offset` from `pointer`; nothing if the pointer is unknown. Clamped to the
  /// object, since what leaves it is undefined. Sorted, without duplicates.
  /// An access that certainly leaves its object has an empty result.
  std::optional<llvm::SmallVector<ByteRange, 1>>
  footprint(mlir::Value pointer, int64_t offset,
            std::optional<int64_t> size) const;

  /// The smallest object with known bounds (a region or a static global) that
  /// holds `bytes`, or null.
  const LDSObject *boundedObjectOf(const ByteRange &bytes) const;

  /// A readable name for `bytes`: that of the smallest object they lie in, with
  /// the bytes if they aren't all of it.
  std::string describe(const ByteRange &bytes) const;

  /// True if outside callers may call `function` with arguments of their own.
  bool mayBeCalledFromOutside(mlir::Operation *function) const;
  /// The calls in the module that may call `function`; if its address is
  /// taken, also those of unknown callees.
  llvm::ArrayRef<mlir::Operation *> callsOf(mlir::Operation *function) const;

  /// The global or function called `name`, or null.
  mlir::Operation *lookupSymbol(llvm::StringRef name) const;

private:
  struct Node {
    mlir::Value value;
    Provenance state;
    unsigned growths = 0;
    /// The nodes that this one flows into; filled only if there are loops.
    llvm::SmallVector<unsigned, 2> users;
  };

  unsigned addNode(mlir::Value value);
  void indexModule(
      llvm::function_ref<void(mlir::LLVM::LLVMFuncOp, mlir::Operation *)>
          visit);

  /// Everything that flows into `value` and that `transfer` looks up.
  void collectInputs(mlir::Value value,
                     llvm::SmallVectorImpl<mlir::Value> &inputs) const;
  Provenance transfer(mlir::Value value) const;
  Provenance transferBlockArgument(mlir::BlockArgument argument) const;
  Provenance transferGEP(mlir::Operation *op) const;
  /// The address that `op` computes, as the start of the region that its
  /// extent declares; unknown if it can't be that.
  Provenance enterRegion(mlir::Operation *op, const Provenance &address) const;
  const LDSObject *objectFor(mlir::Operation *global) const;
  /// The object for `op`'s extent in the root of `base`.
  const LDSObject *objectForExtent(mlir::Operation *op,
                                   const LDSObject *base) const;
  const std::optional<InductionRange> &
  inductionRange(mlir::BlockArgument argument) const;
  /// The largest work-item id plus one in `dimension`, from the block sizes
  /// that the kernels declare.
  uint64_t maxWorkItems(mlir::Operation *op, unsigned dimension) const;

  mlir::Operation *module;
  unsigned waveSize;
  DeviceLayout layout;

  llvm::DenseMap<mlir::Value, unsigned> indexOf;
  std::vector<Node> nodes;

  mutable std::deque<LDSObject> objects;
  mutable llvm::DenseMap<mlir::Operation *, const LDSObject *> objectOf;
  mutable llvm::DenseMap<std::pair<mlir::Attribute, mlir::Operation *>,
                         const LDSObject *>
      extentObjects;
  mutable mlir::DominanceInfo dominance;
  mutable llvm::DenseMap<mlir::Value, std::optional<InductionRange>> inductions;
  llvm::DenseMap<llvm::StringRef, mlir::Operation *> symbols;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Operation *, 2>>
      calls;
  llvm::DenseSet<mlir::Operation *> addressTaken;
};

} // namespace lodestone

#endif // LODESTONE_ANALYSIS_LDSPROVENANCE_H
