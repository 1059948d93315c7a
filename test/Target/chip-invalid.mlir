// RUN: not lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-rocdl{chip=gfx9999})' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-rocdl)' 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-binary{chip=gfx9999})' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-binary{chip=gfx950})' 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-binary{chip=gfx950 format=exe})' 2>&1 | FileCheck %s --check-prefix=EMPTY

// A bad chip is reported first, with the ones that work.
// UNKNOWN: error: unknown chip 'gfx9999'; the known ones are gfx90a, gfx942, gfx950, gfx1250
// NONE: error: no chip given; set chip to one of gfx90a
// EMPTY: error: the module is empty; put kernels into a gpu.module
module {}
