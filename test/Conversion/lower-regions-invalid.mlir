// What lds-lower-regions refuses, with both sides and the bytes.
// RUN: lodestone-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics --lds-lower-regions
// RUN: echo 'module {}' | not lodestone-opt --lds-lower-regions=chip=gfx9999 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: error: unknown chip 'gfx9999'; known chips are gfx90a, gfx942, gfx950, gfx1250
// RUN: echo 'module {}' | not lodestone-opt --lds-lower-regions=index-bitwidth=7 2>&1 | FileCheck %s --check-prefix=INDEX
// INDEX: error: index-bitwidth must be 0, 32 or 64, but is 7
// The pass needs an operation that can hold the global.
// RUN: echo 'module {}' | not lodestone-opt --pass-pipeline='builtin.module(gpu.module(gpu.func(lds-lower-regions)))' 2>&1 | FileCheck %s --check-prefix=ANCHOR
// ANCHOR: unable to schedule pass

// Static LDS counts, too: 163840 bytes of regions alone would fit.
gpu.module @m [#rocdl.target<chip = "gfx950">] {
  llvm.mlir.global internal @static() {addr_space = 3 : i32} : !llvm.array<4 x array<16 x f32>>
  // expected-error @+1 {{kernel 'too_big' needs 164352 bytes of LDS (163840 for its regions, 512 static), but gfx950 has 163840}}
  gpu.func @too_big() workgroup(%w: memref<64xf32, #gpu.address_space<workgroup>>) kernel {
    %s = llvm.mlir.addressof @static : !llvm.ptr<3>
    // expected-note @+1 {{'@b' (bytes [81920, 163840)) is the region that ends last}}
    %b = lds.region @b offset(81920) size(81920) : !llvm.ptr<3>
    %a = lds.region @a size(81920) : !llvm.ptr<3>
    gpu.return
  }
}

// -----

// Of several targets, each must fit. Static LDS of a callee counts once.
gpu.module @m [#rocdl.target<chip = "gfx950">, #rocdl.target<chip = "gfx942">] {
  llvm.mlir.global internal @static() {addr_space = 3 : i32} : !llvm.array<16 x i8>
  llvm.func @callee() {
    %s = llvm.mlir.addressof @static : !llvm.ptr<3>
    llvm.call @callee() : () -> ()
    llvm.return
  }
  // expected-error @+1 {{kernel 'too_big' needs 65552 bytes of LDS (65536 for its regions, 16 static), but gfx942 has 65536}}
  llvm.func @too_big() attributes {rocdl.kernel} {
    // expected-note @+1 {{'@a' (bytes [0, 65536)) is the region that ends last}}
    %a = lds.region @a size(65536) : !llvm.ptr<3>
    %s = llvm.mlir.addressof @static : !llvm.ptr<3>
    llvm.call @callee() : () -> ()
    llvm.return
  }
}

// -----

// expected-error @+1 {{needs 65552 bytes of LDS (65552 for its regions, 0 static), but gfx942 has 65536}}
llvm.func @target_cpu() attributes {rocdl.kernel, target_cpu = "gfx942"} {
  // expected-note @+1 {{'@a' (bytes [0, 65552)) is the region that ends last}}
  %a = lds.region @a size(65552) : !llvm.ptr<3>
  llvm.return
}

// -----

