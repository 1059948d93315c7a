// RUN: lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-binary{chip=gfx950 format=isa alias-scopes=false})' 2>&1 | FileCheck %s --check-prefix=KEPT
// RUN: not lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-binary{chip=gfx950 format=isa alias-scopes=false strict=true})' 2>&1 | FileCheck %s --check-prefix=STRICT
// RUN: lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-binary{chip=gfx950 format=isa})' 2>&1 | FileCheck %s --check-prefix=OURS

// A tag on the read but not on the DMA makes LLVM drop the wait between them. With
// the tags as given, the check says so; with ours in their place all is well.
// KEPT: warning: gpu.module @naive fails the wait check: 1 finding
// KEPT: note:
// KEPT: untagged_fallback = false, wait_findings = 1
// KEPT-NOT: vmcnt(0)
// STRICT: error: gpu.module @naive fails the wait check: 1 finding
// OURS-NOT: warning
// OURS: untagged_fallback = false, wait_findings = 0
// OURS-SAME: buffer_load_dword {{[^\\]*}} lds
// OURS-SAME: s_waitcnt vmcnt(0)
// OURS-SAME: ds_read_b32
#domain = #llvm.alias_scope_domain<id = distinct[0]<>>
#scope = #llvm.alias_scope<id = distinct[1]<>, domain = #domain>
gpu.module @naive {
  llvm.func @kernel(%src: !llvm.ptr<8>, %out: !llvm.ptr<1>) attributes {rocdl.kernel, rocdl.flat_work_group_size = "64,64", rocdl.reqd_work_group_size = array<i32: 64, 1, 1>} {
    %a = lds.region @A size(256) : !llvm.ptr<3>
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %t = rocdl.workitem.id.x : i32
    %at = llvm.mul %t, %c4 : i32
    rocdl.raw.ptr.buffer.load.lds %src, %a, %c4, %at, %c0, %c0, %c0
    %from = llvm.getelementptr %a[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %x = llvm.load %from {alias_scopes = [#scope]} : !llvm.ptr<3> -> f32
    %to = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %x, %to : f32, !llvm.ptr<1>
    llvm.return
  }
}
