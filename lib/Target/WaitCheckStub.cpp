

#include "lodestone/Target/WaitCheck.h"

// TEMPORARY: replaced by the checker when its branch is merged.
__attribute__((weak)) llvm::MachineFunctionPass *
lodestone::createWaitCheckPass(WaitCheckReport &) {
  return nullptr;
}
__attribute__((weak)) std::string lodestone::WaitFinding::message() const {
  return {};
}
__attribute__((weak)) bool
lodestone::WaitCheckReport::hasBoundedFindings() const {
  return false;
}
