// RUN: not env LODESTONE_LLD=/nowhere/ld.lld lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-binary{chip=gfx950})' 2>&1 | FileCheck %s --check-prefix=LLD
// RUN: not lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-binary{chip=gfx950 lld=/nowhere/ld.lld})' 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-binary{chip=gfx950 lld=%s})' 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-binary{chip=gfx950 lld=/bin/false})' 2>&1 | FileCheck %s --check-prefix=FAILS
// RUN: not lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-binary{chip=gfx950 format=exe})' 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: env LODESTONE_LLD=/nowhere/ld.lld lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-binary{chip=gfx950 format=isa})' -o /dev/null

// A missing linker is an error that says how to get one; assembly text needs none.
// LLD: error: ld.lld not found; install it (Debian: apt-get install lld-22), put it on PATH, or name it in LODESTONE_LLD
// OPTION: error: the linker '{{.*}}' cannot be executed; name an ld.lld of LLVM
// FAILS: error: /bin/false failed with status 1
// FORMAT: error: unknown format 'exe'; the known ones are isa, hsaco, fatbin
gpu.module @kernels {
  llvm.func @kernel() attributes {rocdl.kernel} {
    llvm.return
  }
}
