//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Values, their uses, and the operands of an operation.
///
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"
#include "Sequence.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/OpDefinition.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

using namespace lodestone::python;

static std::string printed(const Value &self) {
  std::string text;
  llvm::raw_string_ostream os(text);
  self.get().print(os);
  return text;
}

/// The name that the value has in the printed form of its tree: "%0".
static std::string nameOf(const Value &self, bool useLocalScope) {
  mlir::Value value = self.get();
  std::string text;
  llvm::raw_string_ostream os(text);
  mlir::OpPrintingFlags flags;
  if (useLocalScope)
    flags.useLocalScope();
  mlir::Operation *scope = self.tree()->top;
  if (useLocalScope) {
    scope = value.getDefiningOp() ? value.getDefiningOp()
                                  : value.getParentBlock()->getParentOp();
    while (scope->getParentOp() &&
           !scope->hasTrait<mlir::OpTrait::IsIsolatedFromAbove>())
      scope = scope->getParentOp();
  }
  mlir::AsmState state(scope, flags);
  value.printAsOperand(os, state);
  return text;
}

/// Makes the users of `self` use `with` instead, except those in `except`.
static void replaceUses(const Value &self, const Value &with,
                        llvm::function_ref<bool(mlir::Operation *)> skip) {
  requireSameContext(self.context(), with.context(), "value");
  mlir::Value from = self.get(), to = with.get();
  if (from == to)
    return;
  if (from.getType() != to.getType())
    throw nb::value_error("the replacement is of another type");
  for (mlir::OpOperand &use : llvm::make_early_inc_range(from.getUses())) {
    if (skip(use.getOwner()))
      continue;
    TreePtr user = Tree::of(*self.context(), use.getOwner());
    user->requireIdle();
    user->verified = false;
    user->link(with.tree());
    use.set(to);
  }
}

static void setOperand(mlir::OpOperand &operand, const TreePtr &tree,
                       const Value &value) {
  requireSameContext(tree->context, value.context(), "value");
  mlir::Value to = value.get();
  tree->verified = false;
  tree->link(value.tree());
  operand.set(to);
}

namespace {
struct OperandList {
  OpPtr op;
  size_t size() const { return op->get()->getNumOperands(); }
  PyValue at(size_t i) const {
    return toPython(op->tree, op->get()->getOperand(i));
  }
};
struct ResultList {
  OpPtr op;
  size_t size() const { return op->get()->getNumResults(); }
  OpResult at(size_t i) const {
    if (i >= size())
      throw nb::index_error("result out of range");
    return OpResult{{op, nullptr, static_cast<unsigned>(i)}};
  }
};
} // namespace

