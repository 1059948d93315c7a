// RUN: lodestone-opt %s --split-input-file --lds-form-direct-loads=chip=gfx942 --remarks-filter='lds-form-direct-loads' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s
// RUN: lodestone-opt %s --split-input-file --lds-form-direct-loads=chip=gfx942 | FileCheck %s --check-prefix=IR
// IR-NOT: gather_to_lds

// How many threads there are decides where a wave's bytes lie.
// CHECK: remark: [Missed] block-size-unknown{{.*}}known_block_size
!lds = memref<1024xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @block_size_unknown0(%g: memref<1024xf32>) workgroup(%lds: !lds) kernel {
    %t = gpu.thread_id x
    %v = memref.load %g[%t] : memref<1024xf32>
    memref.store %v, %lds[%t] : !lds
    gpu.barrier
    gpu.return
  }
}

// -----

// A vector of two dimensions isn't a run of elements.
// CHECK: remark: [Missed] unsupported-element{{.*}}vector<2x4xf32>
!lds = memref<64x64xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @unsupported_element1(%g: memref<64x64xf32>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %v = vector.load %g[%t, %t] : memref<64x64xf32>, vector<2x4xf32>
    vector.store %v, %lds[%t, %t] : !lds, vector<2x4xf32>
    gpu.barrier
    gpu.return
  }
}

// -----

// The value is needed in a register, too.
// CHECK: remark: [Missed] value-used-elsewhere{{.*}}another use
!lds = memref<1024xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @value_used_elsewhere2(%g: memref<1024xf32>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %v = memref.load %g[%t] : memref<1024xf32>
    memref.store %v, %lds[%t] : !lds
    memref.store %v, %g[%t] : memref<1024xf32>
    gpu.barrier
    gpu.return
  }
}

// -----

// A load for some lanes and a store for others.
// CHECK: remark: [Missed] guards-differ{{.*}}not in one block
!lds = memref<1024xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @guards_differ3(%g: memref<1024xf32>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %v = memref.load %g[%t] : memref<1024xf32>
    %c9 = arith.constant 9 : index
    %c = arith.cmpi ult, %t, %c9 : index
    scf.if %c {
      memref.store %v, %lds[%t] : !lds
    }
    gpu.barrier
    gpu.return
  }
}

// -----

// Two bytes a lane would be written at every fourth byte.
// CHECK: remark: [Missed] width-not-supported{{.*}}gfx942 has no LDS-DMA that 2 bytes a lane
!lds = memref<1024xf16, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @width_not_supported4(%g: memref<1024xf16>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %v = memref.load %g[%t] : memref<1024xf16>
    memref.store %v, %lds[%t] : !lds
    gpu.barrier
    gpu.return
  }
}

// -----

// An element of eight bytes can't be split in two.
// CHECK: remark: [Missed] width-not-supported{{.*}}8 bytes a lane, in elements of 8
!lds = memref<1024xf64, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @width_not_supported5(%g: memref<1024xf64>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %v = memref.load %g[%t] : memref<1024xf64>
    memref.store %v, %lds[%t] : !lds
    gpu.barrier
    gpu.return
  }
}

// -----

// The place in LDS comes from memory.
// CHECK: remark: [Missed] offset-unknown{{.*}}isn't known for each thread
!lds = memref<1024xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @offset_unknown6(%g: memref<1024xf32>, %table: memref<1024xindex>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %j = memref.load %table[%t] : memref<1024xindex>
    %v = memref.load %g[%t] : memref<1024xf32>
    memref.store %v, %lds[%j] : !lds
    gpu.barrier
    gpu.return
  }
}

// -----

// A swizzled store: lanes 0 and 1 of wave 0 stay, those of wave 1 trade places.
// CHECK: remark: [Missed] not-lane-linear{{.*}}lane 1 of wave 1 stores to byte 256 and lane 0 to byte 260, but an LDS-DMA writes lane 1 4 bytes behind lane 0
!lds = memref<1024xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @not_lane_linear7(%g: memref<1024xf32>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %w = arith.divui %t, %c64 : index
    %s = arith.andi %w, %c1 : index
    %j = arith.xori %t, %s : index
    %v = memref.load %g[%t] : memref<1024xf32>
    memref.store %v, %lds[%j] : !lds
    gpu.barrier
    gpu.return
  }
}

// -----

// Holes between the lanes' bytes, which an LDS-DMA would close.
// CHECK: remark: [Missed] not-lane-linear{{.*}}lane 1 of wave 0 stores to byte 32 and lane 0 to byte 0, but an LDS-DMA writes lane 1 16 bytes behind lane 0
!lds = memref<1024xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @not_lane_linear8(%g: memref<1024xf32>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c8 = arith.constant 8 : index
    %i = arith.muli %t, %c8 : index
    %v = vector.load %g[%i] : memref<1024xf32>, vector<4xf32>
    vector.store %v, %lds[%i] : !lds, vector<4xf32>
    gpu.barrier
    gpu.return
  }
}

