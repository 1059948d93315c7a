//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Operations: creation, attributes, structure.
///
//===----------------------------------------------------------------------===//

#include "Uniqued.h"

#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/Verifier.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/variant.h>

using namespace lodestone::python;

// Creation
// ------------------------------------------------------------------------

/// The registered operation, its dialect loaded if need be, or an unregistered
/// one where the context allows that.
static mlir::OperationName operationName(const ContextPtr &state,
                                         const std::string &name) {
  mlir::MLIRContext &context = state->context;
  llvm::StringRef dialect = llvm::StringRef(name).split('.').first;
  if (dialect.empty() || dialect.size() == name.size() ||
      llvm::StringRef(name).contains('\0'))
    throw nb::value_error(
        ("'" + name + "' is no operation name of the form dialect.operation")
            .c_str());
  if (!context.getLoadedDialect(dialect) && !state->running)
    context.getOrLoadDialect(dialect);
  if (!mlir::RegisteredOperationName::lookup(name, &context) &&
      !context.allowsUnregisteredDialects())
    raiseMLIRError("'" + name +
                       "' is not a registered operation; set "
                       "Context.allow_unregistered_dialects to create it",
                   {});
  return mlir::OperationName(name, &context);
}

/// Attributes whose type the operation would not take are refused here: setting
/// them would drop them without a word.
static void verifyInherent(const ContextPtr &context, mlir::OperationName name,
                           mlir::NamedAttrList &attributes) {
  std::optional<mlir::RegisteredOperationName> info = name.getRegisteredInfo();
  if (!info)
    return;
  mlir::Location where = mlir::UnknownLoc::get(&context->context);
  capturing(context, "invalid attribute", [&] {
    return info->verifyInherentAttrs(attributes, [&] {
      return mlir::emitError(where) << "'" << name << "' op ";
    });
  });
}

/// What `ip` means: an insertion point, None for the current one, False for
/// none.
using InsertionArg = std::variant<std::monostate, InsertionPointPtr, bool>;

static InsertionPointPtr resolve(nb::handle ip, const ContextPtr &context) {
  if (ip.is_none()) {
    InsertionPointPtr current = currentInsertionPoint();
    return current && current->block->context() == context ? current : nullptr;
  }
  if (nb::isinstance<nb::bool_>(ip)) {
    if (nb::cast<bool>(ip))
      throw nb::type_error("ip is an insertion point, None or False");
    return nullptr;
  }
  InsertionPointPtr result;
  if (!nb::try_cast(ip, result) || !result)
    throw nb::type_error("ip is an insertion point, None or False");
  requireSameContext(context, result->block->context(), "insertion point");
  return result;
}

static OpPtr
create(const std::string &name, std::optional<std::vector<Type>> results,
       std::optional<std::vector<Value>> operands,
       std::optional<nb::typed<nb::dict, nb::str, Attribute>> attributes,
       std::optional<std::vector<BlockPtr>> successors, int regions,
       const Location *loc, nb::object ip) {
  const Location location = locationOrCurrent(loc);
  const ContextPtr &context = location.context;
  InsertionPointPtr where = resolve(ip, context);
  if (regions < 0 || regions > 1 << 16)
    throw nb::value_error("the number of regions is out of range");

  mlir::OperationState state(location.value, operationName(context, name));
  if (results)
    state.addTypes(unwrap(context, *results));
  for (const Value &operand : operands.value_or(std::vector<Value>())) {
    requireSameContext(context, operand.context(), "operand");
    state.operands.push_back(operand.get());
  }
  if (attributes) {
    for (auto [key, item] : *attributes) {
      const Attribute *attribute = nullptr;
      std::string entry;
      if (!nb::try_cast(key, entry) || !nb::try_cast(item, attribute) ||
          !attribute)
        throw nb::type_error(("attribute " +
                              nb::cast<std::string>(nb::repr(key)) + " of '" +
                              name + "' must be a string and an Attribute")
                                 .c_str());
      if (entry.empty())
        throw nb::value_error("an attribute needs a name");
      requireSameContext(context, attribute->context, "attribute");
      state.addAttribute(entry, attribute->value);
    }
    verifyInherent(context, state.name, state.attributes);
  }
  for (const BlockPtr &successor :
       successors.value_or(std::vector<BlockPtr>())) {
    requireSameContext(context, successor->context(), "successor");
    state.addSuccessors(successor->get());
  }
  for (int i = 0; i < regions; ++i)
    state.addRegion();

  OpPtr op = Op::own(context, mlir::Operation::create(state));
  if (operands)
    for (const Value &operand : *operands)
      op->tree->link(operand.tree());
  if (successors)
    for (const BlockPtr &successor : *successors)
      op->tree->link(successor->tree);
  if (where)
    where->insert(op);
  return op;
}

// Attributes
// ----------------------------------------------------------------------

namespace {
struct AttributeMap {
  OpPtr op;
  mlir::DictionaryAttr get() const { return op->get()->getAttrDictionary(); }
};
} // namespace

