"""The documentation is true: what it shows runs and prints what it says."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import doc_snippets
import pytest
from doc_snippets import ROOT, agrees, complaints, pages, parse_blocks, parse_page, run


@pytest.mark.parametrize("path", pages(), ids=lambda path: str(path.relative_to(ROOT)))
def test_page(path: Path) -> None:
    """Every command, program and piece of IR on a page works, with the output it shows."""
    page = parse_page(path)
    if page.steps:
        run(page)
        assert not complaints(page), "\n\n".join(complaints(page))


def test_what_is_not_run_is_known() -> None:
    """Blocks that no test runs stay few, and each page that has some is listed here."""
    not_run = {
        str(path.relative_to(ROOT)): len(blocks)
        for path in pages()
        if (blocks := parse_page(path).not_run)
    }
    assert not_run == NOT_RUN


# A number goes up only for what can't run in a test: installing packages, a GPU, the tests.
NOT_RUN: dict[str, int] = {
    "CONTRIBUTING.md": 1,
    "README.md": 2,
    "docs/how-we-know.md": 1,
    "docs/interop.md": 1,
    "docs/regions.md": 1,
    "docs/tutorial.md": 1,
}


def test_no_block_escapes() -> None:
    """Indented fences, which the runner doesn't see, hold nothing that should run."""
    for path in pages():
        for number, line in enumerate(path.read_text().splitlines(), 1):
            runnable = line.strip().startswith(("```console", "```sh", "```python", "```mlir"))
            assert not runnable or line.startswith("```"), f"{path}:{number}: an indented block"


def test_remarks_are_documented() -> None:
    """Whoever reads a remark finds its name in the table that says what to do about it."""
    names: set[str] = set()
    for path in (ROOT / "lib").rglob("*.cpp"):
        text = path.read_text()
        names |= set(re.findall(r'(?:named|RemarkOpts::name)\(\s*"([a-z-]+)"', text))
        for switch in re.findall(r"getRemarkName\(ScopeRefusal.*?\n}", text, re.DOTALL):
            names |= set(re.findall(r'return "([a-z]+(?:-[a-z]+)+)"', switch))
        call = r"(?:refuse|refuseAll|undo|obstacle|remarkOpts|Refusal)[({]\s*(?:[\w.()]+,\s*)?"
        names |= set(re.findall(call + r'"([a-z]+(?:-[a-z]+)+)"', text))
    assert {"unknown-pointer", "drains-vmcnt", "packed", "swizzle-escapes"} <= names
    assert {"hint-inferred", "has-barrier", "common-warp", "partial-wave"} <= names
    rows = "\n".join(
        line
        for page in (ROOT / "docs").glob("*.md")
        for line in page.read_text().splitlines()
        if line.startswith("| `")
    )
    assert not {name for name in names if f"`{name}`" not in rows}


def test_rules_have_their_tests() -> None:
    """Each test that the table of rules names exists, and so does what it names in the file."""
    page = (ROOT / "docs" / "copy-rules.md").read_text()
    rows = [line.split(" | ")[-1] for line in page.splitlines() if line.startswith("| ")]
    files: set[str] = set()
    for row in rows:
        text = ""
        for term in re.findall(r"`([^`]+)`", row):
            if re.fullmatch(r"[\w/.-]+\.(py|mlir)", term):
                files.add(term)
                text = (ROOT / "test" / term).read_text()
                continue
            assert text, f"{term} comes before its file"
            assert re.search(rf"{re.escape(term)}(?!\w)", text), f"{term} isn't in its file: {row}"
    assert len(files) > 15
    # Every row has a test; the heads of the tables have none.
    heads = sum(row.strip(" |") == "test" for row in rows)
    assert all("`" in row for row in rows if row.strip(" |") != "test") and heads == 5


def test_pictures_are_current() -> None:
    """The pictures of the pages are what the code draws now, and each is on a page."""
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        pictures = importlib.import_module("pictures")
    finally:
        sys.path.pop(0)
    text = "\n".join(page.read_text() for page in (ROOT / "docs").glob("*.md"))
    for name, picture in pictures.PICTURES.items():
        assert (pictures.IMAGES / name).read_text() == picture.svg(), "run python docs/pictures.py"
        assert f"(images/{name})" in text
    assert {path.name for path in pictures.IMAGES.iterdir()} == set(pictures.PICTURES)


def test_wildcards_and_times() -> None:
    """`...` stands for text in a line or for whole lines; times aren't compared."""
    assert agrees(["a...c", "...", "took 0.3 s"], "abc\nx\ny\ntook 12.5 s\n")
    assert agrees(["...", "z"], "z\n")
    assert not agrees(["a...c"], "abd\n")
    assert not agrees(["a"], "a\nb\n")
    assert agrees([], "")


def test_unclosed_block_is_an_error() -> None:
    """A block without an end would otherwise take in the rest of the page unseen."""
    with pytest.raises(ValueError, match="line 2: the block has no end"):
        parse_blocks("text\n```sh\nls\n")


def test_failing_command_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that fails, and one that prints something else, are each reported."""
    monkeypatch.setattr(doc_snippets, "ROOT", tmp_path)
    path = tmp_path / "page.md"
    path.write_text("```console\n$ false\n$ echo a\nb\n$ false\n$ echo $?\n1\n```\n")
    page = parse_page(path)
    run(page)
    assert len(complaints(page)) == 2


def test_links_of_top_pages() -> None:
    """Relative links of README and CONTRIBUTING lead somewhere; mkdocs checks the site's."""
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text()):
            if "://" not in target:
                assert (path.parent / target).exists(), f"{path.name}: {target}"
