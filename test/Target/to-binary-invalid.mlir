// RUN: lodestone-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(lodestone-to-binary{chip=gfx942})'

// What LLVM finds wrong is an error at the kernel, not the end of the process.

// expected-error @+1 {{gpu.module @no_kernel has no kernel; mark a gpu.func with 'kernel' or an llvm.func with 'rocdl.kernel'}}
gpu.module @no_kernel {
  llvm.func @helper() {
    llvm.return
  }
}

// -----

// More static LDS than the chip has.
gpu.module @too_much_lds {
  llvm.mlir.global internal @big() {addr_space = 3 : i32} : !llvm.array<100000 x i8>
  // expected-error @+1 {{local memory (100000) exceeds limit (65536) in function 'kernel'}}
  llvm.func @kernel() attributes {rocdl.kernel} {
    %0 = llvm.mlir.addressof @big : !llvm.ptr<3>
    %zero = llvm.mlir.constant(0 : i8) : i8
    llvm.store volatile %zero, %0 : i8, !llvm.ptr<3>
    llvm.return
  }
}

// -----

// An LDS-DMA that the chip doesn't have.
gpu.module @no_such_width {
  llvm.func @kernel(%from: !llvm.ptr<8>, %to: !llvm.ptr<3>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c16 = llvm.mlir.constant(16 : i32) : i32
    // expected-error @+1 {{an LDS-DMA of 16 bytes a lane, but gfx942 has those of 4}}
    rocdl.raw.ptr.buffer.load.lds %from, %to, %c16, %c0, %c0, %c0, %c0
    llvm.return
  }
}

// -----

// An instruction that the chip doesn't have: LLVM 22 ends the process here if it
// is let.
// expected-error-re @+1 {{LLVM gave up in its code generator: {{.*}} on function '@kernel'}}
gpu.module @no_such_instruction {
  llvm.func @kernel(%from: !llvm.ptr<3>, %to: !llvm.ptr) attributes {rocdl.kernel} {
    %0 = rocdl.ds.read.tr16.b64 %from : !llvm.ptr<3> -> vector<4xf16>
    llvm.store %0, %to : vector<4xf16>, !llvm.ptr
    llvm.return
  }
}

// -----

// Inline assembly is parsed when the text is assembled.
// expected-error @+1 {{invalid instruction in 's_frobnicate 1'}}
gpu.module @bad_instruction {
  llvm.func @kernel() attributes {rocdl.kernel} {
    llvm.inline_asm has_side_effects "s_frobnicate 1", "" : () -> ()
    llvm.return
  }
}

// -----

// expected-error @+1 {{couldn't allocate output register for constraint 'q'}}
gpu.module @bad_constraint {
  llvm.func @kernel() attributes {rocdl.kernel} {
    %0 = llvm.inline_asm has_side_effects "v_mov_b32 $0, 1", "=q" : () -> i32
    llvm.return
  }
}

// -----

// A linker for shared objects would let this pass, and the loader not.
gpu.module @undefined {
  // expected-error @+1 {{function 'elsewhere' is called but not defined}}
  llvm.func @elsewhere()
  llvm.func @kernel() attributes {rocdl.kernel} {
    llvm.call @elsewhere() : () -> ()
    llvm.return
  }
}

// -----

// An attribute that LLVM cannot read, once, though several passes look.
// expected-error @+1 {{can't parse first integer attribute amdgpu-flat-work-group-size}}
gpu.module @bad_attribute {
  llvm.func @kernel() attributes {rocdl.kernel, rocdl.flat_work_group_size = "many"} {
    llvm.return
  }
}
