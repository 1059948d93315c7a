// What the options of lds-form-direct-loads change.
// RUN: lodestone-opt %s --lds-form-direct-loads='chip=gfx942 narrow=false' --remarks-filter='lds-form-direct-loads' --remark-format=emitRemark -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s < %t.mlir
// RUN: not lodestone-opt %s --lds-form-direct-loads='chip=gfx942 narrow=false strict' -o /dev/null 2>&1 | FileCheck %s --check-prefix=STRICT
// RUN: lodestone-opt %s --lds-form-direct-loads='chip=gfx942 strict' -o - | FileCheck %s --check-prefix=ALL

// The pipelines' `direct-to-lds`: `auto` is without `narrow`, `on` with it, and `off` leaves copies alone.
// RUN: lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-rocdl{chip=gfx942 direct-to-lds=auto})' --remarks-filter='lds-form-direct-loads' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-rocdl{chip=gfx942 direct-to-lds=on})' --remarks-filter='lds-form-direct-loads' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=ON
// RUN: lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-rocdl{chip=gfx942 direct-to-lds=off})' --remarks-filter='lds-form-direct-loads' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=OFF
// ON-NOT: Missed
// ON: direct-load-formed {{.*}}Function=wide{{.*}}DMAs=4
// ON: direct-load-formed {{.*}}Function=dword{{.*}}DMAs=1
// OFF-NOT: {{remark:|load.lds}}

!lds = memref<1024xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  // Without `narrow`, four DMAs for one copy are no copy of one DMA: a remark, and with `strict` an
  // error at the copy.
  // REMARK: [[@LINE+12]]:5: remark: [Missed] only-narrower-copies
  // STRICT: [[@LINE+11]]:5: error: the copy can't become an LDS-DMA: gfx942 has no LDS-DMA of 16 bytes a lane
  // CHECK-LABEL: gpu.func @wide
  // CHECK: vector.store
  // ALL-LABEL: gpu.func @wide
  // ALL: amdgpu.gather_to_lds
  // ALL-COUNT-3: lds.wave_load
  gpu.func @wide(%g: memref<1024xf32>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c4 = arith.constant 4 : index
    %i = arith.muli %t, %c4 : index
    %v = vector.load %g[%i] : memref<1024xf32>, vector<4xf32>
    vector.store %v, %lds[%i] : !lds, vector<4xf32>
    gpu.barrier
    gpu.return
  }

  // What is one DMA becomes one.
  // REMARK: remark: [Passed] direct-load-formed
  // STRICT-NOT: error
  // CHECK-LABEL: gpu.func @dword
  // CHECK: amdgpu.gather_to_lds
  // CHECK-NOT: memref.store
  // ALL-LABEL: gpu.func @dword
  // ALL: amdgpu.gather_to_lds
  gpu.func @dword(%g: memref<1024xf32>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %v = memref.load %g[%t] : memref<1024xf32>
    memref.store %v, %lds[%t] : !lds
    gpu.barrier
    gpu.return
  }
}
