"""The picture of a swizzled tile shows what is so, and the command prints it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from lodestone.report.swizzle_picture import Picture, SwizzleReport
from lodestone.sim.banks import PHASES
from lodestone.swizzle import Swizzle

SVG = "{http://www.w3.org/2000/svg}"


def drawing(picture: Picture) -> ElementTree.Element:
    return ElementTree.fromstring(picture.svg())


@pytest.mark.parametrize(
    "picture",
    [
        Picture(Swizzle()),
        Picture(Swizzle.xor(3, 4, 3)),
        Picture(Swizzle.padded(128, 16), chip="gfx942"),
        Picture(Swizzle.rotate(192), rows=7, row_bytes=192),
    ],
)
def test_every_cell_is_where_it_is(picture: Picture) -> None:
    """A label for each cell, at the bank and line of its physical offset."""
    texts = [t for t in drawing(picture).iter(f"{SVG}text") if t.text and "." in t.text]
    places = {
        t.text: (int(t.attrib["x"]), int(t.attrib["y"])) for t in texts if len(t.text or "") < 8
    }
    left, top = places_of_origin(places, picture)
    line = 256 if picture.chip == "gfx950" else 128
    cells = picture.row_bytes // 16
    assert len(places) == picture.rows * cells
    for row in range(picture.rows):
        for cell in range(cells):
            p = int(picture.swizzle.apply(row * picture.row_bytes + cell * 16))
            assert places[f"{row}.{cell}"] == (left + p % line // 4 * 10, top + p // line * 22)


def places_of_origin(places: dict, picture: Picture) -> tuple[int, int]:
    """Where byte 0 is drawn: every tile here has a cell there."""
    assert int(picture.swizzle.apply(0)) == 0
    return places["0.0"]


def test_frames_are_the_first_phase() -> None:
    """What is framed are the cells that the lanes of the first phase read."""
    picture = Picture(Swizzle.xor(3, 4, 3))
    groups = [g for g in drawing(picture).iter(f"{SVG}g") if g.attrib.get("fill") == "none"]
    lanes = PHASES["gfx950", "read", 16][0]
    assert len(list(groups[0])) == len({int(picture.reads[lane]) for lane in lanes})


def test_bank_table() -> None:
    """A square for each phase and bank, and a number where there is a conflict."""
    picture = Picture(Swizzle())
    squares = [g for g in drawing(picture).iter(f"{SVG}g") if g.attrib.get("stroke") == "#ccc"]
    assert len(list(squares[0])) == picture.use.size == 4 * 64
    numbers = [t.text for t in drawing(picture).iter(f"{SVG}text") if (t.text or "").isdigit()]
    assert len(numbers) == (picture.use > 1).sum() > 0
    assert picture.use.sum() * 4 == len(np.unique(picture.reads)) * 16


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Picture(Swizzle(), chip="gfx1250"), "no bank phases are published for gfx1250"),
        (lambda: Picture(Swizzle(), row_bytes=100), "a row of 100 bytes is no multiple of 16"),
        (lambda: Picture(Swizzle(), rows=0), "0 rows are not between"),
        (lambda: Picture(Swizzle.xor(3, 3, 4)), "a granule of 8 bytes tears the cells of 16"),
    ],
)
def test_what_cannot_be_drawn(make, message: str) -> None:
    """Each limit is a ValueError with the values."""
    with pytest.raises(ValueError, match=message):
        make()


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "lodestone.cli", "swizzle", *arguments],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def test_command(tmp_path: Path) -> None:
    """JSON with what the report has, and the picture in a file."""
    target = tmp_path / "tile.svg"
    result = run(
        "#lds.xor<bits = 3, base = 4, shift = 2>", "--rows", "32", "--svg", str(target), "--json"
    )
    assert result.returncode == 0, result.stderr
    picture = Picture(Swizzle.xor(3, 4, 2), rows=32)
    assert json.loads(result.stdout) == SwizzleReport.of(picture).to_dict()
    assert target.read_text() == picture.svg()
    assert Swizzle.xor(3, 4, 2)._repr_svg_() == Picture(Swizzle.xor(3, 4, 2)).svg()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["#lds.xor<bits = 3, base = 4, shift = 0>"], "offsets 0 and 16 both go to 0"),
        (["nonsense"], "error"),
        (["#lds.xor<bits = 3, base = 4, shift = 3>", "--row-bytes", "7"], "no multiple of 16"),
        (["#lds.xor<bits = 3, base = 4, shift = 3>", "--svg", "/nowhere/x.svg"], "/nowhere/x.svg"),
    ],
)
def test_command_refuses(arguments: list[str], said: str) -> None:
    """Bad input is exit code 2 and one message, no traceback."""
    result = run(*arguments)
    assert result.returncode == 2
    assert said in result.stderr and "Traceback" not in result.stderr
