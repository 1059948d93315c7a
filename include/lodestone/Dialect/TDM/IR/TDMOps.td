//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_DIALECT_TDM_IR_TDMOPS
#define LODESTONE_DIALECT_TDM_IR_TDMOPS

include "lodestone/Dialect/TDM/IR/TDMAttrs.td"
include "lodestone/Dialect/LDS/IR/LDSOpInterfaces.td"
include "lodestone/Dialect/TDM/IR/TDMInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class TDM_Op<string mnemonic, list<Trait> traits = []>
    : Op<TDM_Dialect, mnemonic, traits>;

class TDM_CopyOp<string mnemonic, list<Trait> traits = []>
    : TDM_Op<mnemonic, !listconcat(traits, [
        AttrSizedOperandSegments,
        TDM_CopyOpInterface])>;

// What `lds.wait_group` counts, where `tdm.wait` counts all copies.
def TDM_CopyToLDS : DeclareOpInterfaceMethods<LDS_AsyncCopyOpInterface>;

def TDM_LoadOp : TDM_CopyOp<"load", [TDM_CopyToLDS]> {
  let summary = "Start a copy of a block from global memory to LDS";
  let description = [{
    Starts the copy of a block of the tensor `global`, the one that begins at
    `offsets`, to LDS. The copy is done for a warp after a `tdm.wait`, and for the
    workgroup after a barrier behind that.

    - The block has the shape of the memref `lds`, or that of `block`. Then `lds` is
      just bytes: the block stands at its start, in row-major order.
    - What is outside of the tensor, beyond its sizes, arrives as zeros. Offsets are
      not negative; they, and sizes, are below 2^32 at run time, strides below 2^48.
    - All operands are the same for all work items of the workgroup.
    - `if` a condition is false nothing is moved.
    - `hint` chooses the warps that move data, as a mask with a bit for each warp or
      as `#tdm.warps`. Without it all do; or, if the block can't be divided among
      so many, the first 2^n of them.
    - `padding` leaves gaps in LDS. A memref whose strides have the gaps needs no
      `block`.
    - `partition` along a dimension: the block is divided along it into as many
      pieces as there are memrefs in `lds`, one piece to each.
    - `iterate` repeats the copy at further addresses. For blocks of rank 2 or 3.
    - `barrier`: each warp that moves data arrives at this barrier in LDS when its
      part is there. A copy of several instructions arrives with the last one.
    - `workgroups`: the workgroups of the cluster that get the block, as a mask; 0
      is this workgroup alone.
    - `early_timeout` lets the data mover return data as soon as a cache has it.

    Example:

    ```mlir
    // 256x64 elements at row %i, on warps 0 to 3 of the workgroup.
    tdm.load %a[%i, %c0] to %lds hint(0x0f : i32)
      : memref<?x?xf16, strided<[?, 1]>>
      to memref<256x64xf16, #gpu.address_space<workgroup>>

    // Rows that are 8 elements apart in LDS, on warps 4 to 7.
    %rows = memref.subview %bytes[0, 0] [256, 64] [1, 1]
      : memref<256x72xf16, 3> to memref<256x64xf16, strided<[72, 1]>, 3>
    tdm.load %a[%i, %c0] to %rows if %more
      padding(<interval = 32, amount = 4>)
      hint(#tdm.warps<free = 0b011, anchor = 0b100, of = 8>)
      : memref<?x?xf16, strided<[?, 1]>>
      to memref<256x64xf16, strided<[72, 1]>, 3>
    ```

    It takes one TENSORcnt, but for a partitioned block without a hint, which may
    take several; `tdm.wait` counts copies.

    Legal when, in this order,

    - `global` is a memref in global memory and `lds` are memrefs in workgroup
      memory, with the same element type of 1, 2, 4 or 8 bytes; there is an offset for
      each dimension, which are 1 to 5; the innermost stride is 1 and no size,
      stride or offset is known to be negative or too large for the descriptor (2^32
      for sizes and offsets, 2^48 for strides);
    - the number of warps, where it is known, is a power of two that is at most 32;
    - the hint is not zero, has no bit beyond the number of warps, has a power
      of two of bits, and is an axis-aligned subcube of the warp ids;
    - with a hint and a partition, the number of pieces divides the number of active
      warps, so that one instruction does;
    - the block can be divided into as many parts as there are active warps. Parts
      are halves of halves along the outermost dimension that has an even number of
      elements left; the next dimension is divided only when one element is left,
      for a part must be contiguous in LDS; with padding it must also be a multiple
      of the interval;
    - the part of a warp is at most 65535 elements long in each dimension;
    - the pieces are different memrefs;
    - `lds` is large enough, contiguous, or (with padding and without `block`) has
      the strides that the padding makes;
    - the repetitions don't overlap in LDS;
    - the barrier is one i64 in workgroup memory at a multiple of 8 bytes.
  }];
  let arguments = (ins
    Arg<AnyMemRef, "the tensor", [MemRead]>:$global,
    Variadic<Index>:$offsets,
    Arg<Variadic<AnyMemRef>, "the block", [MemWrite]>:$lds,
    Optional<I1>:$pred,
    Arg<Optional<AnyMemRef>, "the barrier", [MemRead, MemWrite]>:$barrier,
    Optional<I16>:$workgroup_mask,
    OptionalAttr<TDM_WarpHintAttr>:$warp_used_hint,
    OptionalAttr<DenseI64ArrayAttr>:$block,
    OptionalAttr<TDM_PaddingAttr>:$padding,
    OptionalAttr<I64Attr>:$partition_dim,
    OptionalAttr<TDM_IterationAttr>:$iteration,
    UnitAttr:$early_timeout
  );
  let assemblyFormat = [{
    $global `[` $offsets `]` `to` $lds oilist(
        `if` $pred
      | `block` `(` custom<Stripped>($block) `)`
      | `padding` `(` custom<Stripped>($padding) `)`
      | `partition` `(` $partition_dim `)`
      | `iterate` `(` custom<Stripped>($iteration) `)`
      | `workgroups` `(` $workgroup_mask `)`
      | `barrier` `(` $barrier `:` type($barrier) `)`
      | `hint` `(` $warp_used_hint `)`
      | `early_timeout` $early_timeout)
    attr-dict `:` type($global) `to` type($lds)
  }];
}

