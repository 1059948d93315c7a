//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The lattice of LDSProvenance and the footprint of an access. The transfer
/// functions are in LDSProvenanceTransfer.cpp.
///
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/LDSProvenance.h"
#include "lodestone/Analysis/Kernels.h"
#include "lodestone/Analysis/LDSAccess.h"
#include "lodestone/Dialect/LDS/IR/LDSDialect.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace lodestone;

//===----------------------------------------------------------------------===//
// The lattice
//===----------------------------------------------------------------------===//

bool Provenance::mayBeAddress() const {
  return isTop || llvm::any_of(elements, [](const ProvenanceElement &element) {
           return element.object != nullptr;
         });
}

static bool contains(const ConstantIntRanges &outer,
                     const ConstantIntRanges &inner) {
  return outer.smin().sle(inner.smin()) && outer.smax().sge(inner.smax()) &&
         outer.umin().ule(inner.umin()) && outer.umax().uge(inner.umax());
}

static bool meet(const ConstantIntRanges &a, const ConstantIntRanges &b) {
  return a.smin().sle(b.smax()) && b.smin().sle(a.smax());
}

void Provenance::insert(const ProvenanceElement &element, bool widen,
                        bool &changed) {
  unsigned width = element.range.smin().getBitWidth();
  auto sameObject = [&](const ProvenanceElement &other) {
    return other.object == element.object &&
           other.range.smin().getBitWidth() == width;
  };
  for (const ProvenanceElement &old : elements)
    if (sameObject(old) && contains(old.range, element.range))
      return;
  changed = true;
  // What may be any of so many things isn't worth the time that it takes.
  if (elements.size() >= kMaxObjects) {
    isTop = true;
    elements.clear();
    return;
  }
  // The new element may bridge several old ones.
  ProvenanceElement merged = element;
  llvm::erase_if(elements, [&](const ProvenanceElement &old) {
    if (!sameObject(old) || !(widen || meet(old.range, merged.range)))
      return false;
    merged.range = merged.range.rangeUnion(old.range);
    return true;
  });
  if (widen)
    merged.range = ConstantIntRanges::maxRange(width);
  elements.push_back(merged);
  if (llvm::count_if(elements, sameObject) <= kMaxElements)
    return;
  for (const ProvenanceElement &other : elements)
    if (sameObject(other))
      merged.range = merged.range.rangeUnion(other.range);
  llvm::erase_if(elements, sameObject);
  elements.push_back(merged);
}

bool Provenance::join(const Provenance &other, bool widen) {
  if (isTop || other.isBottom())
    return false;
  if (other.isTop) {
    isTop = true;
    elements.clear();
    return true;
  }
  bool changed = false;
  for (const ProvenanceElement &element : other.elements) {
    insert(element, widen, changed);
    if (isTop)
      break;
  }
  return changed;
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

LDSProvenance::LDSProvenance(
    Operation *module, unsigned waveSize,
    llvm::function_ref<void(LLVM::LLVMFuncOp, Operation *)> visit)
    : module(module), waveSize(waveSize) {
  indexModule(visit);
}

void LDSProvenance::indexModule(
    llvm::function_ref<void(LLVM::LLVMFuncOp, Operation *)> visit) {
  for (Operation &op : module->getRegion(0).getOps())
    if (auto symbol =
            op.getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName()))
      symbols[symbol.getValue()] = &op;

  auto takeAddress = [&](StringRef name) {
    if (auto target = dyn_cast_or_null<LLVM::LLVMFuncOp>(symbols.lookup(name)))
      addressTaken.insert(target);
  };
  SmallVector<Operation *> indirectCalls;
  for (Operation &topLevel : module->getRegion(0).getOps()) {
    auto function = dyn_cast<LLVM::LLVMFuncOp>(topLevel);
    if (!function) {
      // Aliases, tables of functions, ...
      if (auto uses = SymbolTable::getSymbolUses(&topLevel))
        for (const SymbolTable::SymbolUse &use : *uses)
          takeAddress(use.getSymbolRef().getLeafReference());
      continue;
    }
    function.walk([&](Operation *op) {
      if (visit)
        visit(function, op);
      if (auto call = dyn_cast<LLVM::CallOp>(op)) {
        std::optional<StringRef> callee = call.getCallee();
        Operation *target = callee ? symbols.lookup(*callee) : nullptr;
        if (isa_and_nonnull<LLVM::LLVMFuncOp>(target))
          calls[target].push_back(op);
        else
          indirectCalls.push_back(op);
      } else if (auto invoke = dyn_cast<LLVM::InvokeOp>(op)) {
        if (std::optional<StringRef> callee = invoke.getCallee())
          takeAddress(*callee);
        indirectCalls.push_back(op);
      } else if (auto address = dyn_cast<LLVM::AddressOfOp>(op)) {
        takeAddress(address.getGlobalName());
      }
    });
  }
  // LLVM may find out what an indirect call calls, and inline it.
  for (Operation *target : addressTaken)
    llvm::append_range(calls[target], indirectCalls);
}

