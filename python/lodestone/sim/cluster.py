"""Workgroups that run together: a cluster of gfx1250, or one workgroup by itself.

In a cluster the workgroups share one more barrier and can ask for the same data at once: a
multicast load goes to each workgroup that makes it and is named in its mask, so each of them sees
what its own load would give it (CDNA5 ISA, 2.3, 5.6.6 and 10.7).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from . import checks
from .errors import ExecutionError
from .modes import Order, wave_orders

if TYPE_CHECKING:
    from .asm import Instruction
    from .wave import Wave
    from .workgroup import Workgroup

# The most workgroups that a cluster can have.
LIMIT = 16
# Barrier numbers of the instructions.
WORKGROUP_BARRIER, CLUSTER_BARRIER = -1, -3


class Cluster:
    """The workgroups of a cluster, by their number in it."""

    def __init__(self, groups: list[Workgroup]) -> None:
        """Make `groups` one cluster."""
        self.groups = groups
        # (request, mask) -> how often each member made it, and where it was first seen.
        self._requests: dict[Any, tuple[Counter[int], Instruction, int]] = {}
        for member, group in enumerate(groups):
            group.cluster, group.member = self, member

    def run(self, entry: int, order: Order, limit: int) -> int:
        """Run all waves to their end.

        Args:
            entry: index of the first instruction.
            order: see `modes.wave_orders`; also that of the workgroups.
            limit: how many instructions the cluster may execute.

        Returns:
            The number of instructions executed.
        """
        for group in self.groups:
            for wave in group.waves:
                wave.block = entry
        turns = wave_orders(order, len(self.groups))
        orders = [wave_orders(order, len(group.waves)) for group in self.groups]
        executed = 0
        while running := [group for group in self.groups if group.running]:
            for member in next(turns):
                group = self.groups[member]
                # As far as it gets without the others: what misses their barrier shows.
                while group.running and not group.blocked:
                    executed += group.advance(next(orders[member]), limit - executed)
            if all(group.blocked for group in running if group.running):
                self._release()
        self._check_requests()
        return executed

    def _release(self) -> None:
        """Every workgroup that still runs is at the cluster's barrier: let its waves pass."""
        waiting = [group for group in self.groups if group.blocked]
        silent = [group.number for group in waiting if not group.signalled]
        if silent:
            numbers = ", ".join(map(str, silent))
            raise ExecutionError(
                f"all waves wait, at the cluster's barrier too, which workgroup {numbers} "
                f"didn't signal"
            )
        for group in waiting:
            group.signalled = False
            for wave in group.waves:
                if wave.stopped_at == CLUSTER_BARRIER:
                    wave.stopped_at = 0

    def signal(self, group: Workgroup) -> bool:
        """A wave of `group` signals the barrier; True when no other workgroup did so before."""
        if group.signalled:
            raise ExecutionError(
                f"workgroup {group.number} signals the cluster's barrier a second time before "
                f"passing it"
            )
        first = not any(other.signalled for other in self.groups)
        group.signalled = True
        return first

    def request(self, wave: Wave, inst: Instruction, mask: int, key: Any) -> None:
        """Note a multicast load.

        Args:
            mask: a bit per workgroup of the cluster. key: what is asked for.
        """
        group = wave.group
        if mask >> len(self.groups):
            raise ExecutionError(
                f"multicast mask {mask:#x} names workgroups outside of the cluster of "
                f"{len(self.groups)}"
            )
        if not mask >> group.member & 1:
            raise ExecutionError(
                f"multicast mask {mask:#x} leaves out the workgroup that asks, number "
                f"{group.member} of the cluster"
            )
        counts, _, _ = self._requests.setdefault((key, mask), (Counter(), inst, wave.index))
        counts[group.member] += 1

    def _check_requests(self) -> None:
        """Each workgroup that a mask names must make the same request as often."""
        for (_, mask), (counts, inst, wave) in self._requests.items():
            most = max(counts.values())
            missing = [m for m in range(LIMIT) if mask >> m & 1 and counts[m] < most]
            if not missing:
                continue
            asking = self.groups[next(iter(counts))]
            asking.findings.workgroup = asking.number
            asking.findings.add(
                checks.MULTICAST_PARTNER,
                checks.WARNING,
                f"multicast with mask {mask:#x} waits for its time limit: of the cluster's "
                f"workgroups, {', '.join(map(str, missing))} don't ask for the same data",
                wave,
                inst,
            )
