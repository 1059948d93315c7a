"""A picture of a swizzled tile: where its cells are in LDS, and which banks a read uses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

import numpy as np
from rich.console import RenderableType
from rich.table import Table

from lodestone._result import Result, add_row
from lodestone.sim.banks import BANKS, PHASES, bank_use
from lodestone.swizzle import Offsets, Swizzle

DWORD = 4
CELL = 16
# Pixels: a dword's width, a line's height in the image, a square of the bank table.
DWORD_WIDTH, LINE_HEIGHT, SQUARE = 10, 22, 10
MARGIN, HEAD, GAP = 10, 34, 40
USE_COLOURS = ("#ffffff", "#9ccc9c", "#f2c14e", "#e07b39", "#c0392b")


@dataclass(frozen=True)
class Picture:
    """A tile of rows in LDS, and a wave that reads columns of 16-byte cells from it.

    The read is that of a matrix operand: lane i reads cell i // rows of row i % rows, 16 bytes.

    Attributes:
        swizzle: of the tile.
        rows: of the tile that are shown and read.
        row_bytes: of the tile, a multiple of 16.
        chip: whose banks and phases; see ``lodestone.sim.banks``.
    """

    swizzle: Swizzle
    rows: int = 16
    row_bytes: int = 128
    chip: str = "gfx950"

    def __post_init__(self) -> None:
        """Check what can't be drawn.

        Raises:
            ValueError: an unknown chip, a row that is no multiple of a cell, or a tile that is
                not mapped to different bytes.
        """
        if (self.chip, "read", CELL) not in PHASES:
            known = ", ".join(sorted({chip for chip, _, _ in PHASES}))
            raise ValueError(f"no bank phases are published for {self.chip}; known: {known}")
        if self.row_bytes < CELL or self.row_bytes % CELL:
            raise ValueError(f"a row of {self.row_bytes} bytes is no multiple of {CELL}")
        if not 1 <= self.rows <= 256:
            raise ValueError(f"{self.rows} rows are not between 1 and 256")
        if self.swizzle.granule < CELL:
            raise ValueError(
                f"a granule of {self.swizzle.granule} bytes tears the cells of {CELL} that are read"
            )
        self.swizzle.verify(self.tile_bytes, 2**31)

    @property
    def tile_bytes(self) -> int:
        """Bytes of the tile."""
        return self.rows * self.row_bytes

    @property
    def reads(self) -> Offsets:
        """The physical offset that each lane reads, int64 [64]; lanes start over at the end."""
        lane = np.arange(64)
        cell = lane // self.rows % (self.row_bytes // CELL)
        return self.swizzle.apply(lane % self.rows * self.row_bytes + cell * CELL)

    @property
    def use(self) -> Offsets:
        """Dwords that the read asks each bank for, int64 [phases, banks]."""
        starts = self.reads + np.arange(0, CELL, DWORD)[:, None]
        use = bank_use(self.chip, "read", starts, DWORD)
        assert use is not None  # Checked when this was made.
        return use

    @property
    def extra_cycles(self) -> int:
        """Cycles that bank conflicts add to the read."""
        return int(np.maximum(self.use.max(axis=1) - 1, 0).sum())

    def svg(self) -> str:
        """Return the picture; the same for the same tile, to the byte."""
        banks = BANKS[self.chip]
        line_bytes = banks * DWORD
        lines = -(-self.swizzle.image_bytes(self.tile_bytes) // line_bytes)
        width = 2 * MARGIN + banks * DWORD_WIDTH
        table_top = HEAD + lines * LINE_HEIGHT + GAP
        height = table_top + len(self.use) * SQUARE + MARGIN
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
            f' viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="9">',
            f"<title>{escape(repr(self.swizzle))}</title>",
            f'<rect width="{width}" height="{height}" fill="#fff"/>',
            _text(MARGIN, 14, repr(self.swizzle), 12),
            _text(
                MARGIN, 28,
                f"{self.rows} rows of {self.row_bytes} bytes in LDS; a line is the {banks} banks "
                f"of {self.chip}; labels are row.cell of {CELL} bytes; framed: the first phase",
                10,
            ),
        ]  # fmt: skip
        parts += self._image(line_bytes)
        parts.append(
            _text(
                MARGIN, table_top - 8,
                f"banks of a 64-lane read down the columns, a line for each phase: "
                f"{self.extra_cycles} extra cycles",
                10,
            )
        )  # fmt: skip
        parts += self._bank_table(table_top)
        return "\n".join([*parts, "</svg>"]) + "\n"

    def _image(self, line_bytes: int) -> list[str]:
        """Every cell where it is; cells of one column have one colour."""
        cells = self.row_bytes // CELL
        logical = np.arange(0, self.tile_bytes, CELL)
        framed = set(self.reads[list(PHASES[self.chip, "read", CELL][0])].tolist())
        parts: list[str] = []
        frames: list[str] = []
        labels: list[tuple[int, int, str]] = []
        for q, p in zip(logical.tolist(), self.swizzle.apply(logical).tolist(), strict=True):
            row, cell = q // self.row_bytes, q % self.row_bytes // CELL
            x = MARGIN + p % line_bytes // DWORD * DWORD_WIDTH
            y = HEAD + p // line_bytes * LINE_HEIGHT
            size = f'x="{x}" y="{y}" width="{CELL // DWORD * DWORD_WIDTH}" height="{LINE_HEIGHT}"'
            parts.append(f'<rect {size} fill="hsl({cell * 360 // cells},60%,82%)"/>')
            labels.append((x + 4, y + 14, f"{row}.{cell}"))
            if p in framed:
                frames.append(f"<rect {size}/>")
        return [
            '<g stroke="#999" stroke-width="0.5">', *parts, "</g>",
            *_texts(labels, 9),
            '<g fill="none" stroke="#000" stroke-width="2">', *frames, "</g>",
        ]  # fmt: skip

    def _bank_table(self, top: int) -> list[str]:
        squares: list[str] = []
        counts: list[tuple[int, int, str]] = []
        for phase, banks in enumerate(self.use.tolist()):
            for bank, count in enumerate(banks):
                x, y = MARGIN + bank * SQUARE, top + phase * SQUARE
                squares.append(
                    f'<rect x="{x}" y="{y}" width="{SQUARE}" height="{SQUARE}"'
                    f' fill="{USE_COLOURS[min(count, len(USE_COLOURS) - 1)]}"/>'
                )
                if count > 1:
                    counts.append((x + 3, y + 8, str(count)))
        return [
            '<g stroke="#ccc" stroke-width="0.5">', *squares, "</g>", *_texts(counts, 7)
        ]  # fmt: skip


@dataclass(frozen=True)
class SwizzleReport(Result):
    """What a swizzle does to a tile.

    Attributes:
        swizzle: the constructor calls that make it.
        granule: bytes that stay together.
        period: bytes after which it repeats.
        is_involution: whether it undoes itself.
        inverse: the constructor calls that make its inverse.
        tile_bytes: of the tile.
        lds_bytes: that the tile takes in LDS, with padding.
        chip: whose banks.
        extra_cycles: of bank conflicts in a read down the columns (see ``Picture``).
        extra_cycles_unswizzled: the same without the swizzle.
    """

    swizzle: str
    granule: int
    period: int
    is_involution: bool
    inverse: str
    tile_bytes: int
    lds_bytes: int
    chip: str
    extra_cycles: int
    extra_cycles_unswizzled: int

    @classmethod
    def of(cls, picture: Picture) -> SwizzleReport:
        """Return what the picture is of, in numbers."""
        swizzle = picture.swizzle
        plain = Picture(Swizzle(), picture.rows, picture.row_bytes, picture.chip)
        return cls(
            swizzle=repr(swizzle),
            granule=swizzle.granule,
            period=swizzle.period,
            is_involution=swizzle.is_involution,
            inverse=repr(swizzle.inverted),
            tile_bytes=picture.tile_bytes,
            lds_bytes=swizzle.image_bytes(picture.tile_bytes),
            chip=picture.chip,
            extra_cycles=picture.extra_cycles,
            extra_cycles_unswizzled=plain.extra_cycles,
        )

    def _renderables(self) -> Iterable[RenderableType]:
        table = Table(show_header=False)
        for name, value in (
            ("swizzle", self.swizzle),
            ("granule", f"{self.granule} bytes"),
            ("period", f"{self.period} bytes"),
            ("undoes itself", "yes" if self.is_involution else "no"),
            ("inverse", self.inverse),
            ("tile", f"{self.tile_bytes} bytes, {self.lds_bytes} in LDS"),
            (
                f"column read on {self.chip}",
                f"{self.extra_cycles} extra cycles, "
                f"{self.extra_cycles_unswizzled} without the swizzle",
            ),
        ):
            add_row(table, name, value)
        yield table


def _text(x: int, y: int, text: str, size: int) -> str:
    return f'<text x="{x}" y="{y}" font-size="{size}">{escape(text)}</text>'


def _texts(labels: Iterable[tuple[int, int, str]], size: int) -> list[str]:
    texts = [f'<text x="{x}" y="{y}">{escape(text)}</text>' for x, y, text in labels]
    return [f'<g font-size="{size}">', *texts, "</g>"]
