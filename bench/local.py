#!/usr/bin/env python3
"""Times buckets of local time: against the form without a zone, DuckDB's own ways, and with --peers other engines.

    local.py --extension FILE --json FILE [--peers] [--rows N] [--rounds N] [--clock wall|cpu]

The engine is that of the Python that runs this. Costs are marginal, as in sql.py: what a query takes longer than one
that only scans the column, on one thread, nanoseconds a row. What is slow gets fewer rows, of the same kind.
"""
import argparse
import importlib.metadata
import os
import pathlib
import sys

import report
from harness import Case, arguments, interleave, machine, marginal, save

ZONE = "America/New_York"
WIDTHS = {"1 day": "1 day", "15 min": "15 minutes"}
YEAR_US, START_US = 365 * 86_400_000_000, 1_704_067_200_000_000  # 2024-01-01
# Order of the rows: microseconds past 1970 of row i.
ORDERS = {
    "sorted year": f"{START_US} + i * ({YEAR_US} // {{rows}})",
    "random year": f"{START_US} + (hash(i) % {YEAR_US})::BIGINT",
    "random 50 years": f"{START_US - 50 * YEAR_US} + (hash(i) % {50 * YEAR_US})::BIGINT",
}
ZONES = 1000  # different names: those of the engine, and the same in capitals
SLOW = 50  # of so many rows one goes through what is slow


def connect(extension=None):
    import duckdb

    connection = duckdb.connect(config={"allow_unsigned_extensions": "true", "threads": 1})
    connection.execute("SET TimeZone = 'UTC'")
    if extension:
        connection.execute(f"LOAD '{extension}'")
    return connection


