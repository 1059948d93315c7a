//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_TRANSFORMS_PASSES
#define LODESTONE_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def LDSAttachAliasScopes : Pass<"lds-attach-alias-scopes"> {
  let summary = "Attach alias scopes to LDS accesses and LDS-DMAs";
  let description = [{
    Finds out which bytes of the local data share (LDS) each access and each
    LDS-DMA touches, and writes that down as alias scopes, so that LLVM's AMDGPU
    backend waits before an LDS access for those DMAs only that write its bytes.
    Without scopes it waits for all of them (`vmcnt(0)`), which ends a software
    pipeline.

    Runs on a module of the LLVM dialect, after conversion and canonicalization
    (`convert-amdgpu-to-rocdl`, `convert-gpu-to-rocdl`,
    `reconcile-unrealized-casts`, `canonicalize`), on a gpu.module or on a
    builtin module, whose gpu.modules it processes.

    Before:

    ```mlir
    %a = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %b = llvm.getelementptr %a[4096] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    rocdl.raw.ptr.buffer.load.lds %rsrc, %b, %c4, %v, %s, %c0, %c0
    %x = llvm.load %p : !llvm.ptr<3> -> f32
    ```

    After, if `%p` stays below byte 4096:

    ```mlir
    %base = llvm.inline_asm "", "=s,0" %a : (!llvm.ptr<3>) -> !llvm.ptr<3>
    %b = llvm.getelementptr %base[4096] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    rocdl.raw.ptr.buffer.load.lds %rsrc, %b, %c4, %v, %s, %c0, %c0
      {alias_scopes = [#b]}
    %x = llvm.load %p {noalias_scopes = [#b]} : !llvm.ptr<3> -> f32
    ```

    What it does, and when that is legal:

    - Every DMA gets scopes: those of the bytes that it may write (all lanes', not
      one lane's), or, if they aren't known, a wildcard that nothing is noalias to.
    - An access gets scopes only if its bytes are known and every DMA that
      overlaps them, and may have been issued, is one that LLVM keeps track of
      there (see `DMASlots.h`). Otherwise metadata that it has is dropped: an
      access without any waits for all DMAs.
    - Nothing in a kernel is tagged if one of its DMAs can't carry scopes (inline
      assembly, `llvm.call_intrinsic`), or if it uses two or more static LDS
      globals (`lds-pack-static-globals` makes them one).
    - The addresses of DMAs are laundered: computed from a base that has gone
      through an empty piece of inline assembly.
    - Foreign scopes on accesses stay; on DMAs they are replaced.

    Each access that gets scopes is a passed remark, each refusal a missed remark:
    `unknown-pointer`, `flat-pointer`, `outside-object`, `unprimed-dma`,
    `untaggable-dma`, `static-lds-conflict`, `needs-launder`; `tags-dropped`
    where metadata was removed. Analysis remarks point at fences that wait for all
    DMAs anyway (`drains-vmcnt`), at `global-load-lds-miscounted`, and at
    `foreign-dma-tags-replaced` and `noalias-argument-dropped`.

    The pass can't see what LLVM makes of the control flow. `lodestone check` and
    `lodestone compile` verify the machine code.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"",
           "The chip, such as gfx950; if empty, that of the gpu.module's "
           "#rocdl.target, or else gfx950">,
    Option<"domain", "domain", "std::string", /*default=*/"\"lodestone.lds\"",
           "Name of the alias scope domain">,
    Option<"strict", "strict", "bool", /*default=*/"false",
           "Report each refusal as an error">,
    Option<"launder", "launder", "bool", /*default=*/"true",
           "Launder the addresses of DMAs; without, only DMAs whose addresses "
           "are laundered already allow scopes">,
  ];
  let statistics = [
    Statistic<"numTaggedDMAs", "tagged-dmas", "LDS-DMAs with scopes">,
    Statistic<"numWildcardDMAs", "wildcard-dmas", "LDS-DMAs with the wildcard">,
    Statistic<"numTaggedAccesses", "tagged-accesses", "Accesses with scopes">,
    Statistic<"numRefusedAccesses", "refused-accesses",
              "Accesses left without metadata">,
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def LDSVerifyAliasScopes : Pass<"lds-verify-alias-scopes"> {
  let summary = "Verify alias scopes on LDS accesses that others wrote";
  let description = [{
    For kernels whose scopes were written by hand or by another compiler: checks
    them against the bytes that accesses and LDS-DMAs can be shown to touch, and
    against what LLVM's backend does with them. Changes nothing.

    Errors, for what is wrong:

    - an LDS-DMA without scopes, or in a form that can't carry any, in a kernel
      with tagged accesses;
    - an access that is noalias to a DMA whose bytes it may touch;
    - an access with metadata where a DMA that it may overlap isn't issued first
      on every path, so that LLVM's list of DMAs is incomplete there;
    - scopes in a kernel with two or more static LDS globals.

    Warnings (errors with `strict`), for what can't be shown to be right: noalias
    between accesses one of which can't be traced, and DMAs whose address isn't
    laundered.

    Example of what it rejects:

    ```mlir
    rocdl.raw.ptr.buffer.load.lds %rsrc, %p, %c4, %v, %s, %c0, %c0
    %x = llvm.load %p {alias_scopes = [#a]} : !llvm.ptr<3> -> f32
    ```

    A clean result says nothing about the control flow that LLVM makes later;
    `lodestone check` looks at the machine code.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"",
           "The chip, such as gfx950; if empty, that of the gpu.module's "
           "#rocdl.target, or else gfx950">,
    Option<"strict", "strict", "bool", /*default=*/"false",
           "Report what can't be verified as an error">,
  ];
}

def LDSPackStaticGlobals : Pass<"lds-pack-static-globals"> {
  let summary = "Put the static LDS globals of a kernel with DMAs into one";
  let description = [{
    When a kernel uses two or more static LDS globals, LLVM's
    AMDGPULowerModuleLDS puts them into one struct, and marks the accesses that it
    can trace to a field with alias scopes of its own in place of those that they
    had. Alias scopes then don't survive, and a DMA whose address it can't trace
    becomes invisible to marked reads. With one global none of that happens.

    Before:

    ```mlir
    %a = llvm.mlir.addressof @a : !llvm.ptr<3>
    %b = llvm.mlir.addressof @b : !llvm.ptr<3>
    ```

    After, for two globals of 16384 bytes:

    ```mlir
    %0 = llvm.mlir.addressof @__lds_kernel : !llvm.ptr<3>
    %a = llvm.getelementptr inbounds %0[0, 0]
      {lds.extent = #lds.extent<"a", offset = 0, size = 16384>}
      : (!llvm.ptr<3>) -> !llvm.ptr<3>, !llvm.array<32768 x i8>
    %1 = llvm.mlir.addressof @__lds_kernel : !llvm.ptr<3>
    %b = llvm.getelementptr inbounds %1[0, 16384]
      {lds.extent = #lds.extent<"b", offset = 16384, size = 16384>}
      : (!llvm.ptr<3>) -> !llvm.ptr<3>, !llvm.array<32768 x i8>
    ```

    Legal when none of the globals has an initial value, and each is used only
    by `llvm.mlir.addressof` in the kernel and the functions that it shares calls
    with. Else a missed remark, `not-packed`, says why. Kernels without LDS-DMAs
    are left alone.
  }];
  let statistics = [
    Statistic<"numPacked", "packed", "Globals that became a part of another">,
    Statistic<"numRefused", "refused", "Kernels whose globals stay apart">,
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::lodestone::lds::LDSDialect"];
}

def LDSLowerRegions : Pass<"lds-lower-regions"> {
  let summary = "Lower lds.region to addresses in dynamic LDS";
  let description = [{
    Gives each `lds.region` of each kernel below the operation that the pass
    runs on (a `gpu.module`, or any other symbol table) its place in the kernel's
    dynamic LDS and replaces it by its address. The rules of placement are those
    in the description of `lds.region`.

    ```mlir
    gpu.func @k() kernel {
      %a = lds.region @A size(1024) : !llvm.ptr<3>
      %b = lds.region @B : memref<256xf32, #gpu.address_space<workgroup>>
    ```

    becomes

    ```mlir
    llvm.mlir.global external @lds_dynamic()
      {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
    gpu.func @k() kernel attributes {lds.dynamic_size = 2048 : i64} {
      %0 = llvm.mlir.addressof @lds_dynamic : !llvm.ptr<3>
      %a = llvm.getelementptr %0[0, 0]
        {lds.extent = #lds.extent<"A", offset = 0, size = 1024>}
        : (!llvm.ptr<3>) -> !llvm.ptr<3>, !llvm.array<0 x i8>
      %1 = llvm.getelementptr %0[0, 1024]
        {lds.extent = #lds.extent<"B", offset = 1024, size = 1024>}
        : (!llvm.ptr<3>) -> !llvm.ptr<3>, !llvm.array<0 x i8>
      // ... a memref descriptor made from %1
      %b = builtin.unrealized_conversion_cast %descriptor
        : !llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>
        to memref<256xf32, #gpu.address_space<workgroup>>
    ```

    The casts of memrefs disappear with the rest of the conversion to the LLVM
    dialect (`convert-gpu-to-rocdl`, `finalize-memref-to-llvm`,
    `reconcile-unrealized-casts`). An external global in LDS without bytes that is
    there already is used instead of a new one. `lds.dynamic_size` is what a
    launch of the kernel must pass as its dynamic LDS.

    With `separate-globals`, each region has a global of its name, with the
    extent on the global, too. All of them start where the dynamic LDS
    starts, so the address is that of the global plus the offset of the region.
    Regions that share bytes share the global of the first of them, which then
    has no extent: LLVM takes distinct globals to be disjoint. Kernels which give
    a name to the same bytes share its global; others get one with a suffix.

    Legal when

    - the function is a kernel: a `gpu.func` with `kernel`, or an `llvm.func` with
      `gpu.kernel`, `rocdl.kernel` or the calling convention `amdgpu_kernelcc`;
    - two regions share no byte after placement, unless one `overlays` the other;
    - regions and static LDS fit into the LDS of the chip: the one in the option
      `chip`, or else those of the `#rocdl.target`s of the `gpu.module`, or else the
      `target_cpu` of the `llvm.func`. A chip in the IR that Lodestone doesn't
      know is a warning; without any chip the size isn't checked;
    - neither the kernel nor a function that it calls uses the dynamic LDS by other
      means (`gpu.dynamic_shared_memory`, a global in LDS without bytes): that is
      the same memory as the regions;
    - no regions of the kernel were lowered before.

    A `gpu.launch` has to be outlined first. Running the pass again changes
    nothing. It doesn't shrink or reorder the layout, and it doesn't drop unused
    regions.
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::lodestone::lds::LDSDialect"
  ];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"",
           "Chip whose LDS the regions must fit into; by default, that of the IR">,
    Option<"separateGlobals", "separate-globals", "bool", /*default=*/"false",
           "Make one external global per region instead of one for all">,
    Option<"indexBitwidth", "index-bitwidth", "unsigned", /*default=*/"0",
           "Bits of an index in memref descriptors, as in convert-gpu-to-rocdl: "
           "32, 64, or 0 for that of the data layout">,
  ];
  let statistics = [
    Statistic<"numKernels", "kernels", "Number of kernels with regions">,
    Statistic<"numRegions", "regions", "Number of regions lowered">,
  ];
}

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
      LDS object. Where that isn't known, it is the missed remark `unproven-wait`.
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

def LDSLowerAsyncGroups : Pass<"lds-lower-async-groups"> {
  let summary = "Lower groups of copies into LDS to counted waits";
  let description = [{
    Turns each `lds.wait_group` into a wait on the counters that the copies it is
    for increment: vmcnt for gfx9's LDS-DMAs, asynccnt for gfx1250's async
    loads, tensorcnt for the TDM. The number is exact: that of the instructions
    which the wave has issued after the last copy that must be done, the
    minimum over all paths through branches and loops.

    Before, with two DMAs in each group:

    ```mlir
    lds.commit_group
    lds.wait_group 1
    rocdl.s.barrier
    ```

    After, on every path of which a group of two DMAs is younger:

    ```mlir
    rocdl.sched.barrier 1935
    amdgpu.memory_counter_wait load(2)
    rocdl.s.barrier
    ```

    - A copy counts as one instruction, or as its `AsyncCopyOpInterface` says.
      Besides copies only volatile and atomic accesses to global memory count:
      LLVM may merge, move or remove others. What doesn't count makes a wait
      stricter, never weaker.
    - Above 62 the number stays 62, the most that a counter of six bits can
      wait for.
    - Groups with ordinary stores to LDS wait for lgkmcnt(0) as well, so a kernel
      means the same whether its copies are DMAs or loads and stores. Groups
      without copies need no wait at all (`wait-not-needed`).
    - Behind waits for asynccnt and tensorcnt stands a fence, which costs no
      instruction: LLVM takes these waits to touch no memory.
    - A commit with DMAs in flight becomes a scheduling barrier for vector
      memory, since a DMA that traded places with one of another group would not
      be waited for.

    Legal when the ops are in a kernel; every op around them and around the copies
    says how control flows through its regions (`RegionBranchOpInterface`);
    and no function that the kernel calls has copies or groups in it. Else it is
    an error. The pass adds no barrier and trusts that the user has one where
    other waves read what was copied.
  }];
  let statistics = [
    Statistic<"numWaits", "waits", "Waits lowered to counted waits">,
    Statistic<"numDropped", "dropped", "Waits with nothing to wait for">,
  ];
  let dependentDialects = [
    "::mlir::amdgpu::AMDGPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::ROCDL::ROCDLDialect",
    "::lodestone::lds::LDSDialect"
  ];
}

def LDSFormDirectLoads : Pass<"lds-form-direct-loads"> {
  let summary = "Copy from global memory to LDS without registers";
  let description = [{
    Turns a load from global memory whose value is stored to LDS into an LDS-DMA:
    `amdgpu.gather_to_lds` on gfx9, `lds.async_load` on gfx1250. The store goes,
    and with it the registers that the value was in.

    Before, with 256 threads on gfx950:

    ```mlir
    %v = vector.load %g[%row, %col] : memref<64x128xf16>, vector<8xf16>
    vector.store %v, %tile[%t8] : memref<2048xf16, #gpu.address_space<workgroup>>, vector<8xf16>
    gpu.barrier
    ```

    After, where `%wave8` is `%t8` of the wave's lane 0, in a scalar register:

    ```mlir
    amdgpu.gather_to_lds %g[%row, %col], %tile[%wave8] : vector<8xf16>, ...
    lds.commit_group
    lds.wait_group 0
    gpu.barrier
    ```

    Legal when

    - lane i of each wave stores i times the copy's width behind lane 0: computed
      for every thread of the block, whose size must be known. A swizzled store
      isn't of that form; `lds-inverse-swizzle` makes it so. gfx1250 takes any
      address;
    - the chip has an LDS-DMA of that width without holes (gfx942: 4 bytes,
      gfx950: 4 and 16, gfx1250: 1, 4, 8, 16), or, with `narrow`, one that divides
      it: then the copy is made of several, and lanes bring other lanes' bytes,
      whose address, guard and all, they compute for themselves;
    - what is loaded has no other use, and the source isn't written until the copy
      is done;
    - a barrier or an `lds.commit_group` comes next on every path. A copy in a
      group is left to the kernel's own `lds.wait_group`s; for others a wait is put
      in front of the barrier, and nothing else may touch the allocation between
      the barriers around the copy.

    A DMA reads through a buffer of exactly the memref's bytes where these are
    known to be less than 2^32: a static shape, or `assume-small-buffers`. LLVM
    22 gets waits for LDS reads in front of the other form, `global_load_lds`,
    wrong.

    A copy under a condition stays under it. A load under a condition whose other
    branch gives zeros needs the buffer: lanes that bring zeros read behind its
    end.

    Each copy that is left alone is a missed remark: `block-size-unknown`,
    `unsupported-element`, `value-used-elsewhere`, `target-layout`,
    `source-layout`, `guards-differ`, `width-not-supported`,
    `only-narrower-copies`, `offset-unknown`, `not-lane-linear`, `misaligned`,
    `partial-wave`, `divergent-copy`, `not-relaned`, `zero-fill-needs-buffer`,
    `no-barrier`, `group-on-some-paths`, `accessed-before-barrier`,
    `accessed-before-copy`, `source-written`. `direct-load-formed` is a copy that
    was rewritten, and `direct-load-profit` sums up a kernel.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"",
           "The chip, such as gfx950; if empty, that of the gpu.module's "
           "#rocdl.target, or else gfx950">,
    Option<"narrow", "narrow", "bool", /*default=*/"true",
           "Make copies out of several narrower DMAs where the chip has none of "
           "their width">,
    Option<"assumeSmallBuffers", "assume-small-buffers", "bool",
           /*default=*/"false",
           "Take memrefs of dynamic size to have less than 2^32 bytes">,
    Option<"strict", "strict", "bool", /*default=*/"false",
           "Report each refusal as an error">,
  ];
  let statistics = [
    Statistic<"numFormed", "formed", "Copies that became LDS-DMAs">,
    Statistic<"numRefused", "refused", "Copies left alone">,
  ];
  let dependentDialects = [
    "::mlir::amdgpu::AMDGPUDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect",
    "::mlir::ROCDL::ROCDLDialect", "::mlir::scf::SCFDialect",
    "::lodestone::lds::LDSDialect"
  ];
}

def LDSVerifyDirectLoads : Pass<"lds-verify-direct-loads"> {
  let summary = "Check that LDS-DMAs have one destination for each wave";
  let description = [{
    `amdgpu.gather_to_lds` writes lane after lane from one address, but takes an
    index from each lane, of which the backend uses one without a word. This pass
    computes the index for every thread of the block; if lanes of a wave differ it
    is an error with the lanes and their values:

    ```mlir
    %t = gpu.thread_id x
    amdgpu.gather_to_lds %g[%t], %tile[%t] : f32, ...
    ```

    What can't be computed is a remark, `destination-not-proved`. Kernels
    whose block size isn't known are left alone. Changes nothing.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"",
           "The chip, such as gfx950; if empty, that of the gpu.module's "
           "#rocdl.target, or else gfx950">,
  ];
}

def LDSApplySwizzles : Pass<"lds-apply-swizzles"> {
  let summary = "Put the swizzles of LDS allocations into the indices";
  let description = [{
    An allocation in LDS may carry a swizzle: `swizzle(...)` on an `lds.region`,
    `lds.swizzle` on a `memref.alloc`, `memref.alloca` or `memref.global` in
    workgroup memory, or on a workgroup attribution of a `gpu.func`. The indices
    of its accesses are logical. This pass makes them physical: all accesses of
    an allocation, through views too, or none. The allocation becomes a memref of
    one dimension.

    Before:

    ```mlir
    %a = lds.region @A swizzle(#lds.xor<bits = 3, base = 4, shift = 3>)
      : memref<64x64xf16, #gpu.address_space<workgroup>>
    %x = vector.load %a[%i, %j]
      : memref<64x64xf16, #gpu.address_space<workgroup>>, vector<8xf16>
    ```

    After, if `%j` is a multiple of 8:

    ```mlir
    %a = lds.region @A : memref<4096xf16, #gpu.address_space<workgroup>>
    %row = arith.muli %i, %c128 : index
    %column = arith.muli %j, %c2 : index
    %q = arith.addi %row, %column : index
    %bits = arith.andi %q, %c896 : index
    %turn = arith.shrui %bits, %c3 : index
    %p = arith.xori %q, %turn : index
    %k = arith.divui %p, %c2 : index
    %x = vector.load %a[%k] {alignment = 16 : i64}
      : memref<4096xf16, #gpu.address_space<workgroup>>, vector<8xf16>
    ```

    Terms of an index that are multiples of the period stay out of an xor. An
    allocation grows to the bytes that the swizzle needs: by padding, or where a
    tile ends inside of a period. A region has to have room for them.

    An access that moves more than the granule, or isn't known to be aligned to
    what it moves, is split into accesses that are: an analysis remark,
    `swizzle-splits-access`, says so.

    Legal when every use of the allocation is

    - an access of an element or of consecutive elements: `memref.load`,
      `memref.store`, `memref.atomic_rmw`, the affine ones, `vector.load`,
      `vector.store`, the masked ones, transfers that are plain loads or stores,
      and `amdgpu.transpose_load` of at most a granule (else
      `swizzle-unsupported-access`);
    - a view with constant strides by `memref.subview`, `memref.cast`,
      `memref.expand_shape`, `memref.collapse_shape`, `memref.view` or
      `memref.assume_alignment` (else `swizzle-unsupported-view`);
    - `memref.dealloc`. Any other use, such as a call, lets the address escape
      (`swizzle-escapes`).

    Each refusal is a missed remark, and the swizzle stays; a region that still has
    one is rejected by `lds-lower-regions`. With `drop-refused` the swizzle is
    removed (`swizzle-dropped`): the kernel computes the same, more slowly.
  }];
  let options = [
    Option<"strict", "strict", "bool", /*default=*/"false",
           "Report each refusal as an error">,
    Option<"dropRefused", "drop-refused", "bool", /*default=*/"false",
           "Remove a swizzle that can't be applied">,
  ];
  let statistics = [
    Statistic<"numApplied", "applied", "Allocations with the swizzle applied">,
    Statistic<"numRefused", "refused", "Allocations that were refused">,
    Statistic<"numSplit", "split", "Accesses that became several">,
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::vector::VectorDialect",
    "::lodestone::lds::LDSDialect"
  ];
}

def LDSInverseSwizzle : Pass<"lds-inverse-swizzle"> {
  let summary = "Load copied tiles in swizzled order, so as to store them in order";
  let description = [{
    A tile that is copied from global memory to LDS is often swizzled on the way,
    so that its readers meet no bank conflicts: each thread stores what it loaded
    at an offset that an xor or a rotation has changed. This pass moves the
    swizzle to the load. Each thread does the work of the thread that stored
    where it now stores itself, so that the threads of a block store one after the
    other. LDS holds the same bytes as before. An LDS-DMA, which can only write
    like that, can then take the place of a load and its store.

    Before, for 8 cells of 16 bytes a row:

    ```mlir
    %row = arith.divui %t, %c8 : index
    %cell = arith.remui %t, %c8 : index
    %column = arith.muli %cell, %c8 : index
    %x = vector.load %source[%row, %column] : memref<32x64xf16>, vector<8xf16>
    %flip = arith.andi %row, %c7 : index
    %to = arith.xori %cell, %flip : index
    %at = arith.muli %to, %c8 : index
    vector.store %x, %tile[%row, %at]
      : memref<32x64xf16, #gpu.address_space<workgroup>>, vector<8xf16>
    ```

    After:

    ```mlir
    // Thread %t loads what thread %s loaded.
    %bits = arith.andi %t, %c56 : index
    %flip = arith.shrui %bits, %c3 : index
    %s = arith.xori %t, %flip : index
    %row = arith.divui %s, %c8 : index
    %cell = arith.remui %s, %c8 : index
    %column = arith.muli %cell, %c8 : index
    %x = vector.load %source[%row, %column] : memref<32x64xf16>, vector<8xf16>
    %all = memref.collapse_shape %tile [[0, 1]]
      : memref<32x64xf16, #gpu.address_space<workgroup>>
        into memref<2048xf16, #gpu.address_space<workgroup>>
    %at = arith.muli %t, %c8 : index
    vector.store %x, %all[%at]
      : memref<2048xf16, #gpu.address_space<workgroup>>, vector<8xf16>
    ```

    A swizzle that is an attribute of the allocation is first made arithmetic, on
    all accesses of the allocation, as `lds-apply-swizzles` does.

    The offsets are computed for every thread of the block and every iteration of
    the loops around the copy; the form in which the swizzle is written doesn't
    matter. The conditions around a copy, the rows' and columns' bounds, lookups
    in tables and all else that depends on the thread go with the element, not
    with the thread that now copies it: what was in bounds still is, and what
    filled an element that wasn't still does.

    Legal when

    - the size of the block is known (`known_block_size`);
    - what is loaded is stored and used by nothing else;
    - the offsets of the stores are known but for terms that are the same in all
      threads; in each step, those of all threads are one window without gaps or
      collisions; from step to step the window moves by a constant, and windows
      don't overlap;
    - the thread that takes over can be computed by xors of shifted bits of the
      thread's and the iterations' numbers, or by rotating rows of threads;
    - all threads of the block reach the copy together;
    - what the copy's addresses, conditions and fill values depend on can be
      computed by another thread: arithmetic and loads from global memory;
    - a condition around a store that differs between threads guards nothing but
      stores that move in the same way;
    - on every path, a barrier stands between the copy and all other accesses of
      the same bytes of LDS, before and after it: a thread may read what it stored
      itself without one, but now another thread stores that;
    - nothing writes global memory between the barriers around the loads, unless
      `llvm.noalias` arguments tell the two apart.

    Else nothing is changed, and a missed remark says why: `unknown-block-size`,
    `value-used-elsewhere`, `unknown-allocation`, `unknown-trip-count`,
    `unknown-store-offset`, `uneven-steps`, `colliding-cells`,
    `no-contiguous-window`, `overlapping-steps`, `layout-not-contiguous`,
    `no-closed-form`, `divergent-control-flow`, `address-not-repeatable`,
    `shared-guard`, `no-barrier`, `source-written`. A copy that is rewritten is a
    passed remark, `inverse-swizzle-applied`.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"",
           "The chip, such as gfx950, whose wave size lane numbers follow; by "
           "default, that of the gpu.module's #rocdl.target">,
    Option<"strict", "strict", "bool", /*default=*/"false",
           "Report each refusal as an error">,
  ];
  let statistics = [
    Statistic<"numRewritten", "rewritten", "Stores that are linear now">,
    Statistic<"numRefused", "refused", "Copies left as they were">,
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::vector::VectorDialect",
    "::lodestone::lds::LDSDialect"
  ];
}

def LDSSplitCopyPhases : Pass<"lds-split-copy-phases"> {
  let summary = "Issue the loads of a tile's copy before its stores";
  let description = [{
    A copy from global memory to LDS that loads and stores in turn waits for each
    load. This pass moves the stores of a copy behind all its loads, within a
    budget of registers. Loops that only copy are unrolled for it.

    Before:

    ```mlir
    %x = vector.load %source[%i, %j] : memref<64x64xf16>, vector<8xf16>
    vector.store %x, %tile[%p]
      : memref<4096xf16, #gpu.address_space<workgroup>>, vector<8xf16>
    %y = vector.load %source[%k, %j] : memref<64x64xf16>, vector<8xf16>
    vector.store %y, %tile[%q]
      : memref<4096xf16, #gpu.address_space<workgroup>>, vector<8xf16>
    ```

    After:

    ```mlir
    %x = vector.load %source[%i, %j] : memref<64x64xf16>, vector<8xf16>
    %y = vector.load %source[%k, %j] : memref<64x64xf16>, vector<8xf16>
    vector.store %x, %tile[%p]
      : memref<4096xf16, #gpu.address_space<workgroup>>, vector<8xf16>
    vector.store %y, %tile[%q]
      : memref<4096xf16, #gpu.address_space<workgroup>>, vector<8xf16>
    ```

    A condition around a load and its store becomes one around the load, which
    gives poison where it doesn't hold, and one around the store: what wasn't
    loaded is never stored.

    Legal when nothing between the first and the last store is a barrier or a
    wait, writes global memory, or may touch the allocations that are stored to. The stores keep their order.

    Each group of stores is a passed remark, `copy-phases-split`. Where the budget
    ends a group, or is too small for two iterations of a loop, a missed remark,
    `split-over-budget`, has the numbers.
  }];
  let options = [
    Option<"registerBudget", "register-budget", "unsigned", /*default=*/"64",
           "Vector registers of a lane that may hold what is loaded and not yet "
           "stored">,
  ];
  let statistics = [
    Statistic<"numGroups", "groups", "Groups of stores behind their loads">,
  ];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::ub::UBDialect",
                           "::mlir::arith::ArithDialect"];
}

#endif // LODESTONE_TRANSFORMS_PASSES