// -----

// A tile that starts at an odd half: DMAs of dwords can't.
// CHECK: remark: [Missed] misaligned{{.*}}multiples of 2 only
!lds = memref<1024xf16, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @misaligned9(%g: memref<1024xf16>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %i = arith.muli %t, %c2 : index
    %j = arith.addi %i, %c1 : index
    %v = vector.load %g[%i] : memref<1024xf16>, vector<2xf16>
    vector.store %v, %lds[%j] : !lds, vector<2xf16>
    gpu.barrier
    gpu.return
  }
}

// -----

// The last wave has no lanes for half of its bytes.
// CHECK: remark: [Missed] partial-wave{{.*}}the last wave has 32 of 64 lanes
!lds = memref<1024xf16, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @partial_wave10(%g: memref<1024xf16>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 96, 1, 1>} {
    %t = gpu.thread_id x
    %c4 = arith.constant 4 : index
    %i = arith.muli %t, %c4 : index
    %v = vector.load %g[%i] : memref<1024xf16>, vector<4xf16>
    vector.store %v, %lds[%i] : !lds, vector<4xf16>
    gpu.barrier
    gpu.return
  }
}

// -----

// Lanes that aren't there would have to bring others' bytes.
// CHECK: remark: [Missed] divergent-copy{{.*}}may not get there
!lds = memref<1024xf16, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @divergent_copy11(%g: memref<1024xf16>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    scf.for %k = %c0 to %t step %c1 {
      %i = arith.muli %t, %c4 : index
      %v = vector.load %g[%i] : memref<1024xf16>, vector<4xf16>
      vector.store %v, %lds[%i] : !lds, vector<4xf16>
    }
    gpu.barrier
    gpu.return
  }
}

// -----

// Where lane 0 reads is in LDS, which the other lane can't know to be still there.
// CHECK: remark: [Missed] not-relaned{{.*}}can't compute where this one reads
!lds = memref<1024xf16, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @not_relaned12(%g: memref<1024xf16>, %other: memref<256xindex, #gpu.address_space<workgroup>>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c4 = arith.constant 4 : index
    %i = arith.muli %t, %c4 : index
    %j = memref.load %other[%t] : memref<256xindex, #gpu.address_space<workgroup>>
    %v = vector.load %g[%j] : memref<1024xf16>, vector<4xf16>
    vector.store %v, %lds[%i] : !lds, vector<4xf16>
    gpu.barrier
    gpu.return
  }
}

// -----

// A buffer's offsets have 32 bits, and nobody says how large the memref is.
// CHECK: remark: [Missed] zero-fill-needs-buffer{{.*}}may have 2^32 bytes or more
!lds = memref<1024xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @zero_fill_needs_buffer13(%g: memref<?xf32>, %n: index) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %zero = arith.constant 0.0 : f32
    %c = arith.cmpi ult, %t, %n : index
    %v = scf.if %c -> f32 {
      %x = memref.load %g[%t] : memref<?xf32>
      scf.yield %x : f32
    } else {
      scf.yield %zero : f32
    }
    memref.store %v, %lds[%t] : !lds
    gpu.barrier
    gpu.return
  }
}

// -----

// A buffer starts at the first element, and has nothing in front of it.
// CHECK: remark: [Missed] zero-fill-needs-buffer{{.*}}memref<64xf32, strided<[-2], offset: 128>> has a stride of -2
!lds = memref<1024xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @backwards(%g: memref<64xf32, strided<[-2], offset: 128>>, %n: index) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %zero = arith.constant 0.0 : f32
    %c = arith.cmpi ult, %t, %n : index
    %v = scf.if %c -> f32 {
      %x = memref.load %g[%t] : memref<64xf32, strided<[-2], offset: 128>>
      scf.yield %x : f32
    } else {
      scf.yield %zero : f32
    }
    memref.store %v, %lds[%t] : !lds
    gpu.barrier
    gpu.return
  }
}

// -----

// Rows may be any distance apart.
// CHECK: remark: [Missed] zero-fill-needs-buffer{{.*}}memref<4x256xf32, strided<[?, 1]>> may have 2^32 bytes or more
!lds = memref<1024xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @any_stride(%g: memref<4x256xf32, strided<[?, 1]>>, %r: index, %n: index) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %zero = arith.constant 0.0 : f32
    %c = arith.cmpi ult, %t, %n : index
    %v = scf.if %c -> f32 {
      %x = memref.load %g[%r, %t] : memref<4x256xf32, strided<[?, 1]>>
      scf.yield %x : f32
    } else {
      scf.yield %zero : f32
    }
    memref.store %v, %lds[%t] : !lds
    gpu.barrier
    gpu.return
  }
}

