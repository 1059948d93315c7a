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

template <typename CopyOp>
struct CopyLowering : ConvertOpToLLVMPattern<CopyOp> {
  using ConvertOpToLLVMPattern<CopyOp>::ConvertOpToLLVMPattern;

  /// Where the copy's source and target start.
  std::pair<Value, Value>
  getAddresses(CopyOp op, typename CopyOp::Adaptor adaptor,
               ConversionPatternRewriter &rewriter) const {
    auto get = [&](Value memref, Value converted, ValueRange indices) {
      return this->getStridedElementPtr(rewriter, op.getLoc(),
                                        cast<MemRefType>(memref.getType()),
                                        converted, indices);
    };
    Value source =
        get(op.getSource(), adaptor.getSource(), adaptor.getSourceIndices());
    Value target =
        get(op.getTarget(), adaptor.getTarget(), adaptor.getTargetIndices());
    return {source, target};
  }
};

struct AsyncLoadLowering : CopyLowering<AsyncLoadOp> {
  using CopyLowering::CopyLowering;

  LogicalResult
  matchAndRewrite(AsyncLoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    std::pair<Value, Value> addresses = getAddresses(op, adaptor, rewriter);
    Value source = addresses.first, target = addresses.second;
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

struct WaveLoadLowering : CopyLowering<WaveLoadOp> {
  using CopyLowering::CopyLowering;

  LogicalResult
  matchAndRewrite(WaveLoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto [source, target] = getAddresses(op, adaptor, rewriter);
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
