"""Run what the documentation shows, and compare it with what the documentation says.

Every fenced block at the start of a line is one of these, by its language:

- ``console``: lines that start with ``$ `` are commands (continued after a ``\\``), the lines
  below each are what it prints. Every command must succeed, unless the next one is
  ``echo $?``. All commands of a page share a shell.
- ``sh``: a script that must succeed.
- ``python``: a program. A ``text`` block that follows it, with blank lines only between the
  two, is what it prints.
- ``mlir``: verified with ``lodestone-opt``. ``mlir`` and ``llvm`` blocks with a
  ``title="NAME"`` become the file NAME for the commands below.
- anything else is only shown.

In what is shown, ``...`` stands for any text, and alone on a line for any lines. Times
(``0.3 s``, ``12 ms``) are not compared. A block whose first line is a comment that starts with
``not run by the tests:`` is left out; the comment, which readers see too, says why.

A page runs in a directory of its own, with links to what is at the root of the source tree,
so commands work as from there and write nothing into it. ``make``, which compares times and
knows where it is, runs in the source tree itself.

``python test/python/doc_snippets.py --update PAGE...`` writes into the pages what their
commands print now, where that differs. Look at the difference before you commit it.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, zip_longest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("LODESTONE_BUILD", ROOT / "build"))
LLVM_BIN = Path(os.environ.get("LLVM_PREFIX", "/usr/lib/llvm-22")) / "bin"
FENCE = re.compile(r"^```(?P<language>[\w-]*)(?P<info>.*)$")
TITLE = re.compile(r'title="([^"]+)"')
NOT_RUN = re.compile(r"^(#|//|;) not run by the tests: \S")
TIME = re.compile(r"\b\d+(\.\d+)? ?(ms|s)\b")
# Wide enough for the tables, and the same wherever the tests run.
COLUMNS = "100"


@dataclass(frozen=True)
class Block:
    """A fenced block: its language and title, its body, and the line of its fence, from 0."""

    language: str
    title: str | None
    body: tuple[str, ...]
    line: int

    @property
    def not_run(self) -> bool:
        """The block says that it can't run here."""
        return bool(self.body) and NOT_RUN.match(self.body[0]) is not None


@dataclass
class Step:
    """A piece of shell, and what the page says that it prints (None: nothing said).

    ``shown`` are the lines of the page, from ``first`` on, that hold the output.
    """

    line: int
    script: str
    shown: tuple[str, ...] | None = None
    first: int = 0
    may_fail: bool = False
    output: str = ""
    status: int = 0


@dataclass
class Page:
    """What a page runs."""

    path: Path
    steps: list[Step] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    not_run: list[Block] = field(default_factory=list)


def pages() -> list[Path]:
    """README, CONTRIBUTING and the pages of the site."""
    top = [ROOT / name for name in ("README.md", "CONTRIBUTING.md")]
    return top + sorted((ROOT / "docs").rglob("*.md"))


def parse_blocks(text: str) -> list[Block]:
    """The fenced blocks of a page; raises ValueError if a fence isn't closed."""
    blocks = []
    lines = text.splitlines()
    number = 0
    while number < len(lines):
        match = FENCE.match(lines[number])
        if match:
            try:
                end = lines.index("```", number + 1)
            except ValueError:
                raise ValueError(f"line {number + 1}: the block has no end") from None
            title = TITLE.search(match["info"])
            body = tuple(lines[number + 1 : end])
            blocks.append(Block(match["language"], title and title[1], body, number))
            number = end
        number += 1
    return blocks


def _console_steps(block: Block) -> Iterator[Step]:
    """One step for each command, with the output below it."""
    number = 0
    body = block.body
    while number < len(body):
        if not body[number].startswith("$ "):
            raise ValueError(f"line {block.line + number + 2}: a command must come first")
        start = number
        command = [body[number][2:]]
        while command[-1].endswith("\\"):
            number += 1
            command.append(body[number].removeprefix("> "))
        number += 1
        first = number
        while number < len(body) and not body[number].startswith("$ "):
            number += 1
        at = block.line + 1
        yield Step(at + start, "\n".join(command), body[first:number], at + first)


def parse_page(path: Path) -> Page:
    """What `path` runs, in order; raises ValueError if it can't be told."""
    page = Page(path)
    text = path.read_text()
    lines = text.splitlines()
    blocks = parse_blocks(text)
    for block, following in zip_longest(blocks, blocks[1:]):
        source = "\n".join(block.body) + "\n"
        if block.title:
            page.files[block.title] = source
        if block.not_run:
            page.not_run.append(block)
            continue
        if block.language == "console":
            steps = list(_console_steps(block))
            for step, after in pairwise(steps):
                step.may_fail = after.script == "echo $?"
            page.steps += steps
        elif block.language == "sh":
            page.steps.append(Step(block.line, f"set -e\n{source}set +e"))
        elif block.language == "python":
            step = Step(block.line, f"python - <<'END_OF_BLOCK'\n{source}END_OF_BLOCK")
            end = block.line + len(block.body) + 2
            if following and following.language == "text" and not following.not_run:
                between = lines[end : following.line]
                if not any(between):
                    step.shown, step.first = following.body, following.line + 1
            page.steps.append(step)
        elif block.language == "mlir":
            name = block.title or f"block-{block.line + 1}.mlir"
            page.files[name] = source
            page.steps.append(Step(block.line, f"lodestone-opt {shlex.quote(name)} -o /dev/null"))
    return page


