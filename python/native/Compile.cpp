//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Compiling and checking. Results go to Python as plain dictionaries, whose
/// keys are the fields of the data classes in lodestone/compiler.py and
/// checker.py.
///
//===----------------------------------------------------------------------===//

#include "Parse.h"

#include "lodestone/Support/Chip.h"
#include "lodestone/Target/Compile.h"
#include "lodestone/Target/WaitCheck.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/MemoryBuffer.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

using namespace lodestone;
using namespace lodestone::python;

using Dict = nb::typed<nb::dict, nb::str, nb::any>;

/// Text that may hold anything; what isn't UTF-8 is escaped.
static nb::object text(llvm::StringRef value) {
  PyObject *result =
      PyUnicode_DecodeUTF8(value.data(), value.size(), "backslashreplace");
  if (!result)
    throw nb::python_error();
  return nb::steal(result);
}

static Dict toDict(const CheckedInstruction &instruction) {
  Dict dict;
  dict["text"] = text(instruction.text);
  dict["bytes"] = text(instruction.bytes);
  dict["block"] = text(instruction.block);
  dict["file"] = text(instruction.location.file);
  dict["line"] = instruction.location.line;
  dict["column"] = instruction.location.column;
  return dict;
}

static nb::object toDict(const std::optional<WaitCheckReport> &report) {
  if (!report)
    return nb::none();
  nb::list findings;
  for (const WaitFinding &finding : report->findings) {
    Dict dict;
    dict["kind"] = text(toString(finding.kind));
    dict["overlap"] = text(toString(finding.overlap));
    dict["function"] = text(finding.function);
    dict["access"] = toDict(finding.access);
    dict["dma"] = toDict(finding.dma);
    dict["needed_wait"] = finding.neededWait;
    dict["actual_wait"] = finding.actualWait
                              ? nb::object(nb::int_(*finding.actualWait))
                              : nb::none();
    dict["message"] = text(finding.message());
    findings.append(dict);
  }
  Dict dict;
  dict["findings"] = findings;
  dict["unsupported"] = nb::cast(report->unsupported);
  dict["functions"] = report->functions;
  dict["dmas"] = report->dmas;
  dict["accesses"] = report->accesses;
  dict["seconds"] = report->seconds;
  return dict;
}

static Dict toDict(const KernelResources &kernel) {
  nb::list arguments;
  for (const KernelArgument &argument : kernel.arguments) {
    Dict dict;
    dict["name"] = text(argument.name);
    dict["kind"] = text(argument.kind);
    dict["offset"] = argument.offset;
    dict["size"] = argument.size;
    arguments.append(dict);
  }
  Dict dict;
  dict["name"] = text(kernel.name);
  dict["vgprs"] = kernel.vgprs;
  dict["agprs"] = kernel.agprs;
  dict["sgprs"] = kernel.sgprs;
  dict["vgpr_spills"] = kernel.vgprSpills;
  dict["sgpr_spills"] = kernel.sgprSpills;
  dict["scratch_bytes"] = kernel.scratchBytes;
  dict["dynamic_stack"] = kernel.dynamicStack;
  dict["static_lds_bytes"] = kernel.staticLDSBytes;
  dict["dynamic_lds_bytes"] = kernel.dynamicLDSBytes;
  dict["max_workgroup_size"] = kernel.maxWorkgroupSize;
  dict["required_workgroup_size"] = nb::make_tuple(
      kernel.requiredWorkgroupSize[0], kernel.requiredWorkgroupSize[1],
      kernel.requiredWorkgroupSize[2]);
  dict["wave_size"] = kernel.waveSize;
  dict["kernarg_bytes"] = kernel.kernargBytes;
  dict["kernarg_align"] = kernel.kernargAlign;
  dict["arguments"] = arguments;
  dict["occupancy"] = kernel.occupancy;
  dict["occupancy_limit"] = text(kernel.occupancyLimit);
  return dict;
}

