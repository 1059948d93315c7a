//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_DIALECT_LDS_IR_LDSOPS
#define LODESTONE_DIALECT_LDS_IR_LDSOPS

include "lodestone/Dialect/LDS/IR/LDSAttrs.td"
include "lodestone/Dialect/LDS/IR/LDSOpInterfaces.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class LDS_Op<string mnemonic, list<Trait> traits = []>
    : Op<LDS_Dialect, mnemonic, traits>;

// The LDS layout of a kernel. It is disjoint from any memory: declaring a region
// touches no byte of LDS.
def LDS_Layout : Resource<"::lodestone::lds::LayoutResource">;

def LDS_RegionOp : LDS_Op<"region", [
    MemoryEffects<[MemAlloc<LDS_Layout>]>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "A named piece of a kernel's dynamic LDS";
  let description = [{
    Declares `size` bytes of the kernel's dynamic LDS, starting at `offset` bytes
    from its start, under a name, and returns their address: as a memref in
    workgroup memory, or as an `!llvm.ptr<3>`.

    - `offset` may be left out. The region then gets the lowest multiple of
      `align` at which it overlaps no region that has an `offset` and none
      that stands before it. If it `overlays` others it starts at the lowest
      multiple of `align` not below the first of them that has a place by then.
    - `size` may be left out when the result is a memref: it is then the bytes of
      the memref.
    - `align` is in bytes, a power of two, 16 when left out.
    - `overlays` lists regions that this one may share bytes with, because the two
      are never live at the same time. One of the two saying so is enough.
      Naming a region does not place this one onto it if there is an `offset`.
    - `swizzle` says where in the region the bytes of the memref are; see the
      dialect's description. It has to be applied by `lds-apply-swizzles` before
      the region can be lowered. Canonicalization simplifies it and drops an
      identity.

    A region is a declaration. It stays when nothing uses it, so that the
    optimizer's work doesn't change the layout, and the name of a region can be
    relied on in `overlays`. It reads and writes no memory.

    Example:

    ```mlir
    // Two buffers of a ring, and a staging area that reuses the bytes of both.
    %a0 = lds.region @A0 offset(0) align(128)
      : memref<128x128xf8E4M3FN, #gpu.address_space<workgroup>>
    %a1 = lds.region @A1 offset(16384) align(128)
      : memref<128x128xf8E4M3FN, #gpu.address_space<workgroup>>
    %out = lds.region @out offset(0) size(32768) overlays @A0, @A1 : !llvm.ptr<3>

    // Placed by lds-lower-regions.
    %s = lds.region @scales size(512) : !llvm.ptr<3>
    ```

    Legal when

    - the operation is in the entry block of a `gpu.func`, an `llvm.func` or a
      `gpu.launch`: this is the kernel whose LDS it divides (that a function is a
      kernel is checked by `lds-lower-regions`);
    - `align` is a power of two and `offset` a multiple of it;
    - `size` isn't zero, and `offset` + `size` is below 2^31;
    - the memory space of a memref is `#gpu.address_space<workgroup>` or 3, its
      shape is static, its layout the identity, its elements are integers or
      floats of 1, 2, 4, 8 or 16 bytes, complex numbers of these, or vectors whose
      innermost dimension has a power of two of bytes, and all of it takes at most
      `size` bytes;
    - a `swizzle` is on a memref, sends its bytes to different bytes of the
      region, and doesn't tear an element: the bytes of an element divide the
      granule;
    - no other region of the kernel has the same name, and all names in
      `overlays` are regions of the kernel;
    - two regions whose `offset` is given have no byte in common, unless one
      `overlays` the other.

    That the regions fit into the LDS of a chip is checked by
    `lds-lower-regions`.
  }];

  let arguments = (ins
    SymbolNameAttr:$region_name,
    OptionalAttr<I64Attr>:$offset,
    OptionalAttr<I64Attr>:$size,
    DefaultValuedAttr<I64Attr, "16">:$align,
    OptionalAttr<StrArrayAttr>:$overlays,
    OptionalAttr<LDS_SwizzleAttrInterface>:$swizzle
  );
  let results = (outs
    AnyTypeOf<[AnyMemRef, LLVM_PointerInAddressSpace<3>]>:$result
  );

  let assemblyFormat = [{
    $region_name oilist(
        `offset` `(` $offset `)`
      | `size` `(` $size `)`
      | `align` `(` $align `)`
      | `overlays` custom<RegionNames>($overlays)
      | `swizzle` `(` custom<Swizzle>($swizzle) `)`)
    attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;

  let extraClassDeclaration = [{
    /// The bytes of the region: `size`, or else those of the memref. Nothing if
    /// neither is known, which the verifier rejects.
    std::optional<uint64_t> getByteSize();
  }];
}

//===----------------------------------------------------------------------===//
// Asynchronous groups
//===----------------------------------------------------------------------===//

// Copies are in flight between these two ops, so no access to memory may move
// across either of them.
class LDS_GroupOp<string mnemonic>
    : LDS_Op<mnemonic, [MemoryEffects<[MemRead, MemWrite]>]>;

def LDS_CommitGroupOp : LDS_GroupOp<"commit_group"> {
  let summary = "Closes a group of copies into LDS";
  let description = [{
    Makes a group of the copies into LDS that the thread has issued since its
    previous `lds.commit_group`, or since the kernel began: LDS-DMAs
    (`amdgpu.gather_to_lds` and the like), which arrive later, and ordinary
    stores. A group may be empty. Groups are counted along the path that the
    thread takes, so one in a loop is a new one each time around.

    **The contract of a group.** From the last workgroup barrier before a copy of
    a group until the wait for that group, nothing but the copy touches the bytes
    that it writes, and nothing writes those it reads. So it makes no difference
    when it happens in between, and `lds-form-direct-loads` may turn a load and a
    store into an LDS-DMA.

    It is no instruction; `lds-lower-async-groups` only keeps the copies of one
    group from trading places with those of the next.

    Example:

    ```mlir
    amdgpu.gather_to_lds %k[%i], %lds[%j]
      : vector<4xf32>, memref<?xf32>, memref<2048xf32, #gpu.address_space<workgroup>>
    lds.commit_group
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def LDS_WaitGroupOp : LDS_GroupOp<"wait_group"> {
  let summary = "Waits for all groups of copies but the youngest";
  let description = [{
    Waits until the copies of all committed groups are in LDS, except those of the
    `in_flight` groups that were committed last. Copies that are in no group yet
    are not waited for.

    A wait is for the copies of the thread's own wave. Others see them after a
    workgroup barrier behind the wait.

    Example, a double buffer: the group that was committed last stays in flight.

    ```mlir
    lds.wait_group 1
    rocdl.s.barrier
    ```

    Legal when `in_flight` is 0 to 63.
  }];
  let arguments = (ins I64Attr:$in_flight);
  let assemblyFormat = "$in_flight attr-dict";
  let hasVerifier = 1;

  let extraClassDeclaration = [{
    /// The largest `in_flight`: the hardware's counters have six bits.
    static constexpr int64_t kMaxInFlight = 63;
  }];
}

def LDS_AsyncLoadOp : LDS_Op<"async_load", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<LDS_AsyncCopyOpInterface>]> {
  let summary = "An asynchronous copy global -> LDS with an address per lane";
  let description = [{
    gfx1250's `global_load_async_to_lds`: each lane copies a value of `type` from
    `source` to `target`, both addresses its own. The bytes arrive later, at a
    wait on asynccnt (`lds.wait_group`). gfx9's LDS-DMAs, which have one LDS
    address for all lanes of a wave, are `amdgpu.gather_to_lds`.

    Example:

    ```mlir
    lds.async_load %k[%row, %col], %tile[%i]
      : vector<8xf16>, memref<?x128xf16>, memref<4096xf16, #gpu.address_space<workgroup>>
    ```

    Legal when `type` has 1, 4, 8 or 16 bytes, `target` is in workgroup memory
    and `source` isn't, and each has as many indices as dimensions. The
    conversion to the LLVM dialect (`convert-gpu-to-rocdl`) makes it one
    `rocdl.global.load.async.to.lds`.
  }];
  let arguments = (ins
    Arg<AnyMemRef, "", [MemRead]>:$source, Variadic<Index>:$source_indices,
    Arg<AnyMemRef, "", [MemWrite]>:$target, Variadic<Index>:$target_indices,
    TypeAttr:$type
  );
  let assemblyFormat = [{
    $source `[` $source_indices `]` `,` $target `[` $target_indices `]` attr-dict
    `:` $type `,` type($source) `,` type($target)
  }];
  let hasVerifier = 1;
}

def LDS_WaveLoadOp : LDS_Op<"wave_load", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<LDS_AsyncCopyOpInterface>]> {
  let summary = "An LDS-DMA with an offset on both sides";
  let description = [{
    gfx9's LDS-DMA through a buffer, `buffer_load ... lds`: lane i of a wave copies
    a value of `type`, of n bytes, from `offset` bytes behind its element of
    `source` to `offset + i * n` bytes behind the wave's element of `target`. The
    bytes arrive later, at a wait on vmcnt (`lds.wait_group`). It is
    `amdgpu.gather_to_lds` with the offset field of the instruction, which the
    hardware adds to both addresses (CDNA3 ISA 9.1.9, CDNA4 ISA 9.1.9): copies that
    are as far apart in memory as in LDS share their addresses.

    Example:

    ```mlir
    lds.wave_load %k[%row, %col], %tile[%wave] offset(1024)
      : vector<8xf16>, memref<64x64xf16, #amdgpu.address_space<fat_raw_buffer>>,
        memref<4096xf16, #gpu.address_space<workgroup>>
    ```

    Legal when `offset` is 0 to 4095, `type` has 4 or 16 bytes, `source` is a
    buffer and `target` in workgroup memory, and each has as many indices as
    dimensions. An element of `source` that is inside of the buffer, and 2^32 bytes
    at most with the offset, is for the caller to make sure of; so is that all
    lanes of a wave agree on the place in `target`, which `lds-verify-direct-loads`
    checks. The conversion to the LLVM dialect (`convert-gpu-to-rocdl`) makes it one
    `rocdl.load.to.lds`.
  }];
  let arguments = (ins
    Arg<AnyMemRef, "", [MemRead]>:$source, Variadic<Index>:$source_indices,
    Arg<AnyMemRef, "", [MemWrite]>:$target, Variadic<Index>:$target_indices,
    I32Attr:$offset, TypeAttr:$type
  );
  let assemblyFormat = [{
    $source `[` $source_indices `]` `,` $target `[` $target_indices `]`
    `offset` `(` $offset `)` attr-dict
    `:` $type `,` type($source) `,` type($target)
  }];
  let hasVerifier = 1;
}

#endif // LODESTONE_DIALECT_LDS_IR_LDSOPS
