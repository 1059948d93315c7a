"""TDM copies as Python values: their MLIR, and what each warp's descriptors must be.

The model follows the rules in the description of `tdm.load`, number by number, and shares no
code with the compiler. The words are taken apart by the simulator's decoder, which was
written from the ISA text.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import lodestone
import numpy as np
from lodestone import sim
from lodestone.sim import ops_tdm

BYTES = {"i8": 1, "f8E4M3FN": 1, "f16": 2, "bf16": 2, "f32": 4, "i32": 4, "f64": 8}
LDS_BYTES = 320 << 10


@dataclass(frozen=True)
class Copy:
    """One copy; dimension 0 is the outermost one."""

    shape: tuple[int, ...]
    block: tuple[int, ...]
    offsets: tuple[int, ...]
    dtype: str = "f16"
    strides: tuple[int, ...] | None = None
    hint: int | None = None
    padding: tuple[int, int] | None = None
    partition: tuple[int, int] | None = None
    # Sizes and offsets are arguments of the kernel instead of constants.
    dynamic: bool = False

    @property
    def element(self) -> int:
        return BYTES[self.dtype]

    @property
    def all_strides(self) -> tuple[int, ...]:
        if self.strides:
            return self.strides
        return tuple(math.prod(self.shape[d + 1 :]) for d in range(len(self.shape)))

    @property
    def piece(self) -> tuple[int, ...]:
        dimension, pieces = self.partition or (0, 1)
        return tuple(n // pieces if d == dimension else n for d, n in enumerate(self.block))

    def padded(self, byte: int) -> int:
        """Where byte `byte` of a piece is."""
        if self.padding is None:
            return byte
        interval, amount = self.padding
        return byte + byte // (4 * interval) * 4 * amount

    @property
    def piece_bytes(self) -> int:
        """Bytes of the region of a piece, a multiple of 16."""
        return -(-self.padded(math.prod(self.piece) * self.element) // 16) * 16

    def regions(self) -> list[int]:
        """Offsets of the pieces in LDS: not in order, as for partitions that are far apart."""
        pieces = (self.partition or (0, 1))[1]
        return [(p % 2 * -(-pieces // 2) + p // 2) * self.piece_bytes for p in range(pieces)]


def model(copy: Copy, num_warps: int, warp: int) -> list[dict[str, object] | None]:
    """What the instructions of `copy` on `warp` must say; None for one that does nothing.

    Addresses are bytes from the start of the tensor and of the LDS.
    """
    active = [w for w in range(num_warps) if copy.hint is None or copy.hint >> w & 1]
    dimension, pieces = copy.partition or (0, 1)
    at_once = math.gcd(len(active), pieces)
    left = len(active) // at_once
    tile, parts = list(copy.piece), [1] * len(copy.piece)
    dims = len(tile) if copy.partition is None else len(tile) - 1
    granule = copy.padding[0] * 4 if copy.padding else 1
    for d in range(dims):
        while left > 1 and tile[d] % 2 == 0:
            if math.prod(tile) // 2 * copy.element % granule:
                break
            tile[d] //= 2
            parts[d] *= 2
            left //= 2
        if tile[d] > 1:
            break
    splits = parts[dimension]
    parts[dimension] *= at_once
    if copy.hint is None:
        active = active[: math.prod(parts)]
    instructions = pieces // at_once
    if warp not in active:
        return [None] * instructions
    rest, place = active.index(warp), []
    for n in parts:
        place.append(rest % n)
        rest //= n

    result: list[dict[str, object] | None] = []
    for i in range(instructions):
        piece = i * at_once + place[dimension] // splits
        corner = [t * p for t, p in zip(tile, place, strict=True)]
        in_piece = list(corner)
        in_piece[dimension] = place[dimension] % splits * tile[dimension]
        corner[dimension] = piece * copy.piece[dimension] + in_piece[dimension]
        start = [o + c for o, c in zip(copy.offsets, corner, strict=True)]
        linear = 0
        for size, at in zip(copy.piece, in_piece, strict=True):
            linear = linear * size + at
        address = sum(s * n for s, n in zip(start, copy.all_strides, strict=True))
        result.append(
            {
                "element": copy.element,
                "lds": copy.regions()[piece] + copy.padded(linear * copy.element),
                "address": address * copy.element,
                "tensor": tuple(max(0, n - s) for n, s in zip(copy.shape, start, strict=True))[
                    ::-1
                ],
                "tile": tuple(tile[::-1]),
                "strides": (1, *copy.all_strides[-2::-1]),
                "interval": copy.padding[0] * 4 if copy.padding else 0,
                "amount": copy.padding[1] * 4 if copy.padding else 0,
            }
        )
    return result


def tensor_of(copy: Copy, number: int) -> tuple[list[str], list[str], str, str, str]:
    """Arguments, code, offsets, name and type of the tensor of a copy."""
    layout = f"strided<[{', '.join(map(str, copy.all_strides))}]>"
    static = f"memref<{'x'.join(map(str, copy.shape))}x{copy.dtype}, {layout}>"
    arguments, lines = [f"%source{number}: {static}"], []
    names: dict[str, list[str]] = {"size": [], "at": []}
    for what, values in (("size", copy.shape), ("at", copy.offsets)):
        for d, value in enumerate(values):
            names[what].append(f"%{what}{number}_{d}")
            if copy.dynamic:
                arguments.append(f"%{what}{number}_{d}_: i64")
                cast = f"arith.index_cast %{what}{number}_{d}_ : i64 to index"
                lines.append(f"{names[what][-1]} = {cast}")
            else:
                lines.append(f"{names[what][-1]} = arith.constant {value} : index")
    source, memref = f"%source{number}", static
    if copy.dynamic:
        memref = f"memref<{'?x' * len(copy.shape)}{copy.dtype}, {layout}>"
        lines.append(
            f"%tensor{number} = memref.reinterpret_cast {source} to offset: [0], sizes:"
            f" [{', '.join(names['size'])}], strides: [{', '.join(map(str, copy.all_strides))}]"
            f" : {static} to {memref}"
        )
        source = f"%tensor{number}"
    return arguments, lines, ", ".join(names["at"]), source, memref


def text_of(copies: list[Copy], num_warps: int, fused: bool = False) -> str:
    """A kernel with these copies, or one fused copy of all.

    Its arguments: an array that gets the addresses of the tensors (i64), then for each copy the
    tensor, and sizes and offsets if they are dynamic.
    """
    arguments, lines, loads = [f"%addresses: memref<{len(copies)}xi64>"], [], []
    regions: list[str] = []
    for number, copy in enumerate(copies):
        more, code, at, source, memref = tensor_of(copy, number)
        arguments += more
        lines += code
        lds = f"memref<{copy.piece_bytes // copy.element}x{copy.dtype}, 3>"
        pieces = []
        for piece, offset in enumerate(copy.regions()):
            # The copies of a kernel have their blocks at the same place.
            others = f"overlays {', '.join(regions)}" if regions else ""
            pieces.append(f"%lds{number}_{piece}")
            lines.append(
                f"{pieces[-1]} = lds.region @r{number}_{piece} offset({offset}) {others} : {lds}"
            )
        regions += [f"@r{number}_{piece}" for piece in range(len(pieces))]
        lines += [
            f"%n{number} = arith.constant {number} : index",
            f"%p{number} = memref.extract_aligned_pointer_as_index %source{number} :"
            f" {more[0].partition(': ')[2]} -> index",
            f"%i{number} = arith.index_cast %p{number} : index to i64",
            f"memref.store %i{number}, %addresses[%n{number}] : memref<{len(copies)}xi64>",
        ]
        clauses = f"block([{', '.join(map(str, copy.block))}])"
        if copy.padding:
            clauses += f" padding(<interval = {copy.padding[0]}, amount = {copy.padding[1]}>)"
        if copy.partition:
            clauses += f" partition({copy.partition[0]})"
        if copy.hint is not None:
            clauses += f" hint({copy.hint:#x} : i32)"
        types = f"{memref} to {', '.join([lds] * len(pieces))}"
        loads.append(f"tdm.load {source}[{at}] to {', '.join(pieces)} {clauses} : {types}")
    if fused:
        loads = ["tdm.fused_load {", *loads, "}"]
    body = "\n    ".join([*lines, *loads, "tdm.wait 0"])
    return f"""
