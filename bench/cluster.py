#!/usr/bin/env python3
"""Times panes and windows on Dask against one DuckDB process, over the same files in one run: a Markdown table of ratios.

    cluster.py --package FOLDER [--rows N] [--rounds N] [--json FILE]

Contestants take turns; a time is the median of the rounds. Clusters are started, and their workers have loaded everything, before anything
is timed: what that takes has a line of its own. A goal is the largest ratio.
"""
import argparse
import json
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


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--package", type=pathlib.Path, required=True)
    parser.add_argument("--rows", type=int, default=40_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    sys.path.insert(0, str(arguments.package.resolve()))
    from distributed import Client
    from duckdb_time_bucket import cluster

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        with duckdb.connect() as con:
            files = [str(folder / f"{number:02}.parquet") for number in range(FILES)]
            for number, file in enumerate(files):
                write(con, file, number * HOURS, arguments.rows // FILES)
            write(con, folder / "late", 12, arguments.rows // FILES, 1)

        def on(run, store):
            shutil.rmtree(store, ignore_errors=True)
            store = cluster.Store(store, **ARGUMENTS)
            panes, _ = timed(lambda: store.update(files, run, group=pair))
            windows, made = timed(lambda: store.windows(cluster.Rolling(LOOKBACK), run, partitions=2, span=288))
            return panes, windows, made

        started, runs, clients = {}, {}, []
        for workers in (1, 2):
            def start():
                clients.append(Client(n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs="ERROR"))
                runs[workers] = cluster.dask(clients[-1])
                clients[-1].run(lambda: str(__import__("duckdb_time_bucket.cluster")))  # by value: nothing of this file is on the workers
            started[workers] = timed(start)[0]

        seconds = {}
        for round in range(arguments.rounds):
            jobs = {"one process, one thread": lambda: one_process(files, folder / "one.parquet", 1), "one process, two threads": lambda: one_process(files, folder / "two.parquet", 2),
                    "Dask, one worker": lambda: on(runs[1], folder / "store-1"), "Dask, two workers": lambda: on(runs[2], folder / "store-2")}
            for name in list(jobs)[round % 4:] + list(jobs)[:round % 4]:
                took, parts = timed(jobs[name])
                seconds.setdefault(name, []).append(took)
                if parts:
                    seconds.setdefault(f"{name}, panes", []).append(parts[0])
                    seconds.setdefault(f"{name}, windows", []).append(parts[1])
            store = cluster.Store(folder / "store-2", **ARGUMENTS)
            late, made = timed(lambda: (store.update([*files, folder / "late"], runs[2], group=pair), store.windows(cluster.Rolling(LOOKBACK), runs[2], partitions=2, span=288))[1])
            seconds.setdefault("late", []).append(late)
            changed, longer = timed(lambda: store.windows(cluster.Rolling("6 hours"), runs[2], partitions=2, span=288))
            seconds.setdefault("lookback", []).append(changed)
        for client in clients:
            client.close()
        with duckdb.connect() as con:
            windows, = con.execute(f"SELECT count(*) FROM '{folder}/one.parquet'").fetchone()
            store = cluster.Store(folder / "store-2", **ARGUMENTS)
            store.update(files, group=pair)
            made = store.windows(cluster.Rolling(LOOKBACK), partitions=2, span=288)
            same, = con.execute(f"""SELECT count(*) FROM '{folder}/one.parquet' AS a JOIN read_parquet({list(made.files)}) AS b USING (key, window_end)
                WHERE {' AND '.join(f'a.{value}.{part} = b.{value}.{part}' for value in ('price', 'n') for part in ('n', 'sum', 'min', 'max'))}
                  AND a.x.n = b.x.n AND a.x.min = b.x.min AND a.x.max = b.x.max AND abs(a.x.sum - b.x.sum) <= 1e-15 * abs(a.x.sum)""").fetchone()
            assert same == windows > 0, f"{same} of {windows} windows are those of one process"
            panes, = con.execute(f"SELECT count(*) FROM read_parquet({list(store.files())})").fetchone()
            stored = sum(pathlib.Path(file).stat().st_size for file in store.files())

    middle = {name: statistics.median(times) for name, times in seconds.items()}
    one, two = middle["one process, one thread"], middle["Dask, two workers"]
    table = [("one DuckDB process, one thread", one, None, None, None),
             ("one DuckDB process, two threads", middle["one process, two threads"], None, one, "the first line"),
             ("Dask, one worker", middle["Dask, one worker"], 1.3, one, "the first line"),
             ("Dask, two workers", two, 0.55, middle["Dask, one worker"], "one worker"),
             ("of which panes", middle["Dask, two workers, panes"], None, two, "the whole"),
             ("of which windows", middle["Dask, two workers, windows"], None, two, "the whole"),
             (f"a late file of one hour, {arguments.rows // FILES:,} rows", middle["late"], None, two, "the whole"),
             ("another lookback over the same panes", middle["lookback"], None, two, "the whole")]
    lines = ["| what | seconds | ratio | at most |", "| --- | ---: | ---: | ---: |"]
    for name, took, goal, base, of in table:
        ratio = "" if base is None else f"{took / base:.2f} of {of}"
        lines.append(f"| {name} | {took:.1f} | {f'**{ratio}**' if goal and took / base > goal else ratio} | {goal or ''} |")
    lines += [f"| start of Dask, one worker and two | {started[1]:.1f}, {started[2]:.1f} | | |", "",
              f"{arguments.rows:,} rows of {KEYS} keys in {FILES} files of {HOURS} hours each, two a task; {panes:,} panes in {stored / 1e6:.1f} MB, {windows:,} windows, "
              f"each of them as one process has it; DuckDB {duckdb.__version__}, {os.cpu_count()} cores; median of {arguments.rounds} interleaved rounds."]
    print("\n".join(lines))
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps({"rows": arguments.rows, "markdown": "\n".join(lines)}))


if __name__ == "__main__":
    main()
