"""``lodestone swizzle``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lodestone.cli._common import Json, show

EPILOG = """
[bold]Examples[/bold]

lodestone swizzle '#lds.xor<bits = 3, base = 4, shift = 3>'

lodestone swizzle '#lds.rotate<cell_bytes = 16, row_bytes = 192>' --row-bytes 192 --svg tile.svg
"""


def register(app: typer.Typer) -> None:
    """Adds the command."""

    @app.command("swizzle", epilog=EPILOG)
    def command(
        attribute: Annotated[
            str, typer.Argument(help="The swizzle's attribute.", show_default=False)
        ],
        rows: Annotated[int, typer.Option(help="Rows of the tile.")] = 16,
        row_bytes: Annotated[int, typer.Option(help="Bytes of a row.")] = 128,
        chip: Annotated[str, typer.Option(help="Whose LDS banks.")] = "gfx950",
        svg: Annotated[
            Path | None, typer.Option(help="Write a picture of the tile and its banks here.")
        ] = None,
        json: Json = False,
    ) -> None:
        """Show what a swizzle does to a tile: granule, period, inverse, bank conflicts."""
        # NumPy only for those who ask.
        from lodestone.report.swizzle_picture import Picture, SwizzleReport
        from lodestone.swizzle import Swizzle

        swizzle = Swizzle.parse(attribute)
        picture = Picture(swizzle, rows, row_bytes, chip)
        if svg:
            svg.write_text(picture.svg(), encoding="utf-8")
        show(SwizzleReport.of(picture), json)
