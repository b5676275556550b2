#!/usr/bin/env python3
"""Times windows against what people do without the extension, in one process and one run: a Markdown table of ratios.

    windows.py --extension FILE [--rounds N] [--peers]

Each job is run by its contestants in turn; its time is the least of the process's CPU seconds over the rounds, on one thread, so that
other programs on the machine count little. A goal is the largest ratio of ours to the best of the others. --peers races Polars as well.
"""
import argparse
import os
import pathlib
import time

os.environ["POLARS_MAX_THREADS"] = "1"
import duckdb  # noqa: E402

MACROS = pathlib.Path(__file__).resolve().parents[1] / "sql/macros"
OURS = "time_bucket"
HOUR = "INTERVAL '1 hour', INTERVAL '1 minute'"
BY_HAND = """SELECT sum(n), sum(s), max(mx), max(av) FROM (
  SELECT sum({n}) OVER w AS n, sum({sum}) OVER w AS s, max({max}) OVER w AS mx, sum({sum}) OVER w / sum({n}) OVER w AS av FROM {source}
  WINDOW w AS (PARTITION BY k ORDER BY pane_start RANGE BETWEEN INTERVAL '59 minutes' PRECEDING AND CURRENT ROW))"""
RAW = "(SELECT k, time_bucket(INTERVAL '1 minute', ts) AS pane_start, count(x) AS n, sum(x) AS sum, max(x) AS max FROM rows_ GROUP BY ALL)"

# Job, goal, and a statement for each contestant.
JOBS = [
    ("1-hour windows each minute over 288,000 stored panes: n, sum, max, avg", 1 / 3, {
        OURS: f"SELECT sum(x.n), sum(x.sum), max(x.max), max(x.avg) FROM rolling_panes('panes', ['k'], {HOUR})",
        "DuckDB RANGE": BY_HAND.format(n="x.n", sum="x.sum", max="x.max", source="panes"), "Polars": "rolling"}),
    ("the same with var_samp", 1 / 5, {
        OURS: f"SELECT sum(x.n), sum(x.sum), max(x.max), max(x.var_samp) FROM rolling_panes('panes', ['k'], {HOUR})"} | {"Polars": "rolling"}),
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--extension", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peers", action="store_true")
    options = parser.parse_args()
    con = duckdb.connect(config={"allow_unsigned_extensions": True, "threads": 1})
    con.execute(f"LOAD '{options.extension}'")
    for file in sorted(MACROS.glob("*.sql")):
        con.execute(file.read_text(encoding="utf-8"))
    for name, keys, minutes in (("panes", 100, 2880), ("many", 100, 4320), ("long", 10, 40000), ("short", 50000, 4)):
        store(con, name, keys, minutes)
    con.execute("CREATE TABLE known AS SELECT DISTINCT k FROM many")
    con.execute("CREATE TABLE rows_ AS SELECT TIMESTAMP '2026-01-01' + to_microseconds((hash(i) % 172800000000)::BIGINT) AS ts, i % 100 AS k, "
                "(hash(i, 1) % 10000) / 7.0::DOUBLE AS x FROM range(3000000) AS r(i)")

    def contestant(statement):
        if statement != "rolling":
            return lambda: con.execute(statement).fetchall()
        import polars
        frame = con.sql("SELECT k, pane_start, x.n AS n, x.sum AS sum, x.max AS max FROM panes ORDER BY ALL").pl()
        n, total = polars.col("n").sum(), polars.col("sum").sum()
        what = [n, total, polars.col("max").max(), (total / n).alias("avg")]
        return lambda: frame.rolling("pane_start", period="1h", group_by="k").agg(what)

    print(f"| DuckDB {duckdb.__version__} | ms | against | ms | ratio | goal |\n|---|---|---|---|---|---|")
    for job, goal, contestants in JOBS:
        run = {name: contestant(statement) for name, statement in contestants.items() if options.peers or name != "Polars"}
        best = dict.fromkeys(run, float("inf"))
        for _ in range(options.rounds):
            for name, go in run.items():
                begin = time.process_time()
                go()
                best[name] = min(best[name], time.process_time() - begin)
        ours = best.pop(OURS)
        rival = min(best, key=best.get, default=None)
        against = f"{rival} | {best[rival] * 1000:.1f} | {ours / best[rival]:.2f}" if rival else " | | "
        print(f"| {job} | {ours * 1000:.1f} | {against} | {f'{goal:.2f}' if goal else ''} |", flush=True)


if __name__ == "__main__":
    main()
