"""gfx1250: TDM and asynchronous copies, its counters and split barriers, wave32 basics."""

from __future__ import annotations

import numpy as np
import pytest
from copy_kernel import COPY_ARGS, copy_arguments, kernel_text
from lodestone import sim
from lodestone.sim import ExecutionError, mutation, ops_tdm, snippet

CHIP = "gfx1250"


def descriptor(*, lds=0, address=0, element=4, tensor=(), tile=(), strides=(), pad=None, count=1,
               iterate=None, rows=None, wide_rows=False):  # fmt: skip
    """Build descriptor groups field by field, as the tables of the ISA text give them."""
    fields = {g: 0 for g in range(4)}

    def put(group, low, bits, value):
        assert 0 <= value < 1 << bits
        fields[group] |= value << low

    put(0, 0, 2, count)
    put(0, 32, 32, lds)
    put(0, 64, 57, address)
    put(0, 126, 2, 2)
    put(1, 16, 2, element.bit_length() - 1)
    if pad:
        interval, amount = pad
        put(1, 20, 1, 1)
        put(1, 22, 3, interval.bit_length() - 2)
        put(1, 25, 7, amount - 1)
    places = {
        "tensor": [(1, 48, 32), (1, 80, 32), (2, 0, 32), (2, 32, 32), (3, 48, 32)],
        "tile": [(1, 112, 16), (1, 128, 16), (1, 144, 16), (2, 112, 16), (3, 80, 16)],
        "strides": [(1, 160, 48), (1, 208, 48), (2, 64, 48), (3, 0, 48)],
    }
    for name, values in (("tensor", tensor), ("tile", tile), ("strides", strides)):
        for place, value in zip(places[name], values, strict=False):
            put(*place, value)
    if iterate:
        turns, lds_step, global_step = iterate
        put(1, 19, 1, 1)
        put(2, 112, 16, turns - 1)
        put(2, 32, 32, lds_step)
        put(2, 64, 48, global_step)
    if rows is not None:
        put(0, 127 - 96, 1, 1)
        put(0, 30, 1, int(wide_rows))
        bits = 32 if wide_rows else 16
        for i, row in enumerate(rows):
            group, place = divmod(i * bits, 128)
            put(2 + group, place, bits, row)
    sizes = {0: 4, 1: 8, 2: 4, 3: 4}
    return [[fields[g] >> 32 * i & 0xFFFFFFFF for i in range(sizes[g])] for g in range(4)]


def tensor_wave(data, mode="E", lds_size=8192):
    wave = snippet.new_wave(CHIP, mode=mode, memory={"data": data.nbytes}, lds_size=lds_size)
    wave.group.memory.view("data")[:] = data.view(np.uint8).ravel()
    return wave, wave.group.memory.allocations["data"].address


def load(wave, groups, wide=True):
    for slot, group in zip((32, 36, 44, 48), groups, strict=True):
        wave.S[slot : slot + len(group)] = group
    more = ", s[44:47], s[48:51]" if wide else ""
    snippet.execute(f"tensor_load_to_lds s[32:35], s[36:43]{more}\ns_wait_tensorcnt 0", wave)


# The check value: mask, element size, padding and barrier bits land where the tables say.
def test_descriptor_fields():
    groups = descriptor(element=4, pad=(64, 5), tile=(16, 8), tensor=(100, 50), strides=(100,))
    assert groups[1][0] == 0x09420000 | 1 << 20
    tile = ops_tdm.decode(groups[:2])
    assert (tile.tile, tile.tensor, tile.strides) == ((16, 8), (100, 50), (1, 100))
    assert (tile.interval, tile.amount, tile.element) == (256, 20, 4)
    assert ops_tdm.decode(descriptor(count=0)) is None