static void setAttribute(const AttributeMap &self, const std::string &name,
                         const Attribute &attribute) {
  const ContextPtr &context = self.op->context();
  requireSameContext(context, attribute.context, "attribute");
  if (name.empty())
    throw nb::value_error("an attribute needs a name");
  mlir::Operation *op = self.op->change();
  mlir::NamedAttrList probe;
  probe.set(name, attribute.value);
  verifyInherent(context, op->getName(), probe);
  op->setAttr(name, attribute.value);
}

static void bindAttributeMap(nb::module_ &m) {
  using Items = std::vector<std::pair<std::string, PyAttribute>>;
  auto items = [](const AttributeMap &self) {
    Items result;
    for (mlir::NamedAttribute entry : self.get())
      result.emplace_back(entry.getName().str(),
                          toPython(self.op->context(), entry.getValue()));
    return result;
  };
  auto keys = [](const AttributeMap &self) {
    nb::typed<nb::list, nb::str> result;
    for (mlir::NamedAttribute entry : self.get())
      result.append(nb::cast(entry.getName().str()));
    return result;
  };
  nb::class_<AttributeMap>(m, "OpAttributeMap",
                           "The attributes of an operation, by name.")
      .def("__len__",
           [](const AttributeMap &self) { return self.get().size(); })
      .def("__contains__",
           [](const AttributeMap &self, const std::string &name) {
             return static_cast<bool>(self.get().get(name));
           })
      .def("__getitem__",
           [](const AttributeMap &self, const std::string &name) {
             if (mlir::Attribute value = self.get().get(name))
               return toPython(self.op->context(), value);
             throw nb::key_error(name.c_str());
           })
      .def(
          "get",
          [](const AttributeMap &self, const std::string &name,
             nb::object fallback) -> nb::object {
            if (mlir::Attribute value = self.get().get(name))
              return toPython(self.op->context(), value);
            return fallback;
          },
          nb::arg("name"), nb::arg("default") = nb::none())
      .def("__setitem__", &setAttribute)
      .def("__delitem__",
           [](const AttributeMap &self, const std::string &name) {
             if (!self.op->change()->removeAttr(name))
               throw nb::key_error(name.c_str());
           })
      .def("__iter__",
           [keys](const AttributeMap &self) {
             return nb::typed<nb::iterator, nb::str>(nb::iter(keys(self)));
           })
      .def("keys", keys)
      .def("items", items)
      .def("values", [](const AttributeMap &self) {
        std::vector<PyAttribute> result;
        for (mlir::NamedAttribute entry : self.get())
          result.push_back(toPython(self.op->context(), entry.getValue()));
        return result;
      });
}

// Walk
// ----------------------------------------------------------------------------

namespace {
enum class WalkOrder { PreOrder, PostOrder };
enum class WalkResult { Advance, Interrupt, Skip };
} // namespace

/// The callback may change or erase what it likes: the operations of a block
/// are listed before it is entered, and those that vanished since are passed
/// over.
static WalkResult walk(const OpPtr &op, nb::callable callback,
                       WalkOrder order) {
  auto call = [&] {
    nb::object result = callback(op);
    WalkResult verdict = WalkResult::Advance;
    if (!result.is_none() && !nb::try_cast(result, verdict))
      throw nb::type_error("a walk's callback returns a WalkResult or None");
    return verdict;
  };
  if (order == WalkOrder::PreOrder) {
    WalkResult verdict = call();
    if (verdict != WalkResult::Advance)
      return verdict;
  }
  for (unsigned i = 0; op->op && i < op->get()->getNumRegions(); ++i) {
    std::vector<BlockPtr> blocks;
    for (mlir::Block &block : op->get()->getRegion(i))
      blocks.push_back(BlockRef::of(op->tree, &block));
    for (const BlockPtr &block : blocks) {
      if (!block->block)
        continue;
      std::vector<OpPtr> inner;
      for (mlir::Operation &child : *block->get())
        inner.push_back(Op::of(block->tree, &child));
      for (const OpPtr &child : inner)
        if (child->op && walk(child, callback, order) == WalkResult::Interrupt)
          return WalkResult::Interrupt;
    }
  }
  if (order == WalkOrder::PostOrder && op->op)
    return call();
  return WalkResult::Advance;
}

// Structure
// -----------------------------------------------------------------------

static void moveBeside(const OpPtr &self, const OpPtr &other, bool after) {
  mlir::Operation *anchor = other->get();
  if (!anchor->getBlock())
    throw nb::value_error("the other operation is in no block");
  if (self == other)
    return;
  insertOp(self, BlockRef::of(other->tree, anchor->getBlock()),
           after ? anchor->getNextNode() : anchor);
}

