// The rules of #lds.extent and of the attributes lds.extent and lds.dynamic_size.
// RUN: lodestone-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{extent "a" has no bytes}}
module attributes {x = #lds.extent<"a", offset = 0, size = 0>} {}

// -----

// expected-error @+1 {{the name of an extent must not be empty}}
module attributes {x = #lds.extent<"", offset = 0, size = 4>} {}

// -----

// expected-error @+1 {{extent "a" of 16 bytes at offset 2147483640 ends beyond the largest LDS offset 2147483647}}
module attributes {x = #lds.extent<"a", offset = 2147483640, size = 16>} {}

// -----

// expected-error @+1 {{'lds.extent' is only for llvm.getelementptr and llvm.mlir.global}}
module attributes {lds.extent = #lds.extent<"a", offset = 0, size = 16>} {}

// -----

// expected-error @+1 {{'lds.extent' must be an #lds.extent, but is "a"}}
llvm.mlir.global external @a() {addr_space = 3 : i32, lds.extent = "a"} : !llvm.array<0 x i8>

// -----

// expected-error @+1 {{'lds.extent' needs a global in address space 3, but this one is in 1}}
llvm.mlir.global external @a() {addr_space = 1 : i32, lds.extent = #lds.extent<"a", offset = 0, size = 16>} : !llvm.array<0 x i8>

// -----

llvm.func @pointer(%p: !llvm.ptr) {
  // expected-error @+1 {{'lds.extent' needs a pointer in address space 3, but the result is '!llvm.ptr'}}
  %0 = llvm.getelementptr %p[0, 16] {lds.extent = #lds.extent<"a", offset = 16, size = 16>} : (!llvm.ptr) -> !llvm.ptr, !llvm.array<0 x i8>
  llvm.return
}

// -----

// expected-error @+1 {{'lds.dynamic_size' must be a non-negative i64 number of bytes, but is -1 : i64}}
llvm.func @negative() attributes {lds.dynamic_size = -1 : i64}

// -----

// expected-error @+1 {{'lds.dynamic_size' must be a non-negative i64 number of bytes, but is 1 : i32}}
llvm.func @narrow() attributes {lds.dynamic_size = 1 : i32}

// -----

// expected-error @+1 {{'lds.dynamic_size' is only for kernels}}
module attributes {lds.dynamic_size = 1 : i64} {}
