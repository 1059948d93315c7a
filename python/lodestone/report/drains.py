"""DMAs that a wait completes before anybody can need them.

The definition. In a kernel whose waves share what they fetch, nobody may read what a DMA
brought before a barrier that follows a wait for it: the other waves know nothing of this
wave's counter. So a wait directly before an s_barrier (a *barrier wait*) is the earliest
point at which completing a DMA is of use. Let need(d) be the first barrier wait that
completes DMA d if barrier waits were the only waits of the wave. d is *drained early* if
some other wait completes it before need(d): the wave stood still for nothing.

What it cannot tell: a wait that the compiler put in and then merged with a barrier wait
counts as that barrier wait; and a wave that reads what it alone fetched, without a barrier,
needs its data earlier than this says. A kernel without barrier waits has no figure.

The path that is followed is the straight one, each loop twice; DMAs are counted as
instructions, one that is drained early in any round once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from lodestone.report.isa import Function


@dataclass(frozen=True)
class EarlyDrains:
    """LDS-DMA instructions: all, and those drained early."""

    early: int
    dmas: int


def early_drains(function: Function) -> EarlyDrains | None:
    """Count the LDS-DMAs drained early; None if the function has no barrier waits."""
    # Two queues of outstanding operations, as they would be with all waits and with
    # barrier waits alone. An entry is (instruction, number of the operation).
    all_waits: deque[tuple[int, int]] = deque()
    barrier_waits: deque[tuple[int, int]] = deque()
    done: dict[int, int] = {}
    needed: dict[int, int] = {}
    dmas: dict[int, int] = {}
    found_barrier_wait = False
    for time, index in enumerate(_path(function)):
        instruction = function.instructions[index]
        if instruction.counts_in_vmcnt:
            all_waits.append((index, time))
            barrier_waits.append((index, time))
            if instruction.is_lds_dma:
                dmas[time] = index
        limit = instruction.vmcnt
        if limit is None:
            continue
        while len(all_waits) > limit:
            done[all_waits.popleft()[1]] = time
        if _before_barrier(function, index):
            found_barrier_wait = True
            while len(barrier_waits) > limit:
                needed[barrier_waits.popleft()[1]] = time
    if not found_barrier_wait:
        return None
    # What no barrier wait ever completes is needed by nobody, hence not before the end.
    end = 1 << 62
    early = {dmas[d] for d in dmas if done.get(d, end) < needed.get(d, end)}
    return EarlyDrains(len(early), sum(x.is_lds_dma for x in function.instructions))


def _before_barrier(function: Function, index: int) -> bool:
    """Whether the instruction after a wait is a barrier, waits and s_nop aside."""
    for instruction in function.instructions[index + 1 :]:
        if instruction.mnemonic == "s_barrier":
            return True
        if instruction.mnemonic not in ("s_nop", "s_waitcnt"):
            return False
    return False


def _path(function: Function) -> Iterator[int]:
    """The indices of executed instructions: no forward branch is taken but an s_branch, and
    each branch back once.
    """
    taken: set[int] = set()
    index = 0
    while index < len(function.instructions):
        yield index
        instruction = function.instructions[index]
        if instruction.mnemonic == "s_endpgm":
            return
        target = instruction.branch_target
        start = None if target is None else function.labels.get(target)
        if start is not None and index not in taken:
            if start <= index or instruction.mnemonic == "s_branch":
                taken.add(index)
                index = start
                continue
        index += 1
