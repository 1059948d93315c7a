// A loop that reads one of two buffers in a tile while a copy fills the other.
#lds = #gpu.address_space<workgroup>
gpu.module @kernels {
  gpu.func @sum_tiles(%source: memref<32x4096xf16>, %out: memref<2048xf16>, %n: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %tile = lds.region @tile swizzle(#lds.xor<bits=3, base=4, shift=3>) : memref<2x32x64xf16, #lds>
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %row = arith.divui %t, %c8 : index
    %cell = arith.remui %t, %c8 : index
    %col = arith.muli %cell, %c8 : index
    %x0 = vector.load %source[%row, %col] : memref<32x4096xf16>, vector<8xf16>
    vector.store %x0, %tile[%c0, %row, %col] : memref<2x32x64xf16, #lds>, vector<8xf16>
    lds.commit_group
    %z = arith.constant dense<0.0> : vector<8xf16>
    %n1 = arith.subi %n, %c1 : index
    %acc = scf.for %k = %c0 to %n1 step %c1 iter_args(%a = %z) -> vector<8xf16> {
      %k1 = arith.addi %k, %c1 : index
      %slot = arith.remui %k, %c2 : index
      %next = arith.remui %k1, %c2 : index
      %kc = arith.muli %k1, %c64 : index
      %gcol = arith.addi %kc, %col : index
      %x = vector.load %source[%row, %gcol] : memref<32x4096xf16>, vector<8xf16>
      vector.store %x, %tile[%next, %row, %col] : memref<2x32x64xf16, #lds>, vector<8xf16>
      lds.commit_group
      lds.wait_group 1
      amdgpu.memory_counter_wait ds(0)
      rocdl.s.barrier
      %y = vector.load %tile[%slot, %cell, %col] : memref<2x32x64xf16, #lds>, vector<8xf16>
      %s = arith.addf %a, %y : vector<8xf16>
      amdgpu.memory_counter_wait ds(0)
      rocdl.s.barrier
      scf.yield %s : vector<8xf16>
    }
    lds.wait_group 0
    amdgpu.memory_counter_wait ds(0)
    rocdl.s.barrier
    %last = arith.remui %n1, %c2 : index
    %y = vector.load %tile[%last, %cell, %col] : memref<2x32x64xf16, #lds>, vector<8xf16>
    %s = arith.addf %acc, %y : vector<8xf16>
    %at = arith.muli %t, %c8 : index
    vector.store %s, %out[%at] : memref<2048xf16>, vector<8xf16>
    gpu.return
  }
}
