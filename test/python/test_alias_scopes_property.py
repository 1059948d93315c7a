"""A differential test of lds-attach-alias-scopes.

Generates kernels whose addresses are computed in many ways, and interprets the same
arithmetic concretely: all lanes, all values of the unknowns, both ways at each select, all
iterations. Whatever the pass claims must hold for the concrete bytes: where LLVM concludes
from the scopes that an access and a DMA don't alias, they share no byte.
"""

from __future__ import annotations

import itertools
import re
import subprocess

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_kernels import LANES, MODULUS, build

KINDS = "gep gep-pointers add add64 sub round select unknown remainder counter lane narrow".split()
steps = st.lists(
    st.tuples(
        st.sampled_from(KINDS), st.sampled_from([0, 1, 4, 64, 252, 256, 300, 1024, 2048, 4096])
    ),
    max_size=4,
)
operations = st.lists(
    st.tuples(st.booleans(), steps, st.sampled_from([1, 4, 12, 16])), min_size=2, max_size=7
)


def concrete_bytes(access, trips: int) -> set[int]:
    """All bytes that the access may touch."""
    is_dma, address, size = access
    touched: set[int] = set()
    lanes = [0] if is_dma else [0, 1, LANES - 1]
    unknowns = [0, 1, 2, 3, 5, 6, 7, 15, 63, 127, 128, 255]
    for lane, any_, flag, i in itertools.product(lanes, unknowns, (0, 1), range(trips)):
        start = address({"lane": lane, "any": any_, "flag": flag, "i": i}) % MODULUS
        if not is_dma:
            touched.update(range(start, start + size))
            continue
        stride = 4 if size <= 4 else 16
        for dma_lane in range(LANES):
            touched.update(range(start + dma_lane * stride, start + dma_lane * stride + size))
    return touched


def claims(text: str) -> list[tuple[set[str], set[str]]]:
    """The scopes and noalias scopes of each memory operation, in order."""
    out = subprocess.run(
        ["lodestone-opt", "--lds-attach-alias-scopes"],
        input=text,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout
    result = []
    for line in out.splitlines():
        if "buffer.load.lds" not in line and "llvm.load" not in line:
            continue
        lists = []
        for name in (r"[ {]alias_scopes", "noalias_scopes"):
            match = re.search(name + r" = \[([^\]]*)\]", line)
            lists.append(set(re.findall(r"#\w+", match[1])) if match else set())
        result.append((lists[0], lists[1]))
    return result


def no_alias(a: tuple[set[str], set[str]], b: tuple[set[str], set[str]]) -> bool:
    """LLVM's rule for one domain: all scopes of `b` are in the noalias list of `a`."""
    return bool(b[0]) and b[0] <= a[1]


@settings(
    max_examples=120,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(ops=operations, trips=st.integers(1, 3))
def test_noalias_means_disjoint(ops, trips: int) -> None:
    """No access shares a byte with a DMA that its scopes set apart from it."""
    text, kernel = build(ops, trips)
    found = claims(text)
    assert len(found) == len(kernel.accesses), text
    touched = [concrete_bytes(access, trips) for access in kernel.accesses]
    for i, j in itertools.permutations(range(len(found)), 2):
        if not kernel.accesses[j][0]:
            continue
        assert found[j][0], f"DMA {j} carries no scope\n{text}"
        if no_alias(found[i], found[j]) or no_alias(found[j], found[i]):
            common = touched[i] & touched[j]
            assert not common, f"{i} is noalias to {j}, both touch {sorted(common)[:4]}\n{text}"


def test_the_generator_makes_claims() -> None:
    """The property is not vacuous: two buffers are told apart."""
    text, _ = build(
        [(True, [], 4), (True, [("gep", 4096)], 4), (False, [("gep", 4096), ("lane", 0)], 4)], 2
    )
    assert all(noalias for _, noalias in claims(text))
