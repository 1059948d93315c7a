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
          [](const Module &self, const std::string &name) {
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
