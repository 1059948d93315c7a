// Where no buffer gives zeros, lanes that bring them store them, if the copy is in a group.
// RUN: lodestone-opt %s --lds-form-direct-loads=chip=gfx1250 --canonicalize | FileCheck %s --check-prefixes=CHECK,LANES
// RUN: lodestone-opt %s --lds-form-direct-loads=chip=gfx950 --canonicalize | FileCheck %s --check-prefixes=CHECK,WAVE
// RUN: lodestone-opt %s --lds-form-direct-loads=chip=gfx1250 --lds-lower-async-groups | FileCheck %s --check-prefix=WAITS
// RUN: lodestone-opt %s --lds-form-direct-loads=chip=gfx1250 --remarks-filter='lds-form.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: lodestone-opt %s --lds-form-direct-loads=chip=gfx942 --remarks-filter='lds-form.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=NARROW

!lds = memref<1024xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  // The wait is for both, the copies and the stores.
  // CHECK-LABEL: gpu.func @group
  // CHECK-DAG: %[[ZERO:.+]] = arith.constant dense<0.000000e+00> : vector<4xf32>
  // CHECK: %[[IN:.+]] = arith.cmpi ult
  // CHECK-NEXT: scf.if %[[IN]] {
  // LANES-NEXT: lds.async_load %{{.+}}[%[[I:.+]]], %[[LDS:.+]][%[[I]]] : vector<4xf32>
  // WAVE-NEXT: amdgpu.gather_to_lds %{{.+}}[%[[I:.+]]], %[[LDS:.+]][%{{.+}}] : vector<4xf32>
  // CHECK-NEXT: } else {
  // CHECK-NEXT: vector.store %[[ZERO]], %[[LDS]][%[[I]]]
  // CHECK-NEXT: }
  // CHECK-NEXT: lds.commit_group
  // WAITS-LABEL: gpu.func @group
  // WAITS: amdgpu.memory_counter_wait ds(0)
  // WAITS-NEXT: rocdl.s.wait.asynccnt 0
  // NARROW: [Missed] zero-fill-needs-buffer {{.*}}Function=group
  gpu.func @group(%g: memref<?xf32>, %n: index) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c4 = arith.constant 4 : index
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %i = arith.muli %t, %c4 : index
    %in = arith.cmpi ult, %i, %n : index
    %v = scf.if %in -> vector<4xf32> {
      %x = vector.load %g[%i] : memref<?xf32>, vector<4xf32>
      scf.yield %x : vector<4xf32>
    } else {
      scf.yield %zero : vector<4xf32>
    }
    vector.store %v, %lds[%i] : !lds, vector<4xf32>
    lds.commit_group
    lds.wait_group 0
    gpu.barrier
    gpu.return
  }

  // Without a group nothing says that an earlier copy to the same bytes isn't on its way.
  // CHECK-LABEL: gpu.func @barrier
  // CHECK-NOT: {{async_load|gather_to_lds}}
  // REMARK: [Missed] zero-fill-needs-buffer {{.*}}Function=barrier{{.*}}; in a group, lanes could store zeros instead
  gpu.func @barrier(%g: memref<?xf32>, %n: index) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c4 = arith.constant 4 : index
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %i = arith.muli %t, %c4 : index
    %in = arith.cmpi ult, %i, %n : index
    %v = scf.if %in -> vector<4xf32> {
      %x = vector.load %g[%i] : memref<?xf32>, vector<4xf32>
      scf.yield %x : vector<4xf32>
    } else {
      scf.yield %zero : vector<4xf32>
    }
    vector.store %v, %lds[%i] : !lds, vector<4xf32>
    gpu.barrier
    gpu.return
  }
}
