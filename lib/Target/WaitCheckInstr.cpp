//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WaitCheckInstr.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/CodeGen/MachineInstr.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetOpcodes.h"

using namespace llvm;
using namespace lodestone;

namespace {

/// What the instructions with a common prefix of their names do.
enum class Kind {
  nothing,
  /// ds_read, ds_write, LDS atomics.
  lds,
  /// As `lds`, at M0 or otherwise without a usable memory operand.
  ldsAnywhere,
  /// Uses LDS hardware and lgkmcnt, touches no LDS memory.
  ldsExchange,
  /// LDS -> memory.
  ldsStore,
  dma,
  foreignDMA,
  vmem,
  flat,
  /// May do anything to LDS.
  opaque
};

struct Rule {
  StringLiteral prefix;
  Kind kind;
};

} // namespace

/// The first prefix that fits decides.
static constexpr Rule kRules[] = {
    {"DS_SWIZZLE", Kind::ldsExchange},
    {"DS_PERMUTE", Kind::ldsExchange},
    {"DS_BPERMUTE", Kind::ldsExchange},
    {"DS_NOP", Kind::nothing},
    {"DS_GWS", Kind::nothing},
    {"DS_READ_ADDTID", Kind::ldsAnywhere},
    {"DS_WRITE_ADDTID", Kind::ldsAnywhere},
    {"DS_APPEND", Kind::ldsAnywhere},
    {"DS_CONSUME", Kind::ldsAnywhere},
    {"DS_ORDERED", Kind::ldsAnywhere},
    {"DS_", Kind::lds},
    // Cache control. LLVM counts some of it in vmcnt; not counting is safe.
    {"BUFFER_INV", Kind::nothing},
    {"BUFFER_WB", Kind::nothing},
    {"BUFFER_GL", Kind::nothing},
    {"GLOBAL_INV", Kind::nothing},
    {"GLOBAL_WB", Kind::nothing},
    {"BUFFER_STORE_LDS_DWORD", Kind::ldsStore},
    {"GLOBAL_LOAD_LDS_", Kind::dma},
    {"SCRATCH_LOAD_LDS_", Kind::dma},
    {"GLOBAL_LOAD_ASYNC_TO_LDS", Kind::foreignDMA},
    {"GLOBAL_STORE_ASYNC_FROM_LDS", Kind::foreignDMA},
    {"CLUSTER_LOAD_ASYNC_TO_LDS", Kind::foreignDMA},
    {"TENSOR_", Kind::foreignDMA},
    // BUFFER_LOAD_..._LDS_... is told apart below.
    {"BUFFER_", Kind::vmem},
    {"TBUFFER_", Kind::vmem},
    {"IMAGE_", Kind::vmem},
    {"GLOBAL_", Kind::vmem},
    {"SCRATCH_", Kind::vmem},
    {"FLAT_", Kind::flat},
    {"S_", Kind::nothing},
    {"V_", Kind::nothing},
};

static Kind kindOf(StringRef name) {
  if (name.starts_with("BUFFER_LOAD_") &&
      (name.contains("_LDS_") || name.ends_with("_LDS")))
    return Kind::dma;
  for (const Rule &rule : kRules)
    if (name.starts_with(rule.prefix))
      return rule.kind;
  return Kind::opaque;
}

/// Fills in what follows from the kind; `name` is an opcode's name or a
/// mnemonic in capitals.
static InstrEffects effectsOf(Kind kind, StringRef name) {
  InstrEffects effects;
  switch (kind) {
  case Kind::nothing:
    break;
  case Kind::lds:
  case Kind::ldsAnywhere:
    effects.accessesLDS = true;
    effects.addressUnknown = kind == Kind::ldsAnywhere;
    effects.countsLgkmcnt = true;
    effects.loadsFromLDS = true;
    break;
  case Kind::ldsExchange:
    effects.countsLgkmcnt = true;
    effects.loadsFromLDS = true;
    break;
  case Kind::dma:
    effects.isDMA = true;
    effects.countsVmcnt = true;
    break;
  case Kind::ldsStore:
    effects.isDMARead = true;
    effects.countsVmcnt = true;
    break;
  case Kind::foreignDMA:
    effects.isForeignDMA = true;
    break;
  case Kind::vmem:
    effects.countsVmcnt = true;
    break;
  case Kind::flat:
    effects.isFlat = true;
    break;
  case Kind::opaque:
    effects.accessesLDS = true;
    effects.addressUnknown = true;
    break;
  }
  if (effects.isDMA || effects.isDMARead) {
    // Lanes lie 4 bytes apart for whatever fits a dword and 16 for the wide
    // forms; dwordx3 leaves the last dword of each 16 alone.
    bool wide = name.contains("DWORDX3") || name.contains("DWORDX4");
    effects.laneStride = wide ? 16 : 4;
    effects.laneBytes = name.contains("DWORDX3") ? 12 : effects.laneStride;
  }
  return effects;
}

