"""The wait counters: what each counts, how much it holds, and what a wait completes.

Counters are per wave. On gfx9, vmcnt returns in order; lgkmcnt counts LDS operations, which
return in order, and scalar loads, which don't: a wait for lgkmcnt(n) completes all but the last
n LDS operations, and the scalar loads only when n is 0. Loads from memory to LDS count in vmcnt.
On gfx1250 asynchronous loads and stores share a counter, but only each kind is in order (CDNA5 ISA,
10.8): a wait for n leaves up to n of either.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .asm import Instruction
    from .lds import Pattern
    from .wave import Wave

# Queue names. The hardware counter of each is in COUNTER.
VMEM, LDS, SMEM = "vmem", "lds", "smem"
STORE, ASYNC, ASYNC_STORE, TENSOR = "store", "async", "async-store", "tensor"
# gfx9: flat instructions return out of order with the others that vmcnt counts.
FLAT = "flat"
GFX12_QUEUES = (VMEM, STORE, LDS, SMEM, ASYNC, ASYNC_STORE, TENSOR)
# How many operations can be outstanding before the next one stalls.
CAPACITY_GFX9 = {VMEM: 63, LDS: 15, SMEM: 15, FLAT: 63}
CAPACITY_GFX12 = {
    VMEM: 63, STORE: 63, LDS: 63, SMEM: 31, ASYNC: 63, ASYNC_STORE: 63, TENSOR: 63,
}  # fmt: skip
COUNTER_GFX9 = {VMEM: "vmcnt", LDS: "lgkmcnt", SMEM: "lgkmcnt", FLAT: "vmcnt"}
COUNTER_GFX12 = {
    VMEM: "loadcnt", STORE: "storecnt", LDS: "dscnt", SMEM: "kmcnt",
    ASYNC: "asynccnt", ASYNC_STORE: "asynccnt", TENSOR: "tensorcnt",
}  # fmt: skip

# Kinds of LDS access.
READ, WRITE, DMA = "read", "write", "dma"
ISSUE, COMPLETE, SIGNAL = 0, 1, 2


class Pending:
    """An operation that was issued and is not yet known to be complete.

    Attributes:
        kind: READ, WRITE or DMA (a load to LDS) for LDS accesses, else "".
        pattern: LDS footprint, or None.
        registers: what it will write (modes R and W).
        deliver: what happens at completion, or None when it happened at issue.
        sequence: its number among the operations of its counter.
        epoch: barriers the wave had passed at issue.
    """

    __slots__ = (
        "deliver", "epoch", "instruction", "kind", "pattern", "queue", "registers", "sequence",
    )  # fmt: skip

    def __init__(
        self,
        instruction: Instruction,
        queue: str,
        kind: str = "",
        pattern: Pattern | None = None,
        registers: tuple[int, ...] = (),
        deliver: Callable[[], None] | None = None,
    ) -> None:
        """Describe an operation; `issue` enters it into its queue."""
        self.instruction = instruction
        self.queue = queue
        self.kind = kind
        self.pattern = pattern
        self.registers = registers
        self.deliver = deliver
        self.sequence = 0
        self.epoch = 0


def issue(wave: Wave, operation: Pending) -> None:
    """Enter `operation` into its queue; a full counter completes the oldest one."""
    name = operation.queue
    queue = wave.queues[name]
    sequence = wave.issued[name]
    wave.issued[name] = sequence + 1
    operation.sequence = sequence
    queue.append(operation)
    if operation.pattern is not None:
        wave.log.append((ISSUE, operation, wave.issued.copy()))
    for register in operation.registers:
        wave.pending[register] = operation
    if len(queue) > wave.capacity[name]:
        complete(wave, queue.popleft())


def issue_flat(wave: Wave, operation: Pending) -> None:
    """Enter a flat access: it counts as a memory and as an LDS operation, and needs both waits.

    On gfx9 only a wait for zero completes it.
    """
    if FLAT in wave.queues:
        operation.queue = FLAT
    other = Pending(operation.instruction, LDS, "", None, operation.registers)
    issue(wave, operation)

    def still_waiting() -> None:
        # The other counter's turn: the registers go on waiting for what is not complete.
        if operation in wave.queues[operation.queue]:
            for register in operation.registers:
                if wave.pending.get(register) is other:
                    wave.pending[register] = operation

    other.deliver = still_waiting
    issue(wave, other)


def complete(wave: Wave, operation: Pending) -> None:
    """The operation is complete for its wave."""
    if operation.deliver is not None:
        deliver, operation.deliver = operation.deliver, None
        deliver()
    for register in operation.registers:
        if wave.pending.get(register) is operation:
            del wave.pending[register]
    if operation.pattern is not None:
        wave.log.append((COMPLETE, operation, None))


def drain(wave: Wave, queue: deque[Pending], outstanding: int) -> None:
    """Complete the oldest operations until at most `outstanding` are left."""
    while len(queue) > outstanding:
        complete(wave, queue.popleft())


def wait_step(limits: dict[str, int]) -> Callable[[Wave], Any]:
    """A step that waits until each queue has at most that many operations."""
    items = tuple(limits.items())

    def step(wave: Wave) -> None:
        for name, outstanding in items:
            queue = wave.queues[name]
            while len(queue) > outstanding:
                complete(wave, queue.popleft())

    return step


def gfx9_waitcnt(simm16: int) -> dict[str, int]:
    """Decode s_waitcnt: the queues that it limits. All ones in a field means no wait."""
    vector = simm16 & 15 | simm16 >> 14 << 4
    local = simm16 >> 8 & 15
    limits: dict[str, int] = {}
    if vector != 63:
        limits[VMEM] = vector
        if vector == 0:
            limits[FLAT] = 0
    if local != 15:
        limits[LDS] = local
        if local == 0:
            limits[SMEM] = 0
    return limits


_GFX12_WAITS = {
    name: [queue for queue, other in COUNTER_GFX12.items() if other == name]
    for name in COUNTER_GFX12.values()
}


def gfx12_wait(mnemonic: str, simm16: int) -> dict[str, int] | None:
    """Decode s_wait_*: the queues that it limits, or None for what isn't a counter wait.

    Scalar loads return out of order, so only a wait for zero completes any.
    """
    name = mnemonic.removeprefix("s_wait_")
    if name == "idle":
        return dict.fromkeys(GFX12_QUEUES, 0)
    if name in ("loadcnt_dscnt", "storecnt_dscnt"):
        first = VMEM if name.startswith("load") else STORE
        return {first: simm16 >> 8 & 63, LDS: simm16 & 63}
    queues = _GFX12_WAITS.get(name)
    if queues is None:
        return None
    return dict.fromkeys(queues, simm16) if SMEM not in queues or simm16 == 0 else {}
