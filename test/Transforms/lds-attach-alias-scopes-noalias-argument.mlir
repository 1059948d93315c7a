// LLVM's inliner turns noalias arguments into scopes on everything in the helper, DMAs
// included; DMAs of one buffer would then carry different lists. A kernel isn't inlined.
// RUN: lodestone-opt %s --lds-attach-alias-scopes --remarks-filter=lds-attach-alias-scopes --remark-format=emitRemark 2>&1 | FileCheck %s

// CHECK: [Analysis] noalias-argument-dropped {{.*}} Function=helper | Argument=1
gpu.module @m [#rocdl.target<chip = "gfx950">] {
  llvm.mlir.global external @lds() {addr_space = 3 : i32} : !llvm.array<0 x i8>
  // CHECK: llvm.func internal @helper(%{{.*}}: !llvm.ptr<8>, %{{.*}}: !llvm.ptr<1>, %{{.*}}: i32)
  llvm.func internal @helper(%r: !llvm.ptr<8>, %g: !llvm.ptr<1> {llvm.noalias}, %v: i32) {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %p = llvm.mlir.addressof @lds : !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %r, %p, %c4, %v, %c0, %c0, %c0
    llvm.return
  }
  // CHECK: llvm.func @kernel(%{{.*}}: !llvm.ptr<8>, %{{.*}}: !llvm.ptr<1> {llvm.noalias}, %{{.*}}: i32)
  llvm.func @kernel(%r: !llvm.ptr<8>, %g: !llvm.ptr<1> {llvm.noalias}, %v: i32) attributes {rocdl.kernel} {
    llvm.call @helper(%r, %g, %v) : (!llvm.ptr<8>, !llvm.ptr<1>, i32) -> ()
    llvm.return
  }
}
