//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Regions, blocks and insertion points.
///
//===----------------------------------------------------------------------===//

#include "Sequence.h"
#include "Uniqued.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/OpDefinition.h"

using namespace lodestone::python;

namespace {
struct RegionList {
  OpPtr op;
  size_t size() const { return op->get()->getNumRegions(); }
  RegionRef at(size_t i) const { return {op, static_cast<unsigned>(i)}; }
};
struct BlockList {
  RegionRef region;
  size_t size() const { return llvm::range_size(region.get()); }
  BlockPtr at(size_t i) const {
    if (i >= size())
      throw nb::index_error("block out of range");
    return BlockRef::of(region.owner->tree,
                        &*std::next(region.get().begin(), i));
  }
};
struct OperationList {
  BlockPtr block;
  size_t size() const { return llvm::range_size(*block->get()); }
  OpPtr at(size_t i) const {
    if (i >= size())
      throw nb::index_error("operation out of range");
    return Op::of(block->tree, &*std::next(block->get()->begin(), i));
  }
};
/// Steps through a block. The next operation is held while Python works on the
/// one it was given, which may thus be erased or moved.
struct OperationIterator {
  OpPtr next;
  OpPtr step() {
    if (!next)
      throw nb::stop_iteration();
    OpPtr result = next;
    mlir::Operation *following = result->get()->getNextNode();
    next = following ? Op::of(result->tree, following) : nullptr;
    return result;
  }
};
struct ArgumentList {
  BlockPtr block;
  size_t size() const { return block->get()->getNumArguments(); }
  BlockArgument at(size_t i) const {
    if (i >= size())
      throw nb::index_error("argument out of range");
    return BlockArgument{{nullptr, block, static_cast<unsigned>(i)}};
  }
};
struct SuccessorList {
  OpPtr op;
  size_t size() const { return op->get()->getNumSuccessors(); }
  BlockPtr at(size_t i) const {
    mlir::Block *block = op->get()->getSuccessor(i);
    return BlockRef::of(Tree::of(*op->context(), block->getParentOp()), block);
  }
};
} // namespace

/// Makes a block with arguments of `types`, at `where` in `region`.
static BlockPtr createBlock(const TreePtr &tree, mlir::Region &region,
                            mlir::Region::iterator where,
                            const std::vector<Type> &types,
                            const std::optional<std::vector<Location>> &locs) {
  if (locs && locs->size() != types.size())
    throw nb::value_error(("there are " + llvm::Twine(types.size()) +
                           " arguments and " + llvm::Twine(locs->size()) +
                           " locations")
                              .str()
                              .c_str());
  llvm::SmallVector<mlir::Type> argTypes = unwrap(tree->context, types);
  llvm::SmallVector<mlir::Location> argLocs;
  for (size_t i = 0; i < types.size(); ++i) {
    Location loc = locs ? (*locs)[i] : locationOrCurrent(nullptr);
    requireSameContext(tree->context, loc.context, "location");
    argLocs.push_back(loc.value);
  }
  tree->verified = false;
  auto *block = new mlir::Block;
  block->addArguments(argTypes, argLocs);
  region.getBlocks().insert(where, block);
  return BlockRef::of(tree, block);
}

static std::vector<Type> toTypes(nb::args args) {
  std::vector<Type> types;
  for (nb::handle arg : args) {
    const Type *type = nullptr;
    if (!nb::try_cast(arg, type) || !type)
      throw nb::type_error("the arguments of a block are given by their types");
    types.push_back(*type);
  }
  return types;
}

static BlockPtr createBeside(const BlockPtr &self, bool after, nb::args types,
                             std::optional<std::vector<Location>> locs) {
  mlir::Block *block = self->change();
  mlir::Region::iterator where = block->getIterator();
  return createBlock(self->tree, *block->getParent(),
                     after ? std::next(where) : where, toTypes(types), locs);
}

