"""The descriptor (D#) of a tensor instruction: its fields and its words.

Source of the layout: AMD "CDNA5 ISA", tensor data mover.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lodestone import _native

_GROUPS = ((0, 4), (4, 12), (12, 16), (16, 20))


@dataclass(frozen=True)
class Padding:
    """Space between what is copied to LDS.

    Attributes:
        interval: after this many dwords: a power of two, 2 to 256.
        amount: this many dwords are left out: 1 to 128.
    """

    interval: int
    amount: int


@dataclass(frozen=True)
class Iteration:
    """Repetition of a copy of rank 3 at most.

    Attributes:
        count: how often the copy is done, 1 to 65536.
        lds_increment: elements from one copy to the next, in LDS (32 bits).
        global_increment: the same in memory (48 bits).
    """

    count: int
    lds_increment: int
    global_increment: int


@dataclass(frozen=True)
class Gather:
    """Rows of a tensor of rank 2.

    Attributes:
        wide: the indices have 32 bits and there are at most 8; else 16 bits and 16.
        rows: their indices.
    """

    wide: bool
    rows: tuple[int, ...]


@dataclass(frozen=True)
class TDMDescriptor:
    """What one warp asks the tensor data mover to copy. Dimension 0 is the innermost one.

    Attributes:
        tensor_dims: elements of each dimension, 32 bits: what is outside loads as zero and isn't
            stored.
        tile_dims: elements to copy of each dimension, 1 to 65535.
        strides: elements from one index of dimension 1, 2, ... to the next, 48 bits: one less
            than there are dimensions.
        lds_address: bytes, 32 bits.
        global_address: bytes, 57 bits.
        element_bytes: 1, 2, 4 or 8.
        enabled: False for a copy that does nothing.
        workgroup_mask: the workgroups of the cluster that a load goes to, 16 bits; 0: its own.
        early_timeout: the bit of that name.
        barrier_address: bytes, a multiple of 8: the LDS barrier that the copy arrives at, or None.
        padding: see `Padding`, or None.
        iteration: see `Iteration`, or None.
        gather: see `Gather`, or None.
    """

    tensor_dims: tuple[int, ...]
    tile_dims: tuple[int, ...]
    strides: tuple[int, ...] = ()
    lds_address: int = 0
    global_address: int = 0
    element_bytes: int = 4
    enabled: bool = True
    workgroup_mask: int = 0
    early_timeout: bool = False
    barrier_address: int | None = None
    padding: Padding | None = None
    iteration: Iteration | None = None
    gather: Gather | None = None

    def encode(self) -> tuple[tuple[int, ...], ...]:
        """The words, uint32, of groups 0 to 3: 4, 8, 4 and 4.

        Raises:
            ValueError: a field is out of its range, or two don't go together.
        """
        words = _native.encode_tdm_descriptor(self)
        return tuple(tuple(words[first:last]) for first, last in _GROUPS)

    @classmethod
    def decode(cls, groups: Sequence[Sequence[int]]) -> TDMDescriptor:
        """What the hardware reads in 2 or 4 groups of words.

        Raises:
            ValueError: the words are no descriptor, or have more than 32 bits.
        """
        sizes = [len(group) for group in groups]
        if sizes not in ([4, 8], [4, 8, 4, 4]):
            raise ValueError(f"groups of {sizes} words, not of [4, 8] or [4, 8, 4, 4]")
        words = [int(word) for group in groups for word in group]
        for word in words:
            if not 0 <= word < 1 << 32:
                raise ValueError(f"word {word:#x} has more than 32 bits")
        fields = _native.decode_tdm_descriptor(words)
        for name in ("tensor_dims", "tile_dims", "strides"):
            fields[name] = tuple(fields[name])
        for name, kind in (("padding", Padding), ("iteration", Iteration)):
            if name in fields:
                fields[name] = kind(*fields[name])
        if "gather" in fields:
            wide, rows = fields["gather"]
            fields["gather"] = Gather(wide, tuple(rows))
        return cls(**fields)
