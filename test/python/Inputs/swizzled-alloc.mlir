// A tile in a memref.alloc of LDS with a swizzle: written by rows, read by columns of cells.
#lds = #gpu.address_space<workgroup>
gpu.module @kernels {
  gpu.func @transpose(%source: memref<8x64xf16>, %out: memref<8x64xf16>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %tile = memref.alloc() {lds.swizzle = #lds.xor<bits = 3, base = 4, shift = 3>} : memref<8x64xf16, #lds>
    %t = gpu.thread_id x
    %i = affine.apply affine_map<(d0) -> (d0 floordiv 8)>(%t)
    %j = affine.apply affine_map<(d0) -> (d0 mod 8)>(%t)
    %ci = affine.apply affine_map<(d0) -> (d0 * 8)>(%i)
    %cj = affine.apply affine_map<(d0) -> (d0 * 8)>(%j)
    %x = vector.load %source[%i, %cj] : memref<8x64xf16>, vector<8xf16>
    vector.store %x, %tile[%i, %cj] : memref<8x64xf16, #lds>, vector<8xf16>
    gpu.barrier
    %y = vector.load %tile[%j, %ci] : memref<8x64xf16, #lds>, vector<8xf16>
    vector.store %y, %out[%i, %cj] : memref<8x64xf16>, vector<8xf16>
    memref.dealloc %tile : memref<8x64xf16, #lds>
    gpu.return
  }
}