gpu.module @m [#rocdl.target<chip = "gfx1100">] {
  // expected-warning @+1 {{the LDS size of chip 'gfx1100' is unknown, so the 16 bytes of regions are not checked against it}}
  gpu.func @unknown_chip() kernel {
    %a = lds.region @a size(16) : !llvm.ptr<3>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @whole() kernel {
    // expected-note @+1 {{'@a' is here}}
    %a = lds.region @a size(16) : !llvm.ptr<3>
    // expected-error @+1 {{uses the dynamic LDS of kernel 'whole' from byte 0, where its 16 bytes of regions are, with '@a' (bytes [0, 16)) the first of them; make it an lds.region, too}}
    %0 = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

// The same through a global, in a function that the kernel calls.
llvm.mlir.global external @dynamic() {addr_space = 3 : i32} : !llvm.array<0 x f32>
llvm.func @callee() {
  // expected-error @+1 {{uses the dynamic LDS of kernel 'caller' from byte 0}}
  %0 = llvm.mlir.addressof @dynamic : !llvm.ptr<3>
  llvm.return
}
llvm.func @caller() attributes {rocdl.kernel} {
  // expected-note @+1 {{'@a' is here}}
  %a = lds.region @a size(16) : !llvm.ptr<3>
  llvm.call @callee() : () -> ()
  llvm.return
}

// -----

llvm.func @lowered_before() attributes {rocdl.kernel, lds.dynamic_size = 512 : i64} {
  // expected-error @+1 {{'@a' (bytes [0, 16)) comes too late: regions of kernel 'lowered_before' were lowered before, in 512 bytes of dynamic LDS; lower all regions of a kernel at once}}
  %a = lds.region @a size(16) : !llvm.ptr<3>
  llvm.return
}

// -----

gpu.module @m {
  gpu.func @no_kernel() {
    // expected-error @+1 {{'@a' is in function 'no_kernel', which is not a kernel; declare the region in the kernel and pass it}}
    %a = lds.region @a size(16) : !llvm.ptr<3>
    gpu.return
  }
}

// -----

func.func @host(%n: index) {
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n)
             threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
    // expected-error @+1 {{'@a' is in a gpu.launch; outline the kernel (gpu-kernel-outlining) before}}
    %0 = lds.region @a size(16) : !llvm.ptr<3>
    gpu.terminator
  }
  return
}

// -----

// An overlay is placed onto what it overlays, and may hit a third region there.
gpu.module @m {
  gpu.func @overlay_hits_third() kernel {
    %a = lds.region @a size(32) : !llvm.ptr<3>
    // expected-note @+1 {{'@b' is here}}
    %b = lds.region @b size(32) : !llvm.ptr<3>
    // expected-error @+1 {{'@c' (bytes [0, 48)) shares 16 bytes with '@b' (bytes [32, 64)); add 'overlays @b'}}
    %c = lds.region @c size(48) overlays @a : !llvm.ptr<3>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @overlay_before() kernel {
    // expected-error @+1 {{'@a' (48 bytes) has no offset, and neither has '@b' (32 bytes), which it overlays, at this point; give one of them an offset or change their order}}
    %a = lds.region @a size(48) overlays @b : !llvm.ptr<3>
    // expected-note @+1 {{'@b' is here}}
    %b = lds.region @b size(32) : !llvm.ptr<3>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @no_place() kernel {
    %a = lds.region @a size(2147483600) : !llvm.ptr<3>
    // expected-error @+1 {{'@b' of 48 bytes finds no place below offset 2147483647}}
    %b = lds.region @b size(48) : !llvm.ptr<3>
    gpu.return
  }
}

// -----

// An unknown operation may or may not be a symbol table.
"some.container"() ({
  llvm.func @no_table() attributes {rocdl.kernel} {
    // expected-error @+1 {{'@a' is in kernel 'no_table', which is in no symbol table that could hold its global}}
    %a = lds.region @a size(16) : !llvm.ptr<3>
    llvm.return
  }
}) : () -> ()

// -----

// A swizzle that nothing has applied: readers rely on where the bytes are.
gpu.module @m {
  gpu.func @swizzled() kernel {
    // expected-error @+1 {{region '@a' still has the swizzle #lds.xor<bits = 3, base = 4, shift = 3>; run lds-apply-swizzles, which says why if it can't apply it, or lds-apply-swizzles{drop-refused} to do without}}
    %a = lds.region @a swizzle(#lds.xor<bits = 3, base = 4, shift = 3>) : memref<64x64xf16, 3>
    gpu.return
  }
}

// -----

// The same without any region.
gpu.module @m {
  // expected-error @+1 {{workgroup attribution 0 still has the swizzle #lds.rotate<cell_bytes = 16, row_bytes = 128>}}
  gpu.func @attribution() workgroup(%w : memref<64x64xf16, 3> {lds.swizzle = #lds.rotate<cell_bytes = 16, row_bytes = 128>}) kernel {
    gpu.return
  }
}