static void bindRegion(nb::module_ &m) {
  nb::class_<RegionRef>(m, "Region", "A region of an operation.")
      .def_prop_ro("blocks",
                   [](const RegionRef &self) {
                     self.get();
                     return BlockList{self};
                   })
      .def_prop_ro("owner",
                   [](const RegionRef &self) {
                     self.get();
                     return self.owner;
                   })
      .def("__iter__",
           [](const RegionRef &self) {
             return nb::typed<nb::iterator, BlockRef>(
                 nb::iter(nb::cast(BlockList{self})));
           })
      .def(
          "__eq__",
          [](const RegionRef &self, nb::handle other) {
            return nb::isinstance<RegionRef>(other) &&
                   &self.get() == &nb::cast<const RegionRef &>(other).get();
          },
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [](const RegionRef &self) {
        return reinterpret_cast<size_t>(&self.get());
      });

  bindSequence<RegionList, RegionRef>(m, "RegionSequence");
  bindSequence<BlockList, BlockRef>(m, "BlockList")
      .def(
          "append",
          [](const BlockList &self, nb::args types,
             std::optional<std::vector<Location>> locs) {
            mlir::Region &region = self.region.get();
            return createBlock(self.region.owner->tree, region, region.end(),
                               toTypes(types), locs);
          },
          nb::arg("args"), nb::kw_only(), nb::arg("arg_locs") = nb::none(),
          nb::sig("def append(self, *args: Type, arg_locs: "
                  "collections.abc.Sequence[Location] | None = None) -> Block"),
          "Adds a block with arguments of the given types.");
  bindSequence<SuccessorList, BlockRef>(m, "OpSuccessors");
  bindSequence<ArgumentList, BlockArgument>(m, "BlockArgumentList")
      .def_prop_ro("types", [](const ArgumentList &self) {
        std::vector<PyType> types;
        for (mlir::Type type : self.block->get()->getArgumentTypes())
          types.push_back(toPython(self.block->context(), type));
        return types;
      });
  nb::class_<OperationIterator>(m, "OperationIterator")
      .def(
          "__iter__", [](nb::handle self) { return nb::borrow(self); },
          nb::sig("def __iter__(self) -> OperationIterator"))
      .def("__next__", &OperationIterator::step);
  auto list = bindSequence<OperationList, Op>(m, "OperationList");
  nb::delattr(list, "__iter__");
  list.def("__iter__", [](const OperationList &self) {
    mlir::Block *block = self.block->get();
    return OperationIterator{
        block->empty() ? nullptr : Op::of(self.block->tree, &block->front())};
  });

  auto op = nb::borrow<nb::class_<Op>>(m.attr("Operation"));
  op.def_prop_ro("regions", [](const OpPtr &self) {
      return RegionList{self};
    }).def_prop_ro("successors", [](const OpPtr &self) {
    return SuccessorList{self};
  });
}

static std::string blockText(const BlockPtr &self) {
  std::string text;
  llvm::raw_string_ostream os(text);
  self->get()->print(os);
  return text;
}

void lodestone::python::bindBlocks(nb::module_ &m) {
  bindRegion(m);
  auto cls = nb::borrow<nb::class_<BlockRef>>(m.attr("Block"));
  cls.def_static(
         "create_at_start",
         [](const RegionRef &region, const std::vector<Type> &types,
            const std::optional<std::vector<Location>> &locs) {
           mlir::Region &parent = region.get();
           return createBlock(region.owner->tree, parent, parent.begin(), types,
                              locs);
         },
         nb::arg("parent"), nb::arg("arg_types") = nb::list(),
         nb::arg("arg_locs") = nb::none())
      .def(
          "create_before",
          [](const BlockPtr &self, nb::args types,
             std::optional<std::vector<Location>> locs) {
            return createBeside(self, false, types, locs);
          },
          nb::arg("arg_types"), nb::kw_only(), nb::arg("arg_locs") = nb::none(),
          nb::sig("def create_before(self, *arg_types: Type, arg_locs: "
                  "collections.abc.Sequence[Location] | None = None) -> Block"))
      .def(
          "create_after",
          [](const BlockPtr &self, nb::args types,
             std::optional<std::vector<Location>> locs) {
            return createBeside(self, true, types, locs);
          },
          nb::arg("arg_types"), nb::kw_only(), nb::arg("arg_locs") = nb::none(),
          nb::sig("def create_after(self, *arg_types: Type, arg_locs: "
                  "collections.abc.Sequence[Location] | None = None) -> Block"))
      .def_prop_ro("owner",
                   [](const BlockPtr &self) {
                     return Op::of(self->tree, self->get()->getParentOp());
                   })
      .def_prop_ro("region",
                   [](const BlockPtr &self) {
                     mlir::Block *block = self->get();
                     return RegionRef{Op::of(self->tree, block->getParentOp()),
                                      block->getParent()->getRegionNumber()};
                   })
      .def_prop_ro("arguments",
                   [](const BlockPtr &self) {
                     self->get();
                     return ArgumentList{self};
                   })
      .def(
          "add_argument",
          [](const BlockPtr &self, const Type &type, const Location *loc) {
            Location where = locationOrCurrent(loc);
            requireSameContext(self->context(), type.context, "type");
            requireSameContext(self->context(), where.context, "location");
            self->change()->addArgument(type.value, where.value);
            return ArgumentList{self}.at(self->get()->getNumArguments() - 1);
          },
          nb::arg("type"), nb::arg("loc") = nb::none())
      .def_prop_ro("operations",
                   [](const BlockPtr &self) {
                     self->get();
                     return OperationList{self};
                   })
      .def("__iter__",
           [](const BlockPtr &self) {
             mlir::Block *block = self->get();
             return OperationIterator{
                 block->empty() ? nullptr
                                : Op::of(self->tree, &block->front())};
           })
      .def(
          "append",
          [](const BlockPtr &self, const OpPtr &op) {
            insertOp(op, self, nullptr);
          },
          nb::arg("operation"), "Moves the operation to the end of the block.")
      .def("erase", &eraseBlock,
           "Erases the block; ValueError while something uses it.")
      .def_prop_ro(
          "next_in_region",
          [](const BlockPtr &self) -> BlockPtr {
            mlir::Block *next = self->get()->getNextNode();
            return next ? BlockRef::of(self->tree, next) : nullptr;
          },
          nb::for_getter(nb::sig("def next_in_region(self) -> Block | None")))
      .def_prop_ro(
          "predecessors",
          [](const BlockPtr &self) {
            std::vector<BlockPtr> result;
            for (mlir::Block *block : self->get()->getPredecessors())
              if (block && block->getParentOp())
                result.push_back(BlockRef::of(
                    Tree::of(*self->context(), block->getParentOp()), block));
            return result;
          })
      .def_prop_ro(
          "successors",
          [](const BlockPtr &self) {
            std::vector<BlockPtr> result;
            mlir::Block *block = self->get();
            if (!block->empty())
              for (mlir::Block *next : block->back().getSuccessors())
                result.push_back(BlockRef::of(
                    Tree::of(*self->context(), next->getParentOp()), next));
            return result;
          })
      .def("__str__", &blockText);
}

