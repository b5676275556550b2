#!/usr/bin/env python3
"""Times the same buckets of the same rows in DuckDB with and without the extension, Polars, DataFusion, ClickHouse,
pandas and numpy, in one run.

    peers.py --extension FILE --json FILE [--rows N] [--rounds N] [--clock wall|cpu]

Two jobs: bucket a column (15 minutes, a year of microseconds) and take the largest bucket, as what it takes longer
than the largest timestamp; and count and average a value in each bucket, as a whole query. Polars fixes its threads
when it is imported, so a process is started for one thread, kept to one processor, and another for two. Every answer
is compared before anything is timed.
"""
import argparse
import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from harness import Case, arguments, interleave, machine, marginal, median, save

YEAR_US = 365 * 86_400_000_000
START_US = 1_704_067_200_000_000  # 2024-01-01
WIDTH_US = 900_000_000
ORDERS = ("random", "sorted")
PACKAGES = ("duckdb", "polars", "datafusion", "chdb-core", "pandas", "numpy")


def rows_of(order: str, rows: int):
    """Timestamps in microseconds, and values."""
    import numpy

    random = numpy.random.default_rng(1)
    ts = START_US + random.integers(0, YEAR_US, rows, dtype="int64")
    if order == "sorted":
        ts.sort()
    return ts, random.random(rows)


class DuckDB:
    """`jobs()` of each class: for each job, a query whose answer is compared, and what its cost is counted over."""

    bucket = "time_bucket(INTERVAL '15 minutes', ts)"
    epoch = "epoch_us({})"

    def __init__(self, tables, threads, extension=None):
        import duckdb

        self.connection = duckdb.connect(config={"allow_unsigned_extensions": "true", "threads": threads})
        if extension:
            self.connection.execute(f"LOAD '{extension}'")
        for order, table in tables.items():
            self.connection.register("arrow_table", table)
            self.connection.execute(f"CREATE TABLE {order} AS FROM arrow_table")
            self.connection.unregister("arrow_table")

    def query(self, sql):
        return [int(value) for value in self.connection.execute(sql).fetchone()]

    def jobs(self, order):
        return sql_jobs(self, order)


def sql_jobs(engine, order):
    # The sum of the buckets' indices would overflow; their largest and the groups' number and counts say enough.
    largest = engine.epoch.format(f"max({engine.bucket})")
    groups = f"SELECT {engine.bucket} AS b, count(*) AS n, avg(v) AS a FROM {order} GROUP BY {engine.bucket}"
    return {
        "bucket": (
            lambda: engine.query(f"SELECT {largest} FROM {order}"),
            lambda: engine.query(f"SELECT {engine.epoch.format('max(ts)')} FROM {order}"),
        ),
        "group": (lambda: engine.query(f"SELECT count(*), max(n), 1000000 * max(a) FROM ({groups}) AS g"), None),
    }


class ClickHouse:
    bucket = "toStartOfInterval(ts, INTERVAL 15 MINUTE)"
    epoch = "toUnixTimestamp64Micro(toDateTime64({}, 6, 'UTC'))"

    def __init__(self, tables, threads):
        import chdb.session
        import pyarrow.parquet

        self.session = chdb.session.Session()
        self.session.query(f"SET max_threads = {threads}")
        for order, table in tables.items():
            with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
                pyarrow.parquet.write_table(table, file.name)
                self.session.query(f"CREATE TABLE {order} (ts DateTime64(6, 'UTC'), v Float64) ENGINE = Memory")
                self.session.query(f"INSERT INTO {order} SELECT ts, v FROM file('{file.name}', Parquet)")

    def query(self, sql):
        line = str(self.session.query(sql, "CSV")).strip()
        return [int(float(value)) if "." in value else int(value) for value in line.split(",")]

    def jobs(self, order):
        return sql_jobs(self, order)


class DataFusion:
    bucket = "date_bin(INTERVAL '15 minutes', ts, TIMESTAMP '1970-01-01T00:00:00')"
    epoch = "arrow_cast({}, 'Int64')"

    def __init__(self, tables, threads):
        import datafusion

        config = datafusion.SessionConfig().with_target_partitions(threads)
        self.context = datafusion.SessionContext(config)
        for order, table in tables.items():
            batches = table.to_batches(max_chunksize=8192)
            self.context.register_record_batches(order, [batches[part::threads] for part in range(threads)])

    def query(self, sql):
        (row,) = self.context.sql(sql).to_arrow_table().to_pylist()
        return [int(value) for value in row.values()]

    def jobs(self, order):
        return sql_jobs(self, order)


