//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The contract of `lds.commit_group`, checked: from the last barrier before a
/// copy until the wait for its group and a barrier behind that, nothing but
/// copies touches the bytes that it writes.
///
/// What is reported is a thread that touches a byte which the copy writes, on a
/// path through the program as branches and loops allow it. Conditions that go
/// together are not told from others: where both a wait or barrier and a copy
/// are under one, or one in a loop that may not run, it is a warning, else an
/// error. The places that threads touch are compared if
///
/// - the size of blocks and of waves is known, and both offsets follow from
///   the thread's number and from values that are the same at both: one that is
///   computed once in the kernel, or, where the copy stands in front of the
///   access in a list of operations, any that both use. A loop around the
///   access alone is in its first iteration;
/// - all threads run both: no condition around them is another one in another
///   thread.
///
/// Pairs that can't be compared are counted, and trusted.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_ANALYSIS_GROUPCONTRACT_H
#define LODESTONE_ANALYSIS_GROUPCONTRACT_H

#include "lodestone/Analysis/AsyncGroups.h"
#include "lodestone/Analysis/ThreadValues.h"

namespace lodestone {

/// How many pairs of a copy and an access that is reached with the copy in
/// flight were compared, and how many could not be.
struct GroupContractCheck {
  unsigned compared = 0;
  unsigned unknown = 0;
};

/// Emits an error, or a warning, at each access that breaks the contract, with
/// a note at the copy, and fails if there is an error. `values` knows the size
/// of waves.
mlir::FailureOr<GroupContractCheck>
checkGroupContract(mlir::FunctionOpInterface kernel, const AsyncGroups &groups,
                   ThreadValues &values);

} // namespace lodestone

#endif // LODESTONE_ANALYSIS_GROUPCONTRACT_H
