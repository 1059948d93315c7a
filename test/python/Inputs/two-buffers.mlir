// Two buffers filled by LDS-DMA, then read: with alias scopes the first read waits for its own
// buffer only. They are too far apart for one instruction to read both.
gpu.module @kernels {
  llvm.mlir.global external @lds() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
  llvm.func @two_buffers(%rsrc: !llvm.ptr<8> {llvm.inreg}, %out: !llvm.ptr<1>)
      attributes {gpu.kernel, rocdl.kernel, rocdl.reqd_work_group_size = array<i32: 64, 1, 1>,
                  rocdl.flat_work_group_size = "64,64"} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %a = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %b = llvm.getelementptr %a[81920] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %t = rocdl.workitem.id.x : i32
    %t4 = llvm.mul %t, %c4 : i32
    rocdl.raw.ptr.buffer.load.lds %rsrc, %a, %c4, %t4, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %rsrc, %b, %c4, %t4, %c0, %c0, %c0
    %pa = llvm.getelementptr %a[%t4] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %va = llvm.load %pa : !llvm.ptr<3> -> i32
    %pb = llvm.getelementptr %b[%t4] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %vb = llvm.load %pb : !llvm.ptr<3> -> i32
    %sum = llvm.add %va, %vb : i32
    llvm.store %sum, %out : i32, !llvm.ptr<1>
    llvm.return
  }
}
