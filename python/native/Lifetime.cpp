//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Ownership: trees, handles, and the changes of structure that move them.
///
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"

#include "mlir/IR/Verifier.h"

using namespace lodestone::python;

// Trees -----------------------------------------------------------------------

Tree::Tree(ContextPtr context, mlir::Operation *top)
    : context(std::move(context)), top(top) {
  this->context->trees[top] = this;
}

Tree::~Tree() {
  if (!top)
    return;
  context->trees.erase(top);
  top->dropAllReferences();
  top->erase();
}

static mlir::Operation *topOf(mlir::Operation *op) {
  while (mlir::Operation *parent = op->getParentOp())
    op = parent;
  return op;
}

TreePtr Tree::of(ContextState &context, mlir::Operation *op) {
  Tree *tree = context.trees.lookup(topOf(op));
  if (!tree)
    throw std::runtime_error("the operation is in no tree that Python owns");
  return tree->shared_from_this();
}

void Tree::link(const TreePtr &definition) {
  if (definition.get() == this)
    return;
  definition->hasForeignUsers = true;
  for (const TreePtr &known : keepAlive)
    if (known == definition)
      return;
  keepAlive.push_back(definition);
}

void Tree::requireIdle() const {
  if (busy)
    throw std::runtime_error(
        "the operation is in use by a pass manager or a compilation");
}

// Handles ---------------------------------------------------------------------

Op::~Op() {
  if (op)
    tree->context->ops.erase(op);
}

OpPtr Op::of(const TreePtr &tree, mlir::Operation *op) {
  auto [entry, isNew] = tree->context->ops.try_emplace(op, nullptr);
  if (!isNew)
    return entry->second->shared_from_this();
  auto handle = std::make_shared<Op>(tree, op);
  entry->second = handle.get();
  return handle;
}

OpPtr Op::own(const ContextPtr &context, mlir::Operation *op) {
  return of(std::make_shared<Tree>(context, op), op);
}

mlir::Operation *Op::get() const {
  if (!op)
    throw std::runtime_error("the operation has been invalidated");
  tree->requireIdle();
  return op;
}

BlockRef::~BlockRef() {
  if (block)
    tree->context->blocks.erase(block);
}

BlockPtr BlockRef::of(const TreePtr &tree, mlir::Block *block) {
  auto [entry, isNew] = tree->context->blocks.try_emplace(block, nullptr);
  if (!isNew)
    return entry->second->shared_from_this();
  auto handle = std::make_shared<BlockRef>(tree, block);
  entry->second = handle.get();
  return handle;
}

mlir::Block *BlockRef::get() const {
  if (!block)
    throw std::runtime_error("the block has been invalidated");
  tree->requireIdle();
  return block;
}

mlir::Region &RegionRef::get() const {
  mlir::Operation *op = owner->get();
  if (index >= op->getNumRegions())
    throw std::runtime_error("the region has been invalidated");
  return op->getRegion(index);
}

mlir::Value Value::get() const {
  if (op) {
    mlir::Operation *owner = op->get();
    if (index < owner->getNumResults())
      return owner->getResult(index);
  } else {
    mlir::Block *owner = block->get();
    if (index < owner->getNumArguments())
      return owner->getArgument(index);
  }
  throw std::runtime_error("the value has been invalidated");
}

mlir::OpOperand &OperandRef::get() const {
  mlir::Operation *op = owner->get();
  if (index >= op->getNumOperands())
    throw std::runtime_error("the operand has been invalidated");
  return op->getOpOperand(index);
}

PyValue lodestone::python::toPython(const TreePtr &user, mlir::Value value) {
  // Only a tree that uses others can meet a value that is not its own.
  auto treeOf = [&](mlir::Operation *owner) {
    return user->keepAlive.empty() ? user : Tree::of(*user->context, owner);
  };
  if (auto result = mlir::dyn_cast<mlir::OpResult>(value)) {
    mlir::Operation *owner = result.getOwner();
    return PyValue(nb::cast(OpResult{
        {Op::of(treeOf(owner), owner), nullptr, result.getResultNumber()}}));
  }
  auto argument = mlir::cast<mlir::BlockArgument>(value);
  mlir::Block *block = argument.getOwner();
  return PyValue(nb::cast(
      BlockArgument{{nullptr, BlockRef::of(treeOf(block->getParentOp()), block),
                     argument.getArgNumber()}}));
}

