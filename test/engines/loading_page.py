"""docs/loading.md: each table is what a test saw. `make loading-table` writes them anew, every other run compares."""

import os
import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "loading.md"


def one_line(text, path):
    """The first line that says something, without paths, fit for a table."""
    text = re.sub(r"http://127\.0\.0\.1:\d+", "ADDRESS", text.replace(str(path), "FILE"))
    text = re.sub(r"\(?(?<![\w.])/[^ \"']*\)?", "FILE", text)
    text = re.sub(r", see https:\S+", "", text)
    return re.sub(r"\nThe file", " The file", text).split("\n")[0].replace("|", "\\|").strip()


def kept(section, columns, rows):
    """The table of a section of the page is this one; or becomes it."""
    lines = [f"| {' | '.join(row)} |\n" for row in [columns, *rows]]
    table = "".join([lines[0], f"|{'---|' * len(columns)}\n", *lines[1:]])
    page = PAGE.read_text(encoding="utf-8")
    head, sign, rest = page.partition(f"\n## {section}\n")
    assert sign, f"docs/loading.md has no section {section}"
    text, _, following = rest.partition("\n## ")
    if os.environ.get("TIME_BUCKET_LOADING_TABLE"):
        text = re.sub(r"(^\|.*\n)+", lambda _: table, text, count=1, flags=re.MULTILINE)
        PAGE.write_text(head + sign + text + ("\n## " + following if following else ""), encoding="utf-8")
    assert table in text, f"docs/loading.md is out of date; run make loading-table\n{table}"