// -----

// Nobody knows where a buffer that was made elsewhere ends.
// CHECK: remark: [Missed] zero-fill-needs-buffer{{.*}}the bytes of a buffer made elsewhere
!lds = memref<1024xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @other_buffer(%g: memref<1024xf32, 7>, %n: index) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %zero = arith.constant 0.0 : f32
    %c = arith.cmpi ult, %t, %n : index
    %v = scf.if %c -> f32 {
      %x = memref.load %g[%t] : memref<1024xf32, 7>
      scf.yield %x : f32
    } else {
      scf.yield %zero : f32
    }
    memref.store %v, %lds[%t] : !lds
    gpu.barrier
    gpu.return
  }
}

// -----

// Nobody would ever see the copy, nor wait for it.
// CHECK: remark: [Missed] no-barrier{{.*}}no workgroup barrier
!lds = memref<1024xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @no_barrier15(%g: memref<1024xf32>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %v = memref.load %g[%t] : memref<1024xf32>
    memref.store %v, %lds[%t] : !lds
    gpu.return
  }
}

// -----

// One path closes a group, the other one meets a barrier first.
// CHECK: remark: [Missed] group-on-some-paths{{.*}}a barrier comes before lds.commit_group on some paths
!lds = memref<1024xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @group_on_some_paths16(%g: memref<1024xf32>, %c: i1) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %v = memref.load %g[%t] : memref<1024xf32>
    memref.store %v, %lds[%t] : !lds
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    lds.commit_group
    cf.br ^bb2
  ^bb2:
    gpu.barrier
    gpu.return
  }
}

// -----

// The thread reads its own bytes back before the barrier.
// CHECK: remark: [Missed] accessed-before-barrier{{.*}}before the next barrier
!lds = memref<1024xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @accessed_before_barrier17(%g: memref<1024xf32>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %v = memref.load %g[%t] : memref<1024xf32>
    memref.store %v, %lds[%t] : !lds
    %x = memref.load %lds[%t] : !lds
    memref.store %x, %g[%t] : memref<1024xf32>
    gpu.barrier
    gpu.return
  }
}

// -----

// An earlier read of the same bytes may still be on its way when the DMA writes.
// CHECK: remark: [Missed] accessed-before-copy{{.*}}between the last barrier and the copy
!lds = memref<1024xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @accessed_before_copy18(%g: memref<1024xf32>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %x = memref.load %lds[%t] : !lds
    %v = memref.load %g[%t] : memref<1024xf32>
    memref.store %v, %lds[%t] : !lds
    gpu.barrier
    gpu.return
  }
}

// -----

// So may one before a barrier that orders no memory.
// CHECK: remark: [Missed] accessed-before-copy{{.*}}between the last barrier and the copy
!lds = memref<1024xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @accessed_before_bare_barrier(%g: memref<1024xf32>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %x = memref.load %lds[%t] : !lds
    rocdl.s.barrier
    %v = memref.load %g[%t] : memref<1024xf32>
    memref.store %v, %lds[%t] : !lds
    gpu.barrier
    gpu.return
  }
}

// -----

// The source changes before the barrier; a DMA might still be reading it.
// CHECK: remark: [Missed] source-written{{.*}}before the next barrier
!lds = memref<1024xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @source_written19(%g: memref<1024xf32>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %v = memref.load %g[%t] : memref<1024xf32>
    memref.store %v, %lds[%t] : !lds
    %x = arith.constant 1.0 : f32
    memref.store %x, %g[%t] : memref<1024xf32>
    gpu.barrier
    gpu.return
  }
}

// -----

// The source changes between the load and the store.
// CHECK: remark: [Missed] source-written{{.*}}between the load and the store
!lds = memref<1024xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @source_written20(%g: memref<1024xf32>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %v = memref.load %g[%t] : memref<1024xf32>
    %x = arith.constant 1.0 : f32
    memref.store %x, %g[%t] : memref<1024xf32>
    memref.store %v, %lds[%t] : !lds
    gpu.barrier
    gpu.return
  }
}

// -----

// A call may do anything with the allocation.
// CHECK: remark: [Missed] accessed-before-barrier{{.*}}may be accessed
!lds = memref<1024xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  func.func private @f(!lds)
  gpu.func @accessed_before_barrier21(%g: memref<1024xf32>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %v = memref.load %g[%t] : memref<1024xf32>
    memref.store %v, %lds[%t] : !lds
    func.call @f(%lds) : (!lds) -> ()
    gpu.barrier
    gpu.return
  }
}