# Tiles of rank 1 to 5 land packed, innermost dimension first; out of the tensor reads as zero.
@pytest.mark.parametrize("mode", ["E", "R", "W"])
@pytest.mark.parametrize("element", [1, 2, 4, 8])
@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5])
def test_ranks(rank, element, mode):
    kind = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[element]
    shape = (3, 4, 3, 5, 12)[5 - rank :]
    tile = (2, 2, 2, 3, 8)[5 - rank :]
    # The tensor seen by the descriptor ends inside of the tile in two dimensions.
    limit = tuple(min(t, 6) if d == rank - 1 else t for d, t in enumerate(tile))
    if rank > 1:
        limit = (*limit[:-2], 2, limit[-1])
    data = np.arange(np.prod(shape), dtype=kind).reshape(shape)
    wave, address = tensor_wave(data, mode)
    strides = [int(np.prod(shape[d + 1 :])) for d in range(rank)][::-1][1:]
    load(
        wave,
        descriptor(lds=64, address=address, element=element, tensor=limit[::-1],
                   tile=tile[::-1], strides=strides),
        wide=rank > 2,
    )  # fmt: skip
    want = np.zeros(tile, kind)
    inside = tuple(slice(0, n) for n in limit)
    want[inside] = data[inside]
    got = wave.group.lds.bytes[64 : 64 + want.nbytes].view(kind).reshape(tile)
    np.testing.assert_array_equal(got, want)
    record = wave.group.tensor_operations[0]
    assert record[3][0][1] == 64 and len(record[3]) == (4 if rank > 2 else 2)


# Padding skips bytes after each interval, across rows.
def test_padding():
    data = np.arange(32 * 8, dtype=np.uint32).reshape(8, 32)
    wave, address = tensor_wave(data)
    before = wave.group.lds.words[0]
    load(wave, descriptor(address=address, tensor=(32, 8), tile=(32, 8), strides=(32,),
                          pad=(16, 2)), wide=False)  # fmt: skip
    padded = wave.group.lds.words[: 16 * 18].reshape(16, 18)
    np.testing.assert_array_equal(padded[:, :16], data.reshape(16, 16))
    assert (padded[:, 16:] == before).all()


# Gather takes the listed rows; a row outside of the tensor is zero.
@pytest.mark.parametrize("wide", [False, True])
def test_gather(wide):
    data = np.arange(16 * 10, dtype=np.uint32).reshape(10, 16)
    wave, address = tensor_wave(data)
    rows = [7, 0, 9, 12, 3]
    load(wave, descriptor(address=address, tensor=(16, 10), tile=(16, 5), strides=(16,),
                          rows=rows, wide_rows=wide))  # fmt: skip
    want = np.stack([data[r] if r < 10 else np.zeros(16, np.uint32) for r in rows])
    np.testing.assert_array_equal(wave.group.lds.words[:80].reshape(5, 16), want)


# Iteration repeats the tile at stepped addresses.
def test_iteration():
    data = np.arange(256, dtype=np.uint32)
    wave, address = tensor_wave(data)
    load(wave, descriptor(address=address, tensor=(8, 2), tile=(8, 2), strides=(16,),
                          iterate=(3, 20, 64)))  # fmt: skip
    for turn in range(3):
        want = np.concatenate([data[64 * turn :][:8], data[64 * turn + 16 :][:8]])
        got = wave.group.lds.words[20 * turn : 20 * turn + 16]
        np.testing.assert_array_equal(got, want)


# Stores drop what is outside of the tensor; EXEC takes no part.
@pytest.mark.parametrize("mode", ["E", "R", "W"])
def test_tensor_store(mode):
    data = np.zeros((8, 16), np.uint32)
    wave, address = tensor_wave(data, mode)
    wave.group.lds.words[:64] = np.arange(64)
    wave.set_exec(0)
    groups = descriptor(address=address, tensor=(10, 3), tile=(16, 4), strides=(16,))
    for slot, group in zip((32, 36), groups, strict=False):
        wave.S[slot : slot + len(group)] = group
    snippet.execute("tensor_store_from_lds s[32:35], s[36:43]\ns_wait_tensorcnt 0", wave)
    want = np.zeros((8, 16), np.uint32)
    want[:3, :10] = np.arange(64).reshape(4, 16)[:3, :10]
    got = wave.group.memory.view("data").view(np.uint32).reshape(8, 16)
    np.testing.assert_array_equal(got, want)


# A store ignores padding, and says so; it reads what an earlier load of the wave brought, without
# a wait: tensor instructions of a wave are in order.
@pytest.mark.parametrize("mode", ["E", "R", "W"])
def test_tensor_load_then_store(mode):
    data = np.arange(128, dtype=np.uint32)
    wave, address = tensor_wave(data, mode)
    for first, at, pad in ((32, address, None), (44, address + 256, (16, 2))):
        groups = descriptor(address=at, tensor=(64,), tile=(64,), pad=pad)
        wave.S[first : first + 12] = groups[0] + groups[1]
    snippet.execute(
        "tensor_load_to_lds s[32:35], s[36:43]\ntensor_store_from_lds s[44:47], s[48:55]\n"
        "s_wait_tensorcnt 0",
        wave,
    )
    got = wave.group.memory.view("data").view(np.uint32)
    np.testing.assert_array_equal(got[64:], data[:64])
    wave.group.checker.close_epoch(wave.group.waves)
    assert [f.kind for f in wave.group.findings.items.values()] == ["padding-ignored"]


