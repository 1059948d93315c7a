//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Operations as text and bytecode.
///
//===----------------------------------------------------------------------===//

#include "Parse.h"

#include "lodestone/Support/ParserLimits.h"
#include "lodestone/Target/BytecodeProbe.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>

using namespace lodestone::python;

/// Reports what would take the process down in MLIR's parser or reader.
static llvm::LogicalResult checkReadable(const ContextPtr &context,
                                         llvm::MemoryBufferRef source) {
  mlir::MLIRContext *mlirContext = &context->context;
  auto report = [&](unsigned line, const std::string &problem) {
    return mlir::emitError(
        mlir::FileLineColLoc::get(mlirContext, source.getBufferIdentifier(),
                                  line, line ? 1 : 0),
        problem);
  };
  std::string problem;
  if (mlir::isBytecode(source)) {
    if (!lodestone::probeBytecode(source, mlirContext->getDialectRegistry(),
                                  problem))
      return report(0, problem);
    return mlir::success();
  }
  unsigned line = 0;
  if (auto deep = lodestone::findUnparsable(source.getBuffer(),
                                            lodestone::TextSyntax::mlir, line))
    return report(line, *deep);
  return mlir::success();
}

OpPtr lodestone::python::parse(const ContextPtr &context, nb::handle source,
                               const std::string &sourceName,
                               const std::string &what, bool moduleOnly,
                               bool trusted) {
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  llvm::StringRef content;
  if (nb::isinstance<nb::bytes>(source)) {
    auto bytes = nb::borrow<nb::bytes>(source);
    content = llvm::StringRef(bytes.c_str(), bytes.size());
  } else if (nb::isinstance<nb::str>(source)) {
    Py_ssize_t size;
    const char *text = PyUnicode_AsUTF8AndSize(source.ptr(), &size);
    if (!text)
      throw nb::python_error();
    content = llvm::StringRef(text, size);
  } else {
    throw nb::type_error("the source is neither str nor bytes");
  }
  // Sections of bytecode may want an alignment that Python's objects lack.
  auto copy = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(
      content.size(), sourceName, llvm::Align(64));
  llvm::copy(content, copy->getBufferStart());
  buffer = std::move(copy);

  mlir::ParserConfig config(&context->context);
  llvm::MemoryBufferRef contents = buffer->getMemBufferRef();
  llvm::SourceMgr sourceMgr;
  sourceMgr.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  mlir::OwningOpRef<mlir::Operation *> op;
  capturing(context, "unable to parse " + what, [&] {
    if (!trusted && failed(checkReadable(context, contents)))
      return false;
    if (moduleOnly) {
      auto module = mlir::parseSourceFile<mlir::ModuleOp>(sourceMgr, config);
      op = module ? module.release().getOperation() : nullptr;
    } else {
      op = mlir::parseSourceFile(sourceMgr, config);
    }
    return static_cast<bool>(op);
  });
  OpPtr handle = Op::own(context, op.release());
  handle->tree->verified = true;
  return handle;
}

void lodestone::python::writeBytecode(const OpPtr &op, llvm::raw_ostream &os,
                                      std::optional<int64_t> version) {
  // The writer trusts the operations' invariants.
  ensureVerified(*op, "the operation is invalid and cannot be written");
  mlir::BytecodeWriterConfig config("Lodestone");
  if (version) {
    if (*version < 0)
      throw nb::value_error("a bytecode version is not negative");
    config.setDesiredBytecodeVersion(*version);
  }
  mlir::Operation *ir = op->get();
  BusyScope busy(op->tree);
  capturing(op->context(),
            "the operation cannot be written as bytecode of this version",
            [&] { return mlir::writeBytecodeToFile(ir, os, config); });
}

namespace {
/// The keyword arguments of get_asm and print.
struct AsmOptions {
  std::optional<int64_t> largeElementsLimit, largeResourceLimit;
  bool debugInfo, prettyDebugInfo, generic, localScope, nameLocPrefix,
      assumeVerified, skipRegions;
};
} // namespace

static std::string asmText(const OpPtr &op, const AsmOptions &options) {
  mlir::OpPrintingFlags flags;
  if (options.largeElementsLimit)
    flags.elideLargeElementsAttrs(*options.largeElementsLimit);
  if (options.largeResourceLimit)
    flags.elideLargeResourceString(*options.largeResourceLimit);
  if (options.debugInfo)
    flags.enableDebugInfo(true, options.prettyDebugInfo);
  if (options.generic)
    flags.printGenericOpForm();
  if (options.localScope)
    flags.useLocalScope();
  if (options.nameLocPrefix)
    flags.printNameLocAsPrefix();
  if (options.skipRegions)
    flags.skipRegions();
  // A promise that does not hold would crash the printers, so it counts only
  // where it is known to.
  if (op->tree->verified)
    flags.assumeVerified();
  std::string text;
  llvm::raw_string_ostream os(text);
  mlir::Operation *ir = op->get();
  BusyScope busy(op->tree);
  nb::gil_scoped_release release;
  ir->print(os, flags);
  return text;
}

