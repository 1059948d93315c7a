

#include "lodestone/Target/Resources.h"
#include "lodestone/Support/Chip.h"

#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MathExtras.h"

using namespace lodestone;
using llvm::msgpack::ArrayDocNode;
using llvm::msgpack::DocNode;
using llvm::msgpack::MapDocNode;

/// The value of `key` in `map` if it has one of the type asked for, else
/// `value` as it was. A code object may come from anywhere, so types are never
/// taken for granted.
static void read(MapDocNode &map, llvm::StringRef key, uint64_t &value) {
  auto it = map.find(key);
  if (it == map.end())
    return;
  if (it->second.getKind() == llvm::msgpack::Type::UInt)
    value = it->second.getUInt();
  else if (it->second.getKind() == llvm::msgpack::Type::Int &&
           it->second.getInt() >= 0)
    value = it->second.getInt();
}
static void read(MapDocNode &map, llvm::StringRef key, unsigned &value) {
  uint64_t wide = value;
  read(map, key, wide);
  value = wide;
}
static void read(MapDocNode &map, llvm::StringRef key, std::string &value) {
  auto it = map.find(key);
  if (it != map.end() && it->second.isString())
    value = it->second.getString().str();
}
static void read(MapDocNode &map, llvm::StringRef key, bool &value) {
  auto it = map.find(key);
  if (it != map.end() && it->second.getKind() == llvm::msgpack::Type::Boolean)
    value = it->second.getBool();
}

static ArrayDocNode *findArray(MapDocNode &map, llvm::StringRef key) {
  auto it = map.find(key);
  return it != map.end() && it->second.isArray() ? &it->second.getArray()
                                                 : nullptr;
}

/// The keys are those of "Code Object V3 and above Metadata" in LLVM's
/// AMDGPUUsage.
static KernelResources readKernel(MapDocNode &map) {
  KernelResources kernel;
  read(map, ".name", kernel.name);
  read(map, ".vgpr_count", kernel.vgprs);
  read(map, ".agpr_count", kernel.agprs);
  read(map, ".sgpr_count", kernel.sgprs);
  read(map, ".vgpr_spill_count", kernel.vgprSpills);
  read(map, ".sgpr_spill_count", kernel.sgprSpills);
  read(map, ".private_segment_fixed_size", kernel.scratchBytes);
  read(map, ".uses_dynamic_stack", kernel.dynamicStack);
  read(map, ".group_segment_fixed_size", kernel.staticLDSBytes);
  read(map, ".max_flat_workgroup_size", kernel.maxWorkgroupSize);
  read(map, ".wavefront_size", kernel.waveSize);
  read(map, ".kernarg_segment_size", kernel.kernargBytes);
  read(map, ".kernarg_segment_align", kernel.kernargAlign);
  if (ArrayDocNode *sizes = findArray(map, ".reqd_workgroup_size"))
    for (size_t i = 0; i < std::min<size_t>(sizes->size(), 3); ++i)
      if ((*sizes)[i].getKind() == llvm::msgpack::Type::UInt)
        kernel.requiredWorkgroupSize[i] = (*sizes)[i].getUInt();
  if (ArrayDocNode *arguments = findArray(map, ".args"))
    for (DocNode &node : *arguments) {
      if (!node.isMap())
        continue;
      KernelArgument argument;
      read(node.getMap(), ".name", argument.name);
      read(node.getMap(), ".value_kind", argument.kind);
      read(node.getMap(), ".offset", argument.offset);
      read(node.getMap(), ".size", argument.size);
      kernel.arguments.push_back(std::move(argument));
    }
  return kernel;
}

static llvm::Error malformed(const llvm::Twine &what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 "not an AMDGPU code object: " + what);
}

llvm::Expected<std::vector<KernelResources>>
lodestone::readKernelResources(llvm::StringRef elf, const ChipInfo *chip) {
  auto file = llvm::object::ELF64LEFile::create(elf);
  if (!file)
    return malformed(llvm::toString(file.takeError()));
  auto sections = file->sections();
  if (!sections)
    return malformed(llvm::toString(sections.takeError()));

  std::vector<KernelResources> kernels;
  bool found = false;
  for (const auto &section : *sections) {
    if (section.sh_type != llvm::ELF::SHT_NOTE)
      continue;
    llvm::Error error = llvm::Error::success();
    for (const auto &note : file->notes(section, error)) {
      if (note.getName() != "AMDGPU" ||
          note.getType() != llvm::ELF::NT_AMDGPU_METADATA)
        continue;
      llvm::msgpack::Document document;
      if (!document.readFromBlob(note.getDescAsStringRef(4), /*Multi=*/false) ||
          !document.getRoot().isMap()) {
        llvm::consumeError(std::move(error));
        return malformed("its metadata note is not a MessagePack map");
      }
      found = true;
      ArrayDocNode *array =
          findArray(document.getRoot().getMap(), "amdhsa.kernels");
      if (!array)
        continue;
      for (DocNode &node : *array)
        if (node.isMap())
          kernels.push_back(readKernel(node.getMap()));
    }
    if (error)
      return malformed(llvm::toString(std::move(error)));
  }
  if (!found)
    return malformed("it has no metadata note");
  if (chip)
    for (KernelResources &kernel : kernels)
      computeOccupancy(kernel, *chip);
  return kernels;
}

void lodestone::computeOccupancy(KernelResources &kernel,
                                 const ChipInfo &chip) {
  unsigned waves = chip.maxWavesPerSIMD;
  const char *limit = "chip";
  auto atMost = [&](uint64_t bound, const char *what) {
    if (bound < waves) {
      waves = bound;
      limit = what;
    }
  };

  uint64_t vgprs = llvm::alignTo(std::max(kernel.vgprs, 1u), chip.vgprGranule);
  atMost(chip.vgprsPerSIMD / vgprs, "registers");
  if (chip.sgprsAtFullOccupancy && kernel.sgprs > chip.sgprsAtFullOccupancy)
    atMost(chip.wavesWithManySGPRs, "registers");

  // Workgroups come whole: LDS and barriers bound how many share a compute
  // unit, whose SIMDs then share their waves. One SIMD may get a wave more.
  uint64_t lanes = kernel.maxWorkgroupSize;
  if (kernel.requiredWorkgroupSize[0])
    lanes = uint64_t(kernel.requiredWorkgroupSize[0]) *
            std::max(kernel.requiredWorkgroupSize[1], 1u) *
            std::max(kernel.requiredWorkgroupSize[2], 1u);
  uint64_t groupWaves =
      std::max<uint64_t>(llvm::divideCeil(lanes, chip.waveSize), 1);
  uint64_t groups =
      uint64_t(chip.maxWavesPerSIMD) * chip.simdsPerCU / groupWaves;
  if (groupWaves > 1)
    groups = std::min<uint64_t>(groups, chip.maxWorkgroupsPerCU);
  auto wavesPerSIMD = [&](uint64_t count) {
    return llvm::divideCeil(count * groupWaves, chip.simdsPerCU);
  };
  atMost(wavesPerSIMD(groups), "workgroup");
  if (uint64_t lds = kernel.staticLDSBytes + kernel.dynamicLDSBytes)
    atMost(wavesPerSIMD(std::min(groups, chip.ldsBytes / lds)), "lds");
  kernel.occupancy = waves;
  kernel.occupancyLimit = limit;
}
