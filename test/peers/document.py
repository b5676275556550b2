"""The part of docs/compatibility.md that a program here writes: between its two marks, put in, or compared with what is there."""

import sys
from pathlib import Path

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "compatibility.md"


def keep(begin, end, text, write):
    document = DOCUMENT.read_text()
    before, rest = document.split(begin)
    whole = before + begin + text + end + rest.split(end)[1]
    if write:
        DOCUMENT.write_text(whole)
    elif whole != document:
        sys.exit(f"{Path(sys.argv[0]).stem}: the tables in docs/compatibility.md are out of date; run make peers WRITE=1")