def environment() -> dict[str, str]:
    """What commands see: the build's and LLVM's tools, a fixed width, no colours."""
    paths = [BUILD / "bin", ROOT / ".venv" / "bin", LLVM_BIN]
    return {
        **{k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")},
        "PATH": os.pathsep.join([*map(str, paths), os.environ["PATH"]]),
        "PYTHONPATH": str(BUILD / "python"),
        "COLUMNS": COLUMNS,
        "NO_COLOR": "1",
        "TERM": "dumb",
    }


def run(page: Page, timeout: float = 600) -> None:
    """Run the steps of a page in one shell and fill in their outputs and exit codes.

    Raises:
        subprocess.TimeoutExpired: they take more than `timeout` seconds.
    """
    with tempfile.TemporaryDirectory() as temporary:
        directory, logs = Path(temporary, "page"), Path(temporary, "steps")
        directory.mkdir()
        logs.mkdir()
        for entry in ROOT.iterdir():
            (directory / entry.name).symlink_to(BUILD if entry.name == "build" else entry)
        for name, source in page.files.items():
            (directory / name).write_text(source)
        main = [
            f"cd {shlex.quote(str(directory))}",
            f'make() {{ command make --no-print-directory -C {shlex.quote(str(ROOT))} "$@"; }}',
        ]
        for index, step in enumerate(page.steps):
            log = shlex.quote(str(logs / str(index)))
            Path(logs, f"{index}.sh").write_text(step.script + "\n")
            # The last line hands the exit code on to the next step.
            main.append(f". {log}.sh >{log}.out 2>&1 </dev/null\nstatus=$?")
            main.append(f"echo $status >{log}.status\n(exit $status)")
        subprocess.run(
            ["bash", "--norc"],
            input="\n".join(main),
            text=True,
            env=environment(),
            timeout=timeout,
            check=False,
        )
        for index, step in enumerate(page.steps):
            status = Path(logs, f"{index}.status")
            step.status = int(status.read_text()) if status.exists() else -1
            output = Path(logs, f"{index}.out")
            step.output = output.read_text(errors="replace") if output.exists() else ""


def _normal(lines: Sequence[str]) -> list[str]:
    return [TIME.sub("<time>", line.rstrip()) for line in lines]


def agrees(shown: Sequence[str], output: str) -> bool:
    """Whether `output` is what the page shows, with ``...`` for anything."""
    pattern = ""
    for line in _normal(shown):
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(map(re.escape, line.split("..."))) + r"\n"
    text = "".join(f"{line}\n" for line in _normal(output.rstrip("\n").splitlines()))
    return re.fullmatch(pattern, text) is not None


def complaints(page: Page) -> list[str]:
    """What is wrong after `run`, a text for each step."""
    found = []
    for step in page.steps:
        place = f"{page.path.relative_to(ROOT)}:{step.line + 1}: {step.script.splitlines()[0]}"
        if step.status != 0 and not step.may_fail:
            found.append(f"{place}: exit code {step.status}\n{step.output}")
        elif step.shown is not None and not agrees(step.shown, step.output):
            shown = "\n".join(step.shown)
            found.append(f"{place}: shown\n{shown}\nbut it prints\n{step.output}")
    return found


def update(page: Page) -> bool:
    """Write what was printed into the page, after `run`; True if that changed it.

    What failed, and mustn't, is left as it is.
    """
    lines = page.path.read_text().splitlines()
    changed = False
    for step in reversed(page.steps):
        if step.shown is None or agrees(step.shown, step.output):
            continue
        if step.status and not step.may_fail:
            continue
        printed = [line.rstrip() for line in step.output.rstrip("\n").splitlines()]
        lines[step.first : step.first + len(step.shown)] = printed
        changed = True
    if changed:
        page.path.write_text("\n".join(lines) + "\n")
    return changed


def main(arguments: Sequence[str]) -> int:
    """Check, or with ``--update`` rewrite, the pages named or all of them."""
    names = [name for name in arguments if name != "--update"]
    failed = False
    for path in [Path(name).resolve() for name in names] or pages():
        page = parse_page(path)
        run(page)
        if "--update" in arguments and update(page):
            print(f"updated {path.relative_to(ROOT)}")
            page = parse_page(path)
            continue
        for complaint in complaints(page):
            failed = True
            print(complaint)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
