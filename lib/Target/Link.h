
///
/// \file
/// From an object file to what a runtime loads. Private to lib/Target.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_LIB_TARGET_LINK_H
#define LODESTONE_LIB_TARGET_LINK_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace lodestone {

/// Links a relocatable object with `linker`, an ld.lld.
llvm::Expected<std::string> linkCodeObject(llvm::StringRef object,
                                           llvm::StringRef linker);

/// A HIP fat binary with `codeObject` for `target`, as "gfx950" or
/// "gfx950:xnack+".
std::string bundleCodeObject(llvm::StringRef codeObject,
                             llvm::StringRef target);

} // namespace lodestone

#endif // LODESTONE_LIB_TARGET_LINK_H