bool LDSProvenance::mayBeCalledFromOutside(Operation *op) const {
  auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
  if (!function || isKernel(op) || addressTaken.contains(op))
    return true;
  // A gpu.module is linked into a code object as a whole: only kernels can be
  // entered from outside. A plain module may be one part of a program.
  if (isa<gpu::GPUModuleOp>(module))
    return false;
  return function.getLinkage() != LLVM::Linkage::Internal &&
         function.getLinkage() != LLVM::Linkage::Private &&
         SymbolTable::getSymbolVisibility(op) !=
             SymbolTable::Visibility::Private;
}

ArrayRef<Operation *> LDSProvenance::callsOf(Operation *function) const {
  auto it = calls.find(function);
  return it == calls.end() ? ArrayRef<Operation *>() : it->second;
}

static const LDSObject *smallestAround(const ByteRange &bytes,
                                       const std::deque<LDSObject> &objects) {
  const LDSObject *smallest = nullptr;
  for (const LDSObject &object : objects)
    if (object.root == bytes.root && object.begin <= bytes.begin &&
        bytes.end <= object.end &&
        (!smallest ||
         object.end - object.begin < smallest->end - smallest->begin))
      smallest = &object;
  return smallest;
}

const LDSObject *LDSProvenance::boundedObjectOf(const ByteRange &bytes) const {
  const LDSObject *object = smallestAround(bytes, objects);
  return object && object->end != LDSObject::kUnbounded ? object : nullptr;
}

std::string LDSProvenance::describe(const ByteRange &bytes) const {
  const LDSObject *object = smallestAround(bytes, objects);
  std::string name = object ? object->name.str() : "lds";
  if (object && object->begin == bytes.begin && object->end == bytes.end)
    return name;
  int64_t start =
      object && object->end != LDSObject::kUnbounded ? object->begin : 0;
  return llvm::formatv("{0}[{1}, {2})", name, bytes.begin - start,
                       bytes.end - start);
}

Operation *LDSProvenance::lookupSymbol(StringRef name) const {
  return symbols.lookup(name);
}

//===----------------------------------------------------------------------===//
// Objects and work items
//===----------------------------------------------------------------------===//

const LDSObject *LDSProvenance::objectFor(Operation *op) const {
  const LDSObject *&object = objectOf[op];
  if (object)
    return object;
  auto global = cast<LLVM::GlobalOp>(op);
  uint64_t alignment = global.getAlignment().value_or(1);
  int64_t size = layout.sizeOf(global.getGlobalType()).value_or(0);
  LDSObject entry{op, 0, size, global.getSymName(), alignment};
  if (size == 0) {
    // Dynamic LDS; the global may stand for one region of it.
    entry.root = nullptr;
    entry.end = LDSObject::kUnbounded;
    if (lds::ExtentAttr extent = lds::getExtent(op)) {
      entry.begin = extent.getOffset();
      entry.end = extent.getEnd();
    }
  }
  objects.push_back(entry);
  return object = &objects.back();
}

const LDSObject *LDSProvenance::objectForExtent(Operation *op,
                                                const LDSObject *base) const {
  lds::ExtentAttr extent = lds::getExtent(op);
  const LDSObject *&object = extentObjects[{extent, base->root}];
  if (!object) {
    objects.push_back({base->root, static_cast<int64_t>(extent.getOffset()),
                       static_cast<int64_t>(extent.getEnd()),
                       extent.getName().getValue(), base->alignment});
    object = &objects.back();
  }
  return object;
}

/// The largest number of work items along `dimension` that `kernel` declares to
/// be launched with, or nothing.
static std::optional<uint64_t> declaredWorkItems(Operation *kernel,
                                                 unsigned dimension) {
  for (StringRef name : {"rocdl.reqd_work_group_size", "gpu.known_block_size"})
    if (auto sizes = kernel->getAttrOfType<DenseI32ArrayAttr>(name))
      if (dimension < static_cast<unsigned>(sizes.size()))
        return sizes[dimension];
  if (auto size =
          kernel->getAttrOfType<IntegerAttr>("rocdl.max_flat_work_group_size"))
    return size.getInt();
  if (auto range =
          kernel->getAttrOfType<StringAttr>("rocdl.flat_work_group_size")) {
    uint64_t last;
    if (!range.getValue().split(',').second.trim().getAsInteger(10, last))
      return last;
  }
  return std::nullopt;
}