# Asynchronous loads may write LDS in any order: a second one over the first needs a wait between.
@pytest.mark.parametrize(
    ("wait", "kinds"), [("", ["write-before-wait"]), ("s_wait_asynccnt 0", [])]
)
def test_async_loads_are_not_in_order(wait, kinds):
    wave, address = tensor_wave(np.arange(64, dtype=np.uint32), "R")
    wave.write_scalar64(8, address)
    wave.R[1][:] = 4 * np.arange(32)
    load = "global_load_async_to_lds_b32 v1, v1, s[8:9]"
    snippet.execute(f"{load}\n{wait}\n{load}\ns_wait_asynccnt 0", wave)
    wave.group.checker.close_epoch(wave.group.waves)
    assert [f.kind for f in wave.group.findings.items.values()] == kinds


# Loads and stores share ASYNCcnt and are in order only each: a wait for 1 leaves a load behind
# that was issued before a store.
def test_async_counter_of_two_kinds():
    wave, address = tensor_wave(np.arange(64, dtype=np.uint32), "R")
    wave.write_scalar64(8, address)
    wave.R[1][:], wave.R[2][:] = 4 * np.arange(32), 1024 + 4 * np.arange(32)
    text = """global_load_async_to_lds_b32 v1, v1, s[8:9]
    global_store_async_from_lds_b32 v1, v2, s[8:9]
    s_wait_asynccnt 1
    ds_load_b32 v3, v1
    s_wait_dscnt 0"""
    snippet.execute(text, wave)
    wave.group.checker.close_epoch(wave.group.waves)
    assert "read-before-wait" in {f.kind for f in wave.group.findings.items.values()}


# Accesses by scalar base can count in elements instead of bytes.
def test_scale_offset():
    data = np.arange(128, dtype=np.uint32)
    wave, address = tensor_wave(data)
    wave.write_scalar64(8, address)
    wave.S[10] = 3
    wave.R[1][:] = np.arange(32)
    text = """global_load_b32 v2, v1, s[8:9] scale_offset
    global_load_b64 v[4:5], v1, s[8:9] scale_offset
    s_load_b64 s[12:13], s[8:9], s10 scale_offset
    scratch_store_b64 v1, v[4:5], off scale_offset
    scratch_load_b64 v[6:7], v1, off scale_offset"""
    snippet.execute(text, wave)
    lane = np.arange(32)
    assert (wave.R[2] == lane).all() and (wave.R[4] == 2 * lane).all()
    assert wave.S[12:14] == [6, 7]
    assert (wave.R[6] == 2 * lane).all() and (wave.R[7] == 2 * lane + 1).all()


# A descriptor with count 0 moves nothing and counts once in TENSORcnt.
def test_predicated_off():
    wave, address = tensor_wave(np.arange(64, dtype=np.uint32), "R")
    groups = descriptor(address=address, tensor=(16,), tile=(16,), count=0)
    for slot, group in zip((32, 36), groups, strict=False):
        wave.S[slot : slot + len(group)] = group
    before = wave.group.lds.words.copy()
    snippet.execute("tensor_load_to_lds s[32:35], s[36:43]", wave)
    assert len(wave.queues["tensor"]) == 1
    snippet.execute("s_wait_tensorcnt 0", wave)
    assert (wave.group.lds.words == before).all() and not wave.queues["tensor"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ((1, 0, 1 << 18), "atomic barrier is not simulated"),
        ((0, 3, 0x3FFFFFFF), "descriptor type 0, expected 2"),
    ],
)
def test_refused_descriptors(change, message):
    groups = descriptor(tensor=(16,), tile=(16,))
    group, word, bits = change
    groups[group][word] = groups[group][word] & bits if group == 0 else groups[group][word] | bits
    with pytest.raises(ExecutionError, match=message):
        ops_tdm.decode(groups)


