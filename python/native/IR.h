//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// How Python objects hold IR. Nothing on the Python side holds a bare pointer
/// into IR that someone else may free:
///
///  - A `Tree` owns one detached top-level operation with all that is inside.
///  - An `Op` or a `BlockRef` is a handle, registered by address in its
///  context,
///    at most one for each operation or block. It keeps its tree alive. Who
///    erases IR invalidates the handles inside first; a handle that is invalid
///    raises on use.
///  - A `Value`, a `RegionRef` and an `OperandRef` are a handle and a number,
///    looked up again on each use.
///  - Types, attributes and locations are uniqued by the context and keep it
///    alive.
///
/// Trees that use each other's values (an operation that is built detached,
/// say) keep each other alive, see `Tree::keepAlive`.
///
/// Everything here runs under the GIL, except where a pass, a parser or the
/// verifier works (`capturing`); a tree is then marked busy, and using it from
/// another thread raises.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_PYTHON_IR_H
#define LODESTONE_PYTHON_IR_H

#include "mlir/IR/Block.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>

#include <memory>
#include <string>
#include <vector>

namespace nb = nanobind;

namespace lodestone::python {

class Op;
class BlockRef;
struct Tree;
class PyDiagnosticHandler;

/// An MLIR context and the handles into its IR.
class ContextState : public std::enable_shared_from_this<ContextState> {
public:
  ContextState();
  ~ContextState();

  mlir::MLIRContext context;
  llvm::DenseMap<mlir::Operation *, Op *> ops;
  llvm::DenseMap<mlir::Block *, BlockRef *> blocks;
  llvm::DenseMap<mlir::Operation *, Tree *> trees;
  std::vector<std::shared_ptr<PyDiagnosticHandler>> handlers;
  /// Passes that run with the GIL released; guards context-wide switches.
  unsigned running = 0;
};
using ContextPtr = std::shared_ptr<ContextState>;

/// Owner of a detached top-level operation.
struct Tree : std::enable_shared_from_this<Tree> {
  Tree(ContextPtr context, mlir::Operation *top);
  ~Tree();

  /// The tree that `op` is in. Each top-level operation has one.
  static std::shared_ptr<Tree> of(ContextState &context, mlir::Operation *op);
  /// Notes that this tree uses a value or block of `definition`.
  void link(const std::shared_ptr<Tree> &definition);
  /// Raises when a pass works on the tree.
  void requireIdle() const;

  ContextPtr context;
  /// Null once the operation was put into another tree.
  mlir::Operation *top;
  /// Trees whose values or blocks this one uses.
  std::vector<std::shared_ptr<Tree>> keepAlive;
  /// Another tree may use values of this one.
  bool hasForeignUsers = false;
  /// The verifier passed and nothing was changed since. Only then may a
  /// printer, a pass or the bytecode writer rely on the operations' invariants.
  bool verified = false;
  bool busy = false;
};
using TreePtr = std::shared_ptr<Tree>;

/// The handle of an operation.
class Op : public std::enable_shared_from_this<Op> {
public:
  Op(TreePtr tree, mlir::Operation *op) : tree(std::move(tree)), op(op) {}
  ~Op();

  /// The one handle of `op`, which is in `tree`.
  static std::shared_ptr<Op> of(const TreePtr &tree, mlir::Operation *op);
  /// Takes ownership of the detached `op`.
  static std::shared_ptr<Op> own(const ContextPtr &context,
                                 mlir::Operation *op);

  /// The operation; raises if it was erased or is being worked on.
  mlir::Operation *get() const;
  /// The same, for a caller that changes the operation.
  mlir::Operation *change() const {
    mlir::Operation *result = get();
    tree->verified = false;
    return result;
  }
  const ContextPtr &context() const { return tree->context; }

  TreePtr tree;
  mlir::Operation *op;
};
using OpPtr = std::shared_ptr<Op>;

/// The handle of a block.
class BlockRef : public std::enable_shared_from_this<BlockRef> {
public:
  BlockRef(TreePtr tree, mlir::Block *block)
      : tree(std::move(tree)), block(block) {}
  ~BlockRef();

  static std::shared_ptr<BlockRef> of(const TreePtr &tree, mlir::Block *block);
  mlir::Block *get() const;
  mlir::Block *change() const {
    mlir::Block *result = get();
    tree->verified = false;
    return result;
  }
  const ContextPtr &context() const { return tree->context; }

