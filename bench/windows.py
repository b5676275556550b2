#!/usr/bin/env python3
"""Times windows against what people do without the extension, all in one process and one run.

    windows.py --extension FILE --json FILE [--threads N] [--rounds N] [--peers] [--jobs N]

Each round runs every contestant of a job once, in a new order. On one thread a figure is the median of the process's CPU seconds, so that
other programs on the machine count little; on more it is that of the clock. A goal is the largest ratio of ours to the best of the
others. --peers races Polars, pandas and ClickHouse as well, on as many threads.
"""
import argparse
import importlib.metadata
import json
import os
import pathlib
import sys

THREADS = sys.argv[sys.argv.index("--threads") + 1] if "--threads" in sys.argv else "1"
os.environ["POLARS_MAX_THREADS"] = THREADS
import duckdb  # noqa: E402

from harness import Case, interleave, machine, median, save  # noqa: E402

MACROS = pathlib.Path(__file__).resolve().parents[1] / "sql/macros"
OURS = "time_bucket"
HOUR = "INTERVAL '1 hour', INTERVAL '1 minute'"
BY_HAND = """SELECT sum(n), sum(s), max(mx), max(av) FROM (
  SELECT sum({n}) OVER w AS n, sum({sum}) OVER w AS s, max({max}) OVER w AS mx, sum({sum}) OVER w / sum({n}) OVER w AS av FROM {source}
  WINDOW w AS (PARTITION BY k ORDER BY pane_start RANGE BETWEEN INTERVAL '59 minutes' PRECEDING AND CURRENT ROW))"""
RAW = "(SELECT k, time_bucket(INTERVAL '1 minute', ts) AS pane_start, count(x) AS n, sum(x) AS sum, max(x) AS max FROM rows_ GROUP BY ALL)"

MINUTES = "SELECT k, time_bucket(INTERVAL '1 minute', ts) AS s, avg(x) AS a, avg(x) AS b FROM sparse GROUP BY ALL"
WEEK = "TIMESTAMP '2026-01-01'", "TIMESTAMP '2026-01-07 22:40:00'"  # 10,000 minutes
FILLED = "SELECT count(*), sum(a), sum(b) FROM "
FILLED_BY_HAND = f"""WITH means AS MATERIALIZED ({MINUTES}),
  grid AS (SELECT k, w FROM (SELECT DISTINCT k FROM means), (SELECT unnest(range({WEEK[0]}, {WEEK[1]}, INTERVAL '1 minute')) AS w))
SELECT count(*), sum(a), sum(b)
FROM (SELECT last_value(a IGNORE NULLS) OVER (PARTITION BY k ORDER BY w ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS a,
             fill(b) OVER (PARTITION BY k ORDER BY w) AS b
      FROM (SELECT grid.k, grid.w, a, b FROM grid LEFT JOIN means ON grid.k = means.k AND grid.w = means.s))"""
HOPPED = "SELECT count(*), sum(n), sum(a) FROM (SELECT k, window_start, count(x) AS n, avg(x) AS a FROM {} GROUP BY ALL)"
MINUTES_HOPPED = """WITH minutes AS (SELECT k, time_bucket(INTERVAL '1 minute', ts) AS s, count(x) AS n, sum(x) AS total FROM rows_ GROUP BY ALL)
SELECT count(*), sum(n), sum(a) FROM (SELECT k, window_start, sum(n) AS n, sum(total) / sum(n) AS a FROM {} GROUP BY ALL)"""
SESSIONS = "SELECT count(*), sum(n), sum(s) FROM ({})"
SESSIONS_BY_HAND = """SELECT k, min(ts) AS window_start, max(ts) AS last, count(*) AS n, sum(x) AS s
FROM (SELECT *, sum(is_new) OVER (PARTITION BY k ORDER BY ts ROWS UNBOUNDED PRECEDING) AS session
      FROM (SELECT *, CASE WHEN ts - lag(ts) OVER (PARTITION BY k ORDER BY ts) < INTERVAL '10 seconds' THEN 0 ELSE 1 END AS is_new FROM rows_))
GROUP BY k, session"""