static Dict toDict(const CompiledModule &module) {
  Dict seconds;
  seconds["pipeline"] = module.seconds.pipeline;
  seconds["translate"] = module.seconds.translate;
  seconds["optimize"] = module.seconds.optimize;
  seconds["codegen"] = module.seconds.codegen;
  seconds["check"] = module.seconds.check;
  seconds["assemble"] = module.seconds.assemble;
  seconds["link"] = module.seconds.link;
  nb::list kernels;
  for (const KernelResources &kernel : module.kernels)
    kernels.append(toDict(kernel));
  Dict dict;
  dict["name"] = text(module.name);
  dict["chip"] = text(module.chip);
  dict["isa"] = text(module.isa);
  dict["code_object"] =
      nb::bytes(module.codeObject.data(), module.codeObject.size());
  dict["fat_binary"] =
      nb::bytes(module.fatBinary.data(), module.fatBinary.size());
  dict["kernels"] = kernels;
  dict["check"] = toDict(module.check);
  dict["untagged_fallback"] = module.untaggedFallback;
  dict["tagged_check"] = toDict(module.taggedCheck);
  dict["seconds"] = seconds;
  return dict;
}

/// The options by the names that Python gives them; an unknown one is a bug.
static CompileOptions toOptions(Dict options) {
  CompileOptions result;
  for (auto [key, value] : options) {
    std::string name = nb::cast<std::string>(key);
    auto set = [&, &value = value](auto &field) {
      if (nb::try_cast(value, field))
        return;
      using Field = std::decay_t<decltype(field)>;
      const char *wanted = std::is_same_v<Field, std::string> ? "a str"
                           : std::is_same_v<Field, std::vector<std::string>>
                               ? "a sequence of str"
                           : std::is_same_v<Field, bool>
                               ? "True or False"
                               : "a small int, not negative";
      throw nb::type_error(("the option '" + name + "' must be " + wanted +
                            ", not " + nb::cast<std::string>(nb::repr(value)))
                               .c_str());
    };
    if (name == "chip")
      set(result.chip);
    else if (name == "features")
      set(result.features);
    else if (name == "opt_level")
      set(result.optLevel);
    else if (name == "alias_scopes")
      set(result.aliasScopes);
    else if (name == "check")
      set(result.check);
    else if (name == "strict")
      set(result.strict);
    else if (name == "unroll_buffers")
      set(result.unrollBuffers);
    else if (name == "inverse_swizzle")
      set(result.inverseSwizzle);
    else if (name == "register_budget")
      set(result.registerBudget);
    else if (name == "tdm_fuse")
      set(result.tdmFuse);
    else if (name == "assume_small_buffers")
      set(result.assumeSmallBuffers);
    else if (name == "separate_globals")
      set(result.separateGlobals);
    else if (name == "bare_pointers")
      set(result.barePointers);
    else if (name == "index_bitwidth")
      set(result.indexBitwidth);
    else if (name == "linker")
      set(result.linker);
    else if (name == "rocm_path")
      set(result.rocmPath);
    else if (name == "resources")
      set(result.resources);
    else if (name == "global_isel")
      set(result.globalISel);
    else if (name == "optimize_llvm_ir")
      set(result.optimizeLLVMIR);
    else if (name == "format") {
      std::string format;
      set(format);
      std::optional<OutputFormat> parsed = parseOutputFormat(format);
      if (!parsed)
        throw nb::value_error(("unknown format '" + format +
                               "'; known formats are isa, hsaco, fatbin")
                                  .c_str());
      result.format = *parsed;
    } else if (name == "direct_to_lds") {
      std::string mode;
      set(mode);
      std::optional<DirectToLDS> parsed = parseDirectToLDS(mode);
      if (!parsed)
        throw nb::value_error(
            ("direct_to_lds is off, auto or on, not '" + mode + "'").c_str());
      result.directToLDS = *parsed;
    } else if (name == "tdm_hints") {
      std::vector<std::string> rules;
      set(rules);
      for (const std::string &rule : rules) {
        std::optional<TDMHintRule> parsed = parseTDMHintRule(rule);
        if (!parsed)
          throw nb::value_error(unknownTDMHintRuleMessage(rule).c_str());
        result.tdmHints.push_back(*parsed);
      }
    } else {
      throw nb::type_error(("unknown option '" + name + "'").c_str());
    }
  }
  if (!result.chip.empty() && !lookupChip(result.chip))
    throw nb::value_error(unknownChipMessage(result.chip).c_str());
  if (result.optLevel > 3)
    throw nb::value_error("opt_level is 0 to 3");
  if (result.indexBitwidth != 0 && result.indexBitwidth != 32 &&
      result.indexBitwidth != 64)
    throw nb::value_error("index_bitwidth is 0, 32 or 64");
  return result;
}

static const char *failureName(CompileFailure failure) {
  switch (failure) {
  case CompileFailure::none:
    return "";
  case CompileFailure::input:
    return "input";
  case CompileFailure::missingTool:
    return "missing-tool";
  case CompileFailure::strict:
    return "strict";
  }
  return "input";
}

