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
    `foreign-dma-tags-replaced`.

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

#endif // LODESTONE_TRANSFORMS_PASSES
