"""Draw the pictures of the documentation: python docs/pictures.py.

They are kept with the pages; a test draws them again and compares.
"""

from __future__ import annotations

from pathlib import Path

from lodestone import tdm
from lodestone.report.swizzle_picture import Picture
from lodestone.swizzle import Swizzle

IMAGES = Path(__file__).parent / "images"

PICTURES: dict[str, Picture | tdm.Picture] = {
    "tile-plain.svg": Picture(Swizzle()),
    "tile-xor.svg": Picture(Swizzle.xor(bits=3, base=4, shift=3)),
    "tile-96-columns.svg": Picture(
        Swizzle.coord_xor(bits=2, base_row=1, base_col=4, row_bytes=192), row_bytes=192
    ),
    "tile-padded.svg": Picture(Swizzle.padded(row_bytes=128, pad_bytes=32)),
    "warps-legal.svg": tdm.Picture(
        tuple(
            tdm.Row(mask, note=note)
            for mask, note in (
                (0xFF, "free 0b111: all warps, as without a hint"),
                (0x0F, "free 0b011, anchor 0b000"),
                (0xF0, "free 0b011, anchor 0b100"),
                (0x33, "free 0b101, anchor 0b000"),
                (0xA0, "free 0b010, anchor 0b101"),
                (0x08, "free 0b000, anchor 0b011"),
            )
        ),
        num_warps=8,
    ),
    "warps-refused.svg": tdm.Picture(
        (
            tdm.Row(0x18, note="2 warps that differ in 3 bits", legal=False),
            tdm.Row(0x08, note="the nearest legal mask"),
            tdm.Row(0x3C, note="4 warps that differ in 3 bits", legal=False),
            tdm.Row(0x0C, note="the nearest legal mask"),
            tdm.Row(0x07, note="3 warps", legal=False),
            tdm.Row(0x03, note="the nearest legal mask"),
        ),
        num_warps=8,
    ),
    "warps-complementary.svg": tdm.Picture(
        (
            tdm.Row(0x0F, "A", "1 of 2"),
            tdm.Row(0xF0, "B", "2 of 2", 1),
            tdm.Row(0x0F, "A", "the most bytes of 3"),
            tdm.Row(0x30, "B", "2 of 3", 1),
            tdm.Row(0xC0, "C", "3 of 3", 2),
        ),
        num_warps=8,
    ),
}


def main() -> None:
    """Write the files."""
    IMAGES.mkdir(exist_ok=True)
    for name, picture in PICTURES.items():
        (IMAGES / name).write_text(picture.svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