// Walks over handles
// ------------------------------------------------------------

/// Calls `onBlock` for each block and `onOp` for each operation inside `root`
/// and, last, for `root` itself.
template <typename OnBlock, typename OnOp>
static void walkTree(mlir::Operation *root, OnBlock onBlock, OnOp onOp) {
  root->walk([&](mlir::Operation *op) {
    for (mlir::Region &region : op->getRegions())
      for (mlir::Block &block : region)
        onBlock(&block);
    onOp(op);
  });
}

static void invalidate(ContextState &context, mlir::Operation *op) {
  auto entry = context.ops.find(op);
  if (entry == context.ops.end())
    return;
  entry->second->op = nullptr;
  context.ops.erase(entry);
}

static void invalidate(ContextState &context, mlir::Block *block) {
  auto entry = context.blocks.find(block);
  if (entry == context.blocks.end())
    return;
  entry->second->block = nullptr;
  context.blocks.erase(entry);
}

void lodestone::python::invalidateInside(const OpPtr &op) {
  ContextState &context = *op->context();
  mlir::Operation *root = op->get();
  // The handles are usually far fewer than the operations: ask each where it
  // is.
  std::vector<mlir::Operation *> ops;
  for (auto &[inner, handle] : context.ops)
    if (handle->tree == op->tree && root->isProperAncestor(inner))
      ops.push_back(inner);
  std::vector<mlir::Block *> blocks;
  for (auto &[block, handle] : context.blocks)
    if (handle->tree == op->tree && block->getParentOp() &&
        root->isAncestor(block->getParentOp()))
      blocks.push_back(block);
  for (mlir::Operation *inner : ops)
    invalidate(context, inner);
  for (mlir::Block *block : blocks)
    invalidate(context, block);
}

/// Whether a use of a value or block in `blocks` or of a result in `ops` is by
/// an operation for which `isInside` does not hold.
static bool hasOutsideUse(mlir::Operation *op,
                          llvm::function_ref<bool(mlir::Operation *)> inside) {
  for (mlir::Operation *user : op->getUsers())
    if (!inside(user))
      return true;
  return false;
}

static bool hasOutsideUse(mlir::Block *block,
                          llvm::function_ref<bool(mlir::Operation *)> inside) {
  for (mlir::BlockOperand &use : block->getUses())
    if (!inside(use.getOwner()))
      return true;
  for (mlir::BlockArgument argument : block->getArguments())
    for (mlir::Operation *user : argument.getUsers())
      if (!inside(user))
        return true;
  return false;
}

bool lodestone::python::isUsedOutside(mlir::Operation *root) {
  bool found = false;
  auto inside = [&](mlir::Operation *user) { return root->isAncestor(user); };
  walkTree(
      root, [&](mlir::Block *b) { found = found || hasOutsideUse(b, inside); },
      [&](mlir::Operation *op) { found = found || hasOutsideUse(op, inside); });
  return found;
}

// Changes of structure
// ----------------------------------------------------------

