//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Which LDS bytes a pointer may address: the wait checker's own provenance
/// analysis over LLVM IR. It reads no alias metadata and asks no alias
/// analysis.
///
/// The result for a pointer is a set of alternatives, each an LDS object and a
/// range of byte offsets into it. All external zero-size LDS globals are one
/// object, dynamic LDS, since the backend gives them the same address.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_LIB_TARGET_WAITCHECKADDRESS_H
#define LODESTONE_LIB_TARGET_WAITCHECKADDRESS_H

#include "lodestone/Target/WaitCheck.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/ConstantRange.h"

#include <memory>
#include <optional>
#include <string>

namespace llvm {
class CallBase;
class Function;
class GEPOperator;
class Operator;
class PHINode;
class Value;
} // namespace llvm

namespace lodestone {

/// One place that a value may point to, or a plain number.
struct Address {
  enum Base {
    /// Anything.
    unknown,
    /// Not a pointer: `offset` is the value (modulo 2^32).
    number,
    /// Certainly not in LDS.
    elsewhere,
    /// `offset` from the start of the kernel's dynamic LDS.
    dynamicLDS,
    /// `offset` from the start of `object`, a static LDS variable.
    staticLDS,
    /// `offset` from `object`, a function argument: the same during a call.
    argument,
    /// The phi `object` itself, while it is being looked at.
    pendingPhi
  };
  Base base = unknown;
  const llvm::Value *object = nullptr;
  llvm::ConstantRange offset = llvm::ConstantRange::getFull(32);
};

using Addresses = llvm::SmallVector<Address, 2>;

/// What an access touches: `size` bytes from each of the addresses.
struct Footprint {
  struct Piece {
    Address address;
    uint64_t size = 0;
  };
  llvm::SmallVector<Piece, 2> pieces;

  static Footprint anywhere();
  /// `@name + [0, 1024)`, joined by `or`.
  std::string str() const;
};

/// Nothing if the two can have no byte in common. A range that reaches over
/// more than `ldsBytes` counts as not bounded.
std::optional<WaitOverlap> overlap(const Footprint &lhs, const Footprint &rhs,
                                   uint64_t ldsBytes);

/// The operand that `call` returns as it is (readfirstlane, an empty inline asm
/// that hides a value from the optimizer), or null.
const llvm::Value *passedThrough(const llvm::CallBase *call);

/// Answers for the values of one function. Values must not change meanwhile.
class AddressAnalysis {
public:
  explicit AddressAnalysis(const llvm::Function &function);
  ~AddressAnalysis();

  /// Where `value`, a pointer (to LDS or flat) or an integer, may point to.
  Addresses evaluate(const llvm::Value *value);

private:
  struct Loops;
  static constexpr unsigned kMaxDepth = 200;

  /// Where `value` may point; integers included, since addresses pass through
  /// them.
  Addresses compute(const llvm::Value *value);
  Addresses visit(const llvm::Value *value);
  Addresses visitOperator(const llvm::Operator *op);
  Addresses visitPhi(const llvm::PHINode *phi);
  Addresses visitGEP(const llvm::GEPOperator *gep);
  Addresses visitBinary(const llvm::Operator *op);
  Addresses unionOf(llvm::ArrayRef<const llvm::Value *> values);
  /// Where a pure integer lies, in its own width.
  llvm::ConstantRange number(const llvm::Value *value);
  llvm::ConstantRange visitNumber(const llvm::Value *value);
  llvm::ConstantRange visitNumberCall(const llvm::CallBase *call);
  /// If `phi` starts at a value from outside its loop and moves by a constant
  /// for a bounded number of times: the distances it may have moved.
  std::optional<llvm::ConstantRange> travel(const llvm::PHINode *phi);
  /// The values that `phi` has on entry to its loop.
  llvm::SmallVector<const llvm::Value *, 2> starts(const llvm::PHINode *phi);
  Loops &getLoops();

  const llvm::Function &function;
  std::unique_ptr<Loops> loops;
  llvm::DenseMap<const llvm::Value *, Addresses> cache;
  llvm::DenseMap<const llvm::Value *, llvm::ConstantRange> numbers;
  llvm::SmallPtrSet<const llvm::Value *, 8> pendingPhis;
  llvm::SmallPtrSet<const llvm::Value *, 8> pendingNumbers;
  /// Work left for the current query, and how deep it is: they bound what odd
  /// IR can cost. What is out of bounds is unknown.
  unsigned budget = 0;
  unsigned depth = 0;
};

} // namespace lodestone

#endif // LODESTONE_LIB_TARGET_WAITCHECKADDRESS_H
