#!/usr/bin/env python3
"""Times panes and windows on Dask against one DuckDB process, over the same files in one run: a Markdown table of ratios.

    cluster.py --package FOLDER [--rows N...] [--rounds N] [--json FILE]

Contestants take turns; a time is the median of the rounds. Clusters are started, and their workers have loaded everything, before anything
is timed: what that takes has a line of its own. A goal is the largest ratio. Two processes with half of the files each, which never speak to
each other, are as fast as two workers of this machine can be.
"""
import argparse
import concurrent.futures
import json
import multiprocessing
import os
import pathlib
import shutil
import statistics
import sys
import tempfile
import time

import duckdb

FILES, HOURS, KEYS = 16, 6, 100
WIDTH, LOOKBACK = "5 minutes", "1 hour"
ROW = """SELECT TIMESTAMP '2026-01-01' + to_hours({hour}) + to_milliseconds(i * 7919 % ({hours} * 3600000)) AS ts, (i * 31 % {keys})::INTEGER AS key,
  (i * 7907 % 100000) / 7.0 AS x, (i * 7907 % 100000)::DECIMAL(12, 2) / 4 AS price, i % 1000 AS n FROM range({rows}) AS r(i)"""
ARGUMENTS = dict(ts="ts", values=["x", "price", "n"], width=WIDTH, keys=["key"])


def write(con, path, hour, rows, hours=HOURS):
    con.execute(f"COPY ({ROW.format(hour=hour, hours=hours, keys=KEYS, rows=rows)}) TO '{path}' (FORMAT parquet)")


def one_process(files, target, threads):
    """Panes and windows in one query, as macros make them where everything is on one machine."""
    import duckdb_time_bucket

    values = "['x', 'price', 'n']"
    with duckdb_time_bucket.connect(config={"threads": threads}, macros=True) as con:
        con.execute("SET enable_progress_bar = false")
        con.execute(f"CREATE VIEW source AS FROM read_parquet({files})")
        con.execute(f"""COPY (WITH fresh AS (FROM pane_rows('source', 'ts', {values}, INTERVAL '{WIDTH}', ['key']))
            FROM rolling_panes('fresh', ['key'], INTERVAL '{LOOKBACK}', INTERVAL '{WIDTH}') ORDER BY key, window_start) TO '{target}' (FORMAT parquet)""")