/// Runs `work` without the GIL and returns its result with all that was
/// reported, errors as well: Python makes the exception, which depends on
/// `failure`.
static Dict
report(const ContextPtr &context,
       llvm::function_ref<mlir::LogicalResult(CompileResult &)> work) {
  std::vector<DiagnosticInfo> diagnostics;
  CompileResult result;
  bool failed;
  {
    nb::gil_scoped_release release;
    mlir::ScopedDiagnosticHandler handler(
        &context->context,
        [&, thread = llvm::get_threadid()](mlir::Diagnostic &diagnostic) {
          if (llvm::get_threadid() != thread)
            return mlir::failure();
          diagnostics.emplace_back(context, diagnostic);
          return mlir::success();
        });
    failed = mlir::failed(work(result));
  }
  nb::list modules;
  for (const CompiledModule &module : result.modules)
    modules.append(toDict(module));
  Dict dict;
  dict["modules"] = modules;
  dict["failed"] = failed;
  dict["failure"] = failureName(result.failure);
  dict["diagnostics"] = nb::cast(diagnostics);
  return dict;
}

static Dict compileModule(const OpPtr &op, Dict pyOptions) {
  const CompileOptions options = toOptions(pyOptions);
  auto module = mlir::dyn_cast<mlir::ModuleOp>(op->get());
  if (!module)
    throw nb::value_error("only a builtin.module can be compiled");
  ensureVerified(*op, "the module is invalid");
  BusyScope busy(op->tree);
  return report(op->context(), [&](CompileResult &result) {
    return compile(module, options, result);
  });
}

static Dict compileIR(nb::bytes contents, const std::string &name,
                      ContextState *given, Dict pyOptions) {
  const CompileOptions options = toOptions(pyOptions);
  ContextPtr context = contextOrCurrent(given);
  // LLVM's parser wants a zero after the end.
  std::unique_ptr<llvm::MemoryBuffer> buffer =
      llvm::MemoryBuffer::getMemBufferCopy(
          llvm::StringRef(contents.c_str(), contents.size()), name);
  return report(context, [&](CompileResult &result) {
    return compileLLVMIR(buffer->getMemBufferRef(), context->context, options,
                         result);
  });
}

using Check = bool (*)(llvm::StringRef, llvm::StringRef,
                       const WaitCheckOptions &, WaitCheckReport &,
                       std::vector<CheckError> &);

template <Check check>
static Dict checkText(nb::bytes contents, const std::string &name,
                      const std::string &chip, unsigned optLevel,
                      bool globalISel) {
  if (!chip.empty() && !lookupChip(chip))
    throw nb::value_error(unknownChipMessage(chip).c_str());
  WaitCheckOptions options{chip, optLevel, globalISel};
  std::string copy(contents.c_str(), contents.size());
  std::optional<WaitCheckReport> result(std::in_place);
  std::vector<CheckError> errors;
  bool ok;
  {
    nb::gil_scoped_release release;
    ok = check(copy, name, options, *result, errors);
  }
  nb::list messages;
  for (const CheckError &error : errors) {
    std::string place = error.location.file;
    if (error.location.line)
      place += ":" + std::to_string(error.location.line) + ":" +
               std::to_string(error.location.column);
    messages.append(text((place.empty() ? "" : place + ": ") + error.message));
  }
  Dict dict;
  dict["failed"] = !ok;
  dict["errors"] = messages;
  dict["report"] = toDict(result);
  return dict;
}

void lodestone::python::bindCompile(nb::module_ &m) {
  m.def("compile_module", &compileModule, nb::arg("operation"),
        nb::arg("options"));
  m.def("compile_llvm_ir", &compileIR, nb::arg("contents"), nb::arg("name"),
        nb::arg("context").none(), nb::arg("options"));
  m.def("check_llvm_ir", &checkText<&checkLLVMIR>, nb::arg("contents"),
        nb::arg("name"), nb::arg("chip"), nb::arg("opt_level"),
        nb::arg("global_isel"));
  m.def("check_mir", &checkText<&checkMIR>, nb::arg("contents"),
        nb::arg("name"), nb::arg("chip"), nb::arg("opt_level"),
        nb::arg("global_isel"));
  m.def(
      "known_chips", [] { return knownChips(); },
      "The chips' names, separated by commas.");
  m.def(
      "find_linker", [] { return findLinker(); },
      "The ld.lld that code objects are linked with; empty if there is none.");
}