void InsertionPoint::insert(const OpPtr &op) const {
  if (op->get()->getBlock())
    throw nb::value_error("the operation is in a block already; use "
                          "move_before, move_after or Block.append");
  if (before && before->get()->getBlock() != block->get())
    throw nb::value_error("the operation that the insertion point refers to "
                          "has left the block");
  insertOp(op, block, before ? before->get() : nullptr);
}

void lodestone::python::bindInsertionPoint(nb::module_ &m) {
  auto before = [](const OpPtr &op) {
    mlir::Block *block = op->get()->getBlock();
    if (!block)
      throw nb::value_error("the operation is in no block");
    return std::make_shared<InsertionPoint>(
        InsertionPoint{BlockRef::of(op->tree, block), op});
  };
  auto cls = nb::borrow<nb::class_<InsertionPoint>>(m.attr("InsertionPoint"));
  cls.def(nb::new_([](const BlockPtr &block) {
            block->get();
            return std::make_shared<InsertionPoint>(
                InsertionPoint{block, nullptr});
          }),
          nb::arg("block"), "At the end of a block.")
      .def(nb::new_(before), nb::arg("beforeOperation"), "Before an operation.")
      .def_static(
          "at_block_begin",
          [](const BlockPtr &block) {
            mlir::Block *ir = block->get();
            return std::make_shared<InsertionPoint>(InsertionPoint{
                block,
                ir->empty() ? nullptr : Op::of(block->tree, &ir->front())});
          },
          nb::arg("block"))
      .def_static(
          "at_block_terminator",
          [](const BlockPtr &block) {
            mlir::Block *ir = block->get();
            if (ir->empty() ||
                !ir->back().mightHaveTrait<mlir::OpTrait::IsTerminator>())
              throw nb::value_error("the block has no terminator");
            return std::make_shared<InsertionPoint>(
                InsertionPoint{block, Op::of(block->tree, &ir->back())});
          },
          nb::arg("block"))
      .def_static(
          "after",
          [](const OpPtr &op) {
            mlir::Block *block = op->get()->getBlock();
            if (!block)
              throw nb::value_error("the operation is in no block");
            mlir::Operation *next = op->get()->getNextNode();
            return std::make_shared<InsertionPoint>(
                InsertionPoint{BlockRef::of(op->tree, block),
                               next ? Op::of(op->tree, next) : nullptr});
          },
          nb::arg("operation"))
      .def("insert", &InsertionPoint::insert, nb::arg("operation"))
      .def_prop_ro("block",
                   [](const InsertionPoint &self) { return self.block; })
      .def_prop_ro(
          "ref_operation",
          [](const InsertionPoint &self) { return self.before; },
          nb::for_getter(
              nb::sig("def ref_operation(self) -> Operation | None")));
}
