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
