"""The documents' Markdown: tables whose rows have their head's columns, code marks that are closed, links that lead somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("python/*.md")])


def text_of(page):
    """Its lines with their numbers, without blocks of code."""
    inside = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("```"):
            inside = not inside
        elif not inside and not line.startswith("    "):
            yield number, line
    assert not inside, "a block of code is not closed"


def faults(lines):
    columns = None
    for number, line in lines:
        bare = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)|\\.", "", line)
        if "`" in bare and line.startswith("|"):
            yield f"{number}: a code mark is not closed: {line}"
        if not line.startswith("|"):
            columns = None
            continue
        cells = bare.count("|")
        columns = columns or cells
        if not line.endswith("|") or cells != columns:
            yield f"{number}: not {columns - 1} columns: {line}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_tables(page):
    assert list(faults(text_of(page))) == []


@pytest.mark.parametrize("rows", [["| a | b |", "|---|---|", "| `f(x`[, y])` | c |"], ["| a | b |", "|---|---|", "| c |"], ["| a |", "|---|", "| c"]])
def test_faults_of_tables_are_seen(rows):
    assert list(faults(enumerate(rows, 1)))


def heading(line):
    """GitHub's name of a heading."""
    return re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links(page):
    for number, line in text_of(page):
        for target in re.findall(r"\]\(([^)\s]+)\)", line):
            path, _, part = target.partition("#")
            if re.match(r"https?:", target):
                continue
            file = page.parent / path if path else page
            assert file.exists(), f"{number}: {target}"
            if part:
                assert part in {heading(line) for _, line in text_of(file) if line.startswith("#")}, f"{number}: {target}"
