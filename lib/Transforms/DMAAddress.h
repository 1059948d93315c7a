//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Where the lanes of an LDS-DMA read and write, and which DMAs can share an
/// address.
///
/// The instruction has an offset, which the hardware adds both to the address
/// in memory and to the one in LDS. A DMA whose lanes are all the same distance
/// ahead of those of an earlier DMA, on both sides, can take the other's
/// addresses and the distance as its offset. That is the same address if
///
/// - both read the same memref and write the same one,
/// - both are in one block, so that whoever runs the second has run the first:
///   its places are then inside of the memrefs, and the sums known to be what
///   the second one's places are, however the arithmetic on them wraps, and
/// - where lanes bring zeros instead, they do so in both.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_LIB_TRANSFORMS_DMAADDRESS_H
#define LODESTONE_LIB_TRANSFORMS_DMAADDRESS_H

#include "lodestone/Analysis/DirectCopy.h"

namespace lodestone {

/// Bytes from the start of the source, and of the target, to what each lane
/// reads, and writes.
struct DMAAddress {
  ThreadForm source;
  ThreadForm target;

  /// Those of the `part`-th of the `perCell` DMAs that `copy` is made of;
  /// nothing if they aren't known.
  static std::optional<DMAAddress> get(const DirectCopy &copy, unsigned perCell,
                                       unsigned part, ThreadValues &values);

  /// The bytes from `other` to this, if they are the same on both sides and in
  /// all lanes: modulo 2^64 at the source if its width says so, else 2^32.
  std::optional<int64_t> getDistanceFrom(const DMAAddress &other,
                                         unsigned numThreads) const;
};

} // namespace lodestone

#endif // LODESTONE_LIB_TRANSFORMS_DMAADDRESS_H