/// gfx9: vmcnt in bits 3:0 and 15:14, expcnt in 6:4, lgkmcnt in 11:8.
static void decodeWaitcnt(uint64_t bits, InstrEffects &effects) {
  unsigned vmcnt = (bits & 0xf) | ((bits >> 14 & 3) << 4);
  unsigned lgkmcnt = bits >> 8 & 0xf;
  if (vmcnt <= kMaxVmcntWait)
    effects.vmcntWait = vmcnt;
  if (lgkmcnt <= kMaxLgkmcntWait)
    effects.lgkmcntWait = lgkmcnt;
}

/// `s_waitcnt vmcnt(1) & lgkmcnt(0)` or `s_waitcnt 0xf70`; what can't be read
/// doesn't wait.
static void parseWaitcnt(StringRef operands, InstrEffects &effects) {
  uint64_t bits;
  if (!operands.trim().getAsInteger(0, bits)) {
    decodeWaitcnt(bits, effects);
    return;
  }
  auto count = [&](StringRef counter, unsigned limit) {
    std::optional<unsigned> wait;
    auto [before, after] = operands.split(counter);
    StringRef text = after.ltrim();
    unsigned value;
    if (text.consume_front("(") && !text.ltrim().consumeInteger(0, value) &&
        value <= limit)
      wait = value;
    return wait;
  };
  effects.vmcntWait = count("vmcnt", kMaxVmcntWait);
  effects.lgkmcntWait = count("lgkmcnt", kMaxLgkmcntWait);
}

/// Inline assembly: nobody in LLVM looks inside, so people wait by hand here.
static SmallVector<InstrEffects, 1> classifyAsm(StringRef text) {
  SmallVector<InstrEffects, 1> result;
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (StringRef line : lines) {
    line = line.split(';').first.split("//").first.trim();
    auto [label, rest] = line.split(':');
    // A label, but not the colon of an operand (`quad_perm:[0,1]`).
    if (line.contains(':') && !label.contains(' ') && !label.contains('['))
      line = rest.trim();
    if (line.empty())
      continue;
    auto split = line.find_first_of(" \t");
    std::string name = line.take_front(split).upper();
    StringRef operands = split == StringRef::npos ? "" : line.drop_front(split);
    SmallVector<StringRef> words;
    SplitString(operands, words, " \t,");
    if (StringRef(name).starts_with("BUFFER_LOAD_") &&
        llvm::is_contained(words, "lds"))
      name += "_LDS";
    Kind kind = kindOf(name);
    // Jumps in inline assembly leave the control flow that we see.
    if (StringRef(name).starts_with("S_SETPC") ||
        StringRef(name).starts_with("S_SWAPPC") ||
        StringRef(name).starts_with("S_CALL"))
      kind = Kind::opaque;
    InstrEffects effects = effectsOf(kind, name);
    effects.addressUnknown = effects.touchesLDS() || effects.isDMA;
    // Its registers are not modelled, see staleRegister.
    effects.loadsFromLDS = false;
    if (name == "S_WAITCNT")
      parseWaitcnt(operands, effects);
    result.push_back(effects);
  }
  return result;
}

/// The last explicit operands of buffer forms are offset, cache policy and
/// swizzle; of global and scratch forms offset and cache policy.
static std::optional<uint32_t> readImmediate(const MachineInstr &instr,
                                             StringRef name) {
  unsigned fromEnd = name.starts_with("BUFFER_") ? 3 : 2;
  unsigned count = instr.getNumExplicitOperands();
  if (count < fromEnd)
    return std::nullopt;
  const MachineOperand &operand = instr.getOperand(count - fromEnd);
  if (!operand.isImm())
    return std::nullopt;
  return static_cast<uint32_t>(operand.getImm());
}

SmallVector<InstrEffects, 1> lodestone::classify(const MachineInstr &instr,
                                                 const TargetInstrInfo &info) {
  if (instr.isInlineAsm()) {
    const MachineOperand &text = instr.getOperand(InlineAsm::MIOp_AsmString);
    if (text.isSymbol())
      return classifyAsm(text.getSymbolName());
    return {effectsOf(Kind::opaque, "")};
  }
  if (instr.isMetaInstruction())
    return {};
  StringRef name = info.getName(instr.getOpcode());
  InstrEffects effects;
  if (instr.isCall() || instr.isReturn()) {
    // A tail call is both.
    effects.isCall = instr.isCall();
    effects.isReturn = instr.isReturn() && !name.starts_with("S_ENDPGM");
    return {effects};
  }
  Kind kind = kindOf(name);
  // Generic opcodes (COPY) and pseudos; those that touch memory stay opaque.
  if (kind == Kind::opaque && !instr.mayLoadOrStore())
    kind = Kind::nothing;
  effects = effectsOf(kind, name);
  if (effects.isDMA || effects.isDMARead)
    effects.immediate = readImmediate(instr, name);
  // Writes, and atomics that return nothing, load no register.
  if (effects.loadsFromLDS && instr.getNumExplicitDefs() == 0)
    effects.loadsFromLDS = false;
  // Promoted forms only: a soft wait (`S_WAITCNT_soft`) may still go away.
  if (name == "S_WAITCNT" && instr.getNumOperands() > 0 &&
      instr.getOperand(0).isImm())
    decodeWaitcnt(instr.getOperand(0).getImm(), effects);
  return {effects};
}