  TreePtr tree;
  mlir::Block *block;
};
using BlockPtr = std::shared_ptr<BlockRef>;

/// A region: number `index` of its operation.
struct RegionRef {
  OpPtr owner;
  unsigned index;
  mlir::Region &get() const;
};

/// A value: result `index` of an operation or argument `index` of a block.
struct Value {
  OpPtr op;
  BlockPtr block;
  unsigned index;

  mlir::Value get() const;
  const TreePtr &tree() const { return op ? op->tree : block->tree; }
  const ContextPtr &context() const { return tree()->context; }
};
struct OpResult : Value {};
struct BlockArgument : Value {};

/// Operand `index` of an operation.
struct OperandRef {
  OpPtr owner;
  unsigned index;
  mlir::OpOperand &get() const;
};

/// What the context uniques, and the context.
template <typename T> struct Uniqued {
  ContextPtr context;
  T value;
  bool operator==(const Uniqued &other) const { return value == other.value; }
};
using Type = Uniqued<mlir::Type>;
using Attribute = Uniqued<mlir::Attribute>;
using Location = Uniqued<mlir::LocationAttr>;

/// A Python object of the most derived class that is bound. The second
/// parameter only names the class in the signature.
using PyType = nb::typed<nb::object, Type>;
using PyAttribute = nb::typed<nb::object, Attribute>;
using PyValue = nb::typed<nb::object, Value>;
PyType toPython(const ContextPtr &context, mlir::Type type);
PyAttribute toPython(const ContextPtr &context, mlir::Attribute attribute);
/// `value` is of `user` or of a tree that it uses.
PyValue toPython(const TreePtr &user, mlir::Value value);

/// Where new operations go: before `before`, or at the end of `block`.
struct InsertionPoint {
  BlockPtr block;
  OpPtr before;
  void insert(const OpPtr &op) const;
};
using InsertionPointPtr = std::shared_ptr<InsertionPoint>;

// Changes of the tree structure (Lifetime.cpp). ------------------------------

/// Puts `op`, wherever it is now, into `block` before `before` (null: at the
/// end) and moves the handles and the ownership along. Raises if `block` is in
/// `op`.
void insertOp(const OpPtr &op, const BlockPtr &block, mlir::Operation *before);
/// Takes `op` out of its block; it becomes a tree of its own.
void detachOp(const OpPtr &op);
/// Erases `op`. Raises if anything outside uses a value or block inside.
void eraseOp(const OpPtr &op);
/// Erases `block`, with the same condition.
void eraseBlock(const BlockPtr &block);
/// Invalidates the handles of everything inside `op`, but not its own.
void invalidateInside(const OpPtr &op);
/// Whether something outside `op` uses a value or a block of it.
bool isUsedOutside(mlir::Operation *op);

// What surrounds the caller (Context.cpp). -----------------------------------

/// `given`, or else the context of the innermost `with`. Raises if none.
ContextPtr contextOrCurrent(ContextState *given);
/// `given`, or else the location of the innermost `with`. Raises if none.
Location locationOrCurrent(const Location *given);
/// The insertion point of the innermost `with`, or null.
InsertionPointPtr currentInsertionPoint();

/// Raises ValueError unless both are of one context.
void requireSameContext(const ContextPtr &expected, const ContextPtr &actual,
                        const char *what);

// Registration, one function a file. -----------------------------------------

void bindDiagnostics(nb::module_ &m);
void bindContext(nb::module_ &m);
void bindLocation(nb::module_ &m);
void bindTypes(nb::module_ &m);
void bindShapedTypes(nb::module_ &m);
void bindAttributes(nb::module_ &m);
void bindArrayAttributes(nb::module_ &m);
void bindElements(nb::module_ &m);
void bindValues(nb::module_ &m);
void bindOperation(nb::module_ &m);
void bindOperationText(nb::class_<Op> &cls);
void bindBlocks(nb::module_ &m);
void bindInsertionPoint(nb::module_ &m);
void bindModule(nb::module_ &m);
void bindSymbolTable(nb::module_ &m);
void bindPassManager(nb::module_ &m);
void bindRemarks(nb::module_ &m);
void bindCompile(nb::module_ &m);
void bindAnalysis(nb::module_ &m);
void bindTDM(nb::module_ &m);
void bindSwizzle(nb::module_ &m);

} // namespace lodestone::python

#endif // LODESTONE_PYTHON_IR_H
