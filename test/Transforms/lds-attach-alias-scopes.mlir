// What the pass writes: scopes on both sides, hidden addresses, and the same again when it
// is run twice.
// RUN: lodestone-opt %s --lds-attach-alias-scopes | FileCheck %s
// RUN: lodestone-opt %s --lds-attach-alias-scopes -o %t.once
// RUN: lodestone-opt %s --lds-attach-alias-scopes --lds-attach-alias-scopes -o %t.twice
// RUN: diff %t.once %t.twice

// CHECK-DAG: #[[A:.*]] = #llvm.alias_scope<id = "lodestone.lds.two_buffers.lds[0, 256)"
// CHECK-DAG: #[[B:.*]] = #llvm.alias_scope<id = "lodestone.lds.two_buffers.lds[4096, 4352)"
// CHECK-DAG: #[[WILD:.*]] = #llvm.alias_scope<id = "lodestone.lds.wildcard.wildcard"
// CHECK-DAG: #[[KNOWN:.*]] = #llvm.alias_scope<id = "lodestone.lds.wildcard.lds[0, 256)"
// CHECK-DAG: #[[OURS:.*]] = #llvm.alias_scope<id = "lodestone.lds.foreign.lds[0, 256)"
// CHECK-DAG: #[[THEIRS:.*]] = #llvm.alias_scope<id = "theirs"

#domain = #llvm.alias_scope_domain<id = "their domain">
#theirs = #llvm.alias_scope<id = "theirs", domain = #domain>

gpu.module @m [#rocdl.target<chip = "gfx950">] {
  llvm.mlir.global external @lds() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func internal @callee(%p: !llvm.ptr<3>) {
    llvm.return
  }

  // Both sides carry scopes, the DMA's address is computed from a laundered base, and the
  // reads' aren't.
  // CHECK-LABEL: @two_buffers
  // CHECK: %[[LDS:.*]] = llvm.mlir.addressof @lds
  // CHECK-NEXT: %[[BASE:.*]] = llvm.inline_asm "", "=s,0" %[[LDS]]
  // CHECK: %[[HIDDEN:.*]] = llvm.getelementptr %[[BASE]][4096]
  // CHECK: rocdl.raw.ptr.buffer.load.lds %{{.*}}, %[[BASE]], {{.*}} {alias_scopes = [#[[A]]], noalias_scopes = [#[[B]]]}
  // CHECK: rocdl.raw.ptr.buffer.load.lds %{{.*}}, %[[HIDDEN]], {{.*}} {alias_scopes = [#[[B]]], noalias_scopes = [#[[A]]]}
  // CHECK: llvm.load %[[LDS]] {alias_scopes = [#[[A]]], noalias_scopes = [#[[B]]]}
  llvm.func @two_buffers(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %a = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %b = llvm.getelementptr %a[4096] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    rocdl.raw.ptr.buffer.load.lds %src, %a, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %b, %c4, %c0, %c0, %c0, %c0
    %x = llvm.load %a : !llvm.ptr<3> -> i32
    %y = llvm.load %b : !llvm.ptr<3> -> i32
    llvm.return
  }

  // A DMA that can't be traced gets the wildcard, which no list of noalias scopes holds.
  // Its address is whatever the first lane holds, so that it is hidden right at the DMA.
  // CHECK-LABEL: @wildcard
  // CHECK: %[[FIRST:.*]] = rocdl.readfirstlane %{{.*}} : !llvm.ptr<3>
  // CHECK-NEXT: %[[AT:.*]] = llvm.inline_asm "", "=s,0" %[[FIRST]]
  // CHECK-NEXT: rocdl.raw.ptr.buffer.load.lds %{{.*}}, %[[AT]], {{.*}} {alias_scopes = [#[[WILD]]]}
  // CHECK: rocdl.raw.ptr.buffer.load.lds {{.*}} {alias_scopes = [#[[KNOWN]]]}
  // CHECK: llvm.load %{{.*}} {noalias_scopes = [#[[KNOWN]]]}
  llvm.func @wildcard(%src: !llvm.ptr<8>, %any: i32) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %a = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %w = llvm.inttoptr %any : i32 to !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %w, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %a, %c4, %c0, %c0, %c0, %c0
    %q = llvm.getelementptr %a[4096] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %x = llvm.load %q : !llvm.ptr<3> -> i32
    llvm.return
  }

  // Tags of others stay on reads, where they order ordinary accesses; on DMAs they are
  // replaced, so that all DMAs of a buffer share a slot; on calls they are dropped, as
  // LLVM's inliner would put them on all that the callee does.
  // CHECK-LABEL: @foreign
  // CHECK: rocdl.raw.ptr.buffer.load.lds {{.*}} {alias_scopes = [#[[OURS]]]}
  // CHECK: llvm.load {{.*}} {alias_scopes = [#[[OURS]]], noalias_scopes = [#[[THEIRS]]]}
  // CHECK: llvm.call @callee(%{{[0-9]+}}) : (!llvm.ptr<3>) -> ()
  llvm.func @foreign(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %a = llvm.mlir.addressof @lds : !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %a, %c4, %c0, %c0, %c0, %c0 {alias_scopes = [#theirs]}
    %x = llvm.load %a {noalias_scopes = [#theirs]} : !llvm.ptr<3> -> i32
    llvm.call @callee(%a) {noalias_scopes = [#theirs]} : (!llvm.ptr<3>) -> ()
    llvm.return
  }
}
