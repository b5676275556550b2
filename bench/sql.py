#!/usr/bin/env python3
"""Times the functions in SQL on the engine of the Python that runs this, and says which goals are met.

    sql.py --extension BENCH_FILE --package RELEASED_FILE --json FILE [--rows N] [--rounds N] [--clock wall|cpu]

BENCH_FILE is built with the feature `identity`. One database has it loaded, another with the same rows has the engine
as it comes, since LOAD replaces the built-in time_bucket. Costs are marginal: what a query takes longer than one that
only scans the same columns, on one thread, nanoseconds a row.
"""
import argparse
import pathlib
import subprocess
import sys

import duckdb
import report
from harness import Case, arguments, interleave, machine, marginal, median, save

WIDTH = "INTERVAL '15 minutes'"
YEAR_US = 365 * 86_400_000_000
DENSE_US = 10 * 86_400_000_000

# Column: its type, and how it is made of `us`, microseconds since the epoch.
TYPES = {
    "s": ("TIMESTAMP_S", "make_timestamp(us)::TIMESTAMP_S"),
    "ms": ("TIMESTAMP_MS", "make_timestamp(us)::TIMESTAMP_MS"),
    "us": ("TIMESTAMP", "make_timestamp(us)"),
    "ns": ("TIMESTAMP_NS", "make_timestamp_ns(us * 1000 + us % 997)"),
    "tz": ("TIMESTAMPTZ", "make_timestamp(us)::TIMESTAMPTZ"),
    "tz_ns": ("TIMESTAMPTZ_NS", "make_timestamp_ns(us * 1000 + us % 997)::TIMESTAMPTZ_NS"),
}
OTHERS = {
    "us_null": "CASE WHEN hash(us) % 10 > 0 THEN make_timestamp(us) END",
    # The last row's width is NULL, or the engine would know that count(width) need not read the column.
    "equal": f"CASE WHEN i < {{rows}} - 1 THEN {WIDTH} END",
    "mixed": "CASE WHEN i < {rows} - 1 THEN to_minutes(5 * (1 + (hash(us) % 4)::INTEGER)) END",
    "v": "(us % 1000) / 7.0",
}
# Order of the rows: microseconds past 2024-01-01 of row i. A chunk of 2,048 dense rows mostly lies in one bucket.
ORDERS = {
    "random": f"(hash(i) % {YEAR_US})::BIGINT",
    "sorted": f"i * ({YEAR_US} // {{rows}})",
    "dense": f"i * ({DENSE_US} // {{rows}})",
}


def connect(extension: pathlib.Path | None = None) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    connection.execute("SET TimeZone = 'UTC'")
    if extension:
        connection.execute(f"LOAD '{extension}'")
    return connection


def has(connection, type_name: str) -> bool:
    try:
        connection.execute(f"SELECT NULL::{type_name}")
    except duckdb.Error:
        return False
    return True


def fill(connection, rows: int, types) -> None:
    columns = {name: make for name, (_, make) in TYPES.items() if name in types} | OTHERS
    for order, make in ORDERS.items():
        columns_sql = ", ".join(f"{make} AS {name}" for name, make in columns.items())
        connection.execute(
            f"CREATE TABLE {order} AS SELECT {columns_sql} FROM (SELECT i, 1704067200000000 + {make} AS us "
            f"FROM range({{rows}}) AS r(i))".replace("{rows}", str(rows))
        )


