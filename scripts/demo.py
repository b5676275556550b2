#!/usr/bin/env python3
"""Runs sql/demo.sql in the DuckDB CLI with the extension loaded, shows each statement with its output, and judges it.

    demo.py CLI EXTENSION DATA_DIR

The CLI reads the script from standard input, where it shows an error and goes on; it ends with 1 whichever statement
failed. This exits 0 only if the one calendar width of the script is refused, in the words below, and everything else
prints a table or nothing.
"""
import os
import pathlib
import re
import subprocess
import sys

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "sql" / "demo.sql"
REFUSED = "INTERVAL '1 month'"
REFUSAL = re.compile(r"Binder Error: time_bucket: [^\n]*\bcalendar\b")
MARK = "==== paragraph"


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    cli, extension, data = (pathlib.Path(arg).resolve() for arg in sys.argv[1:])
    load = "LOAD '{}'".format(extension.as_posix().replace("'", "''"))

    # A mark before each paragraph tells which output is whose. The CLI flushes it before it reads on, so that in the
    # one pipe of both streams an error stands in its place, which .echo's text would not.
    paragraphs = SCRIPT.read_text(encoding="utf-8").strip().split("\n\n")
    script = "".join(f".print {MARK}\n{paragraph}\n" for paragraph in paragraphs)
    run = subprocess.run(
        [str(cli), "-unsigned", "-no-init", "-batch", "-cmd", load],  # -no-init: leave the user's .duckdbrc out of it
        input=script, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=data, encoding="utf-8",
    )
    loading, *outputs = run.stdout.split(f"{MARK}\n")

    sys.stdout.reconfigure(encoding="utf-8")
    failures = []
    if loading or run.returncode not in (0, 1) or len(outputs) != len(paragraphs):
        failures.append(f"the CLI ended with {run.returncode} after {len(outputs)} of {len(paragraphs)} paragraphs")
        print(loading)
    for paragraph, output in zip(paragraphs, outputs):
        print(f"{paragraph}\n{output}", flush=True)
        title = paragraph.splitlines()[0]
        if REFUSED in paragraph:
            if not REFUSAL.match(output):
                failures.append(f"not refused: {title}")
        elif output and not output.startswith("┌"):
            failures.append(f"error in: {title}")
    if not any(REFUSED in paragraph for paragraph in paragraphs):
        failures.append(f"no paragraph has {REFUSED}")
    if failures:
        sys.exit("\n".join(f"demo: FAILED, {failure}" for failure in failures))


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:  # `make demo | head`
        os._exit(1)
