//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parse.h"

#include "mlir/IR/BuiltinOps.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

using namespace lodestone::python;

namespace {
/// A `builtin.module` operation.
struct Module {
  OpPtr op;
  mlir::ModuleOp get() const { return mlir::cast<mlir::ModuleOp>(op->get()); }
};
} // namespace

/// A module of whatever bindings. Other bindings have MLIR inside that is not
/// ours, so nothing but bytes may pass: bytecode version 4, which all of them
/// from LLVM 18 on write, or else generic text.
static Module importModule(nb::object source, ContextState *given) {
  nb::object foreign = nb::getattr(source, "operation", source);
  OpPtr ours;
  if (nb::try_cast(foreign, ours) && ours) {
    if (!given || ours->context().get() == given) {
      ours->get();
      if (!mlir::isa<mlir::ModuleOp>(ours->op))
        throw nb::value_error("the operation is no builtin.module");
      return {ours};
    }
  } else if (!nb::hasattr(foreign, "get_asm")) {
    throw nb::type_error(
        "an MLIR module is needed: an object with operation.write_bytecode or "
        "operation.get_asm");
  }
  ContextPtr context = contextOrCurrent(given);
  if (nb::hasattr(foreign, "write_bytecode")) {
    try {
      nb::object stream = nb::module_::import_("io").attr("BytesIO")();
      foreign.attr("write_bytecode")(stream, nb::arg("desired_version") = 4);
      return {parse(context, stream.attr("getvalue")(), "<bytecode>",
                    "the module's bytecode", /*moduleOnly=*/true,
                    /*trusted=*/true)};
    } catch (nb::python_error &) {
      // A version or an encoding that one side doesn't know. Text may do; if
      // not, its error says more.
    }
  }
  nb::object text =
      foreign.attr("get_asm")(nb::arg("print_generic_op_form") = true,
                              nb::arg("enable_debug_info") = true);
  return {parse(context, text, "<module>", "the module's generic text",
                /*moduleOnly=*/true)};
}

void lodestone::python::bindModule(nb::module_ &m) {
  nb::class_<Module>(m, "Module", "A builtin.module.")
      .def(
          "__init__",
          [](Module *self, const OpPtr &op) {
            if (!mlir::isa<mlir::ModuleOp>(op->get()))
              throw nb::value_error(("'" + op->get()->getName().getStringRef() +
                                     "' is no builtin.module")
                                        .str()
                                        .c_str());
            new (self) Module{op};
          },
          nb::arg("operation"))
      .def_static(
          "parse",
          [](nb::object source, const std::string &name,
             ContextState *context) {
            return Module{parse(contextOrCurrent(context), source, name,
                                "module assembly", /*moduleOnly=*/true)};
          },
          nb::arg("source"), nb::arg("source_name") = "-",
          nb::arg("context") = nb::none(),
          nb::sig("def parse(source: str | bytes, source_name: str = '-', "
                  "context: Context | None = None) -> Module"),
          "Parses and verifies a module, text or bytecode. `source_name` is "
          "the "
          "file that diagnostics name.")
      .def_static(
          "from_foreign", &importModule, nb::arg("module"),
          nb::arg("context") = nb::none(),
          nb::sig("def from_foreign(module: object, context: Context | None = "
                  "None) "
                  "-> Module"),
          "Takes a module of any MLIR bindings (anything with "
          "operation.write_bytecode or operation.get_asm), through bytecode "
          "version 4 or generic text. A module of this context is returned as "
          "it is.")
      .def_static(
          "create",
          [](const Location *given) {
            Location loc = locationOrCurrent(given);
            return Module{
                Op::own(loc.context, mlir::ModuleOp::create(loc.value))};
          },
          nb::arg("loc") = nb::none())
      .def_prop_ro("context",
                   [](const Module &self) { return self.op->context(); })
      .def_prop_ro("operation", [](const Module &self) { return self.op; })
      .def_prop_ro("body",
                   [](const Module &self) {
                     return BlockRef::of(self.op->tree, self.get().getBody());
                   })
      .def("dump",
           [](nb::handle self) {
             nb::object file = nb::module_::import_("sys").attr("stderr");
             self.attr("operation").attr("print")(nb::arg("file") = file);
           })
      .def(
          "__getattr__",
          // The result is an object, not the accessor that `attr` makes: that
          // one would outlive the handle that it refers to.
          [](const Module &self, const std::string &name) -> nb::object {
            // What isn't about modules alone is the operation's: walk, verify,
            // get_asm, ...
            return nb::cast(self.op).attr(name.c_str());
          },
          nb::sig("def __getattr__(self, name: str) -> typing.Any"))
      .def(
          "__eq__",
          [](const Module &self, nb::handle other) {
            return nb::isinstance<Module>(other) &&
                   self.op == nb::cast<const Module &>(other).op;
          },
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__",
           [](const Module &self) {
             return reinterpret_cast<size_t>(self.op.get());
           })
      .def("__str__",
           [](const Module &self) { return nb::str(nb::cast(self.op)); })
      .def("__repr__", [](const Module &) { return "<Module>"; });
}
