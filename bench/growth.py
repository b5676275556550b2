#!/usr/bin/env python3
"""Buckets 10^5 to 10^9 generated rows, to show that a row costs the same and memory stays flat.

    growth.py --extension FILE --json FILE [--rows MOST] [--rounds N] [--clock wall|cpu]

Each size runs in a process of its own, whose greatest memory is the size's. Few rows are bucketed many times over, so
that every figure is of ten million rows or more. One thread; the cost is over that of generating the timestamps.
"""
import argparse
import json
import pathlib
import resource
import subprocess
import sys

import duckdb
import report
from harness import Case, arguments, interleave, machine, marginal, save


def measure(options) -> dict[str, float]:
    """One size."""
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true", "threads": 1})
    connection.execute(f"LOAD '{options.extension.resolve()}'")
    ts = "make_timestamp(1704067200000000 + i * 1000)"
    repeats = max(1, 10_000_000 // options.rows)

    def case(expression):
        query = f"SELECT min({expression}) FROM range({options.rows}) AS r(i)"
        return Case(lambda: [connection.execute(query).fetchall() for _ in range(repeats)])

    cases = {"scan": case(ts), "ours": case(f"time_bucket(INTERVAL '15 minutes', {ts})")}
    times = interleave(cases, options.rounds, options.clock)
    unit = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss, in bytes
    return {
        "rows": options.rows,
        "ns": marginal(times["ours"], times["scan"]) / (options.rows * repeats) * 1e9,
        "memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--extension", type=pathlib.Path, required=True)
    parser.add_argument("--only", action="store_true", help="measure the one size --rows, in this process")
    parser.set_defaults(rows=10**9, rounds=7)
    options = arguments(parser)
    if options.only:
        print(json.dumps(measure(options)))
        return
    sizes, rows = [], 10**5
    while rows <= options.rows:
        command = [sys.executable, __file__, *sys.argv[1:], "--only", "--rows", str(rows)]
        sizes.append(json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout))
        rows *= 10
    results = {
        "engine": duckdb.__version__, "rows": options.rows, "rounds": options.rounds, "clock": options.clock,
        "machine": machine(), "sizes": sizes,
    }
    save(options.json, results)
    print(report.growth_table([results]))


if __name__ == "__main__":
    main()
