//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The machine-code wait checker: the proof that compiled code waits for every
/// LDS-DMA before it touches the bytes that the DMA writes.
///
/// LLVM's `si-insert-waitcnts` decides which waits a kernel gets, and it
/// believes alias metadata, memory operands that cover one lane of a DMA, and
/// lists that it does not merge at joins. This checker believes none of them.
/// It looks at the machine code after that pass and answers for each LDS
/// access: which LDS-DMAs may be outstanding here on some path, and may one of
/// them still write these bytes? The bytes come from a provenance analysis of
/// its own over the LLVM IR values behind the memory operands; `alias.scope`,
/// `noalias` and TBAA are never read.
///
/// What it rests on: the counters of gfx9 (`vmcnt` counts loads, stores and
/// atomics, which complete in order, FLAT aside), the AMDGPU calling convention
/// (a callee waits for everything on entry; that it does so again before it
/// returns is checked, where the callee is in the module), and that the pointer
/// in a memory operand is the address the instruction uses.
///
/// What it does not do: it follows one wave. That a wave waited for its DMA
/// does not tell another wave so; a missing barrier between the two is found by
/// the simulator (`lodestone.sim`), not here.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_TARGET_WAITCHECK_H
#define LODESTONE_TARGET_WAITCHECK_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class MachineFunctionPass;
class raw_ostream;
namespace json {
class OStream;
} // namespace json
} // namespace llvm

namespace lodestone {

/// What a finding is about.
enum class WaitFindingKind {
  /// An LDS access may run while an LDS-DMA that writes its bytes is
  /// outstanding.
  missingWait,
  /// The program accesses the bytes after the LDS-DMA, the machine code before
  /// it, or the other way round.
  reordered,
  /// A function returns while an LDS-DMA is outstanding; its caller takes it
  /// for done.
  outstandingAtReturn,
  /// A register is used before the LDS read that loads it is known to be done:
  /// LLVM counts `global_load_lds` in lgkmcnt, the hardware doesn't.
  staleRegister
};

/// How sure it is that the access and the DMA touch the same bytes.
enum class WaitOverlap {
  /// Each execution of both touches common bytes.
  certain,
  /// Both stay in known byte ranges, and these intersect.
  possible,
  /// Where one of the two goes could not be bounded, or which LDS object it is
  /// in. Code that is right only because somebody promised so ("this pointer
  /// stays in its region") is reported like this.
  unknown
};

/// `missing-wait`, `certain` and so on: the names in text and JSON.
llvm::StringRef toString(WaitFindingKind kind);
llvm::StringRef toString(WaitOverlap overlap);

/// A place in the source, from debug info. `line` is 0 if there is none.
struct SourceLocation {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;
};

/// One machine instruction of a finding.
struct CheckedInstruction {
  /// As MIR, without memory operands: `$vgpr1 = DS_READ_B32_gfx9 ...`.
  std::string text;
  /// The bytes it touches: `@lds + [4096, 5120)`.
  std::string bytes;
  SourceLocation location;
  /// `bb.3`.
  std::string block;
};

/// A place where compiled code may race with an LDS-DMA of its own wave.
struct WaitFinding {
  WaitFindingKind kind = WaitFindingKind::missingWait;
  WaitOverlap overlap = WaitOverlap::unknown;
  /// Of `reordered`: the access comes first in the program.
  bool accessMovedDown = false;
  std::string function;
  /// The access (or the return, or the register's use).
  CheckedInstruction access;
  /// The LDS-DMA (`staleRegister`: the LDS read whose result isn't there).
  /// Empty text: whatever the function's caller may have started.
  CheckedInstruction dma;
  /// How many more LDS-DMAs the same access may race with.
  unsigned otherDMAs = 0;
  /// `vmcnt(neededWait)` (`staleRegister`: lgkmcnt) before the access would do,
  /// for all of those DMAs.
  unsigned neededWait = 0;
  /// The tightest wait executed between the two on the path that has the
  /// weakest one; nothing if that path has none.
  std::optional<unsigned> actualWait;

  /// One line: what may race with what and which wait is missing.
  std::string message() const;
};

/// What a check saw. Empty `findings` mean something only with `complete()`.
struct WaitCheckReport {
  std::vector<WaitFinding> findings;
  /// Functions that use an LDS-DMA the checker doesn't know the counters of
  /// (a chip that isn't gfx9).
  std::vector<std::string> unsupported;
  /// What was looked at.
  unsigned functions = 0;
  unsigned dmas = 0;
  unsigned accesses = 0;
  /// Seconds spent in the checker itself.
  double seconds = 0;

  /// Every LDS-DMA was on a chip that the checker knows.
  bool complete() const { return unsupported.empty(); }
  /// The proof holds: nothing found and nothing left out.
  bool clean() const { return findings.empty() && complete(); }
  /// There is a finding where the overlap isn't `unknown`.
  ///
  /// Which verdict is right for a compiler that put the tags on itself? Fall
  /// back to untagged code unless clean(): untagged code waits for every DMA at
  /// every access, so its own check is clean, and an unknown overlap is a proof
  /// that failed. The one exception is a compiler that holds a promise the
  /// checker can't see (all `lds.region`s of the kernel are declared disjoint
  /// and every pointer stays in its region): it may keep tagged code with
  /// findings of unknown overlap alone, and must say so.
  bool hasBoundedFindings() const;
};

/// A machine pass, to run right after `si-insert-waitcnts`, that adds what it
/// finds to `report`, which must outlive it. It changes nothing. The caller (or
/// the pass manager it is added to) owns it.
llvm::MachineFunctionPass *createWaitCheckPass(WaitCheckReport &report);

/// How to check code that isn't MLIR.
struct WaitCheckOptions {
  /// "gfx950"; if empty the `target-cpu` of the functions.
  std::string chip;
  /// LLVM's optimization level for code generation, 0 to 3.
  unsigned optLevel = 3;
  /// Generate code with GlobalISel.
  bool globalISel = false;
};

/// Where reading or compiling the input failed.
struct CheckError {
  SourceLocation location;
  std::string message;
};

/// Generates machine code for LLVM IR (text or bitcode; `name` is used in
/// messages) up to `si-insert-waitcnts` and checks it. LLVM's optimizer is not
/// run. Returns false with `errors` filled if that is impossible. No input ends
/// the process.
bool checkLLVMIR(llvm::StringRef contents, llvm::StringRef name,
                 const WaitCheckOptions &options, WaitCheckReport &report,
                 std::vector<CheckError> &errors);

/// The same for MIR. Functions with physical registers only are taken to be
/// past `si-insert-waitcnts` (`llc -stop-after=si-insert-waitcnts`, or any
/// later pass); if they are not, that shows as findings. Functions in SSA form
/// are taken to be right after instruction selection
/// (`-stop-after=finalize-isel`) and are compiled from there. What is between
/// the two is refused.
bool checkMIR(llvm::StringRef contents, llvm::StringRef name,
              const WaitCheckOptions &options, WaitCheckReport &report,
              std::vector<CheckError> &errors);

/// Writes `report` as diagnostics, `file:line:col: error: ...` with a note at
/// the DMA, or `function: error: ...` where there is no location.
void printReport(llvm::raw_ostream &os, const WaitCheckReport &report);

/// Writes `report` as one JSON object.
void writeJSON(llvm::json::OStream &json, const WaitCheckReport &report);

} // namespace lodestone

#endif // LODESTONE_TARGET_WAITCHECK_H