static void bindStructure(nb::class_<Op> &cls) {
  cls.def_prop_ro(
         "parent",
         [](const OpPtr &self) -> OpPtr {
           mlir::Operation *parent = self->get()->getParentOp();
           return parent ? Op::of(self->tree, parent) : nullptr;
         },
         nb::for_getter(nb::sig("def parent(self) -> Operation | None")))
      .def_prop_ro(
          "block",
          [](const OpPtr &self) -> BlockPtr {
            mlir::Block *block = self->get()->getBlock();
            return block ? BlockRef::of(self->tree, block) : nullptr;
          },
          nb::for_getter(nb::sig("def block(self) -> Block | None")))
      .def_prop_ro(
          "attached",
          [](const OpPtr &self) { return self->get()->getBlock() != nullptr; })
      .def(
          "clone",
          [](const OpPtr &self, nb::object ip) {
            InsertionPointPtr where = resolve(ip, self->context());
            mlir::Operation *original = self->get();
            OpPtr copy = Op::own(self->context(), original->clone());
            // The copy uses whatever the original uses from outside.
            copy->tree->link(self->tree);
            for (const TreePtr &used : self->tree->keepAlive)
              copy->tree->link(used);
            if (where)
              where->insert(copy);
            return copy;
          },
          nb::arg("ip") = nb::none(),
          nb::sig("def clone(self, ip: InsertionPoint | bool | None = None) -> "
                  "Operation"),
          "A copy, inserted at `ip` or the current insertion point.")
      .def("erase", &eraseOp,
           "Erases the operation; ValueError while something uses it.")
      .def("detach_from_parent",
           [](const OpPtr &self) {
             detachOp(self);
             return self;
           })
      .def(
          "move_before",
          [](const OpPtr &self, const OpPtr &other) {
            moveBeside(self, other, false);
          },
          nb::arg("other"))
      .def(
          "move_after",
          [](const OpPtr &self, const OpPtr &other) {
            moveBeside(self, other, true);
          },
          nb::arg("other"))
      .def(
          "is_before_in_block",
          [](const OpPtr &self, const OpPtr &other) {
            if (!self->get()->getBlock() ||
                self->get()->getBlock() != other->get()->getBlock())
              throw nb::value_error("the operations are not in one block");
            return self->get()->isBeforeInBlock(other->get());
          },
          nb::arg("other"));
}

void lodestone::python::bindOperation(nb::module_ &m) {
  bindAttributeMap(m);
  nb::enum_<WalkOrder>(m, "WalkOrder")
      .value("PRE_ORDER", WalkOrder::PreOrder)
      .value("POST_ORDER", WalkOrder::PostOrder);
  nb::enum_<WalkResult>(m, "WalkResult")
      .value("ADVANCE", WalkResult::Advance)
      .value("INTERRUPT", WalkResult::Interrupt)
      .value("SKIP", WalkResult::Skip);

  auto cls = nb::borrow<nb::class_<Op>>(m.attr("Operation"));
  cls.def_static(
         "create", &create, nb::arg("name"), nb::arg("results") = nb::none(),
         nb::arg("operands") = nb::none(), nb::arg("attributes") = nb::none(),
         nb::arg("successors") = nb::none(), nb::arg("regions") = 0,
         nb::arg("loc") = nb::none(), nb::arg("ip") = nb::none(),
         nb::sig("def create(name: str, results: "
                 "collections.abc.Sequence[Type] | None = None, operands: "
                 "collections.abc.Sequence[Value] | None = None, attributes: "
                 "collections.abc.Mapping[str, Attribute] | None = None, "
                 "successors: collections.abc.Sequence[Block] | None = None, "
                 "regions: int = 0, loc: Location | None = None, ip: "
                 "InsertionPoint | bool | None = None) -> Operation"),
         "Makes an operation and inserts it at `ip`, or the current insertion "
         "point; nowhere with ip=False. Nothing is verified yet.")
      .def_prop_ro("operation", [](const OpPtr &self) { return self; })
      .def_prop_ro("name",
                   [](const OpPtr &self) {
                     return self->get()->getName().getStringRef().str();
                   })
      .def_prop_ro("context", [](const OpPtr &self) { return self->context(); })
      .def_prop_rw(
          "location",
          [](const OpPtr &self) {
            return Location{self->context(), self->get()->getLoc()};
          },
          [](const OpPtr &self, const Location &location) {
            requireSameContext(self->context(), location.context, "location");
            self->get()->setLoc(location.value);
          })
      .def_prop_ro("attributes",
                   [](const OpPtr &self) {
                     self->get();
                     return AttributeMap{self};
                   })
      .def(
          "verify",
          [](const OpPtr &self) {
            ensureVerified(*self, "verification failed");
            return true;
          },
          "Raises MLIRError if the operation or one inside is invalid.")
      .def(
          "walk",
          [](const OpPtr &self,
             nb::typed<nb::callable, std::optional<WalkResult>(Op)> callback,
             WalkOrder order) { walk(self, callback, order); },
          nb::arg("callback"), nb::arg("walk_order") = WalkOrder::PostOrder,
          nb::sig(
              "def walk(self, callback: collections.abc.Callable[[Operation], "
              "WalkResult | None], walk_order: WalkOrder = ...) -> "
              "None"),
          "Calls `callback` with the operation and all inside it.");
  bindStructure(cls);
  bindOperationText(cls);
}
