#!/usr/bin/env python3
"""The same rows through other programs' time buckets, where semantics meet: fixed widths on the epoch grid.

    build/peers/bin/python test/peers/compare.py --extension FILE [--write]

Each row's answer is compared with Python's integers. Ours has to agree in all; every other difference has to fall
under one of the rules below, or it is an error. --write puts the table, with the smallest input of each difference
that was seen, into docs/compatibility.md; without it the table there is checked. Spark needs Java 17.
"""

import argparse
import random
import sys
import warnings

import datafusion
import document
import duckdb
import ladybug
import pandas
import polars
import pyarrow as pa
import pyspark

warnings.filterwarnings("ignore")
BEGIN, END = "<!-- written by make peers -->\n", "<!-- end -->\n"
INT64 = 2**63
US = {"us": 1, "ns": 1000}
# Widths in microseconds, each fixed.
WIDTHS = [1, 7, 1000, 10**6, 7 * 10**6, 60 * 10**6, 420 * 10**6, 3600 * 10**6, 5 * 3600 * 10**6, 86_400 * 10**6, 7 * 86_400 * 10**6,
          30 * 86_400 * 10**6, 365 * 86_400 * 10**6]
LOW, HIGH = {"us": -9_223_372_022_400_000_000, "ns": -INT64}, INT64 - 2


def rows(unit, far):
    """Ticks near 1970 to 2100, or at the ends of the range."""
    rng, scale = random.Random(unit + str(far)), US[unit]
    if far:
        return [LOW[unit] + d for d in (2, 10**9)] + [HIGH - d for d in (10**9, 0)] + [s * 400 * 365 * 86_400 * 10**6 for s in (-30, -6, 30)][: 3 if unit == "us" else 0]
    seconds = [0, 86_400, 951_782_400, 1_709_164_800, 1_711_846_800, 1_730_613_600, 4_107_456_000, -2_203_977_600, -86_400 * 365 * 30]
    ticks = [s * 10**6 * scale + d for s in seconds for d in (-1, 0, 1)]
    ticks += [rng.randint(-2 * 10**15, 4 * 10**15) * scale + rng.randrange(scale) for _ in range(2000)]
    return ticks


def expected(unit, width, tick):
    start = tick - tick % (width * US[unit])
    return start if LOW[unit] <= start <= HIGH and start != -INT64 + 1 else "out of range"


def array(unit, ticks):
    return pa.array(ticks, pa.int64()).view(pa.timestamp(unit))


class DuckDB:
    def __init__(self, extension=None):
        self.connection = duckdb.connect(config={"allow_unsigned_extensions": True})
        self.extension = extension
        if extension:
            self.connection.execute(f"LOAD '{extension}'")

    def __call__(self, unit, width, ticks):
        t = pa.table({"ts": array(unit, ticks)})
        # The built-in is given the epoch, as its own origin is another one.
        origin = "" if self.extension else ", TIMESTAMP '1970-01-01'"
        result = self.connection.sql(f"SELECT time_bucket(to_microseconds({width}), ts{origin}) AS b FROM t").to_arrow_table()
        column = result["b"].combine_chunks()
        return scaled(column.view(pa.int64()).to_pylist(), column.type.unit, unit)


def scaled(values, of, to):
    factor = US[to] // US[of] if of in US and US[to] >= US[of] else 1
    return [None if value is None else value * factor for value in values]


class Ladybug:
    def __init__(self):
        self.connection = ladybug.Connection(ladybug.Database(":memory:"))

    def __call__(self, unit, width, ticks):
        t = pa.table({"ts": array(unit, ticks)})
        bucket = f"time_bucket(interval('{width} microseconds'), ts)"
        result = self.connection.execute(f"LOAD FROM t RETURN cast({bucket} as timestamp) - timestamp('1970-01-01')")
        values = []
        while result.has_next():
            (value,) = result.get_next()
            values.append((value.days * 86_400 + value.seconds) * 10**6 + value.microseconds)
        return scaled(values, "us", unit)


class DataFusion:
    def __init__(self):
        self.session = datafusion.SessionContext()

    def __call__(self, unit, width, ticks):
        self.session.deregister_table("t")
        self.session.register_record_batches("t", [[pa.record_batch({"ts": array(unit, ticks)})]])
        sql = f"SELECT date_bin(INTERVAL '{width} microseconds', ts, TIMESTAMP '1970-01-01') AS b FROM t"
        values = []
        for batch in self.session.sql(sql).collect():
            values += scaled(batch["b"].view(pa.int64()).to_pylist(), batch["b"].type.unit, unit)
        return values


class Polars:
    def __call__(self, unit, width, ticks):
        series = polars.Series(ticks, dtype=polars.Int64).cast(polars.Datetime(unit))
        return series.dt.truncate(f"{width}us").to_physical().to_list()


class Pandas:
    def __call__(self, unit, width, ticks):
        series = pandas.Series(array(unit, ticks).to_numpy(zero_copy_only=False))
        return series.dt.floor(f"{width}us").astype("int64").tolist()


class Spark:
    session = None

    def __init__(self, function):
        self.function = function
        if Spark.session is None:
            Spark.session = (
                pyspark.sql.SparkSession.builder.master("local[1]")
                .config("spark.ui.enabled", "false").config("spark.sql.session.timeZone", "UTC").config("spark.driver.host", "127.0.0.1")
                .config("spark.sql.shuffle.partitions", "1").config("spark.log.level", "OFF").getOrCreate()
            )

    def __call__(self, unit, width, ticks):
        if unit != "us":
            raise NotImplementedError("microseconds only")
        days, rest = divmod(width, 86_400 * 10**6)
        Spark.session.createDataFrame([(i, t) for i, t in enumerate(ticks)], "i long, x long").createOrReplaceTempView("t")
        text = f"{days} days {rest} microseconds"
        if self.function == "window":
            sql = f"SELECT i, unix_micros(window(timestamp_micros(x), '{text}').start) AS b FROM t"
        else:
            sql = f"SELECT i, unix_micros(time_bucket(INTERVAL '{text}', timestamp_micros(x))) AS b FROM t"
        found = {row.i: row.b for row in Spark.session.sql(sql).collect()}
        return [found.get(i, "no row") for i in range(len(ticks))]


