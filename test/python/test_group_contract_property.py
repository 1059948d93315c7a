"""Random kernels of copies, groups, accesses, branches and loops: which break the contract?

The model runs along every path of a kernel, with what each wave's copies and its own accesses have
done since the last barrier. `lds-lower-async-groups` must report a kernel of which a path breaks
the contract of `lds.commit_group`, and no other.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

# Two waves of 64; slot s is 128 words, of which each wave copies half.
SLOTS = 2
LARGEST_GROUP = 3

slots = st.integers(0, SLOTS - 1)
leaves = st.one_of(
    st.tuples(st.just("copy"), slots),
    st.tuples(st.just("commit")),
    st.tuples(st.just("wait"), st.integers(0, LARGEST_GROUP - 1)),
    st.tuples(st.sampled_from(["barrier", "barrier", "signal", "await"])),
    # What the thread's own wave copies, or the other one.
    st.tuples(st.sampled_from(["own", "other"]), slots),
)


def nested(children: Any) -> Any:
    block = st.lists(children, max_size=4)
    return st.one_of(
        st.tuples(st.just("if"), block, block), st.tuples(st.just("for"), st.integers(2, 3), block)
    )


programs = st.lists(st.recursive(leaves, nested, max_leaves=8), min_size=4, max_size=9)

TEXT = {
    "copy": "amdgpu.gather_to_lds %g[%t], %lds[%half{0}] : f32, memref<128xf32>, !lds",
    "commit": "lds.commit_group",
    "wait": "lds.wait_group {0}",
    "barrier": "rocdl.s.barrier",
    "signal": "rocdl.s.barrier.signal id = -1",
    "await": "rocdl.s.barrier.wait id = -1",
    "own": "memref.store %x, %lds[%own{0}] : !lds",
    "other": "memref.store %x, %lds[%other{0}] : !lds",
}


def block(steps: list[Any], depth: int = 0) -> list[str]:
    """The steps as MLIR."""
    lines: list[str] = []
    for step in steps:
        match step:
            case ("if", then, otherwise):
                lines += ["scf.if %c {", *block(then, depth), "} else {"]
                lines += [*block(otherwise, depth), "}"]
            case ("for", trips, body):
                lines.append(f"scf.for %k{depth} = %c0 to %c{trips} step %c1 {{")
                lines += [*block(body, depth + 1), "}"]
            case (name, *arguments):
                lines.append(TEXT[name].format(*arguments))
    return lines


def kernel(steps: list[Any]) -> str:
    """The module. A group that is empty and a wait make it one with groups."""
    lines = [f"%c{n} = arith.constant {n} : index" for n in (0, 1, 2, 3, 64, 127, 128)]
    for slot in range(SLOTS):
        lines += [
            f"%slot{slot} = arith.constant {128 * slot} : index",
            f"%half{slot} = arith.addi %slot{slot}, %first : index",
            f"%own{slot} = arith.addi %slot{slot}, %t : index",
            f"%other{slot} = arith.addi %slot{slot}, %mirror : index",
        ]
    return f"""
!lds = memref<{128 * SLOTS}xf32, #gpu.address_space<workgroup>>
gpu.module @m {{
gpu.func @k(%g: memref<128xf32>, %c: i1, %x: f32) workgroup(%lds: !lds) kernel
attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
%t = gpu.thread_id x
{chr(10).join(lines[:7])}
%wave = arith.divui %t, %c64 : index
%first = arith.muli %wave, %c64 : index
%mirror = arith.subi %c127, %t : index
{chr(10).join(lines[7:])}
{chr(10).join(block(steps))}
gpu.return
}}
}}"""


@dataclass(frozen=True)
class Wave:
    """What is in flight on one path; both waves do the same."""

    # Copies that aren't done for all: slot, groups closed since its own (-1: it's in none), phase.
    copies: frozenset[tuple[int, int, str]] = frozenset()
    # Slots whose other wave's half was touched since the last barrier.
    touched: frozenset[int] = frozenset()
    broken: bool = False

    def move(self, before: str, after: str, closed: int = -1) -> Wave:
        """Copies of which that many younger groups are closed go on to the next phase."""
        return replace(
            self,
            copies=frozenset(
                (slot, age, after if phase == before and age >= closed else phase)
                for slot, age, phase in self.copies
            ),
        )

    def step(self, step: Any) -> Wave:
        """What it is after one step."""
        match step:
            case ("copy", slot):
                copies = self.copies | {(slot, -1, "running")}
                return replace(self, copies=copies, broken=self.broken or slot in self.touched)
            case ("commit",):
                copies = frozenset((s, min(a + 1, LARGEST_GROUP), p) for s, a, p in self.copies)
                return replace(self, copies=copies)
            case ("wait", groups):
                return self.move("running", "waited", groups)
            case ("barrier",):
                return self.step(("signal",)).step(("await",))
            case ("signal",):
                return self.move("waited", "signalled")
            case ("await",):
                copies = frozenset(copy for copy in self.copies if copy[2] != "signalled")
                return replace(self, copies=copies, touched=frozenset())
            case ("own", slot):
                hit = any(s == slot and p == "running" for s, _, p in self.copies)
                return replace(self, broken=self.broken or hit)
            case ("other", slot):
                hit = any(s == slot for s, _, _ in self.copies)
                return replace(self, touched=self.touched | {slot}, broken=self.broken or hit)
        raise AssertionError(step)


def run(steps: list[Any], waves: set[Wave], least_trips: int) -> set[Wave]:
    """All that can be after the steps; loops run `least_trips` times to as often as they say."""
    for step in steps:
        match step:
            case ("if", then, otherwise):
                waves = run(then, waves, least_trips) | run(otherwise, waves, least_trips)
            case ("for", trips, body):
                left = set()
                for trip in range(1, trips + 1):
                    waves = run(body, waves, least_trips)
                    if trip >= min(least_trips, trips):
                        left |= waves
                waves = left
            case _:
                waves = {wave.step(step) for wave in waves}
    return waves


def is_broken(program: list[Any], least_trips: int) -> bool:
    """Whether some path breaks the contract."""
    return any(wave.broken for wave in run(program, {Wave()}, least_trips))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs)
@example([("copy", 0), ("commit",), ("wait", 0), ("barrier",), ("other", 0)])
@example([("for", 2, [("copy", 0), ("commit",), ("wait", 0), ("barrier",), ("other", 0)])])
@example([("copy", 0), ("if", [("commit",)], []), ("wait", 0), ("barrier",), ("own", 0)])
@example([("copy", 1), ("commit",), ("wait", 0), ("await",), ("other", 1)])
def test_contract(program: list[Any]) -> None:
    """A report if a path breaks the contract; none if none does, however often loops run.

    Without branches and loops it is an error; with, it may be a warning.
    """
    done = subprocess.run(
        ["lodestone-opt", "--lds-lower-async-groups=chip=gfx950", "-o", "/dev/null"],
        input=kernel([*program, ("commit",), ("wait", 0)]),
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    reported = " LDS that " in done.stderr
    assert reported or done.returncode == 0, done.stderr
    if not any(step[0] in ("if", "for") for step in program):
        assert (done.returncode != 0) == reported, done.stderr
    if reported:
        # The pass doesn't count how often a loop runs: only that it does.
        assert is_broken(program, least_trips=1), done.stderr
    else:
        assert not is_broken(program, least_trips=3)
