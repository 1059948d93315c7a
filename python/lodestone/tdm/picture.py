"""Pictures of warp masks, as SVG."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

_CELL = 30
_LABEL = 110
_LINE = 36
_HEAD = 24
_ACTIVE = ("#1f6feb", "#d29922", "#238636", "#8957e5")
_ILLEGAL = "#cf222e"


@dataclass(frozen=True)
class Row:
    """A line of a picture: the warps of one mask.

    Attributes:
        mask: bit w is set for each active warp w.
        label: what stands to its left; the mask if empty.
        note: what stands to its right.
        color: which of four colors; rows of copies that go together have different ones.
        legal: False for a mask that is refused, drawn in red.
    """

    mask: int
    label: str = ""
    note: str = ""
    color: int = 0
    legal: bool = True

    @property
    def name(self) -> str:
        """The label, or else the mask."""
        return self.label or f"{self.mask:#04x}"


@dataclass(frozen=True)
class Picture:
    """Masks below each other: a cell for each warp with its id, filled if it is active.

    The binary warp ids stand above, so that free and anchored bits can be read off.

    Attributes:
        rows: the masks.
        num_warps: warps of the workgroup.
    """

    rows: tuple[Row, ...]
    num_warps: int

    def svg(self) -> str:
        """Return the picture; the same for the same masks, to the byte."""
        bits = max(1, (self.num_warps - 1).bit_length())
        notes = max((len(row.note) for row in self.rows), default=0)
        right = _LABEL + self.num_warps * _CELL + 10
        width = right + 8 * notes
        height = _HEAD + _LINE * len(self.rows)
        title = "; ".join(f"{row.name}: {_warps(row.mask)}" for row in self.rows)
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
            f' viewBox="0 0 {width} {height}" font-family="monospace" font-size="13">',
            f"<title>{escape(title)}</title>",
            f'<rect width="{width}" height="{height}" fill="#fff"/>',
        ]
        for warp in range(self.num_warps):
            x = _LABEL + warp * _CELL + _CELL // 2
            parts.append(
                f'<text x="{x}" y="16" text-anchor="middle" font-size="{min(11, 40 // bits)}">'
                f"{warp:0{bits}b}</text>"
            )
        for line, row in enumerate(self.rows):
            y = _HEAD + line * _LINE
            parts.append(
                f'<text x="{_LABEL - 10}" y="{y + 20}" text-anchor="end">{escape(row.name)}</text>'
            )
            for warp in range(self.num_warps):
                parts.append(_cell(row, warp, _LABEL + warp * _CELL, y))
            if row.note:
                parts.append(f'<text x="{right}" y="{y + 20}">{escape(row.note)}</text>')
        return "\n".join([*parts, "</svg>"]) + "\n"


def _cell(row: Row, warp: int, x: int, y: int) -> str:
    active = row.mask >> warp & 1
    color = _ACTIVE[row.color % len(_ACTIVE)] if row.legal else _ILLEGAL
    fill, ink = (color, "#fff") if active else ("none", "#57606a")
    return (
        f'<rect x="{x + 1}" y="{y + 1}" width="{_CELL - 2}" height="{_CELL - 2}" rx="3" '
        f'fill="{fill}" stroke="#57606a"/>'
        f'<text x="{x + _CELL // 2}" y="{y + 20}" text-anchor="middle" fill="{ink}">{warp}</text>'
    )


def _warps(mask: int) -> str:
    active = [str(warp) for warp in range(mask.bit_length()) if mask >> warp & 1]
    return f"warps {', '.join(active)}" if active else "no warp"