gpu.module @m {{
  gpu.func @k({", ".join(arguments)}) kernel
      attributes {{known_block_size = array<i32: {32 * num_warps}, 1, 1>}} {{
    {body}
    gpu.return
  }}
}}"""


def execute(
    copies: list[Copy], num_warps: int, fused: bool = False
) -> dict[int, list[dict[str, object] | None]]:
    """Compile and simulate; what each warp's instructions say, in order.

    Of a fused copy, addresses count from the tensor of the copy that names the warp.
    """
    text = text_of(copies, num_warps, fused)
    code = lodestone.compile(text, chip="gfx1250", bare_pointers=True).code_object
    arguments: list[object] = [np.zeros(len(copies), np.int64)]
    for copy in copies:
        extent = 1 + sum((n - 1) * s for n, s in zip(copy.shape, copy.all_strides, strict=True))
        arguments.append(np.zeros(extent * copy.element, np.uint8))
        if copy.dynamic:
            arguments += [*copy.shape, *copy.offsets]
    result = sim.run(code, args=arguments, dynamic_lds=LDS_BYTES)
    assert result.outputs[0] is not None
    bases = result.outputs[0].tolist()
    warps: dict[int, list[dict[str, object] | None]] = {w: [] for w in range(num_warps)}
    # The copy that each instruction of a warp is of.
    order = [n for n, copy in enumerate(copies) for _ in model(copy, num_warps, 0)]
    for operation in result.tensor_operations:
        found = ops_tdm.decode(operation.descriptor)
        said = warps[operation.wave]
        if found is None:
            said.append(None)
            continue
        number = order[len(said)]
        if fused:
            number = next(n for n, c in enumerate(copies) if (c.hint or 0) >> operation.wave & 1)
        fields = dataclasses.asdict(found)
        fields["address"] -= bases[number]
        names = ("element", "lds", "address", "tensor", "tile", "strides", "interval", "amount")
        said.append({name: fields[name] for name in names})
    return warps
