
///
/// \file
/// What a kernel takes of the chip, read from its code object's metadata.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_TARGET_RESOURCES_H
#define LODESTONE_TARGET_RESOURCES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lodestone {

struct ChipInfo;

/// One argument in the kernel's argument buffer (kernarg segment).
struct KernelArgument {
  /// Empty if the compiler kept no name.
  std::string name;
  /// As the code object says: `by_value`, `global_buffer`, `hidden_...`.
  std::string kind;
  uint64_t offset = 0; // bytes
  uint64_t size = 0;   // bytes
};

struct KernelResources {
  std::string name;
  /// Vector registers that a lane takes in all (on gfx90a and later the
  /// accumulation registers are part of them), and of those the accumulation
  /// registers.
  unsigned vgprs = 0;
  unsigned agprs = 0;
  /// Scalar registers of a wave, VCC and the like included.
  unsigned sgprs = 0;
  unsigned vgprSpills = 0;
  unsigned sgprSpills = 0;
  /// Bytes of scratch memory a lane needs; more if `dynamicStack`.
  uint64_t scratchBytes = 0;
  bool dynamicStack = false;
  /// LDS bytes that the code object declares, and those that a launch must add
  /// (`lds.dynamic_size`).
  uint64_t staticLDSBytes = 0;
  uint64_t dynamicLDSBytes = 0;
  unsigned maxWorkgroupSize = 0; // lanes (work-items)
  /// All zero if the kernel doesn't demand a size.
  unsigned requiredWorkgroupSize[3] = {0, 0, 0};
  unsigned waveSize = 0;
  uint64_t kernargBytes = 0;
  uint64_t kernargAlign = 0;
  std::vector<KernelArgument> arguments;
  /// Waves that a SIMD can hold at once, limited by registers, LDS and the
  /// size of the workgroup; 0 if the kernel cannot be launched at all.
  unsigned occupancy = 0;
  /// What limits it: "registers", "lds", "workgroup" or "chip".
  std::string occupancyLimit;
};

/// The kernels in a code object (a relocatable or linked AMDGPU ELF), in its
/// order. Occupancy is computed from `chip` if that isn't null.
llvm::Expected<std::vector<KernelResources>>
readKernelResources(llvm::StringRef elf, const ChipInfo *chip);

/// Sets `occupancy` and `occupancyLimit` from the other fields.
void computeOccupancy(KernelResources &kernel, const ChipInfo &chip);

} // namespace lodestone

#endif // LODESTONE_TARGET_RESOURCES_H
