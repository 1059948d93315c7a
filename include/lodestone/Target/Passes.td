

#ifndef LODESTONE_TARGET_PASSES
#define LODESTONE_TARGET_PASSES

include "mlir/Pass/PassBase.td"

def CheckGPUModules : Pass<"check-gpu-modules", "::mlir::ModuleOp"> {
  let summary = "Check that a module is one that the pipelines can compile";
  let description = [{
    The first pass of `lodestone-to-rocdl` and `lodestone-to-binary`. It changes
    nothing and fails, saying what to do, if

    - `chip` is not a chip that Lodestone knows,
    - the module has no `gpu.module`,
    - a `gpu.module` has a `#rocdl.target` for another chip,
    - (`require-kernels`) a `gpu.module` has no kernel: no `gpu.func` with
      `kernel`, no `llvm.func` with `rocdl.kernel` or `amdgpu_kernelcc`.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"\"",
           "The chip to compile for, as gfx950">,
    Option<"requireKernels", "require-kernels", "bool", /*default=*/"true",
           "A gpu.module without a kernel is an error">
  ];
}

def LowerVectorOps : Pass<"lower-vector-ops", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Break vector ops down to those that map to LLVM one by one";
  let description = [{
    `convert-gpu-to-rocdl` converts the simple vector ops only. This pass brings
    the others (contractions, multi-dimensional reductions, transposes, masks,
    transfers of one dimension, gathers) to that form, with upstream's patterns. Transfers of
    more dimensions are left to `convert-vector-to-scf`, which runs after it.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

def CheckLowered : Pass<"check-lowered", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Check that only the LLVM and ROCDL dialects are left";
  let description = [{
    The last pass of `lodestone-to-rocdl`. It changes nothing; an op that the
    conversions left behind is an error at that op instead of a failure of the
    translation to LLVM IR later.
  }];
}

def GPUModulesToBinary
    : Pass<"lodestone-gpu-modules-to-binary", "::mlir::ModuleOp"> {
  let summary = "Compile each gpu.module to a gpu.binary, and check the code";
  let description = [{
    The last pass of `lodestone-to-binary`; expects what `lodestone-to-rocdl`
    makes, without alias scopes. For each `gpu.module` it attaches alias scopes to a
    copy, generates code, and checks the machine code: if an LDS access may run
    before the LDS-DMA that it depends on is done, it compiles the module without
    the scopes and says so in a warning.
  }];
  let dependentDialects = [
    "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::ROCDL::ROCDLDialect"
  ];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"\"",
           "The chip to compile for, as gfx950">,
    Option<"format", "format", "std::string", /*default=*/"\"hsaco\"",
           "What the gpu.binary holds: isa, hsaco or fatbin">,
    Option<"aliasScopes", "alias-scopes", "bool", /*default=*/"true",
           "Attach alias scopes before code generation">,
    Option<"check", "check", "bool", /*default=*/"true",
           "Check the waits of the machine code">,
    Option<"strict", "strict", "bool", /*default=*/"false",
           "What cannot be tagged, and a finding of the check, is an error">,
    Option<"optLevel", "O", "unsigned", /*default=*/"3",
           "LLVM's optimization level, 0 to 3">,
    Option<"features", "features", "std::string", /*default=*/"\"\"",
           "Features of the target machine, as +xnack">,
    Option<"linker", "lld", "std::string", /*default=*/"\"\"",
           "The ld.lld to link with; searched for if empty">,
    Option<"rocmPath", "rocm-path", "std::string", /*default=*/"\"\"",
           "The ROCm installation with the device libraries">
  ];
}

#endif // LODESTONE_TARGET_PASSES
