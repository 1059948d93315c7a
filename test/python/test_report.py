"""The figures that are read from assembly text."""

import io

import pytest
from lodestone.report import AssemblyError, early_drains, figures, parse_function
from lodestone.report.comparison import Variant, comparison_table
from lodestone.report.figures import histogram
from rich.console import Console

# A ring of two buffers: fill both, then wait for the older one, barrier, read it, refill.
KERNEL = """\
	.text
	.globl	ring
	.type	ring,@function
ring:                                   ; @ring
; %bb.0:
	s_mov_b32 m0, s4
	buffer_load_dwordx4 v1, s[0:3], 0 offen lds
	s_mov_b32 m0, s5
	buffer_load_dwordx4 v2, s[0:3], 0 offen lds
.LBB0_1:                                ; =>This Inner Loop Header: Depth=1
	s_waitcnt vmcnt(1) lgkmcnt(0)
	s_barrier
	ds_read_b128 v[8:11], v5
	{extra}
	v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[8:15], v[16:23], v[0:3]
	s_mov_b32 m0, s4
	buffer_load_dwordx4 v1, s[0:3], s6 offen lds
	s_cbranch_scc1 .LBB0_1
; %bb.2:
	s_waitcnt vmcnt(0)
	s_barrier
	buffer_store_dword v0, v1, s[0:3], 0 offen
	s_endpgm
.Lfunc_end0:
	.size	ring, .Lfunc_end0-ring
	.amdgpu_metadata
---
amdhsa.kernels:
  - .agpr_count:     4
    .args:
      - .offset:         0
        .size:           8
    .name:           ring
    .private_segment_fixed_size: 0
    .sgpr_count:     12
    .sgpr_spill_count: 1
    .vgpr_count:     28
    .vgpr_spill_count: 2
...
	.end_amdgpu_metadata
"""


def ring(extra: str = "s_nop 0") -> str:
    return KERNEL.replace("{extra}", extra)


def test_counts_and_registers() -> None:
    """Each figure comes from the right place in the text."""
    x = figures(ring(), "gfx950", cycles=False)
    assert (x.name, x.instructions, x.mfmas, x.lds_dmas, x.lds_reads) == ("ring", 16, 1, 3, 1)
    assert dict(x.waits) == {0: 1, 1: 1}
    assert dict(x.loop_waits) == {1: 1}
    assert (x.vgprs, x.agprs, x.sgprs, x.spills, x.scratch_bytes) == (28, 4, 12, 3, 0)
    assert not x.unrolled


def test_histogram_text() -> None:
    """Each N stands with its count, in order."""
    assert histogram({16: 5, 0: 2}) == "0:2 16:5"
    assert histogram({}) == "none"


def test_main_loop_is_the_one_with_mfmas() -> None:
    """A prologue's loop without MFMAs is not what the waits are counted in."""
    text = ring().replace("; %bb.0:\n", ".LBB0_0:\n\ts_cbranch_scc0 .LBB0_0\n")
    function = parse_function(text)
    assert len(function.loops) == 2
    assert function.main_loop is not None
    assert function.instructions[function.main_loop[0]].vmcnt == 1


def test_no_early_drain_in_a_right_pipeline() -> None:
    """Waits that stand before the barriers drain nothing early."""
    drains = early_drains(parse_function(ring()))
    assert drains is not None
    assert (drains.early, drains.dmas) == (0, 3)


def test_a_wait_for_all_in_the_loop_drains_early() -> None:
    """A vmcnt(0) before the MFMA completes DMAs whose barrier is still to come."""
    drains = early_drains(parse_function(ring("s_waitcnt vmcnt(0)")))
    assert drains is not None
    # The DMA of the first buffer was due at the first barrier anyway.
    assert (drains.early, drains.dmas) == (2, 3)


def test_no_figure_without_barriers() -> None:
    """Where no wait stands before a barrier, nothing can be said about early drains."""
    text = "\n".join(x for x in ring().splitlines() if "s_barrier" not in x)
    assert early_drains(parse_function(text)) is None


def test_stores_take_part_in_the_count() -> None:
    """Stores raise vmcnt, too: a wait that skips them completes less."""
    text = ring("buffer_store_dword v0, v1, s[0:3], 0 offen\n\ts_waitcnt vmcnt(2)")
    drains = early_drains(parse_function(text))
    assert drains is not None
    assert drains.early == 0


def test_unrolled_kernel_has_a_steady_state() -> None:
    """Without a loop the part between the first MFMA and the last DMA stands in for it."""
    text = ring("s_waitcnt vmcnt(0)").replace("\ts_cbranch_scc1 .LBB0_1\n", "")
    x = figures(text, "gfx950", cycles=False)
    assert x.unrolled
    assert dict(x.loop_waits) == {}
    assert dict(x.waits) == {0: 2, 1: 1}


def test_waitcnt_zero_is_a_wait_for_all() -> None:
    """`s_waitcnt 0` has no vmcnt(...) in it and waits for everything."""
    assert figures(ring("s_waitcnt 0"), "gfx950", cycles=False).loop_zero_waits == 1


def test_loop_cycles_grow_with_the_wait() -> None:
    """llvm-mca accepts the body of a loop as it stands, and sees vmcnt."""
    fast, slow = (figures(ring(x), "gfx950") for x in ("s_nop 0", "s_waitcnt vmcnt(0)"))
    assert fast.loop_cycles is not None and slow.loop_cycles is not None
    assert 0 < fast.loop_cycles < slow.loop_cycles


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("", None, "no function in the assembly"),
        ("\t.type\tx,@object\n", None, "no function in the assembly"),
        (ring(), "other", "no function 'other' in the assembly, only ring"),
        ("\t.type\tk,@function\nk:\n.Lfunc_end0:\n", None, "function 'k' has no instructions"),
    ],
)
def test_what_is_no_function(text: str, name: str | None, message: str) -> None:
    """Text that is not assembly is refused with what is missing."""
    with pytest.raises(AssemblyError, match=message):
        parse_function(text, name)


def test_table_shows_every_column() -> None:
    """At the demo's width no column is cut, whatever the figures."""
    x = figures(ring(), "gfx950", cycles=False)
    rows = [Variant("separate-globals", scopes, x, "12 missing", False) for scopes in (False, True)]
    console = Console(width=120, file=io.StringIO(), record=True)
    console.print(comparison_table(rows, "ring"))
    text = console.export_text()
    assert "…" not in text
    assert text.count("12 missing") == 2
