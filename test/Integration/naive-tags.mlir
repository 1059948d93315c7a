// Each kernel carries the alias scopes (or none) that one would write at first. LLVM then
// leaves out a wait: the LDS read may see bytes that a DMA hasn't written yet. The passes
// replace these scopes with ones that don't. Numbers are what vmcnt each LDS read waits
// for, `-` if it doesn't wait.
// RUN: lodestone-opt --pass-pipeline='builtin.module(gpu-module-to-binary{format=isa})' %s | python %S/Inputs/waits.py | FileCheck %s --check-prefix=NAIVE
// RUN: lodestone-opt --pass-pipeline='builtin.module(lds-pack-static-globals,lds-attach-alias-scopes,gpu-module-to-binary{format=isa})' %s | python %S/Inputs/waits.py | FileCheck %s --check-prefix=OURS
// RUN: sed s/gfx950/gfx942/ %s | lodestone-opt --pass-pipeline='builtin.module(gpu-module-to-binary{format=isa})' | python %S/Inputs/waits.py | FileCheck %s --check-prefix=NAIVE
// RUN: sed s/gfx950/gfx942/ %s | lodestone-opt --pass-pipeline='builtin.module(lds-pack-static-globals,lds-attach-alias-scopes,gpu-module-to-binary{format=isa})' | python %S/Inputs/waits.py | FileCheck %s --check-prefix=OURS

// The checker of machine code finds the missing wait of each kernel as it is, and none
// after the passes.
// RUN: lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-binary{chip=gfx950 format=isa alias-scopes=false})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=FOUND
// RUN: lodestone-opt %s --pass-pipeline='builtin.module(lodestone-to-binary{chip=gfx950 format=isa})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=CLEAN --allow-empty
// FOUND: fails the wait check: 9 findings
// CLEAN-NOT: wait check

#domain = #llvm.alias_scope_domain<id = "hand">
#a = #llvm.alias_scope<id = "hand.a", domain = #domain>
#a2 = #llvm.alias_scope<id = "hand.a2", domain = #domain>
#b = #llvm.alias_scope<id = "hand.b", domain = #domain>
#b2 = #llvm.alias_scope<id = "hand.b2", domain = #domain>
#root = #llvm.tbaa_root<id = "root">
#int = #llvm.tbaa_type_desc<id = "int", members = {<#root, 0>}>
#tag = #llvm.tbaa_tag<base_type = #int, access_type = #int, offset = 0>