class Polars:
    def __init__(self, tables, threads):
        import polars

        self.polars = polars
        self.frames = {order: polars.from_arrow(table).rechunk() for order, table in tables.items()}

    def jobs(self, order):
        polars, frame = self.polars, self.frames[order].lazy()
        ts, v = polars.col("ts"), polars.col("v")

        def largest(column):
            return lambda: [frame.select(column.max().to_physical()).collect().item()]

        def counted(groups):
            def run():
                done = groups.agg(polars.len().alias("n"), v.mean().alias("a")).collect()
                return [len(done), done["n"].max(), int(1_000_000 * done["a"].max())]

            return run

        jobs = {
            "bucket": (largest(ts.dt.truncate("15m")), largest(ts)),
            "group": (counted(frame.group_by(ts.dt.truncate("15m"))), None),
        }
        if order == "sorted":
            dynamic = frame.with_columns(ts.set_sorted()).group_by_dynamic("ts", every="15m")
            jobs["group (dynamic)"] = (counted(dynamic), None)
        return jobs


class Pandas:
    def __init__(self, tables, threads):
        self.frames = {order: table.to_pandas() for order, table in tables.items()}

    def jobs(self, order):
        frame = self.frames[order]

        def groups():
            done = frame.groupby(frame.ts.dt.floor("15min")).v.agg(["count", "mean"])
            return [len(done), int(done["count"].max()), int(1_000_000 * done["mean"].max())]

        return {
            "bucket": (
                lambda: [frame.ts.dt.floor("15min").max().value // 1000],
                lambda: [frame.ts.max().value // 1000],
            ),
            "group": (groups, None),
        }


class Numpy:
    def __init__(self, tables, threads):
        self.columns = {order: table["ts"].to_numpy().astype("int64") for order, table in tables.items()}

    def jobs(self, order):
        ts = self.columns[order]
        return {
            "bucket": (lambda: [int((ts // WIDTH_US * WIDTH_US).max())], lambda: [int(ts.max())]),
            "copy": (lambda: [int(ts.copy().max())], lambda: [int(ts.max())]),
        }


def measure(options) -> list[dict[str, object]]:
    """All engines with one number of threads."""
    import pyarrow

    tables = {}
    for order in ORDERS:
        ts, v = rows_of(order, options.rows)
        tables[order] = pyarrow.table({"ts": pyarrow.array(ts, pyarrow.timestamp("us")), "v": v})
    engines = {
        "time_bucket extension": DuckDB(tables, options.threads, options.extension.resolve()),
        "DuckDB built-in": DuckDB(tables, options.threads),
        "Polars": Polars(tables, options.threads),
        "ClickHouse": ClickHouse(tables, options.threads),
        "DataFusion": DataFusion(tables, options.threads),
    }
    if options.threads == 1:  # these two have no other
        engines |= {"pandas": Pandas(tables, 1), "numpy": Numpy(tables, 1)}
    jobs = {
        (name, order, job): runs
        for name, engine in engines.items()
        for order in ORDERS
        for job, runs in engine.jobs(order).items()
    }
    answers = {}
    for (name, order, job), (run, _) in jobs.items():
        if job != "copy":
            answers.setdefault((order, job.split()[0]), {})[name, job] = run()
    for key, found in answers.items():
        # Sums in another order may differ in the last place shown.
        for first, *others in zip(*found.values(), strict=True):
            if any(abs(first - other) > (1 if key[1] == "group" else 0) for other in others):
                sys.exit(f"peers: different answers for {key}: {found}")

    cases = {(*key, "run"): Case(run) for key, (run, _) in jobs.items()}
    cases |= {(*key, "scan"): Case(scan) for key, (_, scan) in jobs.items() if scan}
    times = interleave(cases, options.rounds, options.clock)
    results = []
    for key, (_, scan) in jobs.items():
        run = times[*key, "run"]
        seconds = marginal(run, times[*key, "scan"]) if scan else median(run)
        engine, order, job = key
        results.append({"engine": engine, "order": order, "job": job, "threads": options.threads, "ns": seconds / options.rows * 1e9})
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--extension", type=pathlib.Path, required=True)
    parser.add_argument("--threads", type=int, help="measure only this number, in this process")
    options = arguments(parser)
    if options.threads:
        save(options.json, measure(options))
        return

    results = []
    for threads in (1, 2):
        part = options.json.with_suffix(f".{threads}.json")
        settings = {"POLARS_MAX_THREADS": str(threads)}
        # Where it can be, one thread is made sure of: the process may use one processor.
        keep = (lambda: os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})) if hasattr(os, "sched_setaffinity") else None
        command = [sys.executable, __file__, *sys.argv[1:], "--threads", str(threads), "--json", str(part)]
        subprocess.run(command, check=True, env=os.environ | settings, preexec_fn=keep if threads == 1 else None)
        results += json.loads(part.read_text())
        part.unlink()
    save(options.json, {
        "rows": options.rows, "rounds": options.rounds, "clock": options.clock, "machine": machine(),
        "versions": {package: importlib.metadata.version(package) for package in PACKAGES}, "results": results,
    })
    for row in results:
        print(f"{row['threads']} {row['order']:7} {row['job']:16} {row['engine']:22} {row['ns']:8.2f} ns a row")


if __name__ == "__main__":
    main()
