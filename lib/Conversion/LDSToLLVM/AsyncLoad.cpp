//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Dialect/LDS/IR/LDSDialect.h"

#include "mlir/Conversion/ConvertToLLVM/ToLLVMInterface.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;
using namespace lodestone::lds;

namespace {

struct AsyncLoadLowering : ConvertOpToLLVMPattern<AsyncLoadOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(AsyncLoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value source = getStridedElementPtr(
        rewriter, loc, cast<MemRefType>(op.getSource().getType()),
        adaptor.getSource(), adaptor.getSourceIndices());
    Value target = getStridedElementPtr(
        rewriter, loc, cast<MemRefType>(op.getTarget().getType()),
        adaptor.getTarget(), adaptor.getTargetIndices());
    // A memref without a memory space is a flat pointer to global memory.
    auto global = LLVM::LLVMPointerType::get(getContext(), /*addressSpace=*/1);
    if (source.getType() != global)
      source = LLVM::AddrSpaceCastOp::create(rewriter, loc, global, source);
    IntegerAttr zero = rewriter.getI32IntegerAttr(0);
    auto replace = [&](auto copy) {
      rewriter.replaceOpWithNewOp<decltype(copy)>(op, source, target, zero,
                                                  zero, ArrayAttr(),
                                                  ArrayAttr(), ArrayAttr());
    };
    switch (*getElementBytes(op.getType())) {
    case 1:
      replace(ROCDL::GlobalLoadAsyncToLDSB8Op());
      return success();
    case 4:
      replace(ROCDL::GlobalLoadAsyncToLDSB32Op());
      return success();
    case 8:
      replace(ROCDL::GlobalLoadAsyncToLDSB64Op());
      return success();
    case 16:
      replace(ROCDL::GlobalLoadAsyncToLDSB128Op());
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no instruction of this width");
  }
};

struct WaveLoadLowering : ConvertOpToLLVMPattern<WaveLoadOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(WaveLoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value source = getStridedElementPtr(
        rewriter, loc, cast<MemRefType>(op.getSource().getType()),
        adaptor.getSource(), adaptor.getSourceIndices());
    Value target = getStridedElementPtr(
        rewriter, loc, cast<MemRefType>(op.getTarget().getType()),
        adaptor.getTarget(), adaptor.getTargetIndices());
    rewriter.replaceOpWithNewOp<ROCDL::LoadToLDSOp>(
        op, source, target,
        rewriter.getI32IntegerAttr(*getElementBytes(op.getType())),
        op.getOffsetAttr(), /*aux=*/rewriter.getI32IntegerAttr(0), ArrayAttr(),
        ArrayAttr(), ArrayAttr());
    return success();
  }
};

struct ToLLVMInterface : ConvertToLLVMPatternInterface {
  using ConvertToLLVMPatternInterface::ConvertToLLVMPatternInterface;

  void loadDependentDialects(MLIRContext *context) const final {
    context->loadDialect<LLVM::LLVMDialect, ROCDL::ROCDLDialect>();
  }
  void populateConvertToLLVMConversionPatterns(
      ConversionTarget &, LLVMTypeConverter &converter,
      RewritePatternSet &patterns) const final {
    patterns.add<AsyncLoadLowering, WaveLoadLowering>(converter);
  }
};

} // namespace

void lodestone::lds::addToLLVMInterface(LDSDialect &dialect) {
  dialect.addInterfaces<ToLLVMInterface>();
}
