//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The passes on copies by the tensor data mover.

#ifndef LODESTONE_TRANSFORMS_TDMPASSES
#define LODESTONE_TRANSFORMS_TDMPASSES

include "mlir/Pass/PassBase.td"

def ConvertTDMToROCDL : Pass<"convert-tdm-to-rocdl"> {
  let summary = "Lower the tdm dialect to tensor instructions";
  let description = [{
    Turns each copy of the `tdm` dialect into the descriptors of its tensor
    instructions, which are different on each warp, and into these instructions;
    and each `tdm.wait` into the wait for TENSORcnt. Runs on memrefs, before the
    conversion to the LLVM dialect; the control flow may be structured or not.

    ```mlir
    gpu.func @k(%a: memref<?x64xf16>) kernel
        attributes {known_block_size = array<i32: 256, 1, 1>} {
      %c0 = arith.constant 0 : index
      %lds = lds.region @A : memref<256x64xf16, 3>
      tdm.load %a[%c0, %c0] to %lds hint(0x0f : i32)
        : memref<?x64xf16> to memref<256x64xf16, 3>
      tdm.wait 0
    ```

    becomes, without the constants,

    ```mlir
      %warp = llvm.call_intrinsic "llvm.amdgcn.wave.id"() : () -> i32
      // ... four words and eight words, by arith on i32 and i64
      llvm.fence syncscope("wavefront") release
      rocdl.tensor.load.to.lds.d2 %g0, %g1 cachepolicy 0
        : vector<4xi32>, vector<8xi32>
      rocdl.s.wait.tensorcnt 0
      llvm.fence syncscope("wavefront") acquire
    ```

    What depends on the warp is computed from its id, which is in a scalar
    register; nothing is branched around: a warp that moves nothing has a
    descriptor that says so. Copies of rank 1 and 2 take the form with two groups
    of words. The fences cost no instruction; they keep accesses to memory from
    being moved past a copy or a wait, which LLVM takes to touch no memory.

    The count of a wait is the smallest number of instructions that the copies
    which may stay took, over all paths.

    Legal when

    - the chip (that of the option, or of the `#rocdl.target`, or else gfx1250) has
      the TDM, and an index has 64 bits;
    - the size of the workgroup is known, and all rules of `tdm.load` hold;
    - no operation that reads LDS which a copy writes, or writes LDS which a copy
      reads or writes, can be reached without a `tdm.wait` for the copy and a
      barrier after it. This is an error where both are at constant places in one
      LDS object, or a warning where both waits and copies are under conditions,
      which may go together. Where a place isn't known, it is the missed remark
      `unproven-wait`.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::vector::VectorDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::ROCDL::ROCDLDialect", "::lodestone::tdm::TDMDialect"
  ];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"",
           "The chip; if empty, that of the gpu.module's #rocdl.target, or else "
           "gfx1250">,
    Option<"indexBitwidth", "index-bitwidth", "unsigned", /*default=*/"0",
           "Bits of an index, as in convert-gpu-to-rocdl; 0 for that of the data "
           "layout">,
  ];
}