static void bindValue(nb::module_ &m) {
  nb::class_<Value>(m, "Value", "An SSA value.")
      .def_prop_ro("context", [](const Value &self) { return self.context(); })
      .def_prop_ro("type",
                   [](const Value &self) {
                     return toPython(self.context(), self.get().getType());
                   })
      .def(
          "set_type",
          [](const Value &self, const Type &type) {
            requireSameContext(self.context(), type.context, "type");
            self.tree()->verified = false;
            self.get().setType(type.value);
          },
          nb::arg("type"))
      .def_prop_ro(
          "owner",
          [](const Value &self)
              -> nb::typed<nb::object, std::variant<Op, BlockRef>> {
            self.get();
            return nb::typed<nb::object, std::variant<Op, BlockRef>>(
                self.op ? nb::cast(self.op) : nb::cast(self.block));
          },
          nb::for_getter(nb::sig("def owner(self) -> Operation | Block")),
          "The operation that defines the value, or the block it is an "
          "argument "
          "of.")
      .def_prop_ro("location",
                   [](const Value &self) {
                     return Location{self.context(), self.get().getLoc()};
                   })
      .def_prop_ro("uses",
                   [](const Value &self) {
                     nb::typed<nb::list, OperandRef> uses;
                     for (mlir::OpOperand &use : self.get().getUses()) {
                       TreePtr tree = Tree::of(*self.context(), use.getOwner());
                       uses.append(OperandRef{Op::of(tree, use.getOwner()),
                                              use.getOperandNumber()});
                     }
                     return nb::typed<nb::iterator, OperandRef>(nb::iter(uses));
                   })
      .def("get_name", &nameOf, nb::arg("use_local_scope") = false,
           "The name in the printed form, %0.")
      .def(
          "replace_all_uses_with",
          [](const Value &self, const Value &with) {
            replaceUses(self, with, [](mlir::Operation *) { return false; });
          },
          nb::arg("with_"))
      .def(
          "replace_all_uses_except",
          [](const Value &self, const Value &with, const OpPtr &exception) {
            mlir::Operation *skipped = exception->get();
            replaceUses(self, with,
                        [=](mlir::Operation *user) { return user == skipped; });
          },
          nb::arg("with_"), nb::arg("exceptions"))
      .def(
          "__eq__",
          [](const Value &self, nb::handle other) {
            return nb::isinstance<Value>(other) &&
                   self.get() == nb::cast<const Value &>(other).get();
          },
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__",
           [](const Value &self) -> size_t { return hash_value(self.get()); })
      .def("__str__", &printed)
      .def("__repr__",
           [](const Value &self) { return "Value(" + printed(self) + ")"; });

  nb::class_<OpResult, Value>(m, "OpResult", "A result of an operation.")
      .def_prop_ro("result_number",
                   [](const OpResult &self) { return self.index; })
      .def_prop_ro("owner", [](const OpResult &self) { return self.op; });
  nb::class_<BlockArgument, Value>(m, "BlockArgument",
                                   "An argument of a block.")
      .def_prop_ro("arg_number",
                   [](const BlockArgument &self) { return self.index; })
      .def_prop_ro("owner",
                   [](const BlockArgument &self) { return self.block; });

  nb::class_<OperandRef>(m, "OpOperand", "A use of a value by an operation.")
      .def_prop_ro("owner", [](const OperandRef &self) { return self.owner; })
      .def_prop_ro("operand_number",
                   [](const OperandRef &self) { return self.index; })
      .def_prop_ro("value",
                   [](const OperandRef &self) {
                     return toPython(self.owner->tree, self.get().get());
                   })
      .def(
          "set",
          [](const OperandRef &self, const Value &value) {
            setOperand(self.get(), self.owner->tree, value);
          },
          nb::arg("value"));
}

void lodestone::python::bindValues(nb::module_ &m) {
  bindValue(m);
  bindSequence<OperandList, Value>(m, "OpOperandList")
      .def("__setitem__",
           [](const OperandList &self, int64_t index, const Value &value) {
             mlir::Operation *op = self.op->get();
             setOperand(op->getOpOperand(position(index, self.size())),
                        self.op->tree, value);
           });
  bindSequence<ResultList, OpResult>(m, "OpResultList")
      .def_prop_ro("types",
                   [](const ResultList &self) {
                     std::vector<PyType> types;
                     for (mlir::Type type : self.op->get()->getResultTypes())
                       types.push_back(toPython(self.op->context(), type));
                     return types;
                   })
      .def_prop_ro("owner", [](const ResultList &self) { return self.op; });

  auto op = nb::borrow<nb::class_<Op>>(m.attr("Operation"));
  op.def_prop_ro("operands",
                 [](const OpPtr &self) { return OperandList{self}; })
      .def_prop_ro("results",
                   [](const OpPtr &self) { return ResultList{self}; })
      .def_prop_ro("op_operands",
                   [](const OpPtr &self) {
                     std::vector<OperandRef> operands;
                     for (unsigned i = 0, e = self->get()->getNumOperands();
                          i < e; ++i)
                       operands.push_back({self, i});
                     return operands;
                   })
      .def_prop_ro(
          "result",
          [](const OpPtr &self) {
            if (self->get()->getNumResults() != 1)
              throw nb::value_error(
                  ("the operation has " +
                   llvm::Twine(self->get()->getNumResults()) +
                   " results; result is for operations with one")
                      .str()
                      .c_str());
            return OpResult{{self, nullptr, 0}};
          },
          "The only result; ValueError if there is none or several.");
}
