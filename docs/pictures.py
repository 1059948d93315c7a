"""Draw the pictures of the documentation: python docs/pictures.py.

They are kept with the pages; a test draws them again and compares.
"""

from __future__ import annotations

from pathlib import Path

from lodestone.report.swizzle_picture import Picture
from lodestone.swizzle import Swizzle

IMAGES = Path(__file__).parent / "images"

PICTURES = {
    "tile-plain.svg": Picture(Swizzle()),
    "tile-xor.svg": Picture(Swizzle.xor(bits=3, base=4, shift=3)),
    "tile-96-columns.svg": Picture(
        Swizzle.coord_xor(bits=2, base_row=1, base_col=4, row_bytes=192), row_bytes=192
    ),
    "tile-padded.svg": Picture(Swizzle.padded(row_bytes=128, pad_bytes=32)),
}


def main() -> None:
    """Write the files."""
    IMAGES.mkdir(exist_ok=True)
    for name, picture in PICTURES.items():
        (IMAGES / name).write_text(picture.svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
