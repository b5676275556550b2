#!/usr/bin/env python3
"""Runs the SQL of Markdown files in the DuckDB CLI with the extension loaded, and compares it with the output they show.

    check_docs.py [--write] CLI EXTENSION DATA_DIR FILE...
    check_docs.py --self-test CLI EXTENSION DATA_DIR

The blocks ```sql of a file run in order, in one session, in DATA_DIR. What the CLI prints for a block, errors included,
is the ```text block that directly follows it, to the character; a block without one must print no error. Blocks ```sql no-run
are left out. --write puts the true output into the text blocks. --self-test shows that wrong documents are found.
"""
import argparse
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```(sql|text)[^\S\n]*\n(.*?)^```[^\S\n]*$", re.MULTILINE | re.DOTALL)
ERROR = re.compile(r"^(?:[A-Z][A-Za-z]* )+Error: ", re.MULTILINE)
# As wide as a page shows without scrolling, whatever the terminal is.
FORMAT = ".mode duckbox\n.maxwidth 100\n"
MARK = "==== block"


class Block:
    """A sql block, and the text block that directly follows it, if there is one."""

    def __init__(self, page, sql, text):
        self.line = page.count("\n", 0, sql.start()) + 1
        self.sql, self.text = sql[2], text

    @property
    def ends(self):
        """Whether the CLI would read on: a mark after an open statement would be taken for a part of it."""
        last = self.sql.rstrip().rpartition("\n")[2]
        return last.startswith(".") or re.sub(r"\s*--.*", "", last).endswith(";")


def blocks(page):
    fences = list(FENCE.finditer(page))
    for sql, after in zip(fences, [*fences[1:], None]):
        if sql[1] == "sql":
            shown = after and after[1] == "text" and not page[sql.end():after.start()].strip()
            yield Block(page, sql, after if shown else None)


def session(arguments, found):
    """What the CLI prints for each block."""
    load = "LOAD '{}'".format(arguments.extension.as_posix().replace("'", "''"))
    # A mark before each block tells which output is whose. Both streams go into one pipe, so an error stands in its place.
    script = FORMAT + "".join(f".print {MARK}\n{block.sql}\n" for block in found)
    run = subprocess.run(
        [str(arguments.cli), "-unsigned", "-no-init", "-batch", "-cmd", load], input=script, encoding="utf-8",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=arguments.data, env={**os.environ, "TZ": "UTC"},
    )
    loading, *outputs = run.stdout.split(f"{MARK}\n")
    if loading:
        sys.exit(f"check_docs: the CLI ended with {run.returncode}, and said before the first block\n{loading[:2000]}")
    if run.returncode not in (0, 1) or len(outputs) != len(found):
        sys.exit(f"check_docs: the CLI ended with {run.returncode} after {len(outputs)} of {len(found)} blocks\n{run.stdout[-2000:]}")
    return outputs


def check(arguments, file):
    """What is wrong with a file, a text for each fault."""
    page = file.read_text(encoding="utf-8")
    found = list(blocks(page))
    if not found:
        return [f"{file}: no sql block"]
    if open_ended := [f"{file}:{block.line}: the last statement has no semicolon" for block in found if not block.ends]:
        return open_ended
    faults, pieces, upto = [], [], 0
    for block, output in zip(found, session(arguments, found)):
        where = f"{file}:{block.line}"
        if block.text is None:
            if ERROR.search(output):
                faults.append(f"{where}: an error that the page does not show\n{output}")
            continue
        pieces += [page[upto:block.text.start(2)], output]
        upto = block.text.end(2)
        if output != block.text[2]:
            sides = (side.splitlines() for side in (block.text[2], output))
            faults.append("\n".join([f"{where}: not what the CLI prints", *difflib.unified_diff(*sides, "page", "CLI", lineterm="")]))
    if arguments.write:
        file.write_text("".join([*pieces, page[upto:]]), encoding="utf-8")
        return [fault for fault in faults if "not what the CLI prints" not in fault.partition("\n")[0]]
    return faults


ONE = "┌───────┐\n│   a   │\n│ int32 │\n├───────┤\n│     1 │\n└───────┘\n"
MONTH = "time_bucket(INTERVAL '1 month', TIMESTAMP '2024-01-01')"
REFUSED = (f"Binder Error: time_bucket: width INTERVAL '1 month' is calendar: "
           "months or years have no fixed length; use days, or date_trunc for calendar units\n")
#  a document, and what is found in it (None: nothing)
SAMPLES = [
    (f"```sql\nSELECT 1 AS a;\n```\n\n```text\n{ONE}```\n", None),
    (f"```sql\nSELECT {MONTH};\n```\n\n```text\n{REFUSED}```\n", None),
    ("```sql\nCREATE TABLE t AS SELECT 1 AS a;\n```\n\n```sql\nFROM t;\n```\n\n```text\n" + ONE + "```\n", None),
    (f"```sql\nSELECT 1 AS a;\n```\n\n```text\n{ONE.replace('1', '2')}```\n", "x.md:1: not what"),
    (f"```sql\nSELECT 1 AS a;\n```\n\n```text\n{ONE.replace('1 ', '1')}```\n", "x.md:1: not what"),
    ("```sql\nSELECT 1 AS a;\n```\n\n```text\n```\n", "x.md:1: not what"),
    (f"```sql\nSELECT {MONTH};\n```\n", "x.md:1: an error"),
    (f"```sql\nSELECT {MONTH};\n```\n\nBetween.\n\n```text\n{REFUSED}```\n", "x.md:1: an error"),
    ("\n```sql\nSELECT 1\n```\n", "x.md:2: the last statement"),
    ("```sql no-run\nSELECT 1;\n```\n", "x.md: no sql block"),
    ("Nothing.\n", "x.md: no sql block"),
]


def self_test(arguments):
    """Whether each sample is judged as it should be, and why LOAD failed is told."""
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for page, want in SAMPLES:
            file = pathlib.Path(folder, "x.md")
            file.write_text(page, encoding="utf-8")
            faults = check(arguments, file)
            if len(faults) != (want is not None) or want and want not in faults[0]:
                wrong.append(f"self-test: expected {want}, found {faults} in\n{page}")
        # LOAD takes no page, and its own words have to be shown.
        file.write_text(SAMPLES[0][0], encoding="utf-8")
        try:
            check(argparse.Namespace(**vars(arguments) | {"extension": file}), file)
            wrong.append("self-test: a file that LOAD refuses was taken")
        except SystemExit as ended:
            if "DuckDB extensions are files ending with" not in str(ended):
                wrong.append(f"self-test: a refused LOAD ends with {ended}")
    return wrong


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    for name in ("cli", "extension", "data"):
        parser.add_argument(name, type=lambda path: pathlib.Path(path).resolve(strict=True))
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.self_test == bool(arguments.files):
        parser.error("files, or --self-test")
    faults = self_test(arguments) if arguments.self_test else [f for file in arguments.files for f in check(arguments, file)]
    sys.stdout.reconfigure(encoding="utf-8")
    print("\n\n".join(faults) if faults else f"check_docs: {', '.join(map(str, arguments.files)) or 'self-test'}: ok")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