def pair(path):
    """The group of a file: those of two neighbouring times are read by one task."""
    name = pathlib.Path(path).stem
    return str(int(name) // 2) if name.isdigit() else name


def timed(function):
    began = time.perf_counter()
    result = function()
    return time.perf_counter() - began, result


def measure(rows, rounds, runs, halves):
    """The median seconds of each contestant, by name; and how many windows and panes there are, and the panes' bytes."""
    from duckdb_time_bucket import cluster

    def windows(store, run, lookback=LOOKBACK):
        return store.windows(cluster.Rolling(lookback), run, partitions=2, span=288)

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        files, late = [str(folder / f"{number:02}.parquet") for number in range(FILES)], str(folder / "late.parquet")
        with duckdb.connect() as con:
            for number, file in enumerate(files):
                write(con, file, number * HOURS, rows // FILES)
            write(con, late, 12, rows // FILES, 1)
        seconds = {}

        def add(name, function):
            took, result = timed(function)
            seconds.setdefault(name, []).append(took)
            return result

        def on(workers):
            shutil.rmtree(folder / f"store-{workers}", ignore_errors=True)
            store = cluster.Store(folder / f"store-{workers}", **ARGUMENTS)
            add(f"{workers}, panes", lambda: store.update(files, runs[workers], group=pair))
            add(f"{workers}, windows", lambda: windows(store, runs[workers]))

        jobs = {"one thread": lambda: one_process(files, folder / "one.parquet", 1), "two threads": lambda: one_process(files, folder / "two.parquet", 2),
                "halves": lambda: list(halves.map(one_process, (files[:FILES // 2], files[FILES // 2:]), (folder / "a.parquet", folder / "b.parquet"), (1, 1))),
                "one worker": lambda: on(1), "two workers": lambda: on(2)}
        for round in range(rounds):
            turn = round % len(jobs)
            for name in [*jobs][turn:] + [*jobs][:turn]:
                add(name, jobs[name])
            store = cluster.Store(folder / "store-2", **ARGUMENTS)
            add("late", lambda: (store.update([*files, late], runs[2], group=pair), windows(store, runs[2])))
            add("lookback", lambda: windows(store, runs[2], "6 hours"))
        with duckdb.connect() as con:
            store.update(files, group=pair)
            counts = con.execute(f"""SELECT (SELECT count(*) FROM '{folder}/one.parquet'), (SELECT count(*) FROM read_parquet({list(store.files())}))""").fetchone()
            same, = con.execute(f"""SELECT count(*) FROM '{folder}/one.parquet' AS a JOIN read_parquet({list(windows(store, None).files)}) AS b USING (key, window_end)
                WHERE {' AND '.join(f'a.{value}.{part} = b.{value}.{part}' for value in ('price', 'n') for part in ('n', 'sum', 'min', 'max'))}
                  AND a.x.n = b.x.n AND a.x.min = b.x.min AND a.x.max = b.x.max AND abs(a.x.sum - b.x.sum) <= 1e-15 * abs(a.x.sum)""").fetchone()
            assert same == counts[0] > 0, f"{same} of {counts[0]} windows are those of one process"
        stored = sum(pathlib.Path(file).stat().st_size for file in store.files())
    return {name: statistics.median(times) for name, times in seconds.items()}, (*counts, stored)


# What is said of it, its name, what it is compared to, how that is called, and the largest ratio.
LINES = [
    ("one DuckDB process, one thread", "one thread", None, "", None),
    ("one DuckDB process, two threads", "two threads", "one thread", "the first line", None),
    ("two DuckDB processes, half of the files each", "halves", "one thread", "the first line", None),
    ("Dask, one worker", "one worker", "one thread", "the first line", 1.3),
    ("Dask, two workers", "two workers", "one worker", "one worker", 0.55),
    ("of which panes", "2, panes", "two workers", "the whole", None),
    ("of which windows", "2, windows", "two workers", "the whole", None),
    ("a late file of one hour, a sixteenth of the rows", "late", "two workers", "the whole", None),
    ("another lookback over the same panes", "lookback", "two workers", "the whole", None),
]


def cell(middle, name, base, of, goal):
    if base is None:
        return f"{middle[name]:.1f} s"
    ratio = f"{middle[name] / middle[base]:.2f}"
    return f"{middle[name]:.1f} s, {f'**{ratio}**' if goal and middle[name] / middle[base] > goal else ratio} of {of}"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--package", type=pathlib.Path, required=True)
    parser.add_argument("--rows", type=int, nargs="+", default=[40_000_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    sys.path.insert(0, str(arguments.package.resolve()))
    from distributed import Client
    from duckdb_time_bucket import cluster

    started, runs, clients = {}, {}, []
    for workers in (1, 2):
        def start():
            clients.append(Client(n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs="ERROR"))
            runs[workers] = cluster.dask(clients[-1])
            clients[-1].run(lambda: str(__import__("duckdb_time_bucket.cluster")))  # by value: nothing of this file is on the workers
        started[workers] = timed(start)[0]
    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as halves:
        measured = [measure(rows, arguments.rounds, runs, halves) for rows in arguments.rows]
    for client in clients:
        client.close()

    lines = [f"| what | at most | {' | '.join(f'{rows:,} rows' for rows in arguments.rows)} |", "| --- | ---: |" + " ---: |" * len(measured)]
    lines += [f"| {what} | {line[-1] or ''} | {' | '.join(cell(middle, *line) for middle, _ in measured)} |" for what, *line in LINES]
    lines += ["", f"{KEYS} keys in {FILES} files of {HOURS} hours each, two a task; "
              + "; ".join(f"{panes:,} panes in {stored / 1e6:.1f} MB, {windows:,} windows" for _, (windows, panes, stored) in measured[:1])
              + f", each of them as one process has it. To start Dask took {started[1]:.1f} s with one worker and {started[2]:.1f} with two. "
              f"DuckDB {duckdb.__version__}, {os.cpu_count()} cores; median of {arguments.rounds} interleaved rounds."]
    print("\n".join(lines))
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps({"rows": arguments.rows[0], "markdown": "\n".join(lines)}))


if __name__ == "__main__":
    main()