def TDMInferWarpHints : Pass<"tdm-infer-warp-hints"> {
  let summary = "Choose the warps that issue TDM loads";
  let description = [{
    Gives hints to the `tdm.load`s that have none, under the rules that its options
    switch on; without an option it does nothing. A hint that is there already stays.

    Before, in a kernel of 8 warps:

    ```mlir
    tdm.load %a[%i, %k] to %ldsA : memref<?x?xf16> to memref<256x64xf16, 3>
    tdm.load %b[%j, %k] to %ldsB : memref<?x?xf16> to memref<256x64xf16, 3>
    ```

    After, with `complementary`:

    ```mlir
    tdm.load %a[%i, %k] to %ldsA
      hint(#tdm.warps<free = 0b011, anchor = 0b000, of = 8>)
      : memref<?x?xf16> to memref<256x64xf16, 3>
    tdm.load %b[%j, %k] to %ldsB
      hint(#tdm.warps<free = 0b011, anchor = 0b100, of = 8>)
      : memref<?x?xf16> to memref<256x64xf16, 3>
    ```

    The rules, which add up:

    - `leading-group`: a load in a warp-pipelined loop gets the warps that are ahead
      there, so that it is issued in the stage that it is written in. A loop is
      warp-pipelined when some warps alone execute a barrier before it, in an
      `scf.if` whose condition is a constant of each warp.
    - `complementary`: 2 to 4 adjacent loads of one rank, between which nothing
      stands that has an effect, divide the warps among them; of three, the one
      with the most bytes gets half. `tdm-fuse-copies` can make one instruction of
      them.
    - `one-per-simd`: a load with more warps than a compute unit has SIMDs keeps as
      many as that, the first ones; consecutive warps are on different SIMDs.

    Legal for every load, because a copy is an operation of the whole workgroup: no
    program may depend on which warp moves which part (see the dialect), and what
    lands in LDS is the same. Refused, as a missed remark, when

    - `unknown-warps`: the size of the workgroup is unknown;
    - `has-barrier`: each warp that moves data arrives at the load's barrier, so the
      hint would change the number of arrivals;
    - `hint-not-legal`: the hint breaks a rule of `tdm.load`, as a block that can't be
      divided among so many warps. Loads that were to divide the warps then all stay
      without.

    A hint changes no count: a load with a legal hint takes one instruction, and one
    that could have such a hint takes one without.

    Missed remarks, too, when a rule says nothing: `unknown-stagger` (it isn't known
    which warps are ahead), `leading-group-not-legal` (those that are can't be a hint),
    `no-rule-applies`. A hint that was chosen is a passed remark, `hint-inferred`, with
    the mask and the rules; one that was there is an analysis remark, `hint-kept`.

    Stores, gathers and members of fused loads are left alone.
  }];
  let dependentDialects = ["::lodestone::tdm::TDMDialect"];
  let options = [
    Option<"complementary", "complementary", "bool", /*default=*/"false",
           "Divide the warps among adjacent loads">,
    Option<"leadingGroup", "leading-group", "bool", /*default=*/"false",
           "Give loads in a warp-pipelined loop the warps that are ahead">,
    Option<"onePerSimd", "one-per-simd", "bool", /*default=*/"false",
           "Give a load no more warps than a compute unit has SIMDs">,
    Option<"chip", "chip", "std::string", /*default=*/"",
           "The chip, for the number of SIMDs; if empty, that of the gpu.module's "
           "#rocdl.target, or else gfx1250">,
  ];
  let statistics = [
    Statistic<"numInferred", "inferred", "Loads that were given a hint">,
    Statistic<"numRefused", "refused", "Refusals">,
  ];
}

def TDMFuseCopies : Pass<"tdm-fuse-copies"> {
  let summary = "Make one instruction of adjacent TDM loads";
  let description = [{
    Puts 2 to 4 adjacent `tdm.load`s whose hints have no warp in common into a
    `tdm.fused_load`: one instruction, in which each warp has the descriptor of its
    load.

    Before:

    ```mlir
    tdm.load %a[%i, %k] to %ldsA hint(0x0f : i32) : ...
    tdm.load %b[%j, %k] to %ldsB hint(0xf0 : i32) : ...
    tdm.wait 2
    ```

    After:

    ```mlir
    tdm.fused_load {
      tdm.load %a[%i, %k] to %ldsA hint(0x0f : i32) : ...
      tdm.load %b[%j, %k] to %ldsB hint(0xf0 : i32) : ...
    }
    tdm.wait 1
    ```

    A fused load is one copy for `tdm.wait`, so the counts of the waits change.
    They let the same loads be in flight as before: never more, and never fewer.

    Legal when

    - nothing with an effect stands between the loads: the earlier ones move down
      to the last. Their order does not matter, for different warps do them and
      nothing puts these in order there;
    - the rules of `tdm.fused_load` hold; else a missed remark, `no-hint`, `has-barrier`,
      `different-rank` or `common-warp`, or `no-adjacent-load` for one alone;
    - on each path to a `tdm.wait N`, the last N copies hold all members of a group
      or none, and as many groups on each path: else `cuts-counted-wait`;
    - all counts are known: the function is a kernel, calls no function and has no
      `rocdl.s.wait.tensorcnt` (else `counted-elsewhere`), and what is around the
      copies and waits says how it runs them (else `unknown-control-flow`).

    Passed remarks: `loads-fused`, `wait-recounted`. It chooses no hints:
    `tdm-infer-warp-hints` does.
  }];
  let dependentDialects = ["::lodestone::tdm::TDMDialect"];
  let statistics = [
    Statistic<"numFused", "fused", "Fused loads made">,
    Statistic<"numRefused", "refused", "Loads left alone">,
  ];
}

#endif // LODESTONE_TRANSFORMS_TDMPASSES