class Bench:
    """Cases by name, each beside a scan of its rows."""

    def __init__(self, rows, extension):
        self.rows, self.cases = rows, {}
        self.ours, self.plain = connect(extension), connect()
        names = f"(SELECT list(n ORDER BY n) FROM (SELECT n FROM (SELECT name AS n FROM pg_timezone_names() UNION " \
                f"SELECT upper(name) FROM pg_timezone_names()) ORDER BY hash(n) LIMIT {ZONES}))"
        for connection, count in ((self.ours, rows), (self.plain, rows // SLOW)):
            for order, micros in ORDERS.items():
                connection.execute(f'CREATE TABLE "{order}" AS SELECT make_timestamptz({micros.format(rows=count)}) AS ts FROM range({count}) AS r(i)')
        self.ours.execute(f"CREATE TABLE zones AS SELECT ts, {names}[1 + (hash(ts) % {ZONES})::BIGINT] AS z FROM \"random year\"")
        # The last row's zone is NULL, or the engine would know that count(z) need not read the column.
        self.ours.execute("INSERT INTO zones SELECT max(ts), NULL FROM zones")

    def add(self, name, query, scan, rows):
        """`query` and `scan` are to be called."""
        self.cases[name] = (Case(query), Case(scan), rows)

    def sql(self, connection, name, expression, table, columns="min(ts)"):
        rows = self.rows if connection is self.ours else self.rows // SLOW
        more = columns.removeprefix("min(ts)")
        self.add(name, *(lambda q=query: connection.execute(q).fetchall() for query in (
            f'SELECT min({expression}){more} FROM "{table}"', f'SELECT {columns} FROM "{table}"')), rows)

    def measure(self, rounds, clock):
        both = {(name, part): case for name, (*parts, _) in self.cases.items() for part, case in enumerate(parts)}
        times = interleave(both, rounds, clock)
        self.costs = {name: marginal(times[name, 0], times[name, 1]) / rows * 1e9 for name, (_, _, rows) in self.cases.items()}

    def ratios(self, over, under, orders):
        """`over` and `under` are names of cases with a place for the order of the rows."""
        return {order: self.costs[over.format(order)] / self.costs[under.format(order)] for order in orders}


def of_engine(bench, major):
    """The cases of one engine, and the goals that they say something about."""
    for order in ORDERS:
        bench.sql(bench.ours, f"no zone, {order}", "time_bucket(INTERVAL '15 minutes', ts)", order)
        # What a third argument costs in any form, since the engine writes it out for every row; with this name there is no clock.
        for name, third in (("an offset", "INTERVAL '1 minute'"), ("a text", "'none'")):
            bench.sql(bench.ours, f"no zone, {name}, {order}", f"time_bucket(INTERVAL '15 minutes', ts, {third})", order)
        for short, width in WIDTHS.items():
            for name, function in (("ours", "time_bucket"), ("end", "time_bucket_end")):
                bench.sql(bench.ours, f"{name} {short}, {order}", f"{function}(INTERVAL '{width}', ts, '{ZONE}')", order)
    for order in ("sorted year", "random year"):
        for short, width in WIDTHS.items():
            bench.sql(bench.plain, f"own {short}, {order}", f"time_bucket(INTERVAL '{width}', ts, '{ZONE}')", order)
            bench.sql(bench.plain, f"recipe {short}, {order}",
                      f"time_bucket(INTERVAL '{width}', ts AT TIME ZONE '{ZONE}') AT TIME ZONE '{ZONE}'", order)
    bench.sql(bench.ours, "zones", "time_bucket(INTERVAL '1 day', ts, z)", "zones", "min(ts), count(z)")

    def goals():
        def all_of(over, under, orders, shorts=WIDTHS):
            return {f"{short}, {order}": ratio for short in shorts
                    for order, ratio in bench.ratios(over.format(short) + ", {}", under.format(short) + ", {}", orders).items()}

        years = ["sorted year", "random year"]
        return [
            ("a zone against none, sorted rows of a year", 1.5, "", all_of("ours {}", "no zone", years[:1])),
            ("a zone against none, random rows of a year", 2.5, "", all_of("ours {}", "no zone", years[1:])),
            ("a zone against none, random rows of 50 years", 5, "", all_of("ours {}", "no zone", ["random 50 years"])),
            ("time_bucket_end against time_bucket", 1.1, "", all_of("end {}", "ours {}", ORDERS)),
            ("against DuckDB's own form with a zone, days", 1 / 10_000 if major < 2 else 1 / 500, "", all_of("ours {}", "own {}", years, ["1 day"])),
            ("against DuckDB's own form with a zone, quarter hours", 1 / 40, "", all_of("ours {}", "own {}", years, ["15 min"])),
            ("against AT TIME ZONE, there and back", 1 / 200, "", all_of("ours {}", "recipe {}", years)),
            (f"{ZONES:,} zones in a column, random", 20, "ns", {"": bench.costs["zones"]}),
        ]

    return goals


class Peers:
    """The newest engine beside others, sorted and random rows of a year; each answer is the largest bucket."""

    ORDERS = ("sorted year", "random year")

    def __init__(self, bench):
        import pandas
        import peers
        import polars

        self.bench, self.polars = bench, polars
        tables = {order.replace(" ", "_"): bench.ours.sql(f'SELECT ts, 0.5 AS v FROM "{order}"').to_arrow_table() for order in self.ORDERS}
        self.clickhouse = peers.ClickHouse(tables, 1)
        self.frames = {order: polars.from_arrow(table).rechunk().lazy() for order, table in tables.items()}
        self.series = {order: pandas.Series(table["ts"].to_pandas()) for order, table in tables.items()}
        for order in self.ORDERS:
            for short in WIDTHS:
                self.add(order, short)

    def add(self, order, short):
        runs = self.runs(order, order.replace(" ", "_"), short)
        found = {engine: run() for engine, (run, _) in runs.items()}
        if len(set(found.values())) > 1:
            sys.exit(f"local: different answers for {short}, {order}: {found}")
        for engine, (run, scan) in runs.items():
            self.bench.add(f"{engine} {short}, {order}", run, scan, self.bench.rows)

    def runs(self, order, table, short):
        """For each engine what computes the buckets, and what only scans."""
        width, polars, series, frame = WIDTHS[short], self.polars, self.series[table], self.frames[table]
        code, pandas_code = {"1 day": ("1d", "1D"), "15 min": ("15m", "15min")}[short]
        ts = polars.col("ts")

        def ours(column):
            return lambda: self.bench.ours.execute(f'SELECT epoch_us(max({column})) FROM "{order}"').fetchone()[0]

        def clickhouse(column):
            return lambda: self.clickhouse.query(f"SELECT toUnixTimestamp64Micro(toDateTime64(max({column}), 6, 'UTC')) FROM {table}")[0]

        def largest(column):
            return lambda: frame.select(column.max().dt.epoch("us")).collect().item()

        return {
            "ours": (ours(f"time_bucket(INTERVAL '{width}', ts, '{ZONE}')"), ours("ts")),
            "ClickHouse": (clickhouse(f"toStartOfInterval(ts, INTERVAL {width.rstrip('s')}, '{ZONE}')"), clickhouse("ts")),
            "Polars": (largest(ts.dt.convert_time_zone(ZONE).dt.truncate(code)), largest(ts)),
            # What the clock shows twice, pandas can't tell apart.
            "pandas": (lambda: series.dt.tz_convert(ZONE).dt.floor(pandas_code, ambiguous="NaT").max().value // 1000,
                       lambda: series.max().value // 1000),
        }

    def goals(self):
        def against(engine, shorts):
            return {f"{short}, {order}": ratio for short in shorts
                    for order, ratio in self.bench.ratios(f"ours {short}, {{}}", f"{engine} {short}, {{}}", self.ORDERS).items()}

        return [
            ("against ClickHouse's toStartOfInterval, days", 1 / 5, "", against("ClickHouse", ["1 day"])),
            ("against ClickHouse's toStartOfInterval, quarter hours", 1 / 4, "", against("ClickHouse", ["15 min"])),
            ("against Polars' convert_time_zone and truncate", 1 / 100, "", against("Polars", WIDTHS)),
            ("against pandas' tz_convert and floor", 1 / 100, "", against("pandas", WIDTHS)),
        ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--extension", type=pathlib.Path, required=True)
    parser.add_argument("--peers", action="store_true")
    options = arguments(parser)
    if options.peers:
        # Before Polars is imported: one thread, on one processor where that can be.
        os.environ["POLARS_MAX_THREADS"] = "1"
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    engine = importlib.metadata.version("duckdb")
    bench = Bench(options.rows, options.extension.resolve())
    goals = Peers(bench).goals if options.peers else of_engine(bench, int(engine.split(".")[0]))
    bench.measure(options.rounds, options.clock)
    packages = ("duckdb", "chdb-core", "polars", "pandas") if options.peers else ()
    results = {
        "engine": engine, "rows": options.rows, "rounds": options.rounds, "clock": options.clock, "machine": machine(),
        "goals": [dict(zip(("what", "at_most", "unit", "cases"), goal)) for goal in goals()], "costs": bench.costs,
        "versions": {package: importlib.metadata.version(package) for package in packages},
    }
    save(options.json, results)
    print(report.local_costs_table([results]), report.goals_table([results]), sep="\n\n")


if __name__ == "__main__":
    main()
