//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The wait checker's findings as text and JSON.
///
//===----------------------------------------------------------------------===//

#include "lodestone/Target/WaitCheck.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace lodestone;

StringRef lodestone::toString(WaitFindingKind kind) {
  switch (kind) {
  case WaitFindingKind::missingWait:
    return "missing-wait";
  case WaitFindingKind::reordered:
    return "reordered";
  case WaitFindingKind::outstandingAtReturn:
    return "outstanding-at-return";
  case WaitFindingKind::staleRegister:
    return "stale-register";
  }
  llvm_unreachable("not a finding's kind");
}

StringRef lodestone::toString(WaitOverlap overlap) {
  switch (overlap) {
  case WaitOverlap::certain:
    return "certain";
  case WaitOverlap::possible:
    return "possible";
  case WaitOverlap::unknown:
    return "unknown";
  }
  llvm_unreachable("not an overlap");
}

bool WaitCheckReport::hasBoundedFindings() const {
  return llvm::any_of(findings, [](const WaitFinding &finding) {
    return finding.overlap != WaitOverlap::unknown;
  });
}

/// `opcode operands` in quotes, with the bytes it touches.
static std::string quoted(const CheckedInstruction &instr) {
  if (instr.text.empty())
    return "any LDS-DMA of the caller";
  std::string text = "'" + instr.text + "'";
  if (!instr.bytes.empty())
    text += " on " + instr.bytes;
  return text;
}

std::string WaitFinding::message() const {
  std::string text;
  raw_string_ostream os(text);
  std::string counter =
      kind == WaitFindingKind::staleRegister ? "lgkmcnt" : "vmcnt";
  switch (kind) {
  case WaitFindingKind::missingWait:
    os << quoted(access) << " may run before LDS-DMA " << quoted(dma)
       << " is done";
    if (otherDMAs)
      os << " (and " << otherDMAs << " more)";
    os << "; overlap " << toString(overlap);
    break;
  case WaitFindingKind::reordered:
    os << quoted(access) << " runs " << (accessMovedDown ? "after" : "before")
       << " LDS-DMA " << quoted(dma) << ", which comes "
       << (accessMovedDown ? "second" : "first") << " in the program; overlap "
       << toString(overlap);
    return text;
  case WaitFindingKind::outstandingAtReturn:
    os << quoted(access) << " returns while LDS-DMA " << quoted(dma)
       << " is outstanding";
    break;
  case WaitFindingKind::staleRegister:
    os << quoted(access) << " uses a register before " << quoted(dma)
       << " has loaded it: LLVM counts global_load_lds in lgkmcnt, the "
          "hardware "
          "does not";
    break;
  }
  os << "; needs " << counter << '(' << neededWait << "), has ";
  if (actualWait)
    os << counter << '(' << *actualWait << ')';
  else
    os << "no wait";
  return text;
}

/// `file:line:column` or, without debug info, `function, bb.N`.
static std::string place(const CheckedInstruction &instr, StringRef function) {
  const SourceLocation &at = instr.location;
  if (at.line == 0)
    return (function + ", " + instr.block).str();
  return (Twine(at.file) + ":" + Twine(at.line) + ":" + Twine(at.column)).str();
}

void lodestone::printReport(raw_ostream &os, const WaitCheckReport &report) {
  for (const WaitFinding &finding : report.findings) {
    os << place(finding.access, finding.function)
       << ": error: " << finding.message() << " [" << toString(finding.kind)
       << "]\n";
    if (!finding.dma.text.empty())
      os << place(finding.dma, finding.function) << ": note: "
         << (finding.kind == WaitFindingKind::staleRegister
                 ? "the LDS read is here"
                 : "the LDS-DMA is here")
         << '\n';
  }
  for (const std::string &function : report.unsupported)
    os << function
       << ": error: uses LDS-DMA on a chip that the checker does not know\n";
  if (report.clean())
    os << "ok: " << report.accesses << " LDS accesses and " << report.dmas
       << " LDS-DMAs in " << report.functions << " functions\n";
}

static void writeInstruction(json::OStream &json, StringRef key,
                             const CheckedInstruction &instr) {
  json.attributeObject(key, [&] {
    json.attribute("text", instr.text);
    json.attribute("bytes", instr.bytes);
    json.attribute("block", instr.block);
    if (instr.location.line == 0)
      return;
    json.attribute("file", instr.location.file);
    json.attribute("line", instr.location.line);
    json.attribute("column", instr.location.column);
  });
}

void lodestone::writeJSON(json::OStream &json, const WaitCheckReport &report) {
  json.object([&] {
    json.attribute("clean", report.clean());
    json.attribute("functions", report.functions);
    json.attribute("dmas", report.dmas);
    json.attribute("accesses", report.accesses);
    json.attribute("seconds", report.seconds);
    json.attributeArray("unsupported", [&] {
      for (const std::string &function : report.unsupported)
        json.value(function);
    });
    json.attributeArray("findings", [&] {
      for (const WaitFinding &finding : report.findings) {
        json.object([&] {
          json.attribute("kind", toString(finding.kind));
          json.attribute("overlap", toString(finding.overlap));
          json.attribute("function", finding.function);
          writeInstruction(json, "access", finding.access);
          if (!finding.dma.text.empty())
            writeInstruction(json, "dma", finding.dma);
          json.attribute("otherDMAs", finding.otherDMAs);
          json.attribute("neededWait", finding.neededWait);
          if (finding.actualWait)
            json.attribute("actualWait", *finding.actualWait);
          json.attribute("message", finding.message());
        });
      }
    });
  });
}