WHOLE = "Theirs: its timestamps use all of int64, so the bucket's start is a value for it. DuckDB's range ends at {low} µs."
# Peer, unit, whether the right answer exists, what came instead (None: any): why. What no rule explains is an error.
RULES = [
    ("DuckDB", "ns", True, "a value", "Theirs: it casts to microseconds, which rounds on 2.0.1 (and truncates on 1.5.6), and gives a TIMESTAMP. Ours keeps nanoseconds."),
    ("DuckDB", "ns", False, "a value", "Theirs: in microseconds the start exists. As a TIMESTAMP_NS, which ours returns, it does not."),
    ("DuckDB", "us", False, "a value", "Theirs: it does not check its result, which lies below the smallest TIMESTAMP. Ours is an error."),
    ("LadybugDB", "us", False, "a value", WHOLE),
    ("DataFusion", "us", True, "NULL", "Theirs: it computes in nanoseconds, and gives NULL before 1677 and after 2262. Ours computes in the type's own ticks."),
    ("DataFusion", None, False, "NULL", "Both refuse; it gives NULL, ours an error, which `TRY(…)` makes NULL."),
    ("Polars", "us", False, "a value", WHOLE),
    ("Polars", "ns", False, "a value", "Theirs: the subtraction wraps around, so the start lies after the timestamp. Ours is an error."),
    ("Polars", "us", False, "a wrapped value", "Theirs: the subtraction wraps around. Ours is an error."),
    ("pandas", "us", False, "a value", WHOLE),
    ("Spark", "ns", None, "an error", "It has no nanoseconds."),
    ("Spark", "us", False, "a value", WHOLE),
    ("Spark", "us", True, "an error", "Theirs: it computes the bucket's end too, which overflows. Ours only computes the edge that is asked for."),
]


def answer(got):
    if isinstance(got, Exception):
        return "an error"
    return {None: "NULL", "no row": "no row"}.get(got, "a value")


def compare(peer):
    """How many answers are right, and each kind of difference: (number, smallest width and tick, theirs, the right one)."""
    same, kinds = 0, {}
    for unit, width in ((unit, width) for unit in US for width in WIDTHS):
        # Values near the range's ends one by one, as some of them are errors.
        for ticks in (rows(unit, False), *([tick] for tick in rows(unit, True))):
            try:
                answers = peer(unit, width, ticks)
            except Exception as problem:
                answers = [problem] * len(ticks)
            assert len(answers) == len(ticks)
            for tick, got in zip(ticks, answers):
                right = expected(unit, width, tick)
                if got == right or isinstance(got, Exception) and right == "out of range":
                    same += 1
                    continue
                key = (unit, right != "out of range", answer(got))
                number, *best = kinds.get(key, (0, (INT64, 0), None, None))
                if (abs(tick), width) < (abs(best[0][0]), best[0][1]):
                    best = [(tick, width), got, right]
                kinds[key] = (number + 1, *best)
    return same, kinds


def explained(name, unit, exists, what):
    for peer, of, there, got, why in RULES:
        if name.startswith(peer) and of in (unit, None) and there in (exists, None) and got == what:
            return why.format(low=f"{LOW['us']:,}")
    return None


def call(unit, width, tick):
    maker = {"us": "make_timestamp", "ns": "make_timestamp_ns"}[unit]
    return f"`time_bucket(to_microseconds({width}), {maker}({tick}))`"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--extension", required=True)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    peers = {
        "This extension": DuckDB(arguments.extension),
        f"DuckDB {duckdb.__version__}, built-in, origin 1970-01-01": DuckDB(),
        f"LadybugDB {ladybug.__version__} time_bucket": Ladybug(),
        f"DataFusion {datafusion.__version__} date_bin": DataFusion(),
        f"Polars {polars.__version__} truncate": Polars(),
        f"pandas {pandas.__version__} floor": Pandas(),
        f"Spark {pyspark.__version__} window": Spark("window"),
        f"Spark {pyspark.__version__} time_bucket": Spark("time_bucket"),
    }
    summary = "| program | answers that agree with exact integers | that differ |\n|---|---|---|\n"
    table = "| program | example | theirs | ours | why |\n|---|---|---|---|---|\n"
    failed = False
    for name, peer in peers.items():
        same, kinds = compare(peer)
        summary += f"| {name} | {same:,} | {sum(kind[0] for kind in kinds.values()):,} |\n"
        for (unit, exists, what), (number, (tick, width), got, right) in sorted(kinds.items()):
            why = None if peer is peers["This extension"] else explained(name, unit, exists, what)
            if why is None:
                failed = True
                print(f"compare: {name}: not explained, {number:,} times: {call(unit, width, tick)} {got} {right}", file=sys.stderr)
            theirs = got if what == "a value" else what
            table += f"| {name} | {call(unit, width, tick)} | {theirs} | {right} | {why} |\n"
    if failed:
        sys.exit(1)
    text = f"{summary}\nTicks of the timestamp's type; each difference with the smallest input that shows it.\n\n{table}"
    document.keep(BEGIN, END, text, arguments.write)
    print(summary, end="")


if __name__ == "__main__":
    main()