// -----

// A view may start at any element: 4 bytes a lane need a multiple of 4.
// CHECK: remark: [Missed] misaligned{{.*}}multiples of 2 only
gpu.module @m {
  gpu.func @shifted_view(%g: memref<64x4xf16>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %bytes = lds.region @bytes align(16) : memref<2048xi8, #gpu.address_space<workgroup>>
    %lds = memref.view %bytes[%c2][] : memref<2048xi8, #gpu.address_space<workgroup>> to memref<64x4xf16, #gpu.address_space<workgroup>>
    %t = gpu.thread_id x
    %v = vector.load %g[%t, %c0] : memref<64x4xf16>, vector<4xf16>
    gpu.barrier
    vector.store %v, %lds[%t, %c0] : memref<64x4xf16, #gpu.address_space<workgroup>>, vector<4xf16>
    gpu.barrier
    gpu.return
  }
}

// -----

// A flat address in LDS is no source of an LDS-DMA (there is no copy, so no remark).
!lds = memref<64xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @from_lds() workgroup(%a: !lds, %b: !lds) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %flat = memref.memory_space_cast %a : !lds to memref<64xf32>
    %v = memref.load %flat[%t] : memref<64xf32>
    memref.store %v, %b[%t] : !lds
    gpu.barrier
    gpu.return
  }
}

// -----

// What is out of range becomes bytes of zero, which -0.0 is not (no copy, so no remark).
!lds = memref<1024xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @minus_zero(%g: memref<1024xf32>, %n: index) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %zero = arith.constant -0.0 : f32
    %t = gpu.thread_id x
    %in = arith.cmpi ult, %t, %n : index
    %v = scf.if %in -> f32 {
      %x = memref.load %g[%t] : memref<1024xf32>
      scf.yield %x : f32
    } else {
      scf.yield %zero : f32
    }
    memref.store %v, %lds[%t] : !lds
    gpu.barrier
    gpu.return
  }
}

// -----

// What is out of bounds is padding, which a DMA would read from memory.
// CHECK: remark: [Missed] unsupported-access{{.*}}'vector.transfer_read' permutes elements or leaves some out
!lds = memref<64x32xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @out_of_bounds(%g: memref<64x30xf32>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %v = vector.transfer_read %g[%t, %c0], %pad : memref<64x30xf32>, vector<32xf32>
    vector.transfer_write %v, %lds[%t, %c0] {in_bounds = [true]} : vector<32xf32>, !lds
    gpu.barrier
    gpu.return
  }
}

// -----

// The elements of a masked store that stay as they are would be written.
// CHECK: remark: [Missed] unsupported-access{{.*}}'vector.maskedstore'
!lds = memref<1024xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @masked(%g: memref<1024xf32>, %mask: vector<4xi1>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c4 = arith.constant 4 : index
    %i = arith.muli %t, %c4 : index
    %v = vector.load %g[%i] : memref<1024xf32>, vector<4xf32>
    vector.maskedstore %lds[%i], %mask, %v : !lds, vector<4xi1>, vector<4xf32>
    gpu.barrier
    gpu.return
  }
}

// -----

// A transfer may read elements with gaps between them; a DMA reads bytes side by side.
// CHECK: remark: [Missed] source-layout{{.*}}the 4 elements that a lane copies may not be side by side in memref<256x4xf32, strided<[8, 2]>>
!lds = memref<256x4xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @gaps(%g: memref<256x4xf32, strided<[8, 2]>>) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %v = vector.transfer_read %g[%t, %c0], %pad {in_bounds = [true]} : memref<256x4xf32, strided<[8, 2]>>, vector<4xf32>
    vector.transfer_write %v, %lds[%t, %c0] {in_bounds = [true]} : vector<4xf32>, !lds
    gpu.barrier
    gpu.return
  }
}

// -----

// Narrower DMAs go in front of the condition, and so would overtake what it writes before the load.
// CHECK: remark: [Missed] divergent-copy
!lds = memref<256x4xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @source_written_under_guard(%g: memref<256x4xf32>, %n: index, %x: f32) workgroup(%lds: !lds) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %in = arith.cmpi ult, %t, %n : index
    scf.if %in {
      memref.store %x, %g[%t, %c0] : memref<256x4xf32>
      %v = vector.load %g[%t, %c0] : memref<256x4xf32>, vector<4xf32>
      vector.store %v, %lds[%t, %c0] : !lds, vector<4xf32>
    }
    gpu.barrier
    gpu.return
  }
}
