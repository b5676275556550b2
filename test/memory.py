#!/usr/bin/env python3
"""Memory: a leak check in an engine's Python, and valgrind or a sanitizer's report searched for frames of ours.

    memory.py leak --extension FILE [--cycles 10000]     binds, executions, errors and LOADs; allocated memory stays flat
    memory.py valgrind --cli DUCKDB --extension FILE     a script of statements in the CLI under valgrind
    memory.py sanitized --runtime LIBRARY --extension FILE
                                                         the same script in this Python, with an instrumented FILE

A report counts when one of its frames is in the extension: the engine and the interpreter have reports of their own.
"""

import argparse
import ctypes
import gc
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Every path of the extension: constant and column arguments, NULLs, infinities, errors at bind and at a row, folding, TRY, copies of
# plans (views, macros, CTEs), prepared statements, more rows than a vector holds, several threads.
RIGHT = [
    "SELECT count(time_bucket(INTERVAL '7 seconds', make_timestamp(i * 1000003))) FROM range(20000) r(i)",
    "SELECT count(time_bucket_end(to_seconds(1 + i % 50), make_timestamp_ns(i * 1000003 * 97))) FROM range(20000) r(i)",
    "SELECT count(time_bucket_start(INTERVAL '1 day', make_timestamp(i * 1000003)::TIMESTAMP_S, TIMESTAMP '2001-01-01')) FROM range(9000) r(i)",
    "SELECT count(time_bucket(to_minutes(i), make_timestamp(i)::TIMESTAMP_MS, to_seconds(i))) FROM range(1, 5000) r(i)",
    "SELECT time_bucket(INTERVAL '1 hour', TIMESTAMPTZ '2024-01-01 12:34:56+00', TIMESTAMPTZ '2000-01-01 00:10:00+00')",
    "SELECT time_bucket(INTERVAL '1 hour', x) FROM (VALUES (NULL::TIMESTAMP), ('infinity'), ('-infinity'), ('2024-01-01')) v(x)",
    "SELECT count(TRY(time_bucket_end(to_days(2147483647), make_timestamp(i)))) FROM range(300) r(i)",
    "WITH c AS (SELECT time_bucket(INTERVAL '1 hour', make_timestamp(i * 1000000000)) AS b FROM range(5000) r(i)) "
    "SELECT count(*) FROM c a JOIN c b USING (b)",
    "SELECT count(time_bucket(CASE WHEN i % 3 > 0 THEN INTERVAL '1 hour' END, CASE WHEN i % 5 > 0 THEN make_timestamp(i) END)) FROM range(7000) r(i)",
    "SELECT count(h) FROM (SELECT unnest(time_bucket_hop(INTERVAL '2 minutes', INTERVAL '5 minutes', make_timestamp(i * 10000019))) AS h FROM range(4000) r(i))",
    "SELECT count(time_bucket_hop(to_minutes(1 + i % 3), INTERVAL '5 minutes', make_timestamp_ns(i))) FROM range(4000) r(i)",
    "SELECT time_bucket_pane(INTERVAL '10 minutes', to_minutes(i)) FROM range(5) r(i)",
    "SELECT count(*) FROM time_bucket_panes(INTERVAL '10 hours', INTERVAL '1 minute', at := TIMESTAMP '2024-01-01')",
    "SELECT count(window_end) FROM time_bucket_series(INTERVAL '1 minute', TIMESTAMP '2024-01-01', TIMESTAMP '2024-01-05')",
    "SELECT count(*) FROM time_bucket_cover(TIMESTAMP '2024-01-01 00:00:30', INTERVAL '1 hour', INTERVAL '5 minutes', INTERVAL '1 minute')",
    "SELECT count(sql) FROM time_bucket_macros()",
]
WRONG = [
    "SELECT time_bucket(INTERVAL '1 month', TIMESTAMP '2024-01-01')",
    "SELECT time_bucket(INTERVAL '-1 day', TIMESTAMP '2024-01-01')",
    "SELECT time_bucket(NULL::INTERVAL, TIMESTAMP '2024-01-01')",
    "SELECT time_bucket(INTERVAL '1 day', DATE '2024-01-01')",
    "SELECT time_bucket((SELECT INTERVAL '1 day'), TIMESTAMP '2024-01-01')",
    "SELECT time_bucket(INTERVAL '1 day', TIMESTAMP '2024-01-01', 'infinity'::TIMESTAMP)",
    "SELECT time_bucket(to_days(1 - i::INTEGER), make_timestamp(i)) FROM range(3000) r(i)",
    "SELECT time_bucket_end(to_days(2147483647), make_timestamp(i)) FROM range(3000) r(i)",
    "SELECT time_bucket_hop(INTERVAL '1 microsecond', INTERVAL '1 day', TIMESTAMP '2024-01-01')",
    "FROM time_bucket_series(INTERVAL '1 month', TIMESTAMP '2024-01-01', TIMESTAMP '2024-01-05')",
    "FROM time_bucket_panes(INTERVAL '10 days', INTERVAL '1 second')",
]


class Mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in
                "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]


def allocated():
    """Bytes that are in use of what this thread had from malloc, the extension's all among them: exact, as resident memory is not."""
    gc.collect()
    libc = ctypes.CDLL(None)
    libc.mallinfo2.restype = Mallinfo2
    info = libc.mallinfo2()
    return info.uordblks + info.hblkhd


