#!/usr/bin/env python3
"""Builds whole queries at random and compares each with the same query in which the function is integer arithmetic.

    build/engine-2.0.1/bin/python test/fuzz_sql.py --extension FILE [--seed N] [--seconds N]

A query is a table or nested query, calls of the function nested in each other and in other expressions, and a place: plain
SELECT, GROUP BY, HAVING, ORDER BY, join, window, filter, CASE, lateral subquery, UNION, CTE, view, macro, prepared
statement, generated column, index, list lambda, CTAS. Its twin has HUGEINT arithmetic in the function's place, which the
engine computes by itself. Both run, and their rows or their being errors have to agree; errors may only be those
of range. A difference prints the seed and both queries.
"""

import argparse
import random
import sys
import time

import duckdb

SETUP = """
CREATE OR REPLACE TABLE t AS
SELECT i, i % 7 AS g, CASE WHEN i % 11 <> 3 THEN make_timestamp((hash(i) % 4000000000)::BIGINT * 1000003 - 2000000000000000) END AS ts,
       to_seconds((1 + i % 5) * 60) AS w, to_days((i % 3)::INTEGER) + to_seconds(i % 100 - 50) AS o,
       make_timestamp((i % 13 - 6) * 86400000000) AS org
FROM range({rows}) r(i);
CREATE OR REPLACE TABLE u AS SELECT DISTINCT time_bucket(INTERVAL '1 hour', ts) AS b, g AS k FROM t WHERE i % 3 = 0;
"""
# The function's own arithmetic, in the engine's: x - floor_mod(x - a, w), over microseconds as HUGEINT.
MICROS = "(datepart('day', {w})::HUGEINT * 86400000000 + epoch_us({w} - to_days(datepart('day', {w})::INTEGER)))"


def written_out(width, ts, third, end):
    w = MICROS.format(w=width)
    if third is None:
        a = "0"
    elif third[0] == "offset":
        a = MICROS.format(w=third[1])
    else:
        a = f"epoch_us({third[1]})::HUGEINT"
    x = f"epoch_us({ts})::HUGEINT"
    start = f"({x} - ((({x} - {a}) % {w}) + {w}) % {w})"
    return f"make_timestamp(({start}{' + ' + w if end else ''})::BIGINT)"