def fill_in_pandas(con):
    import pandas
    frame = con.sql("FROM sparse").df()
    minutes = pandas.date_range("2026-01-01", periods=10000, freq="1min")

    def run():
        wide = frame.groupby([frame.ts.dt.floor("1min"), "k"]).x.mean().unstack().reindex(minutes)
        return wide.ffill().stack(future_stack=True), wide.interpolate(limit_area="inside").stack(future_stack=True)
    return run


def fill_in_polars(con):
    import polars
    frame = con.sql("FROM sparse").pl()
    minutes = con.sql(f"SELECT unnest(range({WEEK[0]}, {WEEK[1]}, INTERVAL '1 minute')) AS w").pl()

    def run():
        means = frame.group_by("k", polars.col("ts").dt.truncate("1m").alias("w")).agg(polars.col("x").mean())
        grid = frame.select("k").unique().join(minutes, how="cross").join(means, on=["k", "w"], how="left").sort("k", "w")
        return grid.with_columns(a=polars.col("x").forward_fill().over("k"), b=polars.col("x").interpolate().over("k"))
    return run


def fill_in_clickhouse(con):
    """Carried alone: WITH FILL has no line between neighbours."""
    session, file = clickhouse(con, "sparse")
    fill = "WITH FILL FROM toDateTime('2026-01-01 00:00:00', 'UTC') TO toDateTime('2026-01-07 22:40:00', 'UTC') STEP INTERVAL 1 MINUTE"
    sql = f"""SELECT count(), sum(a) FROM (
        SELECT k, s, a FROM (SELECT k, toStartOfInterval(ts, INTERVAL 1 minute) AS s, avg(x) AS a FROM {file} GROUP BY k, s)
        ORDER BY k, s {fill} INTERPOLATE (a AS a))"""
    return lambda: session.query(sql, "CSV")


def clickhouse(con, table):
    """A session of ClickHouse, and the table that holds the rows."""
    import chdb.session
    import tempfile
    session = chdb.session.Session()
    session.query(f"SET max_threads = {THREADS}")
    with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
        con.execute(f"COPY {table} TO '{file.name}' (FORMAT parquet)")
        session.query(f"CREATE TABLE {table} (ts DateTime64(6, 'UTC'), k Int64, x Float64) ENGINE = Memory")
        session.query(f"INSERT INTO {table} SELECT ts, k, x FROM file('{file.name}', Parquet)")
    return session, table


def stored_panes(con):
    """The panes as columns; q is the sum of squares, from which a variance is made."""
    return con.sql("SELECT k, pane_start, x.n AS n, x.sum AS sum, x.max AS max, x.m2 + x.sum ** 2 / x.n AS q FROM panes ORDER BY ALL")


def rolling_in_polars(with_variance):
    def contestant(con):
        import polars
        frame = stored_panes(con).pl()
        n, total, squares = (polars.col(name).sum() for name in ("n", "sum", "q"))
        what = [n, total, polars.col("max").max(), (total / n).alias("avg")]
        what += [((squares - total ** 2 / n) / (n - 1)).alias("var_samp")] if with_variance else []
        return lambda: frame.rolling("pane_start", period="1h", group_by="k").agg(what)
    return contestant


def rolling_by_in_polars(with_variance):
    def contestant(con):
        import polars
        frame = stored_panes(con).pl()
        names = ["n", "sum", "q"] if with_variance else ["n", "sum"]
        sums = [polars.col(name).rolling_sum_by("pane_start", window_size="1h").over("k").alias("w_" + name) for name in names]
        sums.append(polars.col("max").rolling_max_by("pane_start", window_size="1h").over("k").alias("w_max"))
        n, total, squares = (polars.col("w_" + name) for name in ("n", "sum", "q"))
        last = [(total / n).alias("avg")] + ([((squares - total ** 2 / n) / (n - 1)).alias("var_samp")] if with_variance else [])
        return lambda: frame.with_columns(sums).with_columns(last)
    return contestant


def rolling_in_pandas(con):
    frame = stored_panes(con).df().set_index("pane_start")

    def run():
        windows = frame.groupby("k").rolling("1h")
        sums, high = windows[["n", "sum", "q"]].sum(), windows["max"].max()
        return high, sums["sum"] / sums["n"], (sums["q"] - sums["sum"] ** 2 / sums["n"]) / (sums["n"] - 1)
    return run


def hop_in_polars(con):
    import polars
    frame = con.sql("FROM rows_ ORDER BY ts").pl()
    x = polars.col("x")
    return lambda: frame.group_by_dynamic("ts", every="1m", period="5m", group_by="k").agg(n=x.count(), a=x.mean())