def leak(arguments):
    import duckdb

    load = f"LOAD '{arguments.extension}'"
    config = {"allow_unsigned_extensions": True, "threads": 1}
    connection = duckdb.connect(config=config)
    connection.execute(load)

    def bind(n):
        connection.execute(f"EXPLAIN SELECT time_bucket(INTERVAL '{n % 100 + 1} minutes', make_timestamp(i), INTERVAL '1 hour') FROM range(3) r(i)").fetchall()

    # The engine by itself keeps some memory for each join and each VALUES list, with date_trunc as with our function.
    steady = [sql.replace("20000", "3000") for sql in RIGHT if "JOIN" not in sql and "VALUES" not in sql]

    def execute(n):
        connection.execute(steady[n % len(steady)]).fetchall()

    def error(n):
        try:
            connection.execute(WRONG[n % len(WRONG)]).fetchall()
        except duckdb.Error:
            return
        raise SystemExit(f"memory: no error: {WRONG[n % len(WRONG)]}")

    def load_anew(n):
        other = duckdb.connect(config=config)
        other.execute(load)
        other.execute("SELECT time_bucket_end(INTERVAL '1 day', TIMESTAMP '2024-01-01')").fetchall()
        other.close()

    failed = False
    for what, step in [("binds", bind), ("executions", execute), ("errors", error), ("LOADs", load_anew)]:
        for n in range(arguments.cycles // 5 + 50):
            step(n)
        before = allocated()
        for n in range(arguments.cycles):
            step(n)
        grown = allocated() - before
        # The smallest thing that can leak takes 32 bytes a cycle; a table of the engine's own doubles now and then.
        leaks = grown > 32 * arguments.cycles + (256 << 10)
        failed |= leaks
        print(f"memory: DuckDB {duckdb.__version__}: {arguments.cycles:,} {what}: {grown:+,} bytes{' LEAK' * leaks}", flush=True)
    sys.exit(failed)


def script(extension):
    return [f"LOAD '{extension}'", *RIGHT, *WRONG]


def judge(what, report, ran):
    """Exit status 1 when a report has a frame of the extension."""
    blocks = re.split(r"\n(?:==\d+==\s*\n)+|\n={10,}\n", report)
    ours = [block for block in blocks if "time_bucket" in block and re.search(r"(at|by) 0x|#\d+ 0x", block)]
    # Optimised code may look at an Option's value before it looks whether there is one, and then drop what it saw. Safe Rust
    # has no other way to an uninitialised stack slot, and miri runs the same source.
    speculation = [block for block in ours if "Conditional jump" in block and "created by a stack allocation" in block]
    ours = [block for block in ours if block not in speculation]
    print(f"memory: {what}: {ran}; {len(blocks):,} blocks of report, {len(ours)} with a frame of the extension"
          + f", {len(speculation)} speculative looks at a stack slot" * bool(speculation))
    print("\n\n".join(ours[:5]))
    sys.exit(bool(ours))


def valgrind(arguments):
    with tempfile.TemporaryDirectory() as folder:
        sql, log = Path(folder) / "script.sql", Path(folder) / "log"
        sql.write_text(".bail off\n" + ";\n".join(text.replace("20000", "5000") for text in script(arguments.extension)) + ";\n")
        command = ["valgrind", "--leak-check=full", "--show-leak-kinds=definite", "--track-origins=yes", "--num-callers=40", f"--log-file={log}",
                   arguments.cli, "-unsigned", "-batch", ":memory:"]
        done = subprocess.run(command, capture_output=True, text=True, input=sql.read_text())
        errors = sum("time_bucket" in line for line in done.stderr.splitlines() if "Error: " in line)
        if errors != len(WRONG):
            sys.exit(f"memory: {errors} errors, not {len(WRONG)}:\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}")
        summary = re.findall(r"ERROR SUMMARY: .*?contexts", log.read_text())
        judge("valgrind", log.read_text(), f"{len(RIGHT)} queries and {len(WRONG)} errors, {summary[-1] if summary else 'no summary'}")


def sanitized(arguments):
    code = f"""
import duckdb, threading
database = duckdb.connect(config={{"allow_unsigned_extensions": True, "threads": 4}})
database.execute({script(arguments.extension)[0]!r})
done = []

def work():
    connection = database.cursor()
    for sql, expected in {([(sql, "query") for sql in RIGHT] + [(sql, "error") for sql in WRONG]) * 5!r}:
        try:
            connection.execute(sql).fetchall()
            got = "query"
        except duckdb.Error as error:
            got = "error"
        done.append(got if got == expected else sql)

threads = [threading.Thread(target=work) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
unexpected = set(done) - {{"query", "error"}}
assert not unexpected, unexpected
print(done.count("query"), "queries and", done.count("error"), "errors on 8 threads")
"""
    # The runtime looks for __cxa_throw when the process starts, before the engine brings the C++ library.
    environment = {**os.environ, "LD_PRELOAD": arguments.runtime + " libstdc++.so.6", "ASAN_OPTIONS": "detect_leaks=0:halt_on_error=0", "PYTHONMALLOC": "malloc",
                   "TSAN_OPTIONS": "halt_on_error=0:report_bugs=1:exitcode=0:ignore_noninstrumented_modules=1:"
                                   f"suppressions={Path(__file__).with_name('tsan.supp')}"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    if done.returncode or "queries" not in done.stdout:
        sys.exit(f"memory: exit status {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-6000:]}")
    judge("sanitized", done.stderr, done.stdout.strip())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["leak", "valgrind", "sanitized"])
    parser.add_argument("--extension", required=True)
    parser.add_argument("--cycles", type=int, default=10_000)
    parser.add_argument("--cli")
    parser.add_argument("--runtime")
    arguments = parser.parse_args()
    arguments.extension = str(Path(arguments.extension).resolve(strict=True))
    {"leak": leak, "valgrind": valgrind, "sanitized": sanitized}[arguments.what](arguments)


if __name__ == "__main__":
    main()
