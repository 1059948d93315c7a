//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Data flow of what is outstanding in one hardware counter that counts
/// operations which complete in order.
///
/// For each tracked operation the state says how many counted operations were
/// certainly issued after it, the minimum over all paths. While the operation
/// is outstanding so are those, so the counter is above that number; hence a
/// wait for N or less completes it if, and only if, at least N younger ones
/// were issued on every path. Joins take the union and the minimum, so the
/// result holds for loops, branches and irreducible flow alike.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_LIB_TARGET_WAITCHECKFLOW_H
#define LODESTONE_LIB_TARGET_WAITCHECKFLOW_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace llvm {
class MachineBasicBlock;
class MachineFunction;
} // namespace llvm

namespace lodestone {

/// One thing that happens to the counter, in program order.
struct CounterStep {
  /// Index of the tracked operation that is issued here, or -1.
  int issues = -1;
  /// Another counted operation is issued here (or the tracked one counts).
  bool counts = false;
  /// Wait until at most this many are outstanding.
  std::optional<unsigned> wait;
  /// Wait for everything (a call: the callee waits on entry).
  bool completesAll = false;
};

/// What is known of one tracked operation at one place.
struct Outstanding {
  static constexpr uint8_t kNoWait = 0xff;
  bool active = false;
  /// Counted operations issued since, on the path with fewest, up to a limit.
  uint8_t younger = 0;
  /// Tightest wait since then on the path with the weakest one.
  uint8_t tightestWait = kNoWait;
};

using OutstandingState = std::vector<Outstanding>;

class CounterFlow {
public:
  /// `operations` are tracked. Waits above `maxWait` must not be in steps.
  CounterFlow(const llvm::MachineFunction &function, unsigned operations,
              unsigned maxWait);

  /// The steps of `block`, to be filled in before run().
  std::vector<CounterStep> &steps(const llvm::MachineBasicBlock &block);
  /// `operation` is outstanding when the function starts.
  void startWith(unsigned operation);
  void run();

  /// Calls `visit(step index, state before the step)` for each step of each
  /// block that can be reached.
  void replay(
      const llvm::MachineBasicBlock &block,
      llvm::function_ref<void(unsigned, const OutstandingState &)> visit) const;

private:
  void apply(const CounterStep &step, OutstandingState &state) const;
  /// Returns true if `into` changed.
  static bool join(OutstandingState &into, const OutstandingState &from);

  const llvm::MachineFunction &function;
  unsigned maxWait;
  OutstandingState initial;
  /// By block number.
  std::vector<std::vector<CounterStep>> blocks;
  std::vector<std::optional<OutstandingState>> entries;
};

} // namespace lodestone

#endif // LODESTONE_LIB_TARGET_WAITCHECKFLOW_H
