

#include "lodestone/Target/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace lodestone {
#define GEN_PASS_DEF_LOWERVECTOROPS
#include "lodestone/Target/Passes.h.inc"
} // namespace lodestone

using namespace mlir;

namespace {
struct LowerVectorOps final
    : lodestone::impl::LowerVectorOpsBase<LowerVectorOps> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet owned(context);
    vector::populateVectorToVectorCanonicalizationPatterns(owned);
    vector::populateVectorBroadcastLoweringPatterns(owned);
    // Outer products keep the accumulators in registers, as a GPU wants them.
    vector::populateVectorContractLoweringPatterns(
        owned, vector::VectorContractLowering::OuterProduct);
    vector::populateVectorOuterProductLoweringPatterns(owned);
    vector::populateVectorMultiReductionLoweringPatterns(
        owned, vector::VectorMultiReductionLowering::InnerReduction);
    vector::populateVectorMaskOpLoweringPatterns(owned);
    vector::populateVectorMaskLoweringPatternsForSideEffectingOps(owned);
    vector::populateVectorShapeCastLoweringPatterns(owned);
    vector::populateVectorTransposeLoweringPatterns(
        owned, vector::VectorTransposeLowering::EltWise);
    vector::populateVectorTransferPermutationMapLoweringPatterns(owned);
    vector::populateVectorTransferLoweringPatterns(owned,
                                                   /*maxTransferRank=*/1);
    vector::populateVectorScanLoweringPatterns(owned);
    vector::populateVectorStepLoweringPatterns(owned);
    vector::populateVectorInterleaveLoweringPatterns(owned);
    vector::populateVectorBitCastLoweringPatterns(owned);
    vector::populateVectorInsertExtractStridedSliceTransforms(owned);
    // AMDGPU has neither gathers nor masked accesses of its own.
    vector::populateVectorGatherLoweringPatterns(owned);
    vector::populateVectorGatherToConditionalLoadPatterns(owned);
    vector::populateVectorMaskedLoadStoreEmulationPatterns(owned);
    patterns = std::move(owned);
    return success();
  }

  void runOnOperation() override {
    // No convergence is not an error: what is left over is, in check-lowered.
    (void)applyPatternsGreedily(getOperation(), patterns);
  }

  FrozenRewritePatternSet patterns;
};
} // namespace