class Bench:
    """The cases of one engine, their times, and what they say."""

    def __init__(self, extension: pathlib.Path, rows: int, sink: str):
        self.rows = rows
        self.ours, self.plain = connect(extension), connect()
        self.types = [name for name, (type_name, _) in TYPES.items() if has(self.ours, type_name)]
        for connection in (self.ours, self.plain):
            fill(connection, rows, self.types)
        self.cases = {}
        for order in ORDERS:
            for name in self.types:
                scan = f"SELECT {sink}({name}) FROM {order}"
                call = f"SELECT {sink}({{}}({WIDTH}, {name})) FROM {order}"
                self.add(self.ours, f"{order} {name} scan", scan)
                self.add(self.plain, f"{order} {name} built-in scan", scan)
                self.add(self.ours, f"{order} {name} ours", call.format("time_bucket"))
                self.add(self.ours, f"{order} {name} end", call.format("time_bucket_end"))
                self.add(self.ours, f"{order} {name} identity", call.format("time_bucket_identity"))
                self.add(self.plain, f"{order} {name} built-in", call.format("time_bucket"))
            self.add(self.ours, f"{order} us_null scan", f"SELECT {sink}(us_null) FROM {order}")
            self.add(self.ours, f"{order} us_null ours", f"SELECT {sink}(time_bucket({WIDTH}, us_null)) FROM {order}")
            for width in ("equal", "mixed"):
                self.add(self.ours, f"{order} {width} scan", f"SELECT {sink}(us), count({width}) FROM {order}")
                call = f"SELECT {sink}(time_bucket({width}, us)), count({width}) FROM {order}"
                self.add(self.ours, f"{order} {width} ours", call)
            groups = (
                f"SELECT max(b), max(n), max(a) FROM (SELECT time_bucket({WIDTH}, us) AS b, count(*) AS n, avg(v) AS a "
                f"FROM {order} GROUP BY b)"
            )
            self.add(self.ours, f"{order} group scan", f"SELECT {sink}(us), {sink}(v) FROM {order}")
            self.add(self.plain, f"{order} group built-in scan", f"SELECT {sink}(us), {sink}(v) FROM {order}")
            self.add(self.ours, f"{order} group ours", groups)
            self.add(self.plain, f"{order} group built-in", groups)
            call = f"SELECT {sink}(time_bucket({WIDTH}, us)) FROM {order}"
            for threads in (1, 2):
                self.add(self.ours, f"{order} call on {threads}", call, threads)
                self.add(self.ours, f"{order} group on {threads}", groups, threads)

    def add(self, connection, name: str, query: str, threads: int | None = None) -> None:
        self.cases[name] = Case(
            run=lambda: connection.execute(query).fetchall(),
            before=lambda: connection.execute(f"SET threads = {threads or 1}"),
            clock="wall" if threads else None,  # processor time would not show what threads win
        )

    def measure(self, rounds: int, clock: str) -> None:
        self.times = interleave(self.cases, rounds, clock)

    def cost(self, order: str, what: str, which: str) -> float:
        """Nanoseconds a row over the scan of the same columns."""
        scan = f"{order} {what} {'built-in ' if which == 'built-in' else ''}scan"
        return marginal(self.times[f"{order} {what} {which}"], self.times[scan]) / self.rows * 1e9

    def whole(self, name: str) -> float:
        """Nanoseconds a row of a whole query."""
        return median(self.times[name]) / self.rows * 1e9

    def costs(self) -> list[dict[str, object]]:
        return [
            {"order": order, "type": TYPES[name][0], "scan": self.whole(f"{order} {name} scan")}
            | {which: self.cost(order, name, which) for which in ("ours", "end", "identity", "built-in")}
            for order in ORDERS
            for name in self.types
        ]

    def ratios(self, built_in_goal: float) -> list[tuple[str, float, dict[str, float]]]:
        """What is compared, at most what it may be, and what it is in each case."""
        race = {(order, name): order for order in ORDERS for name in self.types}

        def against(which, other, orders):
            return {
                f"{TYPES[name][0]} {order}": self.cost(order, name, which) / self.cost(order, name, other)
                for order, name in race
                if order in orders
            }

        def over_us(what, which="ours"):
            return {f"{what} {order}": self.cost(order, what, which) / self.cost(order, "us", "ours") for order in ORDERS}

        types = [over_us(name) for name in self.types if name != "us"]
        groups = {order: (f"{order} group ours", f"{order} group built-in") for order in ORDERS}
        threads = {f"{what} {order}": f"{order} {what} on " for what in ("call", "group") for order in ORDERS}
        return [
            ("the function against the built-in", built_in_goal, against("ours", "built-in", ORDERS)),
            ("against the identity function, sorted input", 1.2, against("ours", "identity", ("sorted", "dense"))),
            ("against the identity function, random input", 1.5, against("ours", "identity", ("random",))),
            ("time_bucket_end against time_bucket", 1.1, against("end", "ours", ORDERS)),
            ("any type against TIMESTAMP", 1.1, {key: ratio for found in types for key, ratio in found.items()}),
            ("10 % NULLs against none", 1.1, over_us("us_null")),
            ("a width a row against a constant one, all equal", 2.5, over_us("equal")),
            ("a width a row against a constant one, mixed", 3, over_us("mixed")),
            (
                "GROUP BY bucket with count and avg against the built-in, whole query",
                0.6,
                {order: self.whole(ours) / self.whole(built_in) for order, (ours, built_in) in groups.items()},
            ),
            (
                "GROUP BY bucket with count and avg against the built-in, over the scan",
                0.6,
                {order: self.cost(order, "group", "ours") / self.cost(order, "group", "built-in") for order in ORDERS},
            ),
            (
                "two threads against one, whole query",
                0.55,
                {key: self.whole(name + "2") / self.whole(name + "1") for key, name in threads.items()},
            ),
        ]


def load_ms(package: pathlib.Path, times: int) -> list[float]:
    """LOAD into a new database of a new process."""
    code = (
        "import duckdb, sys, time; c = duckdb.connect(config={'allow_unsigned_extensions': 'true'}); "
        "t = time.perf_counter(); c.execute(f\"LOAD '{sys.argv[1]}'\"); print((time.perf_counter() - t) * 1e3)"
    )
    command = [sys.executable, "-c", code, str(package)]
    runs = (subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(times))
    return [float(run.stdout) for run in runs]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--extension", type=pathlib.Path, required=True, help="built with the feature identity")
    parser.add_argument("--package", type=pathlib.Path, required=True, help="the file to release")
    parser.add_argument(
        "--sink", choices=("min", "max"), default="min",
        help="what consumes the column; the max of 1.5.6 costs 0.4 ns a row more when values repeat, as buckets do",
    )
    options = arguments(parser)

    bench = Bench(options.extension.resolve(), options.rows, options.sink)
    bench.measure(options.rounds, options.clock)
    engine = duckdb.__version__
    goals = [
        {"what": what, "at_most": goal, "unit": "", "cases": cases}
        for what, goal, cases in bench.ratios(1 / 10 if engine.startswith("1.") else 1 / 8)
    ]
    load = median(load_ms(options.package.resolve(), options.rounds))
    goals.append({"what": "LOAD", "at_most": 20, "unit": "ms", "cases": {"": load}})
    size = options.package.stat().st_size / 2**20
    goals.append({"what": "packaged file", "at_most": 1, "unit": "MiB", "cases": {"": size}})
    results = {
        "engine": engine, "rows": options.rows, "rounds": options.rounds, "clock": options.clock, "sink": options.sink,
        "machine": machine(), "goals": goals, "costs": bench.costs(),
        "groups": [
            {"order": order, "ours": bench.whole(f"{order} group ours"), "built-in": bench.whole(f"{order} group built-in")}
            for order in ORDERS
        ],
    }
    save(options.json, results)
    print(f"DuckDB {engine}, {options.rows:,} rows, median of {options.rounds}\n")
    print(report.costs_table(results), report.goals_table([results]), sep="\n\n")


if __name__ == "__main__":
    main()
