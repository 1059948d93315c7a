//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Keeps LLVM from moving loads over barriers. Private to lib/Target.
///
/// LLVM 22's machine-sink moves a load into a later block where that is the
/// only one that needs the value, unless something on the way may store. A
/// barrier counts as nothing of the kind, nor do the fences around it (LLVM's
/// issue 181708): a load in front of the barrier and a use in a branch behind
/// it become a load behind the barrier, when other waves may have overwritten
/// what it reads. No other pass does so: barriers have side effects that aren't
/// modelled, at which the passes on IR and the schedulers stop.
///
/// So each barrier gets an empty instruction in front of it that claims to
/// store. It is there for machine-sink only.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_LIB_TARGET_BARRIERGUARD_H
#define LODESTONE_LIB_TARGET_BARRIERGUARD_H

namespace llvm {
class TargetPassConfig;
} // namespace llvm

namespace lodestone {

/// Has machine-sink run with a guard at each barrier.
void addBarrierGuards(llvm::TargetPassConfig &config);

} // namespace lodestone

#endif // LODESTONE_LIB_TARGET_BARRIERGUARD_H
