//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/SymbolTable.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

using namespace lodestone::python;

namespace {
/// The symbols in an operation. Each look-up goes through the operations anew,
/// so that nothing here can be out of date.
struct SymbolTable {
  OpPtr op;

  mlir::Operation *table() const {
    mlir::Operation *ir = op->get();
    if (!ir->hasTrait<mlir::OpTrait::SymbolTable>() ||
        ir->getNumRegions() != 1 || !ir->getRegion(0).hasOneBlock())
      throw nb::value_error(("'" + ir->getName().getStringRef() +
                             "' is no symbol table with a block")
                                .str()
                                .c_str());
    return ir;
  }
  mlir::Operation *lookup(const std::string &name) const {
    return mlir::SymbolTable::lookupSymbolIn(table(), name);
  }
};
} // namespace

static mlir::StringAttr nameOf(const OpPtr &op) {
  auto name = op->get()->getAttrOfType<mlir::StringAttr>(
      mlir::SymbolTable::getSymbolAttrName());
  if (!name)
    throw nb::value_error("the operation is no symbol: it has no sym_name");
  return name;
}

void lodestone::python::bindSymbolTable(nb::module_ &m) {
  nb::class_<SymbolTable>(m, "SymbolTable",
                          "The symbols directly inside an operation.")
      .def(
          "__init__",
          [](SymbolTable *self, nb::object operation) {
            OpPtr op;
            if (!nb::try_cast(nb::getattr(operation, "operation", operation),
                              op) ||
                !op)
              throw nb::type_error("a symbol table is made of an operation");
            SymbolTable table{op};
            table.table();
            new (self) SymbolTable(table);
          },
          nb::arg("operation"),
          nb::sig("def __init__(self, operation: Operation | Module) -> None"))
      .def("__getitem__",
           [](const SymbolTable &self, const std::string &name) {
             if (mlir::Operation *found = self.lookup(name))
               return Op::of(self.op->tree, found);
             throw nb::key_error(name.c_str());
           })
      .def("__contains__",
           [](const SymbolTable &self, const std::string &name) {
             return self.lookup(name) != nullptr;
           })
      .def(
          "insert",
          [](const SymbolTable &self, const OpPtr &op) {
            mlir::StringAttr wanted = nameOf(op);
            mlir::Operation *table = self.table();
            if (op->get()->getBlock())
              throw nb::value_error("the operation is in a block already");
            requireSameContext(self.op->context(), op->context(), "operation");
            // A name that is taken gets a number, as upstream does it.
            std::string name = wanted.str();
            for (unsigned i = 0; mlir::SymbolTable::lookupSymbolIn(table, name);
                 ++i)
              name = wanted.str() + "_" + std::to_string(i);
            mlir::Block *body = &table->getRegion(0).front();
            mlir::Operation *before =
                !body->empty() &&
                        body->back().hasTrait<mlir::OpTrait::IsTerminator>()
                    ? &body->back()
                    : nullptr;
            insertOp(op, BlockRef::of(self.op->tree, body), before);
            auto attribute =
                mlir::StringAttr::get(&op->context()->context, name);
            op->change()->setAttr(mlir::SymbolTable::getSymbolAttrName(),
                                  attribute);
            return toPython(op->context(), mlir::Attribute(attribute));
          },
          nb::arg("operation"),
          "Adds a detached symbol; returns the name it got.")
      .def(
          "erase",
          [](const SymbolTable &self, const OpPtr &op) {
            if (op->get()->getParentOp() != self.table())
              throw nb::value_error("the operation is not in this table");
            eraseOp(op);
          },
          nb::arg("operation"))
      .def_static(
          "get_symbol_name",
          [](const OpPtr &op) {
            return toPython(op->context(), mlir::Attribute(nameOf(op)));
          },
          nb::arg("symbol"))
      .def_static(
          "set_symbol_name",
          [](const OpPtr &op, const std::string &name) {
            nameOf(op);
            op->change()->setAttr(
                mlir::SymbolTable::getSymbolAttrName(),
                mlir::StringAttr::get(&op->context()->context, name));
          },
          nb::arg("symbol"), nb::arg("name"))
      .def_static(
          "replace_all_symbol_uses",
          [](const std::string &from, const std::string &to, const OpPtr &op) {
            mlir::MLIRContext *context = &op->context()->context;
            if (failed(mlir::SymbolTable::replaceAllSymbolUses(
                    mlir::StringAttr::get(context, from),
                    mlir::StringAttr::get(context, to), op->change())))
              throw nb::value_error("the uses of the symbol are not all known");
          },
          nb::arg("old_symbol"), nb::arg("new_symbol"), nb::arg("from_op"));
}