static nb::object getAsm(const OpPtr &op, bool binary,
                         const AsmOptions &options) {
  std::string text = asmText(op, options);
  if (binary)
    return nb::bytes(text.data(), text.size());
  // A string attribute may hold what is no UTF-8.
  PyObject *result =
      PyUnicode_DecodeUTF8(text.data(), text.size(), "backslashreplace");
  if (!result)
    throw nb::python_error();
  return nb::steal(result);
}

void lodestone::python::bindOperationText(nb::class_<Op> &cls) {
#define LODESTONE_ASM_SIGNATURE                                                \
  "large_elements_limit: int | None = None, large_resource_limit: int | None " \
  "= None, enable_debug_info: bool = False, pretty_debug_info: bool = False, " \
  "print_generic_op_form: bool = False, use_local_scope: bool = False, "       \
  "use_name_loc_as_prefix: bool = False, assume_verified: bool = False, "      \
  "skip_regions: bool = False"
#define LODESTONE_ASM_ARGUMENTS                                                \
  nb::arg("large_elements_limit") = nb::none(),                                \
  nb::arg("large_resource_limit") = nb::none(),                                \
  nb::arg("enable_debug_info") = false, nb::arg("pretty_debug_info") = false,  \
  nb::arg("print_generic_op_form") = false,                                    \
  nb::arg("use_local_scope") = false,                                          \
  nb::arg("use_name_loc_as_prefix") = false,                                   \
  nb::arg("assume_verified") = false, nb::arg("skip_regions") = false

  cls.def_static(
         "parse",
         [](nb::object source, const std::string &name, ContextState *context) {
           return parse(contextOrCurrent(context), source, name,
                        "operation assembly", /*moduleOnly=*/false);
         },
         nb::arg("source"), nb::kw_only(), nb::arg("source_name") = "-",
         nb::arg("context") = nb::none(),
         nb::sig("def parse(source: str | bytes, *, source_name: str = '-', "
                 "context: Context | None = None) -> Operation"),
         "Parses and verifies one operation, text or bytecode.")
      .def(
          "get_asm",
          [](const OpPtr &self, bool binary, std::optional<int64_t> elements,
             std::optional<int64_t> resources, bool debug, bool pretty,
             bool generic, bool local, bool prefix, bool verified, bool skip) {
            return getAsm(self, binary,
                          {elements, resources, debug, pretty, generic, local,
                           prefix, verified, skip});
          },
          nb::arg("binary") = false, LODESTONE_ASM_ARGUMENTS,
          nb::sig(
              "def get_asm(self, binary: bool = False, " LODESTONE_ASM_SIGNATURE
              ") -> str"),
          "The text, or its bytes with `binary`.")
      .def(
          "print",
          [](const OpPtr &self, nb::object file, bool binary,
             std::optional<int64_t> elements, std::optional<int64_t> resources,
             bool debug, bool pretty, bool generic, bool local, bool prefix,
             bool verified, bool skip) {
            nb::object text = getAsm(self, binary,
                                     {elements, resources, debug, pretty,
                                      generic, local, prefix, verified, skip});
            if (file.is_none())
              file = nb::module_::import_("sys").attr("stdout");
            file.attr("write")(text);
            if (!binary)
              file.attr("write")("\n");
          },
          nb::arg("file") = nb::none(), nb::arg("binary") = false,
          LODESTONE_ASM_ARGUMENTS,
          nb::sig("def print(self, file: object | None = None, binary: bool = "
                  "False, " LODESTONE_ASM_SIGNATURE ") -> None"),
          "Writes the text to `file`, by default sys.stdout.")
      .def(
          "write_bytecode",
          [](const OpPtr &self, nb::object file,
             std::optional<int64_t> version) {
            std::string data;
            llvm::raw_string_ostream os(data);
            writeBytecode(self, os, version);
            nb::bytes bytes(data.data(), data.size());
            if (nb::hasattr(file, "write")) {
              file.attr("write")(bytes);
              return;
            }
            nb::object stream =
                nb::module_::import_("builtins").attr("open")(file, "wb");
            stream.attr("write")(bytes);
            stream.attr("close")();
          },
          nb::arg("file"), nb::arg("desired_version") = nb::none(),
          nb::sig(
              "def write_bytecode(self, file: object, desired_version: int | "
              "None = None) -> None"),
          "Writes bytecode to a binary file object or a path.")
      .def(
          "__str__",
          [](const OpPtr &self) { return getAsm(self, false, AsmOptions{}); },
          nb::sig("def __str__(self) -> str"))
      .def("__repr__", [](const OpPtr &self) -> std::string {
        if (!self->op)
          return "<invalidated operation>";
        return "<Operation " + self->op->getName().getStringRef().str() + ">";
      });
}
