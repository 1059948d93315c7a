"""What a reference kernel carries besides its code: how to launch it and what it computes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from lodestone import ir

Array: TypeAlias = NDArray[Any]
Arguments: TypeAlias = dict[str, Array | int]


@dataclass(frozen=True)
class Argument:
    """A kernel argument.

    A pointer to an array if `shape` is given (the names or the sizes of its dimensions),
    else a number passed by value.
    """

    name: str
    dtype: np.dtype[Any]
    shape: tuple[str | int, ...] = ()
    output: bool = False

    @property
    def byte_size(self) -> int:
        """Bytes in the argument buffer."""
        return 8 if self.shape else self.dtype.itemsize


@dataclass(frozen=True)
class Launch:
    """The shape of a launch; sizes in workgroups, threads and bytes."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic_lds: int


@dataclass(frozen=True)
class Kernel:
    """A kernel as MLIR, with all that is needed to compile, run and judge it.

    Attributes:
        name: the symbol of the function.
        chip: what it is written for.
        module: the code, in upstream dialects and ours.
        arguments: in order; `layout` has their offsets.
        block: threads of a workgroup.
        dynamic_lds: bytes of dynamic LDS that a launch must pass.
        grid: from the problem's dimensions to workgroups.
        dimensions: the sizes that a launch chooses: name to (must be a multiple of,
            must be at most).
        make_inputs: (dimensions, random generator) to values of all arguments.
        compute: the NumPy reference: from arguments to the expected outputs, in float32
            where the kernel has narrower types.
        relative_tolerance: error allowed, relative to |expected| + `absolute_tolerance`.
        absolute_tolerance: see there.
        compile_options: what `lodestone.compile` needs besides the chip.
    """

    name: str
    chip: str
    module: ir.Module
    arguments: tuple[Argument, ...]
    block: tuple[int, int, int]
    dynamic_lds: int
    dimensions: Mapping[str, tuple[int, int]]
    grid: Callable[[Mapping[str, int]], tuple[int, int, int]]
    make_inputs: Callable[[Mapping[str, int], np.random.Generator], Arguments]
    compute: Callable[[Arguments], dict[str, Array]]
    relative_tolerance: float
    absolute_tolerance: float
    compile_options: Mapping[str, Any] = field(default_factory=dict)

    def launch(self, **dimensions: int) -> Launch:
        """Return the launch for a problem, such as `launch(m=256, n=512)`."""
        return Launch(self.grid(self._check(dimensions)), self.block, self.dynamic_lds)

    def inputs(self, seed: int = 0, **dimensions: int) -> Arguments:
        """Return random arguments for a problem, outputs filled with NaN."""
        return self.make_inputs(self._check(dimensions), np.random.default_rng(seed))

    def reference(self, arguments: Arguments) -> dict[str, Array]:
        """Return what the outputs must be."""
        return self.compute(arguments)

    def layout(self) -> dict[str, int]:
        """Return the byte offset of each argument in the argument buffer."""
        offsets, end = {}, 0
        for argument in self.arguments:
            offset = -(-end // argument.byte_size) * argument.byte_size
            offsets[argument.name] = offset
            end = offset + argument.byte_size
        return offsets

    def error(self, got: Mapping[str, Array], arguments: Arguments) -> float:
        """Return the largest error of all outputs in units of the tolerance (<= 1 is right).

        NaN where the reference has a number counts as infinite.
        """
        worst = 0.0
        for name, expected in self.reference(arguments).items():
            wide = expected.astype(np.float64)
            difference = np.abs(np.asarray(got[name]).astype(np.float64) - wide)
            relative = difference / (np.abs(wide) + self.absolute_tolerance)
            largest = float(np.nan_to_num(relative, nan=np.inf).max(initial=0.0))
            worst = max(worst, largest / self.relative_tolerance)
        return worst

    def _check(self, dimensions: Mapping[str, int]) -> Mapping[str, int]:
        if set(dimensions) != set(self.dimensions):
            raise ValueError(
                f"{self.name} needs the dimensions {', '.join(self.dimensions)}, "
                f"got {', '.join(dimensions) or 'none'}"
            )
        for name, size in dimensions.items():
            multiple, largest = self.dimensions[name]
            if size % multiple:
                raise ValueError(f"dimension {name} must be a multiple of {multiple}, got {size}")
            if not 1 <= size <= largest:
                raise ValueError(f"dimension {name} must be in 1..{largest}, got {size}")
        return dimensions
