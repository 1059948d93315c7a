"""Pictures of warp masks, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_CELL = 30
_LABEL = 110
_LINE = 44
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


def draw(rows: Sequence[Row], num_warps: int) -> str:
    """Draws masks below each other: a cell for each warp with its id, filled if it is active.

    The binary warp ids stand above, so that free and anchored bits can be read off.
    """
    bits = max(1, (num_warps - 1).bit_length())
    notes = max((len(row.note) for row in rows), default=0)
    width = _LABEL + num_warps * _CELL + (10 + 8 * notes if notes else 0) + 10
    height = 24 + _LINE * len(rows)
    title = "; ".join(f"{row.label or f'{row.mask:#04x}'}: {_warps(row.mask)}" for row in rows)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" font-family="monospace" '
        'font-size="13" fill="currentColor">',
        f"<title>{escape(title)}</title>",
    ]
    for warp in range(num_warps):
        x = _LABEL + warp * _CELL + _CELL // 2
        parts.append(
            f'<text x="{x}" y="16" text-anchor="middle" font-size="{min(11, 40 // bits)}">'
            f"{warp:0{bits}b}</text>"
        )
    for line, row in enumerate(rows):
        y = 24 + line * _LINE
        label = escape(row.label or f"{row.mask:#04x}")
        parts.append(f'<text x="{_LABEL - 10}" y="{y + 20}" text-anchor="end">{label}</text>')
        for warp in range(num_warps):
            parts.append(_cell(row, warp, _LABEL + warp * _CELL, y))
        if row.note:
            x = _LABEL + num_warps * _CELL + 10
            parts.append(f'<text x="{x}" y="{y + 20}">{escape(row.note)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _cell(row: Row, warp: int, x: int, y: int) -> str:
    active = row.mask >> warp & 1
    fill = (_ACTIVE[row.color % len(_ACTIVE)] if row.legal else _ILLEGAL) if active else "none"
    ink = "#ffffff" if active else "currentColor"
    return (
        f'<rect x="{x + 1}" y="{y + 1}" width="{_CELL - 2}" height="{_CELL - 2}" rx="3" '
        f'fill="{fill}" stroke="currentColor"/>'
        f'<text x="{x + _CELL // 2}" y="{y + 20}" text-anchor="middle" fill="{ink}">{warp}</text>'
    )


def _warps(mask: int) -> str:
    active = [str(warp) for warp in range(mask.bit_length()) if mask >> warp & 1]
    return f"warps {', '.join(active)}" if active else "no warp"