def TDM_StoreOp : TDM_CopyOp<"store"> {
  let summary = "Start a copy of a block from LDS to global memory";
  let description = [{
    The other way round than `tdm.load`, with the same operands, but for `padding`
    and `workgroups`, which stores don't have. What is outside of the tensor isn't
    written.

    The block must be in LDS before, for all warps: a barrier must stand behind what
    wrote it.

    Example:

    ```mlir
    tdm.store %lds to %c[%i, %j]
      : memref<128x128xf32, #gpu.address_space<workgroup>>
      to memref<?x?xf32, strided<[?, 1]>>
    ```
  }];
  let arguments = (ins
    Arg<Variadic<AnyMemRef>, "the block", [MemRead]>:$lds,
    Arg<AnyMemRef, "the tensor", [MemWrite]>:$global,
    Variadic<Index>:$offsets,
    Optional<I1>:$pred,
    Arg<Optional<AnyMemRef>, "the barrier", [MemRead, MemWrite]>:$barrier,
    OptionalAttr<TDM_WarpHintAttr>:$warp_used_hint,
    OptionalAttr<DenseI64ArrayAttr>:$block,
    OptionalAttr<I64Attr>:$partition_dim,
    OptionalAttr<TDM_IterationAttr>:$iteration,
    UnitAttr:$early_timeout
  );
  let assemblyFormat = [{
    $lds `to` $global `[` $offsets `]` oilist(
        `if` $pred
      | `block` `(` custom<Stripped>($block) `)`
      | `partition` `(` $partition_dim `)`
      | `iterate` `(` custom<Stripped>($iteration) `)`
      | `barrier` `(` $barrier `:` type($barrier) `)`
      | `hint` `(` $warp_used_hint `)`
      | `early_timeout` $early_timeout)
    attr-dict `:` type($lds) `to` type($global)
  }];
  let extraClassDeclaration = [{
    bool isLoad() { return false; }
  }];
}