class Query:
    """Text with holes for calls, which is filled in both ways."""

    def __init__(self, seed):
        self.r = random.Random(seed)

    def width(self):
        r = self.r
        return r.choice([
            lambda: f"INTERVAL '{r.randint(1, 90)} {r.choice(['seconds', 'minutes', 'hours', 'days', 'microseconds', 'weeks'])}'",
            lambda: f"INTERVAL {r.randint(1, 60)} MINUTE",
            lambda: "w",
            lambda: f"(INTERVAL '1 day' - INTERVAL '{r.randint(1, 23)} hours')",
            lambda: f"to_seconds({r.randint(1, 100000)})",
            lambda: "(w * 2)",
            lambda: f"(CASE WHEN g < 3 THEN INTERVAL '{r.randint(1, 9)} hours' ELSE w END)",
        ])()

    def third(self):
        r = self.r
        return r.choice([
            None, None,
            ("offset", f"INTERVAL '{r.randint(-9, 9)} hours {r.randint(0, 59)} minutes'"), ("offset", "o"),
            ("origin", f"TIMESTAMP '{r.randint(1900, 2100)}-0{r.randint(1, 9)}-1{r.randint(0, 9)} 0{r.randint(0, 9)}:30:00'"),
            ("origin", "org"),
        ])

    def call(self, depth=0):
        """(with the function, written out)"""
        r = self.r
        ts = r.choice(["ts", "ts", "ts", "coalesce(ts, org)", f"(ts + INTERVAL '{r.randint(-50, 50)} seconds')", "greatest(ts, org)"])
        ts = (ts, ts)
        if depth < 2 and r.random() < 0.3:
            ts = self.call(depth + 1)
        width, third, end = self.width(), self.third(), r.random() < 0.4
        name = "time_bucket_end" if end else r.choice(["time_bucket", "time_bucket", "time_bucket_start"])
        more = "" if third is None else f", {third[1]}"
        # DuckDB 1.5.6 takes intervals that compare equal for one another; fixed ones then mean the same to both.
        return f"{name}({width}, {ts[0]}{more})", written_out(width, ts[1], third, end)

    def value(self):
        """An expression around calls."""
        call = self.call()
        wrap = self.r.choice([
            "{}", "{}", "{} + INTERVAL 1 HOUR", "epoch_us({})", "{} = ts", "date_trunc('day', {})", "coalesce({}, org)",
            "CASE WHEN g > 2 THEN {} ELSE org END", "strftime({}, '%Y-%m-%d %H:%M')", "{}::DATE", "TRY({})", "{} IS NULL",
            "[{}][1]", "struct_pack(a := {}).a", "list_transform([ts, org], lambda x: greatest(x, {}))::VARCHAR",
        ])
        return tuple("(" + wrap.format(text) + ")" for text in call)

    def both(self, template, *pairs):
        """The template filled with each half of the pairs."""
        return tuple(template.format(*(pair[half] for pair in pairs)) for half in (0, 1))

    def source(self):
        r = self.r
        return r.choice([
            "t", "t", f"(FROM t WHERE i % {r.randint(1, 9)} = 0)", f"(FROM t LIMIT {r.randint(0, 5000)})", "(FROM t ORDER BY hash(i))",
            "(FROM t WHERE false)", "(SELECT t.* FROM t JOIN (SELECT DISTINCT k AS g FROM u) USING (g))", "(FROM t UNION ALL FROM t)",
            "(SELECT t.* FROM t, range(3))", "(SELECT * REPLACE (org AS ts) FROM t)", "(FROM t WHERE ts IS NULL)",
            "(SELECT unnest(list(t), recursive := true) FROM t)",
        ])

    def build(self):
        """Two lists of statements; the last of each gives the rows."""
        r, s = self.r, self.source()
        v, x, c = self.value(), self.value(), self.call()
        shape = r.choice([
            "plain", "group", "having", "order", "join", "window", "range", "filter", "case", "lateral", "union", "cte", "view", "macro",
            "prepared", "generated", "index", "lambda", "ctas", "aggregate", "distinct", "asof", "pivot", "correlated", "qualify",
        ])
        b = self.both
        if shape == "plain":
            return b(f"SELECT i, {{}} AS a, {{}} AS b FROM {s}", v, x)
        if shape == "group":
            return b(f"SELECT {{}} AS a, count(*), sum(i), min(ts) FROM {s} GROUP BY {r.choice(['a', 'ALL', '1', 'ROLLUP (a)'])}", v)
        if shape == "having":
            return b(f"SELECT g, count(*) FROM {s} GROUP BY g HAVING max({{}}) > TIMESTAMP '1980-01-01'", c)
        if shape == "order":
            return b(f"SELECT list(i ORDER BY {{}} DESC NULLS LAST, i)::VARCHAR, first(g ORDER BY {{}}, i) FROM {s}", v, c)
        if shape == "join":
            kind = r.choice(["", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI"])
            columns = "a.i" if kind in ("SEMI", "ANTI") else "a.i, k"
            return b(f"SELECT {columns} FROM {s} a {kind} JOIN u ON u.b = {{}}{r.choice(['', ' AND g = k'])}", c)
        if shape == "window":
            return b(f"SELECT i, count(*) OVER (PARTITION BY {{}}), max({{}}) OVER (ORDER BY i), rank() OVER (PARTITION BY g ORDER BY {{}}) FROM {s} WHERE i < 2100", v, c, c)
        if shape == "range":
            return b(f"SELECT i, sum(g) OVER (ORDER BY {{}} RANGE BETWEEN INTERVAL 1 HOUR PRECEDING AND CURRENT ROW) FROM {s} WHERE i < 1500", c)
        if shape == "filter":
            return b(f"SELECT i FROM {s} WHERE {{}} {r.choice(['<', '>=', '=', 'IS DISTINCT FROM'])} {{}} AND {{}} IS NOT NULL", c, self.call(), v)
        if shape == "case":
            return b(f"SELECT i, CASE WHEN i % 3 = 0 THEN {{}} WHEN i % 3 = 1 THEN {{}} END FROM {s}", c, self.call())
        if shape == "lateral":
            return b(f"SELECT i, z FROM {s} a, LATERAL (SELECT {{}} AS z) WHERE i < 2000", c)
        if shape == "union":
            return b(f"SELECT {{}}::VARCHAR FROM {s} {r.choice(['UNION', 'UNION ALL', 'EXCEPT', 'INTERSECT'])} SELECT {{}}::VARCHAR FROM t", v, x)
        if shape == "cte":
            return b(f"WITH c AS {r.choice(['', 'MATERIALIZED '])}(SELECT *, {{}} AS z FROM {s}) SELECT z, count(*), sum(a.i) FROM c a GROUP BY z", v)
        if shape == "view":
            return b(f"CREATE OR REPLACE TEMP VIEW vw AS SELECT i, g, {{}} AS z FROM {s}; SELECT z, g, count(*) FROM vw GROUP BY ALL", v)
        if shape == "macro":
            return b(f"CREATE OR REPLACE TEMP MACRO mc(ts, w, o, org, g) AS {{}}; SELECT i, mc(ts, w, o, org, g) FROM {s}", c)
        if shape == "prepared":
            n = r.randint(1, 500)
            literal = f"INTERVAL '{n} minutes'"
            return (f"PREPARE p AS SELECT i, time_bucket($1::INTERVAL, ts), time_bucket_end(to_minutes($2), ts, org) FROM {s}; EXECUTE p('{n} minutes', {n})",
                    f"SELECT i, {written_out(literal, 'ts', None, False)}, {written_out(literal, 'ts', ('origin', 'org'), True)} FROM {s}")
        if shape == "generated":
            return b(f"CREATE OR REPLACE TEMP TABLE gt (i BIGINT, g BIGINT, ts TIMESTAMP, w INTERVAL, o INTERVAL, org TIMESTAMP, z TIMESTAMP AS ({{}})); INSERT INTO gt SELECT * FROM {s}; SELECT i, z FROM gt", c)
        if shape == "index":
            pair = (f"time_bucket(INTERVAL '1 hour', ts)", written_out("INTERVAL '1 hour'", "ts", None, False))
            return b(f"CREATE OR REPLACE TEMP TABLE it AS FROM {s}; CREATE INDEX ii ON it (time_bucket(INTERVAL '1 hour', ts)); DELETE FROM it WHERE i % 5 = 0; SELECT i FROM it WHERE {{}} = TIMESTAMP '1975-01-01 05:00:00' OR i % 7 = 0", pair)
        if shape == "lambda":
            return b(f"SELECT i, list_transform([org, ts, NULL], lambda ts: {{}}), list_filter([ts, org], lambda ts: {{}} < ts) FROM {s} WHERE i < 2500", c, self.call())
        if shape == "ctas":
            return b(f"CREATE OR REPLACE TEMP TABLE ct AS SELECT i, {{}} AS z FROM {s}; UPDATE ct SET i = -i WHERE i % 2 = 0; SELECT * FROM ct", v)
        if shape == "aggregate":
            return b(f"SELECT count(DISTINCT {{}}), min({{}}), max({{}}), arg_max(i, ({{}}, i)), count(*) FILTER ({{}} < ts) FROM {s}", v, c, c, c, c)
        if shape == "distinct":
            return b(f"SELECT DISTINCT ON (z) z, g FROM (SELECT {{}} AS z, min(g) AS g FROM {s} GROUP BY z)", v)
        if shape == "asof":
            return b(f"SELECT a.i, q.z FROM t a ASOF JOIN (SELECT DISTINCT {{}} AS z FROM {s} WHERE ts IS NOT NULL) q ON a.ts >= q.z WHERE a.i < 2000", c)
        if shape == "pivot":
            return b(f"SELECT * FROM (PIVOT (SELECT {{}}::VARCHAR AS z, g, i FROM {s}) ON g IN (0, 1, 2) USING sum(i) GROUP BY z)", c)
        if shape == "correlated":
            return b(f"SELECT i, (SELECT count(*) FROM u WHERE u.b <= {{}}) FROM (SELECT * FROM {s} WHERE i < 200) a", c)
        return b(f"SELECT i, {{}} AS z FROM {s} QUALIFY row_number() OVER (PARTITION BY z ORDER BY i) = 1", c)


def outcome(connection, text):
    try:
        rows = connection.execute(text).fetchall()
        return sorted(map(repr, rows)), None
    except (duckdb.OutOfRangeException, duckdb.ConversionException, duckdb.InvalidInputException, duckdb.InternalException) as error:
        return None, error


def connect(arguments):
    connection = duckdb.connect(config={"allow_unsigned_extensions": True, "threads": 2})
    connection.execute(f"LOAD '{arguments.extension}'")
    connection.execute(SETUP.format(rows=arguments.rows))
    return connection


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--extension", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rows", type=int, default=3000)
    arguments = parser.parse_args()
    connection = connect(arguments)
    stop, seed, errors, faults = time.monotonic() + arguments.seconds, arguments.seed, 0, 0
    while time.monotonic() < stop:
        ours, twin = Query(seed).build()
        try:
            rows, error = outcome(connection, ours)
            if isinstance(error, duckdb.InternalException):
                connection = connect(arguments)  # the engine has given the other one up
            wanted, wanted_error = outcome(connection, twin)
            if isinstance(wanted_error, duckdb.InternalException):
                connection = connect(arguments)
            # DuckDB 1.5.6 has faults of its own, such as TRY in GROUP BY over UNION ALL; both have to meet them.
            if isinstance(error, duckdb.InternalException) and isinstance(wanted_error, duckdb.InternalException):
                faults, seed = faults + 1, seed + 1
                continue
        except duckdb.Error as problem:
            first = str(problem).split("\n")[0]
            sys.exit(f"fuzz_sql: DuckDB {duckdb.__version__}, seed {seed}: {first}\n{ours};\n{twin};")
        internal = isinstance(error, duckdb.InternalException)
        if (error is None) != (wanted_error is None) or rows != wanted or internal:
            some = [] if rows is None or wanted is None else list(zip(rows, wanted))
            first = next((pair for pair in some if pair[0] != pair[1]), (error or "rows", wanted_error or "rows"))
            sys.exit(f"fuzz_sql: DIFFERENCE on DuckDB {duckdb.__version__}, seed {seed}: {first[0]} / {first[1]}\n{ours};\n{twin};")
        errors += error is not None
        seed += 1
    print(f"fuzz_sql: DuckDB {duckdb.__version__}: {seed - arguments.seed:,} queries, {errors} of them errors in both, "
          f"{faults} that the engine itself can't run, "
          f"seeds {arguments.seed} to {seed - 1}, no difference")


if __name__ == "__main__":
    main()
