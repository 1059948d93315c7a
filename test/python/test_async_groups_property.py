"""Random kernels of copies, groups, branches and loops: how weak may each wait be?

The model runs along every path of a kernel and counts what the hardware has in flight. The pass
may never allow more to stay outstanding than the model on any path, and without loops exactly as
much.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

COPY = "amdgpu.gather_to_lds %g[%i], %lds[%i] : f32, memref<4096xf32, 1>, !lds"
OTHER = "llvm.store volatile %x, %p : f32, !llvm.ptr<1>"
LARGEST_WAIT = 62

leaves = st.one_of(
    st.tuples(st.just("copy"), st.integers(1, 5)),
    st.tuples(st.just("other"), st.integers(1, 3)),
    st.tuples(st.just("commit")),
    st.tuples(st.just("wait"), st.integers(0, 3)),
)


def nested(children: Any) -> Any:
    block = st.lists(children, max_size=4)
    return st.one_of(
        st.tuples(st.just("if"), block, block), st.tuples(st.just("for"), st.integers(0, 3), block)
    )


programs = st.lists(st.recursive(leaves, nested, max_leaves=8), min_size=3, max_size=8)


class Text:
    """The kernel as MLIR. A marker with a number of its own stands before each wait."""

    def __init__(self, program: list[Any]) -> None:
        self.waits = 0
        self.numbered = [self.number(step) for step in program]
        self.lines: list[str] = []
        self.block(self.numbered)

    def number(self, step: Any) -> Any:
        if step[0] == "wait":
            self.waits += 1
            return ("wait", step[1], self.waits - 1)
        if step[0] in ("if", "for"):
            return tuple([self.number(s) for s in p] if isinstance(p, list) else p for p in step)
        return step

    def block(self, steps: list[Any]) -> None:
        for step in steps:
            match step:
                case ("copy", count):
                    self.lines += [COPY] * count
                case ("other", count):
                    self.lines += [OTHER] * count
                case ("commit",):
                    self.lines.append("lds.commit_group")
                case ("wait", groups, number):
                    self.lines += [f"rocdl.s.sleep {number}", f"lds.wait_group {groups}"]
                case ("if", then, otherwise):
                    self.lines.append("scf.if %c {")
                    self.block(then)
                    self.lines.append("} else {")
                    self.block(otherwise)
                    self.lines.append("}")
                case ("for", trips, body):
                    self.lines.append(f"scf.for %k{len(self.lines)} = %c0 to %c{trips} step %c1 {{")
                    self.block(body)
                    self.lines.append("}")

    def __str__(self) -> str:
        """The kernel as MLIR."""
        constants = "\n".join(f"%c{n} = arith.constant {n} : index" for n in range(4))
        return f"""
!lds = memref<2048xf32, #gpu.address_space<workgroup>>
gpu.module @m {{
gpu.func @k(%g: memref<4096xf32, 1>, %i: index, %lds: !lds, %c: i1, %p: !llvm.ptr<1>, %x: f32)
kernel {{
{constants}
{chr(10).join(self.lines)}
gpu.return
}}
}}"""


def paths(steps: list[Any]) -> Iterator[list[Any]]:
    """All ways through the steps, each a list of steps without branches."""
    if not steps:
        yield []
        return
    first, rest = steps[0], steps[1:]
    match first:
        case ("if", then, otherwise):
            heads = [*paths(then), *paths(otherwise)]
        case ("for", trips, body):
            heads = [[]]
            for _ in range(trips):
                heads = [head + turn for head in heads for turn in paths(body)][:64]
        case _:
            heads = [[first]]
    for head in heads:
        for tail in paths(rest):
            yield head + tail


def allowed(program: list[Any]) -> dict[int, int]:
    """For each wait, what may stay outstanding on the path that allows the least."""
    least: dict[int, int] = {}
    for count, path in enumerate(paths(program)):
        if count == 256:
            break
        issued, pending, groups = 0, None, []
        for step in path:
            match step:
                case ("copy", n):
                    issued += n
                    pending = issued
                case ("other", n):
                    issued += n
                case ("commit",):
                    groups.append(pending)
                    pending = None
                case ("wait", flying, number):
                    older = groups[: len(groups) - flying] if flying < len(groups) else []
                    needed = [g for g in older if g is not None]
                    groups[: len(older)] = [None] * len(older)
                    if needed:
                        least[number] = min(least.get(number, LARGEST_WAIT), issued - max(needed))
    return least


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs)
def test_waits(program: list[Any]) -> None:
    """No wait is too weak on any path; without loops each is exact."""
    text = Text(program)
    out = subprocess.run(
        ["lodestone-opt", "--lds-lower-async-groups"],
        input=str(text), capture_output=True, text=True, check=True, timeout=60,
    ).stdout  # fmt: skip
    found = {
        int(m[1]): int(m[2])
        for m in re.finditer(r"s\.sleep (\d+)\n\s*amdgpu\.memory_counter_wait load\((\d+)\)", out)
    }
    model = allowed(text.numbered)
    has_loop = "scf.for" in str(text)
    for number in range(text.waits):
        if number in model:
            assert number in found, "a wait is missing"
            assert found[number] <= model[number]
        if not has_loop:
            assert found.get(number) == model.get(number)
