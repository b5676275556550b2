#!/usr/bin/env python3
"""What windows take in memory and time as they grow from 10^5 to 10^7, each size in a process of its own, under a memory limit.

    windows_memory.py --extension FILE --json FILE [--limit MB]

A figure is the greatest memory of the process, Python and the table that is read included.
"""
import argparse
import json
import pathlib
import resource
import subprocess
import sys
import time

import duckdb

from harness import machine, save

MACROS = pathlib.Path(__file__).resolve().parents[1] / "sql/macros"
SIZES = [100_000, 1_000_000, 10_000_000]
PANE = "{'n': 1::BIGINT, 'sum': i::DOUBLE, 'residue': 0::DOUBLE, 'min': i::DOUBLE, 'max': i::DOUBLE, 'm2': 0::DOUBLE}"
EACH_MINUTE = "TIMESTAMP '2026-01-01' + to_minutes({} * (i // 1000))"
#  job: rows read for each window made, their columns, of 1,000 keys, and the windows
JOBS = {
    "gapfill, one bucket in ten given": (1 / 10, f"{EACH_MINUTE.format(10)} AS ts, i AS x", "gapfill('t', 'ts', INTERVAL '1 minute', ['k'], carry := ['x'])"),
    "hop of 1 minute over 5": (1 / 5, "TIMESTAMP '2026-01-01' + to_seconds(i) AS ts, i AS x", "hop('t', 'ts', INTERVAL '1 minute', INTERVAL '5 minutes')"),
    "sessions": (1, "TIMESTAMP '2026-01-01' + to_seconds(i) AS ts, i AS x", "sessions('t', 'ts', INTERVAL '1 minute', ['k'])"),
    "rolling_panes": (1, f"{EACH_MINUTE.format(1)} AS pane_start, pane_start + INTERVAL '1 minute' AS pane_end, {PANE} AS x",
                      "rolling_panes('t', ['k'], INTERVAL '1 hour', INTERVAL '1 minute')"),
}


def run(extension, limit, job, size):
    share, columns, windows = JOBS[job]
    con = duckdb.connect(config={"allow_unsigned_extensions": True, "threads": 1, "memory_limit": f"{limit}MB"})
    con.execute(f"LOAD '{extension}'")
    for file in sorted(MACROS.glob("*.sql")):
        con.execute(file.read_text(encoding="utf-8"))
    con.execute(f"CREATE TABLE t AS SELECT i % 1000 AS k, {columns} FROM range({int(size * share)}) AS r(i)")
    begin = time.process_time()
    try:
        con.execute(f"SELECT count(x), any_value(x) FROM {windows}").fetchall()
        seconds = time.process_time() - begin
    except duckdb.OutOfMemoryException:
        seconds = None
    kib = 1024 if sys.platform == "darwin" else 1
    print(json.dumps({"rows": size, "seconds": seconds, "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / kib / 1024}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--extension", required=True)
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="where the results go")
    parser.add_argument("--limit", type=int, default=400, help="DuckDB's memory_limit, in MB")
    parser.add_argument("--alone", nargs=2, metavar=("JOB", "SIZE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        return run(options.extension, options.limit, options.alone[0], int(options.alone[1]))
    found = {}
    for job in JOBS:
        command = [sys.executable, __file__, "--extension", options.extension, "--limit", str(options.limit), "--alone", job]
        found[job] = [json.loads(subprocess.run([*command, str(size)], capture_output=True, text=True, check=True).stdout) for size in SIZES]
    save(options.json, {"engine": duckdb.__version__, "limit": options.limit, "jobs": found, "machine": machine(), "clock": "cpu", "rounds": 1})


if __name__ == "__main__":
    main()
