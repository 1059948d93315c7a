"""Generate the reference pages that the site stitches in: ops, passes, pipelines, commands.

Usage: python docs/reference.py OUTPUT_DIRECTORY, with LLVM's tools, lodestone-opt and the
Python package on the paths (``make docs`` sees to that).

The sources are the TableGen definitions, the help of lodestone-opt and that of the command
line; nothing is written twice.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INCLUDE = ROOT / "include"


def run(*command: str) -> str:
    """What a command prints; ends the script if it fails."""
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(f"{' '.join(command)}: exit code {result.returncode}\n{result.stderr}")
    return result.stdout


def tablegen(td: Path, *options: str) -> str:
    """The Markdown that mlir-tblgen makes of a definition."""
    upstream = run("llvm-config", "--includedir").strip()
    return run("mlir-tblgen", *options, f"-I{INCLUDE}", f"-I{upstream}", str(td))


def dialects() -> dict[str, str]:
    """Name and page of each dialect; the page's own title takes the place of the generated one."""
    pages = {}
    for td in sorted(INCLUDE.glob("lodestone/Dialect/*/IR/*Ops.td")):
        name = td.parts[-3].lower()
        text = tablegen(td, "-gen-dialect-doc", f"-dialect={name}")
        pages[name] = re.sub(r"^# .*$|^\[TOC\]$", "", text, flags=re.MULTILINE)
    return pages


def passes() -> str:
    """All passes, a section for each definition file, with headings one level up."""
    texts = []
    for td in sorted(INCLUDE.glob("lodestone/*/Passes.td"), reverse=True):
        text = tablegen(td, "-gen-pass-doc")
        texts.append(re.sub(r"^##(#+) ", r"#\1 ", text, flags=re.MULTILINE))
    return "\n".join(texts)


def pipelines() -> str:
    """The options of our pipelines, as lodestone-opt's help lists them."""
    text = run("lodestone-opt", "--help")
    text = text[text.index("Pass Pipelines:") :]
    found = re.findall(
        r"^ {6}--(lodestone-\S+) +- +(.*)\n((?: {8}-.*\n(?: {4,}=.*\n)*)*)", text, re.MULTILINE
    )
    if not found:
        sys.exit("lodestone-opt --help lists no pipeline of ours")
    lines = []
    for name, summary, options in found:
        lines += [f"### `{name}`", "", f"{summary}.", "", "| option | |", "|---|---|"]
        for option, what in re.findall(r"^ {8}-{1,2}(.*?) +- (.*)$", options, re.MULTILINE):
            lines.append(f"| `{option.replace(' ', '=')}` | {what.replace('|', chr(92) + '|')} |")
        lines.append("")
    return "\n".join(lines)


def command_line() -> str:
    """Every command's arguments and options."""
    text = run(
        sys.executable, "-m", "typer", "lodestone.cli", "utils", "docs", "--name", "lodestone"
    )
    text = re.sub(r"^# .*\n", "", text)
    text = re.sub(r"\[/?bold\]", "**", text)
    return text.replace("```console\n", "```text\n").replace("&#x27;", "'")


def main() -> None:
    """Write the files."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    output = Path(sys.argv[1])
    output.mkdir(parents=True, exist_ok=True)
    files = {**dialects(), "passes": passes(), "pipelines": pipelines()}
    files["command-line"] = command_line()
    for name, text in files.items():
        (output / f"{name}.md").write_text(text)


if __name__ == "__main__":
    main()
