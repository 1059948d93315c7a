//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// `lodestone-check`: the machine-code wait checker on the kernels of any
/// compiler, as LLVM IR or MIR.
///
//===----------------------------------------------------------------------===//

#include "lodestone/Target/WaitCheck.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace lodestone;

static cl::OptionCategory category("lodestone-check");
static cl::list<std::string> inputs(cl::Positional, cl::OneOrMore,
                                    cl::desc("<.ll, .bc or .mir files, or ->"),
                                    cl::cat(category));
static cl::opt<std::string>
    chip("chip",
         cl::desc("gfx942, gfx950, ...; else the target-cpu in the "
                  "input"),
         cl::cat(category));
static cl::opt<unsigned> optLevel("opt-level", cl::init(3),
                                  cl::desc("level of code generation, 0 to 3"),
                                  cl::cat(category));
static cl::opt<bool> globalISel("with-global-isel",
                                cl::desc("generate code with GlobalISel"),
                                cl::cat(category));
static cl::opt<bool> asJSON("json", cl::desc("write JSON to standard output"),
                            cl::cat(category));

/// Exit codes, as scripts see them.
enum { clean = 0, racy = 1, failed = 2 };

static bool isMIR(StringRef name, StringRef contents) {
  if (name.ends_with(".mir"))
    return true;
  // Standard input: a MIR file is a YAML stream.
  return !name.ends_with(".ll") && contents.ltrim().starts_with("---");
}

static int checkFile(StringRef name, json::OStream *json) {
  std::vector<CheckError> errors;
  WaitCheckReport report;
  auto file = MemoryBuffer::getFileOrSTDIN(name);
  if (!file) {
    errors.push_back({{name.str(), 0, 0}, file.getError().message()});
  } else {
    WaitCheckOptions options;
    options.chip = chip;
    options.optLevel = optLevel;
    options.globalISel = globalISel;
    StringRef contents = (*file)->getBuffer();
    auto check = isMIR(name, contents) ? checkMIR : checkLLVMIR;
    check(contents, name, options, report, errors);
  }
  for (const CheckError &error : errors) {
    errs() << error.location.file << ':';
    if (error.location.line)
      errs() << error.location.line << ':' << error.location.column << ':';
    errs() << " error: " << error.message << '\n';
  }
  if (!errors.empty())
    return failed;
  if (json)
    writeJSON(*json, report);
  else
    printReport(outs(), report);
  return report.complete() ? report.findings.empty() ? clean : racy : failed;
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Lodestone wait checker\n\n"
      "  Compiles LLVM IR (or takes MIR) to where LLVM has inserted its waits, "
      "and reports each\n  LDS access that may run before an LDS-DMA to the "
      "same bytes is done.\n\n"
      "  Exit code: 0 nothing found, 1 something found, 2 an input cannot be "
      "checked\n");
  std::optional<json::OStream> json;
  if (asJSON) {
    json.emplace(outs(), 2);
    json->arrayBegin();
  }
  int result = clean;
  for (const std::string &input : inputs)
    result = std::max(result, checkFile(input, json ? &*json : nullptr));
  if (json) {
    json->arrayEnd();
    json.reset();
    outs() << '\n';
  }
  return result;
}
