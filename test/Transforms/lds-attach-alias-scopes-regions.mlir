// Which bytes of LDS the pass finds each access to touch, as its remarks tell: one case
// for each way to compute an address. Where nothing else is said, DMAs write the bytes
// [0, 256), [1024, 1280) and [2048, 2304) of dynamic LDS first,
// and stores keep these apart.
// RUN: lodestone-opt %s --lds-attach-alias-scopes --remarks-filter=lds-attach-alias-scopes --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s

gpu.module @cases [#rocdl.target<chip = "gfx950">] {
  llvm.mlir.global external @lds() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.mlir.global external @other() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
  llvm.mlir.global internal @static() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<1024 x i8>

  // A constant index adds to the offset.
  // CHECK: scoped-access {{.*}} Function=gep | Op=llvm.load, Region="lds[1024, 1280)"
  llvm.func @gep(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    %p = llvm.getelementptr %lds[1030] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %x = llvm.load volatile %p : !llvm.ptr<3> -> i32
    llvm.return
  }

  // Indices into arrays and structs count with the sizes that LLVM gives their elements.
  // CHECK: scoped-access {{.*}} Function=gep_array | Op=llvm.load, Region="lds[1024, 1280)"
  llvm.func @gep_array(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    %p = llvm.getelementptr %lds[0, 1, 1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, !llvm.array<4 x struct<(ptr<3>, array<127 x i64>)>>
    %x = llvm.load volatile %p : !llvm.ptr<3> -> i32
    llvm.return
  }

  // A pointer into LDS has four bytes, whatever MLIR's default layout says.
  // CHECK: scoped-access {{.*}} Function=gep_pointers | Op=llvm.load, Region="lds[1024, 1280)"
  llvm.func @gep_pointers(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    %p = llvm.getelementptr %lds[256] : (!llvm.ptr<3>) -> !llvm.ptr<3>, !llvm.ptr<3>
    %x = llvm.load volatile %p : !llvm.ptr<3> -> i32
    llvm.return
  }

  // An i24 takes four bytes in an array, and an i64 is aligned to eight.
  // CHECK: scoped-access {{.*}} Function=gep_odd_integers | Op=llvm.load, Region="lds[1024, 1280)"
  // CHECK: scoped-access {{.*}} Function=gep_odd_integers | Op=llvm.load, Region="lds[1024, 1280)"
  llvm.func @gep_odd_integers(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    %a = llvm.getelementptr %lds[256] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i24
    %x0 = llvm.load volatile %a : !llvm.ptr<3> -> i32
    %p = llvm.getelementptr %lds[0, 1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, !llvm.struct<(array<1020 x i8>, i64)>
    %x = llvm.load volatile %p : !llvm.ptr<3> -> i32
    llvm.return
  }

  // Offsets may be negative.
  // CHECK: scoped-access {{.*}} Function=gep_negative | Op=llvm.load, Region="lds[1024, 1280)"
  llvm.func @gep_negative(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    %p = llvm.getelementptr %at2048[-900] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %x = llvm.load volatile %p : !llvm.ptr<3> -> i32
    llvm.return
  }

  // An address may go through integers.
  // CHECK: scoped-access {{.*}} Function=integers | Op=llvm.load, Region="lds[1024, 1280)"
  llvm.func @integers(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    %k1024 = llvm.mlir.constant(1024 : i32) : i32
    %i = llvm.ptrtoint %lds : !llvm.ptr<3> to i32
    %j = llvm.add %i, %k1024 : i32
    %p = llvm.inttoptr %j : i32 to !llvm.ptr<3>
    %x = llvm.load volatile %p : !llvm.ptr<3> -> i32
    llvm.return
  }

  // Also through wider ones: LDS addresses count modulo 2^32.
  // CHECK: scoped-access {{.*}} Function=wide_integers | Op=llvm.load, Region="lds[1024, 1280)"
  llvm.func @wide_integers(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    %k = llvm.mlir.constant(4294968320 : i64) : i64
    %i = llvm.ptrtoint %lds : !llvm.ptr<3> to i64
    %j = llvm.add %i, %k : i64
    %p = llvm.inttoptr %j : i64 to !llvm.ptr<3>
    %x = llvm.load volatile %p : !llvm.ptr<3> -> i32
    llvm.return
  }

  // An `or disjoint` is an add.
  // CHECK: scoped-access {{.*}} Function=or_disjoint | Op=llvm.load, Region="lds[1024, 1280)"
  llvm.func @or_disjoint(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    %k1024 = llvm.mlir.constant(1024 : i32) : i32
    %i = llvm.ptrtoint %lds : !llvm.ptr<3> to i32
    %j = llvm.or disjoint %i, %k1024 : i32
    %p = llvm.inttoptr %j : i32 to !llvm.ptr<3>
    %x = llvm.load volatile %p : !llvm.ptr<3> -> i32
    llvm.return
  }

  // Masking the low bits rounds down, to a known offset where the object is aligned.
  // CHECK: scoped-access {{.*}} Function=round_down | Op=llvm.load, Region="lds[1024, 1280)"
  llvm.func @round_down(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    %mask = llvm.mlir.constant(-1024 : i32) : i32
    %q = llvm.getelementptr %at1024[100] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %i = llvm.ptrtoint %q : !llvm.ptr<3> to i32
    %j = llvm.and %i, %mask : i32
    %p = llvm.inttoptr %j : i32 to !llvm.ptr<3>
    %x = llvm.load volatile %p : !llvm.ptr<3> -> i32
    llvm.return
  }

  // Beyond the object's alignment it may be anything below.
  // CHECK: scoped-access {{.*}} Function=round_down_far | Op=llvm.load, Region="lds[0, 256), lds[1024, 1280)"
  llvm.func @round_down_far(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    %mask = llvm.mlir.constant(-2048 : i32) : i32
    %i = llvm.ptrtoint %at1024 : !llvm.ptr<3> to i32
    %j = llvm.and %i, %mask : i32
    %p = llvm.inttoptr %j : i32 to !llvm.ptr<3>
    %x = llvm.load volatile %p : !llvm.ptr<3> -> i32
    llvm.return
  }

  // A constant may be taken off.
  // CHECK: scoped-access {{.*}} Function=sub | Op=llvm.load, Region="lds[1024, 1280)"
  llvm.func @sub(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    %k1024 = llvm.mlir.constant(1024 : i32) : i32
    %i = llvm.ptrtoint %at2048 : !llvm.ptr<3> to i32
    %j = llvm.sub %i, %k1024 : i32
    %p = llvm.inttoptr %j : i32 to !llvm.ptr<3>
    %x = llvm.load volatile %p : !llvm.ptr<3> -> i32
    llvm.return
  }

  // The first lane's address is one of the lanes' addresses.
  // CHECK: scoped-access {{.*}} Function=readfirstlane | Op=llvm.load, Region="lds[1024, 1280)"
  llvm.func @readfirstlane(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    %p = rocdl.readfirstlane %at1024 : !llvm.ptr<3>
    %x = llvm.load volatile %p : !llvm.ptr<3> -> i32
    llvm.return
  }

  // A select may be either.
  // CHECK: scoped-access {{.*}} Function=select | Op=llvm.load, Region="lds[1024, 1280), lds[2048, 2304)"
  llvm.func @select(%src: !llvm.ptr<8>, %flag: i1) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    %p = llvm.select %flag, %at1024, %at2048 : i1, !llvm.ptr<3>
    %x = llvm.load volatile %p : !llvm.ptr<3> -> i32
    llvm.return
  }

  // So may a block argument.
  // CHECK: scoped-access {{.*}} Function=block_argument | Op=llvm.load, Region="lds[1024, 1280), lds[2048, 2304)"
  llvm.func @block_argument(%src: !llvm.ptr<8>, %flag: i1) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    llvm.cond_br %flag, ^join(%at1024 : !llvm.ptr<3>), ^join(%at2048 : !llvm.ptr<3>)
  ^join(%p: !llvm.ptr<3>):
    %x = llvm.load volatile %p : !llvm.ptr<3> -> i32
    llvm.return
  }

  // Two pointers that change places in a loop stay two buffers, and not what lies
  // between them.
  // CHECK: scoped-access {{.*}} Function=swapped | Op=llvm.load, Region="lds[0, 256), lds[2048, 2304)"
  llvm.func @swapped(%src: !llvm.ptr<8>, %flag: i1) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    llvm.br ^loop(%lds, %at2048 : !llvm.ptr<3>, !llvm.ptr<3>)
  ^loop(%p: !llvm.ptr<3>, %q: !llvm.ptr<3>):
    %x = llvm.load volatile %p : !llvm.ptr<3> -> i32
    llvm.cond_br %flag, ^loop(%q, %p : !llvm.ptr<3>, !llvm.ptr<3>), ^exit
  ^exit:
    llvm.return
  }

  // A pointer that a loop moves on without a known bound may reach everything.
  // CHECK: scoped-access {{.*}} Function=endless | Op=llvm.load, Region="lds[0, 256), lds[1024, 1280), lds[2048, 2304)"
  llvm.func @endless(%src: !llvm.ptr<8>, %flag: i1) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    llvm.br ^loop(%lds : !llvm.ptr<3>)
  ^loop(%p: !llvm.ptr<3>):
    %x = llvm.load volatile %p : !llvm.ptr<3> -> i32
    %q = llvm.getelementptr %p[512] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.cond_br %flag, ^loop(%q : !llvm.ptr<3>), ^exit
  ^exit:
    llvm.return
  }

  // The counter of a loop with known bounds has a range.
  // CHECK: scoped-access {{.*}} Function=counted_loop | Op=llvm.load, Region="lds[0, 256), lds[1024, 1280)"
  llvm.func @counted_loop(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    %k1 = llvm.mlir.constant(1 : i32) : i32
    %k2 = llvm.mlir.constant(2 : i32) : i32
    llvm.br ^header(%c0 : i32)
  ^header(%i: i32):
    %more = llvm.icmp "slt" %i, %k2 : i32
    llvm.cond_br %more, ^body, ^exit
  ^body:
    %p = llvm.getelementptr %lds[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<1024 x i8>
    %x = llvm.load volatile %p : !llvm.ptr<3> -> i32
    %next = llvm.add %i, %k1 : i32
    llvm.br ^header(%next : i32)
  ^exit:
    llvm.return
  }

  // In the header the counter is one step further on when the loop ends.
  // CHECK: scoped-access {{.*}} Function=counted_loop_header | Op=llvm.load, Region="lds[0, 256), lds[1024, 1280), lds[2048, 2304)"
  llvm.func @counted_loop_header(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    %k1 = llvm.mlir.constant(1 : i32) : i32
    %k2 = llvm.mlir.constant(2 : i32) : i32
    llvm.br ^header(%c0 : i32)
  ^header(%i: i32):
    %more = llvm.icmp "slt" %i, %k2 : i32
    %p = llvm.getelementptr %lds[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<1024 x i8>
    %x = llvm.load volatile %p : !llvm.ptr<3> -> i32
    llvm.cond_br %more, ^body, ^exit
  ^body:
    %next = llvm.add %i, %k1 : i32
    llvm.br ^header(%next : i32)
  ^exit:
    llvm.return
  }

  // A test that doesn't end the loop bounds nothing.
  // CHECK: scoped-access {{.*}} Function=not_a_bound | Op=llvm.load, Region="lds[0, 256), lds[1024, 1280), lds[2048, 2304)"
  llvm.func @not_a_bound(%src: !llvm.ptr<8>, %flag: i1) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    %k1 = llvm.mlir.constant(1 : i32) : i32
    %k2 = llvm.mlir.constant(2 : i32) : i32
    llvm.br ^header(%c0 : i32)
  ^header(%i: i32):
    %more = llvm.icmp "slt" %i, %k2 : i32
    llvm.cond_br %more, ^then, ^latch
  ^then:
    llvm.br ^latch
  ^latch:
    %p = llvm.getelementptr %lds[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<1024 x i8>
    %x = llvm.load volatile %p : !llvm.ptr<3> -> i32
    %next = llvm.add %i, %k1 : i32
    llvm.cond_br %flag, ^header(%next : i32), ^exit
  ^exit:
    llvm.return
  }

  // A thread id stays below the block size: 64 dwords from byte 1024.
  // CHECK: scoped-access {{.*}} Function=thread_id | Op=llvm.load, Region="lds[1024, 1280)"
  llvm.func @thread_id(%src: !llvm.ptr<8>) attributes {rocdl.kernel, rocdl.reqd_work_group_size = array<i32: 64, 1, 1>} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    %t = rocdl.workitem.id.x : i32
    %p = llvm.getelementptr %at1024[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %x = llvm.load volatile %p : !llvm.ptr<3> -> i32
    llvm.return
  }

  // Without a block size there may be 1024 threads.
  // CHECK: scoped-access {{.*}} Function=thread_id_unknown | Op=llvm.load, Region="lds[1024, 1280), lds[2048, 2304)"
  llvm.func @thread_id_unknown(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    %t = rocdl.workitem.id.x : i32
    %p = llvm.getelementptr %at1024[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %x = llvm.load volatile %p : !llvm.ptr<3> -> i32
    llvm.return
  }

  // A lane id stays below 64.
  // CHECK: scoped-access {{.*}} Function=lane_id | Op=llvm.load, Region="lds[1024, 1280)"
  llvm.func @lane_id(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    %all = llvm.mlir.constant(-1 : i32) : i32
    %lo = rocdl.mbcnt.lo %all, %c0 : (i32, i32) -> i32
    %lane = rocdl.mbcnt.hi %all, %lo : (i32, i32) -> i32
    %p = llvm.getelementptr %at1024[%lane] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %x = llvm.load volatile %p : !llvm.ptr<3> -> i32
    llvm.return
  }

  // Masks, remainders and shifts bound an unknown number.
  // CHECK: scoped-access {{.*}} Function=bounded | Op=llvm.load, Region="lds[1024, 1280)"
  llvm.func @bounded(%src: !llvm.ptr<8>, %any: i32) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    %k63 = llvm.mlir.constant(63 : i32) : i32
    %l = llvm.and %any, %k63 : i32
    %p = llvm.getelementptr %at1024[%l] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %x = llvm.load volatile %p : !llvm.ptr<3> -> i32
    llvm.return
  }

  // A DMA writes the dwords of 64 lanes: byte 1279 is its last.
  // CHECK: scoped-access {{.*}} Function=lanes | Op=llvm.load, Region="lds[1024, 1280)"
  llvm.func @lanes(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    %p = llvm.getelementptr %at1024[255] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %x = llvm.load volatile %p : !llvm.ptr<3> -> i32
    llvm.return
  }

  // Byte 1280 is not written.
  // CHECK: scoped-access {{.*}} Function=lanes_end | Op=llvm.load, Region="none written by a DMA"
  llvm.func @lanes_end(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    %p = llvm.getelementptr %at1024[256] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %x = llvm.load volatile %p : !llvm.ptr<3> -> i32
    llvm.return
  }

  // An address may travel through a struct.
  // CHECK: scoped-access {{.*}} Function=aggregate | Op=llvm.load, Region="lds[1024, 1280)"
  llvm.func @aggregate(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    %s0 = llvm.mlir.undef : !llvm.struct<(ptr<3>, i32)>
    %s1 = llvm.insertvalue %at1024, %s0[0] : !llvm.struct<(ptr<3>, i32)>
    %s2 = llvm.insertvalue %c0, %s1[1] : !llvm.struct<(ptr<3>, i32)>
    %p = llvm.extractvalue %s2[0] : !llvm.struct<(ptr<3>, i32)>
    %x = llvm.load volatile %p : !llvm.ptr<3> -> i32
    llvm.return
  }

  // A flat pointer made from an LDS pointer is still that.
  // CHECK: scoped-access {{.*}} Function=flat | Op=llvm.load, Region="lds[1024, 1280)"
  llvm.func @flat(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    %p = llvm.addrspacecast %at1024 : !llvm.ptr<3> to !llvm.ptr
    %x = llvm.load volatile %p : !llvm.ptr -> i32
    llvm.return
  }

  // All external [0 x i8] globals name the same memory.
  // CHECK: scoped-access {{.*}} Function=same_address | Op=llvm.load, Region="lds[1024, 1280)"
  llvm.func @same_address(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    %o = llvm.mlir.addressof @other : !llvm.ptr<3>
    %p = llvm.getelementptr %o[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %x = llvm.load volatile %p : !llvm.ptr<3> -> i32
    llvm.return
  }

  // A static global is memory of its own.
  // CHECK: scoped-access {{.*}} Function=static_global | Op=llvm.load, Region="none written by a DMA"
  llvm.func @static_global(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    %p = llvm.mlir.addressof @static : !llvm.ptr<3>
    %x = llvm.load volatile %p : !llvm.ptr<3> -> i32
    llvm.return
  }

  // Atomics are accesses.
  // CHECK: scoped-access {{.*}} Function=atomic | Op=llvm.atomicrmw, Region="lds[1024, 1280)"
  llvm.func @atomic(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    %x = llvm.atomicrmw add %at1024, %c0 monotonic : !llvm.ptr<3>, i32
    llvm.return
  }

  // A copy touches both its operands, as many bytes as it is long.
  // CHECK: scoped-access {{.*}} Function=memcpy | Op=llvm.intr.memcpy, Region="lds[0, 256), lds[1024, 1280)"
  llvm.func @memcpy(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    %k8 = llvm.mlir.constant(8 : i32) : i32
    "llvm.intr.memcpy"(%lds, %at1024, %k8) <{isVolatile = false}> : (!llvm.ptr<3>, !llvm.ptr<3>, i32) -> ()
    llvm.return
  }

  // A length that isn't a sensible constant leaves the end open.
  // CHECK: scoped-access {{.*}} Function=memset | Op=llvm.intr.memset, Region="lds[1024, 1280), lds[2048, 2304)"
  llvm.func @memset(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    %k = llvm.mlir.constant(-1 : i32) : i32
    %z = llvm.mlir.constant(0 : i8) : i8
    "llvm.intr.memset"(%at1024, %z, %k) <{isVolatile = false}> : (!llvm.ptr<3>, i8, i32) -> ()
    llvm.return
  }

  // A transposing read touches what the lanes' own addresses name.
  // CHECK: scoped-access {{.*}} Function=transposing_read | Op=rocdl.ds.read.tr16.b64, Region="lds[1024, 1280)"
  llvm.func @transposing_read(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    %x = rocdl.ds.read.tr16.b64 %at1024 : !llvm.ptr<3> -> vector<4xf16>
    llvm.return
  }

  // A DMA that may write one of two buffers is in both scopes.
  // CHECK: scoped-dma {{.*}} Function=either | Op=rocdl.raw.ptr.buffer.load.lds, Region="lds[1024, 1280), lds[2048, 2304)"
  llvm.func @either(%src: !llvm.ptr<8>, %flag: i1) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    %d = llvm.select %flag, %at1024, %at2048 : i1, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %d, %c4, %c0, %c0, %c0, %c0
    %x0 = llvm.load volatile %at1024 : !llvm.ptr<3> -> i32
    %x1 = llvm.load volatile %at2048 : !llvm.ptr<3> -> i32
    llvm.return
  }

  // The immediate offset counts for the LDS address, too.
  // CHECK: scoped-dma {{.*}} Function=immediate_offset | Op=rocdl.raw.ptr.buffer.load.lds, Region="lds[16, 272)"
  llvm.func @immediate_offset(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %k16 = llvm.mlir.constant(16 : i32) : i32
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %k16, %c0
    %x = llvm.load volatile %lds : !llvm.ptr<3> -> f64
    llvm.return
  }

  // Lanes that move 12 bytes lie 16 apart.
  // CHECK: scoped-dma {{.*}} Function=wide_lanes | Op=rocdl.raw.ptr.buffer.load.lds, Region="lds[0, 1024)"
  llvm.func @wide_lanes(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %k12 = llvm.mlir.constant(12 : i32) : i32
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %k12, %c0, %c0, %c0, %c0
    %x = llvm.load volatile %lds : !llvm.ptr<3> -> f64
    llvm.return
  }

  // The forms with a global pointer are DMAs as well.
  // CHECK: scoped-access {{.*}} Function=load_to_lds | Op=llvm.load, Region="lds[0, 1024)"
  // CHECK: scoped-access {{.*}} Function=load_to_lds | Op=llvm.load, Region="lds[2048, 2304)"
  llvm.func @load_to_lds(%src: !llvm.ptr<8>, %global: !llvm.ptr<1>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    rocdl.load.to.lds %global, %lds, 16, 0, 0 : <1>
    %at = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    rocdl.global.load.lds %global, %at, 4, 0, 0
    %p = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %x0 = llvm.load volatile %lds : !llvm.ptr<3> -> i32
    %x = llvm.load volatile %p : !llvm.ptr<3> -> i32
    llvm.return
  }

  // A helper's argument is what its callers pass.
  // CHECK: scoped-access {{.*}} Function=helper | Op=llvm.load, Region="lds[0, 256), lds[2048, 2304)"
  llvm.func internal @helper(%p: !llvm.ptr<3>) {
    %x = llvm.load volatile %p : !llvm.ptr<3> -> i32
    llvm.return
  }
  llvm.func @caller(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    llvm.call @helper(%lds) : (!llvm.ptr<3>) -> ()
    llvm.call @helper(%at2048) : (!llvm.ptr<3>) -> ()
    llvm.return
  }
}

gpu.module @regions [#rocdl.target<chip = "gfx950">] {
  llvm.mlir.global external @lds() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

  // What is computed from a region's pointer stays in the region; the range of the DMA
  // is named after it.
  // CHECK: scoped-access {{.*}} Function=region | Op=llvm.load, Region=stage
  llvm.func @region(%src: !llvm.ptr<8>, %any: i32) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    %r = llvm.getelementptr %lds[0, 4096] {lds.extent = #lds.extent<"stage", offset = 4096, size = 256>} : (!llvm.ptr<3>) -> !llvm.ptr<3>, !llvm.array<8192 x i8>
    rocdl.raw.ptr.buffer.load.lds %src, %r, %c4, %c0, %c0, %c0, %c0
    %p = llvm.getelementptr %r[%any] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %x = llvm.load volatile %p : !llvm.ptr<3> -> i32
    llvm.return
  }

  // A DMA that certainly writes past its region's end is taken at its word.
  // CHECK: scoped-access {{.*}} Function=region_overrun | Op=llvm.load, Region="lds[5120, 5376)"
  llvm.func @region_overrun(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %at1024 = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at2048 = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %lds : i32, !llvm.ptr<3>
    llvm.store %c0, %at1024 : i32, !llvm.ptr<3>
    llvm.store %c0, %at2048 : i32, !llvm.ptr<3>
    rocdl.raw.ptr.buffer.load.lds %src, %lds, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at1024, %c4, %c0, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %at2048, %c4, %c0, %c0, %c0, %c0
    %r = llvm.getelementptr %lds[0, 5120] {lds.extent = #lds.extent<"small", offset = 5120, size = 128>} : (!llvm.ptr<3>) -> !llvm.ptr<3>, !llvm.array<8192 x i8>
    rocdl.raw.ptr.buffer.load.lds %src, %r, %c4, %c0, %c0, %c0, %c0
    %p = llvm.getelementptr %lds[5300] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %x = llvm.load volatile %p : !llvm.ptr<3> -> i32
    llvm.return
  }

  // Scopes are told apart by name: regions that share one get two, and none can pass for
  // the wildcard.
  // CHECK: Function=names | {{.*}} Region="wildcard[0, 256)"
  // CHECK: Function=names | {{.*}} Region=x
  // CHECK: Function=names | {{.*}} Region="x[512, 768)"
  llvm.func @names(%src: !llvm.ptr<8>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %r0 = llvm.getelementptr %lds[0, 0] {lds.extent = #lds.extent<"wildcard", offset = 0, size = 256>} : (!llvm.ptr<3>) -> !llvm.ptr<3>, !llvm.array<1024 x i8>
    rocdl.raw.ptr.buffer.load.lds %src, %r0, %c4, %c0, %c0, %c0, %c0
    %r1 = llvm.getelementptr %lds[0, 256] {lds.extent = #lds.extent<"x", offset = 256, size = 256>} : (!llvm.ptr<3>) -> !llvm.ptr<3>, !llvm.array<1024 x i8>
    rocdl.raw.ptr.buffer.load.lds %src, %r1, %c4, %c0, %c0, %c0, %c0
    %r2 = llvm.getelementptr %lds[0, 512] {lds.extent = #lds.extent<"x", offset = 512, size = 256>} : (!llvm.ptr<3>) -> !llvm.ptr<3>, !llvm.array<1024 x i8>
    rocdl.raw.ptr.buffer.load.lds %src, %r2, %c4, %c0, %c0, %c0, %c0
    %x0 = llvm.load volatile %r0 : !llvm.ptr<3> -> i32
    %x1 = llvm.load volatile %r1 : !llvm.ptr<3> -> i32
    %x2 = llvm.load volatile %r2 : !llvm.ptr<3> -> i32
    llvm.return
  }
}