# Asynchronous copies: per lane, by EXEC; the immediate is added on both sides.
@pytest.mark.parametrize("mode", ["E", "R", "W"])
@pytest.mark.parametrize("bits", [8, 32, 64, 128])
def test_async(bits, mode):
    size = bits // 8
    data = np.arange(2048, dtype=np.uint16)
    wave, address = tensor_wave(data, mode)
    lane = np.arange(32)
    wave.write_scalar64(8, address)
    wave.R[1][:], wave.R[2][:] = lane * 16, (31 - lane) * 16
    wave.set_exec(0xFFFFFFFE)
    snippet.execute(
        f"global_load_async_to_lds_b{bits} v1, v2, s[8:9] offset:16\ns_wait_asynccnt 0", wave
    )
    raw = data.view(np.uint8)
    for i in lane[1:]:
        want = raw[(31 - i) * 16 + 16 :][:size]
        np.testing.assert_array_equal(wave.group.lds.bytes[i * 16 + 16 :][:size], want)
    wave.R[2][:] = 2048 + lane * 16
    snippet.execute(
        f"global_store_async_from_lds_b{bits} v2, v1, s[8:9] offset:16\ns_wait_asynccnt 0", wave
    )
    view = wave.group.memory.view("data")
    for i in lane[1:]:
        want = raw[(31 - i) * 16 + 16 :][:size]
        np.testing.assert_array_equal(view[2048 + i * 16 + 16 :][:size], want)


# Wave32: masks are one scalar register, EXEC has 32 lanes; dual instructions read before writing.
def test_wave32():
    wave = snippet.new_wave(CHIP)
    lane = np.arange(32, dtype=np.uint32)
    wave.R[0][:], wave.R[1][:] = lane, lane + 7
    wave.S[20] = 9
    text = """v_cmp_gt_i32_e64 s5, s20, v0
    v_cndmask_b32_e64 v2, v0, v1, s5
    v_add_nc_u32_e32 v3, 3, v0
    v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v1, v0
    v_cmpx_gt_i32_e64 s20, v1
    v_mov_b32_e32 v4, 5"""
    snippet.execute(text, wave)
    assert wave.S[5] == (1 << 9) - 1
    assert (wave.R[2] == np.where(lane < 9, lane + 7, lane)).all()
    assert (wave.R[3] == lane + 3).all()
    assert (wave.R[0] == lane + 7).all() and (wave.R[1] == lane).all()
    assert (wave.R[4][:9] == 5).all() and not (wave.R[4][9:] == 5).any()
    assert wave.exec_bits == (1 << 9) - 1


def test_wave32_scalar_and_wide():
    wave = snippet.new_wave(CHIP)
    wave.write_scalar64(2, 0xFFFFFFFF00000005)
    wave.write_scalar64(4, 3)
    wave.S[116] = 6 << 25
    wave.R[2][:], wave.R[3][:] = 0xFFFFFFFF, 1
    text = """s_mul_u64 s[6:7], s[2:3], s[4:5]
    s_add_nc_u64 s[8:9], s[2:3], s[4:5]
    s_bfe_u32 s10, ttmp8, 0x50019
    s_and_not1_b32 s11, s2, s4
    v_add_nc_u64_e32 v[4:5], s[4:5], v[2:3]
    v_mov_b32_e32 v7, 1
    s_set_vgpr_msb 0x41
    v_mov_b32_e32 v5, v1"""
    wave.R[257][:] = 77
    snippet.execute(text, wave)
    assert wave.scalar64(6) == 0xFFFFFFFF00000005 * 3 % (1 << 64)
    assert wave.scalar64(8) == 0xFFFFFFFF00000008
    assert (wave.S[10], wave.S[11]) == (6, 4)
    assert int(wave.R[4][0]) == 2 and int(wave.R[5][0]) == 2
    assert (wave.R[261] == 77).all()