def TDM_GatherOp : TDM_CopyOp<"gather", [TDM_CopyToLDS]> {
  let summary = "Start a copy of some rows of a matrix from global memory to LDS";
  let description = [{
    Starts the copy of a block whose rows are those rows of the matrix `global` that
    `rows` lists, and whose columns start at the offset. The indices are i16 or i32,
    unsigned; a row beyond the end of the matrix arrives as zeros.

    The rows are divided among the active warps. One instruction has room for 16
    indices of 16 bits, or 8 of 32: a copy may take several.

    Example:

    ```mlir
    tdm.gather %a[%c0] rows(%rows : vector<32xi16>) to %lds
      : memref<?x1024xf16> to memref<32x64xf16, #gpu.address_space<workgroup>>
    ```

    Legal under the rules of `tdm.load`, and when the rank is 2 and there is one
    index for each row of the block.
  }];
  let arguments = (ins
    Arg<AnyMemRef, "the matrix", [MemRead]>:$global,
    Variadic<Index>:$offsets,
    FixedVectorOfRankAndType<[1], [I16, I32]>:$rows,
    Arg<Variadic<AnyMemRef>, "the block", [MemWrite]>:$lds,
    Optional<I1>:$pred,
    Optional<I16>:$workgroup_mask,
    OptionalAttr<TDM_WarpHintAttr>:$warp_used_hint,
    OptionalAttr<DenseI64ArrayAttr>:$block,
    OptionalAttr<TDM_PaddingAttr>:$padding,
    UnitAttr:$early_timeout
  );
  let assemblyFormat = [{
    $global `[` $offsets `]` `rows` `(` $rows `:` type($rows) `)` `to` $lds oilist(
        `if` $pred
      | `block` `(` custom<Stripped>($block) `)`
      | `padding` `(` custom<Stripped>($padding) `)`
      | `workgroups` `(` $workgroup_mask `)`
      | `hint` `(` $warp_used_hint `)`
      | `early_timeout` $early_timeout)
    attr-dict `:` type($global) `to` type($lds)
  }];
}

def TDM_FusedLoadOp : TDM_Op<"fused_load", [
    RecursiveMemoryEffects, NoRegionArguments, SingleBlock, NoTerminator,
    TDM_CopyToLDS]> {
  let summary = "Several loads in one instruction";
  let description = [{
    The loads in its body as one instruction: each warp has the descriptor of
    the load whose hint names it. Warps that no hint names move nothing.

    Example:

    ```mlir
    tdm.fused_load {
      tdm.load %a[%i, %k] to %ldsA hint(0x0f : i32)
        : memref<?x?xf16, strided<[?, 1]>>
        to memref<256x64xf16, #gpu.address_space<workgroup>>
      tdm.load %b[%j, %k] to %ldsB hint(0xf0 : i32)
        : memref<?x?xf16, strided<[?, 1]>>
        to memref<128x64xf16, #gpu.address_space<workgroup>>
    }
    ```

    For `tdm.wait` it is one copy.

    Legal when the body has 2 to 4 `tdm.load` and nothing else, all have a hint, no
    two hints have a warp in common, the ranks are the same, and none has a barrier.
    Blocks, element types and the numbers of warps may differ.
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The members. Precondition: verified.
    auto getLoads() { return getBody().front().getOps<LoadOp>(); }
  }];
}

def TDM_WaitOp : TDM_Op<"wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Wait until at most so many of the warp's copies are in flight";
  let description = [{
    Waits until all copies of this dialect that the warp has started, but for the
    last `count`, are done. Copies finish in order. A `tdm.fused_load` is one copy.

    This is the wait of one warp. What the others moved is there after a barrier.

    Example:

    ```mlir
    tdm.load %a[%i, %k] to %next : ...
    // All but the copy above.
    tdm.wait 1
    gpu.barrier
    ```

    `convert-tdm-to-rocdl` turns it into the count of instructions that these copies
    took: the smallest over all paths that lead here.
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative]>:$count);
  let assemblyFormat = "$count attr-dict";
}

#endif // LODESTONE_DIALECT_TDM_IR_TDMOPS
