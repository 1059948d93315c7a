"""Memory modes and wave orders.

| mode | writes to LDS land | LDS reads sample | finds |
|---|---|---|---|
| E eager | at issue | at issue | wrong layouts and numbers |
| R | as late as the wave's own waits (or a full counter) allow | at issue | missing or weak waits |
| W | at issue | as late as the wave's own waits allow | reuse of LDS that is still being read |

Never both late at once: a late read would see the late write again. In R and W a register that a
load still has to write is poisoned until the wait.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from .errors import LaunchError


@dataclass(frozen=True)
class Mode:
    """A memory mode; see the module's table."""

    name: str
    late_writes: bool
    late_reads: bool

    @property
    def eager(self) -> bool:
        """Nothing is late."""
        return not (self.late_writes or self.late_reads)


MODES = {
    "E": Mode("E", late_writes=False, late_reads=False),
    "R": Mode("R", late_writes=True, late_reads=False),
    "W": Mode("W", late_writes=False, late_reads=True),
}


def mode_named(name: str) -> Mode:
    """The mode `name`: E, R or W."""
    if name not in MODES:
        raise LaunchError(f"mode {name!r} is not one of {', '.join(MODES)}")
    return MODES[name]


Order = str | int


def wave_orders(order: Order, waves: int) -> Iterator[list[int]]:
    """The order in which waves run, one list for each time between two barriers.

    Args:
        order: `forward`, `reverse`, or the seed of a new random order each time.
    """
    forward = list(range(waves))
    if order == "forward":
        while True:
            yield forward
    if order == "reverse":
        while True:
            yield forward[::-1]
    if not isinstance(order, int) or isinstance(order, bool):
        raise LaunchError(f"order {order!r} is not 'forward', 'reverse' or an integer seed")
    generator = random.Random(order)
    while True:
        yield generator.sample(forward, waves)
