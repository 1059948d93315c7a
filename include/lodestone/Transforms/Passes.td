//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_TRANSFORMS_PASSES
#define LODESTONE_TRANSFORMS_PASSES

include "lodestone/Transforms/CopyPasses.td"
include "lodestone/Transforms/TDMPasses.td"
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

def LDSHoistAllocations : Pass<"lds-hoist-allocations"> {
  let summary = "Make memref.alloc of LDS a workgroup attribution of the kernel";
  let description = [{
    `memref.alloc` and `memref.alloca` of workgroup memory have no lowering of
    their own: upstream's would call malloc. Each becomes a workgroup attribution
    of the kernel around it, static LDS that all threads of a workgroup share, and
    its `memref.dealloc` goes away.

    ```mlir
    gpu.func @k() kernel {
      %a = memref.alloc() {alignment = 64} : memref<256xf32, #gpu.address_space<workgroup>>
    ```

    becomes

    ```mlir
    gpu.func @k() workgroup(%a : memref<256xf32, #gpu.address_space<workgroup>>
                                 {llvm.align = 64 : i64}) kernel {
    ```

    An error where that isn't the same:

    - in a loop, where the next iteration has another buffer while a slow thread
      still uses the last;
    - outside of a kernel: a call would have LDS of its own (`inline` first);
    - of a size that isn't known, or with a layout that leaves gaps;
    - with an `lds.swizzle`, which `lds-apply-swizzles` puts into the indices;
    - where a `memref.dealloc` of LDS may be of other LDS.

    Allocations that are never live together don't share bytes.
  }];
  let statistics = [
    Statistic<"numHoisted", "hoisted", "Allocations that became attributions">,
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
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

#endif // LODESTONE_TRANSFORMS_PASSES