/// Hands everything in `root` to `tree`, handles and links.
static void adopt(mlir::Operation *root, const TreePtr &tree) {
  ContextState &context = *tree->context;
  auto linkUser = [&](mlir::Operation *user) {
    if (!root->isAncestor(user))
      Tree::of(context, user)->link(tree);
  };
  walkTree(
      root,
      [&](mlir::Block *block) {
        if (BlockRef *handle = context.blocks.lookup(block))
          handle->tree = tree;
        for (mlir::BlockOperand &use : block->getUses())
          linkUser(use.getOwner());
        for (mlir::BlockArgument argument : block->getArguments())
          llvm::for_each(argument.getUsers(), linkUser);
      },
      [&](mlir::Operation *op) {
        if (Op *handle = context.ops.lookup(op))
          handle->tree = tree;
        llvm::for_each(op->getUsers(), linkUser);
        auto linkDefinition = [&](mlir::Operation *owner) {
          if (owner && !root->isAncestor(owner))
            tree->link(Tree::of(context, owner));
        };
        for (mlir::Value operand : op->getOperands())
          linkDefinition(operand.getParentBlock()
                             ? operand.getParentBlock()->getParentOp()
                             : operand.getDefiningOp());
        for (mlir::Block *successor : op->getSuccessors())
          linkDefinition(successor->getParentOp());
      });
}

void lodestone::python::insertOp(const OpPtr &handle, const BlockPtr &blockRef,
                                 mlir::Operation *before) {
  mlir::Operation *op = handle->change();
  mlir::Block *block = blockRef->change();
  requireSameContext(blockRef->context(), handle->context(), "operation");
  for (mlir::Operation *p = block->getParentOp(); p; p = p->getParentOp())
    if (p == op)
      throw nb::value_error("an operation cannot be moved into itself");
  if (before == op)
    return;
  const TreePtr oldTree = handle->tree;
  const bool wasTop = !op->getBlock();
  if (!wasTop)
    op->remove();
  block->getOperations().insert(before ? before->getIterator() : block->end(),
                                op);
  if (oldTree == blockRef->tree)
    return;
  if (wasTop) {
    oldTree->top = nullptr;
    oldTree->context->trees.erase(op);
  }
  adopt(op, blockRef->tree);
  // Not before: what the operation uses has a new keeper only now.
  if (wasTop)
    oldTree->keepAlive.clear();
}

void lodestone::python::detachOp(const OpPtr &handle) {
  mlir::Operation *op = handle->change();
  if (!op->getBlock())
    throw nb::value_error("a detached operation has no parent");
  const TreePtr oldTree = handle->tree;
  op->remove();
  adopt(op, std::make_shared<Tree>(oldTree->context, op));
}

void lodestone::python::eraseOp(const OpPtr &handle) {
  mlir::Operation *op = handle->change();
  if (isUsedOutside(op))
    throw nb::value_error("the operation cannot be erased: a result or "
                          "something inside is still used");
  ContextState &context = *handle->context();
  const TreePtr tree = handle->tree;
  invalidateInside(handle);
  invalidate(context, op);
  if (!op->getBlock()) {
    tree->top = nullptr;
    context.trees.erase(op);
  }
  op->dropAllReferences();
  op->erase();
}

void lodestone::python::eraseBlock(const BlockPtr &handle) {
  mlir::Block *block = handle->change();
  ContextState &context = *handle->context();
  auto inside = [&](mlir::Operation *user) {
    return block->findAncestorOpInBlock(*user) != nullptr;
  };
  bool used = hasOutsideUse(block, inside);
  for (mlir::Operation &op : *block)
    walkTree(
        &op, [&](mlir::Block *b) { used = used || hasOutsideUse(b, inside); },
        [&](mlir::Operation *o) { used = used || hasOutsideUse(o, inside); });
  if (used)
    throw nb::value_error("the block cannot be erased: it, an argument or "
                          "something inside is still used");
  for (mlir::Operation &op : *block)
    walkTree(
        &op, [&](mlir::Block *b) { invalidate(context, b); },
        [&](mlir::Operation *o) { invalidate(context, o); });
  invalidate(context, block);
  block->dropAllReferences();
  block->erase();
}

void lodestone::python::ensureVerified(const Op &op,
                                       const std::string &message) {
  mlir::Operation *ir = op.get();
  if (op.tree->verified)
    return;
  {
    BusyScope busy(op.tree);
    capturing(op.context(), message, [&] { return mlir::verify(ir); });
  }
  if (ir == op.tree->top)
    op.tree->verified = true;
}