uint64_t LDSProvenance::maxWorkItems(Operation *op, unsigned dimension) const {
  // CDNA3 ISA 3.1: a workgroup has at most 1024 work items.
  constexpr uint64_t kLimit = 1024;
  auto limitOf = [&](Operation *function) {
    return declaredWorkItems(function, dimension).value_or(kLimit);
  };
  auto function = op->getParentOfType<LLVM::LLVMFuncOp>();
  if (!function)
    return kLimit;
  if (mayBeCalledFromOutside(function))
    return limitOf(function);
  // A helper runs in the workgroups of any kernel of the module.
  uint64_t limit = 1;
  for (auto other : module->getRegion(0).getOps<LLVM::LLVMFuncOp>())
    if (!other.isExternal() && mayBeCalledFromOutside(other))
      limit = std::max(limit, limitOf(other));
  return limit;
}

//===----------------------------------------------------------------------===//
// The fixed point
//===----------------------------------------------------------------------===//

unsigned LDSProvenance::addNode(Value value) {
  auto [it, isNew] = indexOf.try_emplace(value, nodes.size());
  if (isNew)
    nodes.push_back({value, Provenance(), 0, {}});
  return it->second;
}

void LDSProvenance::solve(ArrayRef<Value> pointers) {
  // Number the slice in post-order, so that a value comes after what flows into
  // it; only the edges that close a loop go backwards.
  struct Frame {
    Value value;
    SmallVector<Value, 4> inputs;
    unsigned next = 0;
  };
  DenseSet<Value> visited;
  SmallVector<Frame> stack;
  unsigned firstNew = nodes.size();
  bool hasBackEdge = false;
  auto push = [&](Value value) {
    if (indexOf.contains(value))
      return;
    if (!visited.insert(value).second) {
      hasBackEdge = true; // On the stack: a loop.
      return;
    }
    Frame frame;
    frame.value = value;
    collectInputs(value, frame.inputs);
    stack.push_back(std::move(frame));
  };
  for (Value pointer : pointers) {
    push(pointer);
    while (!stack.empty()) {
      Frame &frame = stack.back();
      if (frame.next < frame.inputs.size()) {
        push(frame.inputs[frame.next++]);
        continue;
      }
      addNode(frame.value);
      stack.pop_back();
    }
  }

  if (!hasBackEdge) {
    for (unsigned i = firstNew, e = nodes.size(); i != e; ++i)
      nodes[i].state = transfer(nodes[i].value);
    return;
  }

  for (unsigned i = firstNew, e = nodes.size(); i != e; ++i) {
    SmallVector<Value, 4> inputs;
    collectInputs(nodes[i].value, inputs);
    for (Value input : inputs)
      nodes[indexOf.lookup(input)].users.push_back(i);
  }
  llvm::BitVector dirty(nodes.size());
  dirty.set(firstNew, nodes.size());
  // A value may grow this often before it is widened: enough for a ring of
  // buffers to close, few enough to stay fast.
  constexpr unsigned kGrowthsBeforeWidening = Provenance::kMaxElements + 2;
  for (int i = dirty.find_first(); i != -1; i = dirty.find_first()) {
    // Sweep forward from the first stale node; loops make later sweeps.
    for (; i != -1; i = dirty.find_next(i)) {
      dirty.reset(i);
      Node &node = nodes[i];
      bool widen = node.growths > kGrowthsBeforeWidening;
      if (!node.state.join(transfer(node.value), widen))
        continue;
      ++node.growths;
      for (unsigned user : node.users)
        dirty.set(user);
    }
  }
}

const Provenance &LDSProvenance::lookup(Value value) const {
  static const Provenance top = Provenance::unknown();
  auto it = indexOf.find(value);
  return it == indexOf.end() ? top : nodes[it->second].state;
}

std::optional<SmallVector<ByteRange, 1>>
LDSProvenance::footprint(Value pointer, int64_t offset,
                         std::optional<int64_t> size) const {
  const Provenance &provenance = lookup(pointer);
  if (provenance.isUnknown())
    return std::nullopt;
  SmallVector<ByteRange, 1> ranges;
  for (const ProvenanceElement &element : provenance.getElements()) {
    const LDSObject *object = element.object;
    if (!object)
      return std::nullopt; // A number used as an address.
    int64_t begin = object->begin, end = object->end;
    // The full range says nothing: any address modulo 2^32.
    bool bounded = !element.range.smin().isMinSignedValue() ||
                   !element.range.smax().isMaxSignedValue();
    if (bounded) {
      int64_t low = element.range.smin().getSExtValue() + offset;
      int64_t high = element.range.smax().getSExtValue() + offset;
      if (size && low + *size > object->end && low < object->end) {
        // It leaves the object for certain. That may be a mistake, or a DMA
        // some of whose lanes are off; either way its bytes are these.
        begin = std::max(begin, low);
        end = high + *size;
      } else {
        begin = std::max(begin, low);
        if (size)
          end = std::min(end, high + *size);
      }
    }
    if (begin < end)
      ranges.push_back({object->root, begin, end});
  }
  llvm::sort(ranges, [](const ByteRange &a, const ByteRange &b) {
    return std::tie(a.root, a.begin, a.end) < std::tie(b.root, b.begin, b.end);
  });
  ranges.erase(llvm::unique(ranges), ranges.end());
  return ranges;
}