# 4 waves copy tiles of 4 KiB with TDM into two buffers and read what a neighbour loaded.
BODY = """
  s_load_b128 s[4:7], s[0:1], 0x0
  s_load_b32 s20, s[0:1], 0x10
  v_lshrrev_b32_e32 v1, 5, v0
  v_readfirstlane_b32 s21, v1
  s_lshl_b32 s22, s21, 10                  // the wave's slice of a buffer
  v_lshlrev_b32_e32 v1, 4, v0
  v_and_b32_e32 v1, 0x1ff, v1
  v_add_nc_u32_e32 v2, s22, v1
  v_add_nc_u32_e32 v2, 0x400, v2
  v_and_b32_e32 v2, 0xfff, v2              // next wave's slice
  s_wait_kmcnt 0x0
  s_lshl_b32 s23, s20, 12
  s_mov_b32 s24, 0
  s_mov_b32 s32, 1
  s_mov_b32 s36, 0x20000
  s_mov_b32 s39, 0x1000000
  s_mov_b32 s40, 0
  s_mov_b32 s41, 0
  s_mov_b32 s42, 0
  s_mov_b32 s43, 0
  s_mov_b32 s27, s22
  s_mov_b32 s25, 0
  {load}
.Lloop:
  {half_a}
  {half_b}
  s_cmp_lt_u32 s24, s23
  s_cbranch_scc1 .Lloop
  s_endpgm
"""
LOAD = """
  s_add_co_u32 s26, s25, s22               // byte offset of the slice
  s_sub_co_i32 s28, s23, s26
  s_max_i32 s28, s28, 0
  s_lshr_b32 s28, s28, 2                   // elements left
  s_lshl_b32 s37, s28, 16
  s_lshr_b32 s38, s28, 16
  s_mov_b32 s33, s27
  s_add_co_u32 s34, s4, s26
  s_add_co_ci_u32 s35, s5, 0
  s_bitset1_b32 s35, 31
  tensor_load_to_lds s[32:35], s[36:43]
"""
HALF = """
  s_add_co_u32 s25, s24, 0x1000
  s_add_co_u32 s27, s22, {next}
  {load}
  s_wait_tensorcnt 0x1
  s_barrier_signal -1
  s_barrier_wait -1
  ds_load_b128 v[4:7], v2 offset:{here}
  ds_load_b128 v[8:11], v2 offset:{here}+512
  v_add_nc_u32_e32 v3, s24, v2
  s_wait_dscnt 0x0
  s_barrier_signal -1
  s_barrier_wait -1
  global_store_b128 v3, v[4:7], s[6:7]
  global_store_b128 v3, v[8:11], s[6:7] offset:512
  s_mov_b32 s24, s25
"""


def tdm_text():
    half_a = HALF.format(load=LOAD, next="0x1000", here="0")
    half_b = HALF.format(load=LOAD, next="0x0", here="4096")
    body = BODY.format(load=LOAD, half_a=half_a, half_b=half_b)
    return kernel_text(body, chip=CHIP, threads=128, args=COPY_ARGS)


@pytest.fixture(scope="module")
def tdm_copy():
    return sim.load(tdm_text())


@pytest.mark.parametrize("mode", ["E", "R", "W"])
@pytest.mark.parametrize("order", ["forward", "reverse", 5])
def test_tdm_copy(tdm_copy, mode, order):
    arguments = copy_arguments()
    result = sim.run(tdm_copy, args=arguments, dynamic_lds=8192, mode=mode, order=order)
    assert not result.findings, result
    np.testing.assert_array_equal(result.outputs[1], arguments[0])
    assert len(result.tensor_operations) == 4 * 5
    assert {t.wave for t in result.tensor_operations} == {0, 1, 2, 3}


# Each dropped or weakened wait and each dropped barrier is noticed.
def test_tdm_mutation(tdm_copy):
    arguments = copy_arguments()
    alive = []
    mutants = list(mutation.mutants(tdm_copy))
    for mutant in mutants:
        results = []
        for order in ("forward", "reverse"):
            results.append(sim.run(mutant.program, args=arguments, dynamic_lds=8192, mode="R",
                                   order=order, check=False))  # fmt: skip
        if not mutation.killed(results, lambda r: np.array_equal(r.outputs[1], arguments[0])):
            alive.append(mutant.description)
    assert len(mutants) == 2 + 4 + 4 + 4
    assert alive == []


# A tensor wait between signal and wait of a barrier comes too late for the other waves.
def test_wait_between_signal_and_wait():
    old = "s_wait_tensorcnt 0x1\n  s_barrier_signal -1"
    text = tdm_text().replace(old, "s_barrier_signal -1\n  s_wait_tensorcnt 0x1")
    result = sim.run(text, args=copy_arguments(), dynamic_lds=8192, mode="R")
    assert "missing-wait" in {f.kind for f in result.errors}
    assert any("s_wait_tensorcnt" in f.missing for f in result.errors)


def test_wait_without_signal():
    text = tdm_text().replace("s_barrier_signal -1", "s_nop 0", 1)
    with pytest.raises(ExecutionError, match="waits at a barrier that it did not signal"):
        sim.run(text, args=copy_arguments(), dynamic_lds=8192)
