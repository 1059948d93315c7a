
///
/// \file
/// The machine-code wait checker's findings.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_TARGET_WAITCHECK_H
#define LODESTONE_TARGET_WAITCHECK_H

#include <string>

namespace lodestone {

/// An LDS access that may run before an LDS-DMA it depends on is done.
struct WaitFinding {
  std::string function;
};

} // namespace lodestone

#endif // LODESTONE_TARGET_WAITCHECK_H
