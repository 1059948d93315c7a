"""`lodestone demo`: what it prints and how it ends."""

import json

from lodestone.cli import app
from typer.testing import CliRunner

SMALL = ["demo", "--tile-m", "64", "--tile-n", "64", "--k", "512"]


def test_table_and_explanation() -> None:
    """The table has all three forms, and says that nothing was measured."""
    result = CliRunner().invoke(app, SMALL)
    assert result.exit_code == 0, result.output
    for text in ("regions", "separate-globals", "static", "clean", "not measured"):
        assert text in result.output


def test_json_has_the_same_figures() -> None:
    """Six variants, each with its histogram."""
    result = CliRunner().invoke(app, [*SMALL, "--json"])
    assert result.exit_code == 0, result.output
    rows = json.loads(result.output)
    assert [row["alias_scopes"] for row in rows] == [False, True] * 3
    assert all(row["clean"] and row["figures"]["waits"] for row in rows)