def sessions_in_polars(con):
    import polars
    frame = con.sql("FROM rows_").pl()
    ts, is_new = polars.col("ts"), (polars.col("ts").diff().over("k") >= polars.duration(seconds=10)).fill_null(True)

    def run():
        marked = frame.sort("k", "ts").with_columns(session=is_new.cum_sum())
        return marked.group_by("k", "session").agg(start=ts.min(), last=ts.max(), n=polars.len(), s=polars.col("x").sum())
    return run


# Job, goal, and for each contestant a statement, or what makes one of its own.
JOBS = [
    ("1 M rows of 200 keys into 2 M buckets, gaps carried and interpolated", 1 / 3, {
        OURS: f"WITH means AS ({MINUTES}) {FILLED} gapfill('means', 's', INTERVAL '1 minute', ['k'], carry := ['a'], interpolate := ['b'], "
              f"since := {WEEK[0]}, until := {WEEK[1]})",
        "DuckDB fill()": FILLED_BY_HAND, "Polars": fill_in_polars, "pandas": fill_in_pandas, "ClickHouse": fill_in_clickhouse}),
    ("hop of 1 minute over 5, 3 M rows: count and avg by key", 0.35, {
        OURS: HOPPED.format("hop('rows_', 'ts', INTERVAL '1 minute', INTERVAL '5 minutes')"),
        "DuckDB by hand": HOPPED.format("(SELECT *, time_bucket(INTERVAL '1 minute', ts) - to_minutes(i) AS window_start FROM rows_, range(5) AS r(i))"),
        "Polars": hop_in_polars}),
    ("the same, grouped by minute first", None, {
        OURS: MINUTES_HOPPED.format("hop('minutes', 's', INTERVAL '1 minute', INTERVAL '5 minutes')"),
        "minutes by hand": MINUTES_HOPPED.format("(SELECT *, s - to_minutes(i) AS window_start FROM minutes, range(5) AS r(i))")}),
    ("grouping alone of the hop's 15 M rows, stored", None, {OURS: HOPPED.format("hopped")}),
    ("sessions of 3 M rows: count and sum of each", 0.7, {
        OURS: SESSIONS.format("SELECT k, window_start, count(*) AS n, sum(x) AS s FROM sessions('rows_', 'ts', INTERVAL '10 seconds', ['k']) "
                              "GROUP BY k, window_start"),
        "DuckDB by hand": SESSIONS.format(SESSIONS_BY_HAND), "Polars": sessions_in_polars}),
    ("1-hour windows each minute over 288,000 stored panes: n, sum, max, avg", 1 / 3, {
        OURS: f"SELECT sum(x.n), sum(x.sum), max(x.max), max(x.avg) FROM rolling_panes('panes', ['k'], {HOUR})",
        "DuckDB RANGE": BY_HAND.format(n="x.n", sum="x.sum", max="x.max", source="panes"),
        "Polars rolling": rolling_in_polars(False), "Polars rolling_*_by": rolling_by_in_polars(False)}),
    ("the same with var_samp", 1 / 5, {
        OURS: f"SELECT sum(x.n), sum(x.sum), max(x.max), max(x.var_samp) FROM rolling_panes('panes', ['k'], {HOUR})",
        "Polars rolling": rolling_in_polars(True), "Polars rolling_*_by": rolling_by_in_polars(True), "pandas": rolling_in_pandas}),
    ("panes and 1-hour windows from 3 M raw rows", 0.6, {
        OURS: "WITH fresh AS (FROM pane_rows('rows_', 'ts', ['x'], INTERVAL '1 minute', ['k'])) "
              f"SELECT sum(x.n), sum(x.sum), max(x.max), max(x.avg) FROM rolling_panes('fresh', ['k'], {HOUR})",
        "DuckDB RANGE": BY_HAND.format(n="n", sum="sum", max="max", source=RAW)}),
    ("one window of 5 minutes out of 432,000 panes, keys from a table", 2, {
        OURS: "SELECT sum(x.sum) FROM window_at('many', ['k'], INTERVAL '5 minutes', TIMESTAMP '2026-01-04 00:00:00', members := 'known')",
        "a filtered sum": "SELECT sum(s) FROM (SELECT k, sum(x.sum) AS s FROM many WHERE pane_start >= TIMESTAMP '2026-01-03 23:55:00' "
                          "AND pane_start < TIMESTAMP '2026-01-04 00:00:00' GROUP BY k)"}),
    ("a lookback of 30 days over 400,000 panes", 1.5, {
        OURS: "SELECT max(x.avg) FROM rolling_panes('long', ['k'], INTERVAL '30 days', INTERVAL '1 minute')",
        "a lookback of 1 hour": f"SELECT max(x.avg) FROM rolling_panes('long', ['k'], {HOUR})"}),
    ("50,000 keys of 4 panes", None, {
        OURS: "SELECT max(x.avg) FROM rolling_panes('short', ['k'], INTERVAL '2 minutes', INTERVAL '1 minute')"}),
]


