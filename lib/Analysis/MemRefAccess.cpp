//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/MemRefAccess.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace lodestone;

std::optional<MemRefAccess> MemRefAccess::get(Operation *op) {
  MemRefAccess access;
  access.op = op;
  auto load = [&](Value memref, ValueRange indices) {
    access.memref = memref;
    access.operands = indices;
    access.type = op->getResult(0).getType();
  };
  auto store = [&](Value memref, ValueRange indices, Value stored) {
    access.memref = memref;
    access.operands = indices;
    access.stored = stored;
    access.type = stored.getType();
  };
  bool known =
      TypeSwitch<Operation *, bool>(op)
          .Case([&](memref::LoadOp op) {
            access.alignment = op.getAlignment();
            access.nontemporal = op.getNontemporal();
            return load(op.getMemRef(), op.getIndices()), true;
          })
          .Case([&](memref::StoreOp op) {
            access.alignment = op.getAlignment();
            access.nontemporal = op.getNontemporal();
            return store(op.getMemRef(), op.getIndices(), op.getValueToStore()),
                   true;
          })
          .Case([&](affine::AffineReadOpInterface op) {
            access.map = op.getAffineMap();
            return load(op.getMemRef(), op.getMapOperands()), true;
          })
          .Case([&](affine::AffineWriteOpInterface op) {
            access.map = op.getAffineMap();
            return store(op.getMemRef(), op.getMapOperands(),
                         op.getValueToStore()),
                   true;
          })
          .Case([&](vector::LoadOp op) {
            access.alignment = op.getAlignment();
            access.nontemporal = op.getNontemporal();
            return load(op.getBase(), op.getIndices()), true;
          })
          .Case([&](vector::StoreOp op) {
            access.alignment = op.getAlignment();
            access.nontemporal = op.getNontemporal();
            return store(op.getBase(), op.getIndices(), op.getValueToStore()),
                   true;
          })
          .Case([&](vector::MaskedLoadOp op) {
            access.alignment = op.getAlignment();
            access.mask = op.getMask();
            access.passThru = op.getPassThru();
            return load(op.getBase(), op.getIndices()), true;
          })
          .Case([&](vector::MaskedStoreOp op) {
            access.alignment = op.getAlignment();
            access.mask = op.getMask();
            return store(op.getBase(), op.getIndices(), op.getValueToStore()),
                   true;
          })
          .Case([&](vector::TransferReadOp op) {
            return load(op.getBase(), op.getIndices()), true;
          })
          .Case([&](vector::TransferWriteOp op) {
            return store(op.getBase(), op.getIndices(), op.getVector()), true;
          })
          .Case([&](amdgpu::TransposeLoadOp op) {
            return load(op.getSrc(), op.getSrcIndices()), true;
          })
          .Case([&](memref::AtomicRMWOp op) {
            return store(op.getMemref(), op.getIndices(), op.getValue()), true;
          })
          .Default(false);
  if (!known)
    return std::nullopt;
  return access;
}

bool MemRefAccess::isPlainTransfer() const {
  auto transfer = dyn_cast<VectorTransferOpInterface>(op);
  return !transfer || (!transfer.getMask() && !transfer.hasOutOfBoundsDim() &&
                       transfer.getPermutationMap().isMinorIdentity());
}

SmallVector<Value> MemRefAccess::getIndices(OpBuilder &builder) const {
  if (!map)
    return llvm::to_vector(operands);
  SmallVector<Value> indices;
  for (AffineExpr expr : map.getResults())
    indices.push_back(affine::expandAffineExpr(
        builder, op->getLoc(), expr, operands.take_front(map.getNumDims()),
        operands.drop_front(map.getNumDims())));
  return indices;
}