module attributes {gpu.container_module} {
gpu.module @defects [#rocdl.target<chip = "gfx950">] {
  llvm.mlir.global external @lds() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.mlir.global internal @static_a() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<4096 x i8>
  llvm.mlir.global internal @static_b() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<4096 x i8>
  llvm.mlir.global internal @static_c() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<4096 x i8>
  llvm.mlir.global internal @static_d() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<4096 x i8>

  // D1: a DMA whose address nobody can trace stays untagged, and tagged reads don't
  // wait for it. The wildcard scope makes them.
  // NAIVE: d1: 3{{$}}
  // OURS: d1: 2{{$}}
  llvm.func @d1(%src: !llvm.ptr<8>, %out: !llvm.ptr<1>, %any: i32, %flag: i1) attributes {rocdl.kernel, gpu.kernel, rocdl.reqd_work_group_size = array<i32: 64, 1, 1>} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %b = llvm.getelementptr %lds[4096] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %w = llvm.inttoptr %any : i32 to !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0 {alias_scopes = [#a], noalias_scopes = [#b]}
    rocdl.sched.barrier 0
    rocdl.raw.ptr.buffer.load.lds %src, %w, %c4, %c0, %c0, %c0, %c0
    rocdl.sched.barrier 0
    rocdl.raw.ptr.buffer.load.lds %src, %b, %c4, %c0, %c0, %c0, %c0 {alias_scopes = [#b], noalias_scopes = [#a]}
    rocdl.sched.barrier 0
    rocdl.raw.ptr.buffer.load.lds %src, %b, %c4, %c0, %c0, %c0, %c0 {alias_scopes = [#b], noalias_scopes = [#a]}
    rocdl.sched.barrier 0
    %x = llvm.load %lds {alias_scopes = [#a], noalias_scopes = [#b]} : !llvm.ptr<3> -> i32
    llvm.store %x, %out : i32, !llvm.ptr<1>
    llvm.return
  }

  // D1': any metadata on a read makes the backend look at tagged DMAs only, even TBAA.
  // NAIVE: d1_tbaa: -{{$}}
  // OURS: d1_tbaa: 1{{$}}
  llvm.func @d1_tbaa(%src: !llvm.ptr<8>, %out: !llvm.ptr<1>, %any: i32, %flag: i1) attributes {rocdl.kernel, gpu.kernel, rocdl.reqd_work_group_size = array<i32: 64, 1, 1>} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %b = llvm.getelementptr %lds[4096] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.sched.barrier 0
    rocdl.raw.ptr.buffer.load.lds %src, %b, %c4, %c0, %c0, %c0, %c0
    rocdl.sched.barrier 0
    %x = llvm.load %lds {tbaa = [#tag]} : !llvm.ptr<3> -> i32
    llvm.store %x, %out : i32, !llvm.ptr<1>
    llvm.return
  }

  // D2: two DMAs in one scope share a slot, which stands for the first one's address; a
  // read of the second one's bytes is found not to alias it.
  // NAIVE: d2: -{{$}}
  // OURS: d2: 1{{$}}
  llvm.func @d2(%src: !llvm.ptr<8>, %out: !llvm.ptr<1>, %any: i32, %flag: i1) attributes {rocdl.kernel, gpu.kernel, rocdl.reqd_work_group_size = array<i32: 64, 1, 1>} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %a1 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %b = llvm.getelementptr %lds[4096] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0 {alias_scopes = [#a], noalias_scopes = [#b]}
    rocdl.sched.barrier 0
    rocdl.raw.ptr.buffer.load.lds %src, %a1, %c4, %c0, %c0, %c0, %c0 {alias_scopes = [#a], noalias_scopes = [#b]}
    rocdl.sched.barrier 0
    rocdl.raw.ptr.buffer.load.lds %src, %b, %c4, %c0, %c0, %c0, %c0 {alias_scopes = [#b], noalias_scopes = [#a]}
    rocdl.sched.barrier 0
    %x = llvm.load %a1 {alias_scopes = [#a], noalias_scopes = [#b]} : !llvm.ptr<3> -> i32
    llvm.store %x, %out : i32, !llvm.ptr<1>
    llvm.return
  }

  // D3: a DMA writes 64 lanes, but its memory operand covers one; a read of another
  // lane's bytes is found not to alias it.
  // NAIVE: d3: -{{$}}
  // OURS: d3: 1{{$}}
  llvm.func @d3(%src: !llvm.ptr<8>, %out: !llvm.ptr<1>, %any: i32, %flag: i1) attributes {rocdl.kernel, gpu.kernel, rocdl.reqd_work_group_size = array<i32: 64, 1, 1>} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %p = llvm.getelementptr %lds[128] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %b = llvm.getelementptr %lds[4096] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0 {alias_scopes = [#a], noalias_scopes = [#b]}
    rocdl.sched.barrier 0
    rocdl.raw.ptr.buffer.load.lds %src, %b, %c4, %c0, %c0, %c0, %c0 {alias_scopes = [#b], noalias_scopes = [#a]}
    rocdl.sched.barrier 0
    %x = llvm.load %p {alias_scopes = [#a], noalias_scopes = [#b]} : !llvm.ptr<3> -> i32
    llvm.store %x, %out : i32, !llvm.ptr<1>
    llvm.return
  }

  // D3 without any metadata: the read even moves above the DMA.
  // NAIVE: d3_untagged: -{{$}}
  // OURS: d3_untagged: 0{{$}}
  llvm.func @d3_untagged(%src: !llvm.ptr<8>, %out: !llvm.ptr<1>, %any: i32, %flag: i1) attributes {rocdl.kernel, gpu.kernel, rocdl.reqd_work_group_size = array<i32: 64, 1, 1>} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %p = llvm.getelementptr %lds[128] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    %x = llvm.load %p : !llvm.ptr<3> -> i32
    llvm.store %x, %out : i32, !llvm.ptr<1>
    llvm.return
  }

  // D4: a DMA on one of two paths isn't in the list that the join keeps.
  // NAIVE: d4: -{{$}}
  // OURS: d4: 0{{$}}
  llvm.func @d4(%src: !llvm.ptr<8>, %out: !llvm.ptr<1>, %any: i32, %flag: i1) attributes {rocdl.kernel, gpu.kernel, rocdl.reqd_work_group_size = array<i32: 64, 1, 1>} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %b = llvm.getelementptr %lds[4096] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    rocdl.raw.ptr.buffer.load.lds %src, %b, %c4, %c0, %c0, %c0, %c0 {alias_scopes = [#b], noalias_scopes = [#a]}
    rocdl.sched.barrier 0
    llvm.cond_br %flag, ^then, ^join
  ^then:
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0 {alias_scopes = [#a], noalias_scopes = [#b]}
    rocdl.sched.barrier 0
    llvm.br ^join
  ^join:
    %x = llvm.load %lds {alias_scopes = [#a], noalias_scopes = [#b]} : !llvm.ptr<3> -> i32
    llvm.store %x, %out : i32, !llvm.ptr<1>
    llvm.return
  }

  // D4': one buffer's DMAs before and in a loop carry different scopes. The loop keeps the
  // slots from before it, and with them a count that is too high.
  // NAIVE: d4_lists: 1{{$}}
  // OURS: d4_lists: 0{{$}}
  llvm.func @d4_lists(%src: !llvm.ptr<8>, %out: !llvm.ptr<1>, %any: i32, %flag: i1) attributes {rocdl.kernel, gpu.kernel, rocdl.reqd_work_group_size = array<i32: 64, 1, 1>} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %b = llvm.getelementptr %lds[4096] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0 {alias_scopes = [#a], noalias_scopes = [#b, #b2]}
    rocdl.sched.barrier 0
    rocdl.raw.ptr.buffer.load.lds %src, %b, %c4, %c0, %c0, %c0, %c0 {alias_scopes = [#b], noalias_scopes = [#a, #a2]}
    rocdl.sched.barrier 0
    llvm.br ^body(%c0 : i32)
  ^body(%sum: i32):
    %v = llvm.load %lds {alias_scopes = [#a, #a2], noalias_scopes = [#b, #b2]} : !llvm.ptr<3> -> i32
    %x = llvm.add %sum, %v : i32
    rocdl.sched.barrier 0
    rocdl.raw.ptr.buffer.load.lds %src, %b, %c4, %c0, %c0, %c0, %c0 {alias_scopes = [#b2], noalias_scopes = [#a, #a2]}
    rocdl.sched.barrier 0
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0 {alias_scopes = [#a2], noalias_scopes = [#b, #b2]}
    rocdl.sched.barrier 0
    %again = llvm.icmp "slt" %x, %any : i32
    llvm.cond_br %again, ^body(%x : i32), ^exit
  ^exit:
    llvm.store %x, %out : i32, !llvm.ptr<1>
    llvm.return
  }

  // D5: with two static globals LLVM replaces the scopes on what it can trace to them.
  // One global in place of two keeps them.
  // NAIVE: d5: -{{$}}
  // OURS: d5: 1{{$}}
  llvm.func @d5(%src: !llvm.ptr<8>, %out: !llvm.ptr<1>, %any: i32, %flag: i1) attributes {rocdl.kernel, gpu.kernel, rocdl.reqd_work_group_size = array<i32: 64, 1, 1>} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %a = llvm.mlir.addressof @static_a : !llvm.ptr<3>
    %b = llvm.mlir.addressof @static_b : !llvm.ptr<3>
    %ia = llvm.ptrtoint %a : !llvm.ptr<3> to i32
    %pa = llvm.inttoptr %ia : i32 to !llvm.ptr<3>
    %ib = llvm.ptrtoint %b : !llvm.ptr<3> to i32
    %pb = llvm.inttoptr %ib : i32 to !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %pa, %c4, %c0, %c0, %c0, %c0 {alias_scopes = [#a], noalias_scopes = [#b]}
    rocdl.sched.barrier 0
    rocdl.raw.ptr.buffer.load.lds %src, %pb, %c4, %c0, %c0, %c0, %c0 {alias_scopes = [#b], noalias_scopes = [#a]}
    rocdl.sched.barrier 0
    %x = llvm.load %a {alias_scopes = [#a], noalias_scopes = [#b]} : !llvm.ptr<3> -> i32
    llvm.store %x, %out : i32, !llvm.ptr<1>
    llvm.return
  }

  // D5b: it adds its own scopes also where there were none.
  // NAIVE: d5_untagged: -{{$}}
  // OURS: d5_untagged: 1{{$}}
  llvm.func @d5_untagged(%src: !llvm.ptr<8>, %out: !llvm.ptr<1>, %any: i32, %flag: i1) attributes {rocdl.kernel, gpu.kernel, rocdl.reqd_work_group_size = array<i32: 64, 1, 1>} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %a = llvm.mlir.addressof @static_c : !llvm.ptr<3>
    %b = llvm.mlir.addressof @static_d : !llvm.ptr<3>
    %ia = llvm.ptrtoint %a : !llvm.ptr<3> to i32
    %off = llvm.and %any, %c4 : i32
    %sa = llvm.add %ia, %off : i32
    %pa = llvm.inttoptr %sa : i32 to !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %pa, %c4, %c0, %c0, %c0, %c0
    rocdl.sched.barrier 0
    rocdl.raw.ptr.buffer.load.lds %src, %b, %c4, %c0, %c0, %c0, %c0
    rocdl.sched.barrier 0
    %x = llvm.load %a : !llvm.ptr<3> -> i32
    llvm.store %x, %out : i32, !llvm.ptr<1>
    llvm.return
  }
}
}
