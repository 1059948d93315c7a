//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The passes on copies of tiles to LDS, in the order in which the pipelines run
// them.

#ifndef LODESTONE_TRANSFORMS_COPYPASSES
#define LODESTONE_TRANSFORMS_COPYPASSES

include "mlir/Pass/PassBase.td"

def LDSUnrollBuffers : Pass<"lds-unroll-buffers"> {
  let summary = "Unroll loops by the number of LDS buffers that they go round";
  let description = [{
    LLVM's backend waits before an LDS access for the LDS-DMAs that may write its
    bytes. Of a loop that reads buffer `k mod 2` while a DMA fills the other, it
    can't tell: one instruction reads both, another writes both. With a copy of
    the body for each buffer, every access has its buffer as a constant.

    Before:

    ```mlir
    scf.for %k = %c0 to %n step %c1 {
      %slot = arith.remui %k, %c2 : index
      %x = vector.load %tile[%slot, %i] : memref<2x512xf16, 3>, vector<8xf16>
      ...
    ```

    After, with what is left of an odd number of iterations behind the loop:

    ```mlir
    scf.for %k = %c0 to %end step %c2 {
      %x = vector.load %tile[%c0, %i] : memref<2x512xf16, 3>, vector<8xf16>
      ...
      %k1 = arith.addi %k, %c1 : index
      %y = vector.load %tile[%c1, %i] : memref<2x512xf16, 3>, vector<8xf16>
      ...
    ```

    How many buffers there are is seen from the first iterations: of each index
    of an access to LDS, after how many it is what it was. Memrefs that a loop
    hands on in a ring are buffers, too.

    Looks at loops with LDS-DMAs, on chips where LLVM tells those of one counter,
    vmcnt, apart; with `stores` also at those
    with copies that `lds-form-direct-loads` may make DMAs of. Legal always;
    done where the loop's start and step are constants of 31 bits and its bounds
    signed, by at most `max-factor`. Else `buffers-not-unrolled` says why.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"",
           "The chip, such as gfx950; if empty, that of the gpu.module's "
           "#rocdl.target, or else gfx950">,
    Option<"maxFactor", "max-factor", "int64_t", /*default=*/"4",
           "Buffers of a loop that is unrolled; below 2 none is">,
    Option<"stores", "stores", "bool", /*default=*/"false",
           "Also for copies by loads and stores">,
  ];
  let statistics = [
    Statistic<"numUnrolled", "unrolled", "Loops that were unrolled">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
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
      don't overlap. Or those of all steps together are one window: then cells
      move to other steps, too;
    - the thread that takes over can be computed by xors of shifted bits of the
      thread's and the iterations' numbers, or by rotating rows of threads;
    - all threads of the block reach the copy together;
    - what the copy's addresses, conditions and fill values depend on can be
      computed by another thread: arithmetic, loads from global memory, and what
      an `scf.for` carries if all threads run it equally often. Where the thread
      taken over from differs between iterations, what is carried must grow by
      what is the same for all threads, and in each step by the same if cells move
      to other steps;
    - a load that has to move down to where it is known whose it is meets no
      barrier on its way;
    - a condition around a store that differs between threads (or, if cells move
      to other steps, between these) guards nothing but stores that move in the
      same way, and if it is around a loop whose iterations have different threads
      to take over from, nothing but that and pure arithmetic: it moves into the
      loop then;
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
    "::mlir::memref::MemRefDialect", "::mlir::ub::UBDialect",
    "::mlir::vector::VectorDialect", "::lodestone::lds::LDSDialect"
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

def LDSVerifyDirectLoads : Pass<"lds-verify-direct-loads"> {
  let summary = "Check that LDS-DMAs have one destination for each wave";
  let description = [{
    `amdgpu.gather_to_lds` (and `lds.wave_load`) writes lane after lane from one
    address, but takes an index from each lane, of which the backend uses one
    without a word. This pass computes the index for every thread of the block; if
    lanes of a wave differ it is an error with the lanes and their values:

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
      isn't of that form; `lds-inverse-swizzle` makes it so. gfx1250 takes an
      address from each lane. All of them are multiples of the width;
    - the chip has an LDS-DMA of that width without holes (gfx942: 4 bytes,
      gfx950: 4 and 16, gfx1250: 1, 4, 8, 16), or, with `narrow`, one that divides
      it: then the copy is made of several, and lanes bring other lanes' bytes,
      whose address, guard and all, they compute for themselves;
    - what is loaded has no other use, and the source isn't written until the copy
      is done;
    - DMAs of dwords read at multiples of 4 bytes: by what the indices and strides
      are multiples of, or by the load's `alignment`. A memref itself is taken to
      begin at one;
    - a barrier or an `lds.commit_group` comes next on every path. A copy in a
      group is left to the kernel's own `lds.wait_group`s; for others a wait is put
      in front of the barrier, and nothing else may touch the allocation between
      the barriers around the copy.

    A DMA reads through a buffer of exactly the memref's bytes, from the first
    element to the last one, where these are known to be less than 2^32: constant
    sizes and strides, or `assume-small-buffers`. LLVM 22 gets waits for LDS reads
    in front of the other form, `global_load_lds`, wrong.

    DMAs that are as far from an earlier one of their block in memory as in LDS,
    up to 4095 bytes, take its addresses and have the distance in the instruction
    (`lds.wave_load`).

    A copy under a condition stays under it. Of a load under a condition whose
    other branch gives zeros, the lanes that bring zeros read behind the buffer's
    end. That the condition is about a column, and not the end, makes no
    difference: each lane chooses. Without a buffer, in a group and with one DMA a
    copy, they store zeros.

    Each copy that is left alone is a missed remark: `block-size-unknown`,
    `unsupported-element`, `unsupported-access`, `value-used-elsewhere`,
    `value-changed`, `target-layout`, `source-layout`, `guards-differ`,
    `width-not-supported`, `only-narrower-copies`, `offset-unknown`,
    `not-lane-linear`, `misaligned`, `source-misaligned`, `partial-wave`,
    `divergent-copy`, `not-relaned`, `zero-fill-needs-buffer`, `no-barrier`,
    `group-on-some-paths`, `accessed-before-barrier`, `accessed-before-copy`,
    `source-written`. `direct-load-formed` is a copy that was rewritten, and
    `direct-load-profit` sums up a kernel.
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
           "Take memrefs whose sizes or strides aren't constant to have less than "
           "2^32 bytes, and no negative stride">,
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
    an error.

    The pass adds no barrier. It checks the contract of `lds.commit_group`: an
    access that touches bytes which a copy in flight writes is an error, with a note
    at the copy, or a warning where both a wait or barrier on the way and a copy are
    under conditions, which may go together, or one is in a loop that may not run.
    In flight is a copy that some path leads from to the
    access without the wait for its group and, if another wave copies the bytes,
    a barrier behind it; or from the access of another wave to the copy without a
    barrier. For this it computes each thread's place in LDS, as far as the
    sizes of blocks and of waves are known; `group-contract-checked` says how many
    pairs of an access and a copy could be compared.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"",
           "The chip, such as gfx950; if empty, that of the gpu.module's "
           "#rocdl.target">,
  ];
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

#endif // LODESTONE_TRANSFORMS_COPYPASSES