def store(con, name, keys, minutes):
    con.execute(f"""CREATE TABLE {name} AS
        SELECT k, TIMESTAMP '2026-01-01' + to_minutes(m) AS pane_start, TIMESTAMP '2026-01-01' + to_minutes(m + 1) AS pane_end,
               {{'n': (10 + hash(k, m) % 5)::BIGINT, 'sum': (hash(m, k) % 1000) / 10.0::DOUBLE, 'residue': 0::DOUBLE, 'min': 1.0::DOUBLE,
                'max': (hash(m, k, 1) % 1000) / 10.0::DOUBLE, 'm2': 3.0::DOUBLE}} AS x
        FROM range({keys}) AS a(k), range({minutes}) AS b(m) ORDER BY pane_start, k""")


def tables(con):
    """What the jobs read."""
    for name, keys, minutes in (("panes", 100, 2880), ("many", 100, 4320), ("long", 10, 40000), ("short", 50000, 4)):
        store(con, name, keys, minutes)
    con.execute("CREATE TABLE known AS SELECT DISTINCT k FROM many")
    con.execute("CREATE TABLE rows_ AS SELECT TIMESTAMP '2026-01-01' + to_microseconds((hash(i) % 172800000000)::BIGINT) AS ts, i % 100 AS k, "
                "(hash(i, 1) % 10000) / 7.0::DOUBLE AS x FROM range(3000000) AS r(i)")
    con.execute("CREATE TABLE hopped AS SELECT k, x, window_start FROM hop('rows_', 'ts', INTERVAL '1 minute', INTERVAL '5 minutes')")
    con.execute("CREATE TABLE sparse AS SELECT TIMESTAMP '2026-01-01' + to_microseconds((hash(i, 2) % 600000000000)::BIGINT) AS ts, i % 200 AS k, "
                "(hash(i, 3) % 10000) / 7.0::DOUBLE AS x FROM range(1000000) AS r(i)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--extension", required=True)
    parser.add_argument("--json", type=pathlib.Path, required=True, metavar="FILE", help="where the results go")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--jobs", type=int, help="only so many of the first")
    options = parser.parse_args()
    con = duckdb.connect(config={"allow_unsigned_extensions": True, "threads": options.threads})
    con.execute(f"LOAD '{options.extension}'")
    for file in sorted(MACROS.glob("*.sql")):
        con.execute(file.read_text(encoding="utf-8"))
    tables(con)
    clock, jobs = ("cpu" if options.threads == 1 else "wall"), []
    for what, goal, contestants in JOBS[:options.jobs]:
        own = {name for name in contestants if not name.startswith(("Polars", "pandas", "ClickHouse"))}
        run = {name: statement(con) if callable(statement) else lambda sql=statement: con.execute(sql).fetchall()
               for name, statement in contestants.items() if options.peers or name in own}
        times = interleave({name: Case(go) for name, go in run.items()}, options.rounds, clock)
        jobs.append({"what": what, "at_most": goal, "ms": {name: median(seconds) * 1000 for name, seconds in times.items()}})
        print(json.dumps(jobs[-1]), file=sys.stderr)
    packages = ("polars", "pandas", "chdb-core") if options.peers else ()
    versions = {"duckdb": duckdb.__version__} | {name: importlib.metadata.version(name) for name in packages}
    save(options.json, {"engine": duckdb.__version__, "threads": options.threads, "clock": clock, "rounds": options.rounds, "jobs": jobs, "machine": machine(),
                        "versions": versions})


if __name__ == "__main__":
    main()
