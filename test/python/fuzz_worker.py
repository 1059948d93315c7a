"""Feeds many bad inputs to the Python package in one process; see `test_fuzz.py`.

    python fuzz_worker.py FOLDER FIRST LAST

handles the files `FOLDER/<number>.<suffix>` and writes a line of JSON before and after each, so
that whoever reads knows on which one the process died.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import lodestone
from lodestone.ir import Context, Module
from lodestone.passmanager import PassManager

CHIPS = ["gfx950", "gfx942", "gfx950", "gfx1250", "gfx90a"]
# Anchored where each pass may run; a chip is put into the braces.
PIPELINES = [
    "builtin.module(lds-attach-alias-scopes{{chip={chip}}})",
    "builtin.module(gpu.module(lds-lower-regions{{chip={chip}}}))",
    "builtin.module(gpu.module(lds-lower-regions{{chip={chip} separate-globals}}))",
    "builtin.module(gpu.module(lds-pack-static-globals,lds-attach-alias-scopes{{chip={chip}}}))",
    "builtin.module(lds-verify-alias-scopes{{chip={chip}}})",
    "builtin.module(lds-verify-alias-scopes{{chip={chip} strict}})",
    "builtin.module(check-gpu-modules{{chip={chip}}})",
    "builtin.module(gpu.module(lower-vector-ops))",
    "builtin.module(gpu.module(check-lowered))",
    "builtin.module(lodestone-to-rocdl{{chip={chip}}})",
    "builtin.module(lodestone-to-binary{{chip={chip} format=isa}})",
]


def run_passes(path: Path, pipeline: str) -> None:
    """Parses a module and runs passes on it."""
    with Context():
        module = Module.parse(path.read_bytes(), path.name)
        PassManager.parse(pipeline).run(module)
        str(module)


def jobs(path: Path, number: int) -> list[Callable[[], object]]:
    """What is done with a file: the cheap things always, the others in turn."""
    chip = CHIPS[number % len(CHIPS)]
    if path.suffix in (".ll", ".mir"):
        options = {"opt_level": number % 4, "global_isel": number % 7 == 0}
        asked = "" if number % 2 else chip
        if path.suffix == ".ll" and number % 3 == 0:
            return [lambda: lodestone.compile(path, chip=chip, format="isa")]
        return [lambda: lodestone.check(path, chip=asked, **options)]
    turn: list[Callable[[], object]] = [
        lambda: lodestone.analyze(path, chip=chip),
        lambda: lodestone.compile(path, chip=chip, format="isa", strict=number % 2 == 0),
        lambda: lodestone.check(path, chip=chip, opt_level=number % 4),
    ]
    pipelines = [PIPELINES[number % len(PIPELINES)], PIPELINES[(number // 3) % len(PIPELINES)]]
    return [
        *(lambda p=p: run_passes(path, p.format(chip=chip)) for p in pipelines),
        turn[number % 3],
    ]


def attempt(job: Callable[[], object]) -> str:
    """Does it; what came out in a word, or in a traceback if it is no documented outcome."""
    try:
        str(job())
    except lodestone.MLIRError as error:
        if not error.error_diagnostics and len(str(error).splitlines()) < 2 and not error.message:
            return "an MLIRError that says nothing"
        return "refused"
    except (ValueError, OSError):
        return "refused"
    except BaseException:
        return traceback.format_exc()
    return "done"


def main() -> None:
    """Handles the files."""
    folder, first, last = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    files = {int(path.stem): path for path in folder.iterdir()}
    for number in range(first, last):
        for step, job in enumerate(jobs(files[number], number)):
            print(json.dumps({"begin": number, "step": step}), flush=True)
            print(json.dumps({"end": number, "outcome": attempt(job)}), flush=True)


if __name__ == "__main__":
    main()
