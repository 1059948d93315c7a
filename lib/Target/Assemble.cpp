//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Target/Codegen.h"

#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SourceMgr.h"

using namespace lodestone;

static void collect(const llvm::SMDiagnostic &diagnostic, void *opaque) {
  if (diagnostic.getKind() != llvm::SourceMgr::DK_Error &&
      diagnostic.getKind() != llvm::SourceMgr::DK_Warning)
    return;
  bool isError = diagnostic.getKind() == llvm::SourceMgr::DK_Error;
  // The text has no file: say the line of assembly itself.
  std::string message = diagnostic.getMessage().str() + " in '" +
                        diagnostic.getLineContents().trim().str() + "'";
  static_cast<std::vector<LLVMDiagnostic> *>(opaque)->push_back(
      {isError ? llvm::DS_Error : llvm::DS_Warning,
       std::move(message),
       {},
       {}});
}

bool lodestone::assemble(llvm::StringRef assembly,
                         const llvm::TargetMachine &machine,
                         llvm::SmallVectorImpl<char> &object,
                         std::vector<LLVMDiagnostic> &diagnostics) {
  size_t before = diagnostics.size();
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBuffer(assembly, "", false), llvm::SMLoc());
  sources.setDiagHandler(collect, &diagnostics);

  const llvm::Target &target = machine.getTarget();
  const llvm::Triple &triple = machine.getTargetTriple();
  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers(
      target.createMCRegInfo(triple));
  std::unique_ptr<llvm::MCAsmInfo> syntax(
      target.createMCAsmInfo(*registers, triple, options));
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(target.createMCSubtargetInfo(
      triple, machine.getTargetCPU(), machine.getTargetFeatureString()));
  llvm::MCContext context(triple, syntax.get(), registers.get(),
                          subtarget.get(), &sources, &options);
  std::unique_ptr<llvm::MCObjectFileInfo> sections(
      target.createMCObjectFileInfo(context, /*PIC=*/false));
  context.setObjectFileInfo(sections.get());
  std::unique_ptr<llvm::MCInstrInfo> instructions(target.createMCInstrInfo());

  llvm::raw_svector_ostream stream(object);
  llvm::MCCodeEmitter *encoder =
      target.createMCCodeEmitter(*instructions, context);
  llvm::MCAsmBackend *backend =
      target.createMCAsmBackend(*subtarget, *registers, options);
  std::unique_ptr<llvm::MCObjectWriter> writer =
      backend->createObjectWriter(stream);
  std::unique_ptr<llvm::MCStreamer> streamer(target.createMCObjectStreamer(
      triple, context, std::unique_ptr<llvm::MCAsmBackend>(backend),
      std::move(writer), std::unique_ptr<llvm::MCCodeEmitter>(encoder),
      *subtarget));
  std::unique_ptr<llvm::MCAsmParser> parser(
      llvm::createMCAsmParser(sources, context, *streamer, *syntax));
  std::unique_ptr<llvm::MCTargetAsmParser> targetParser(
      target.createMCAsmParser(*subtarget, *parser, *instructions, options));
  parser->setTargetParser(*targetParser);
  bool failed = parser->Run(/*NoInitialTextSection=*/false);
  if (!failed)
    return true;
  // Never fail without a word.
  if (diagnostics.size() == before)
    diagnostics.push_back(
        {llvm::DS_Error, "the assembly cannot be assembled", {}, {}});
  return false;
}
