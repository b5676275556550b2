"""Panes: the macros over stored moments, against exact arithmetic and against what is asked of them at the edges."""
import decimal
import json
import random
from fractions import Fraction

import duckdb
import pytest
from readings import READINGS, TYPES, clock

STORE = "CREATE TABLE panes AS FROM pane_rows('readings', 'ts', ['temp'], INTERVAL '1 minute', ['sensor'])"


@pytest.fixture
def readings(con):
    con.execute(READINGS.format(type="TIMESTAMP"))
    con.execute(STORE)
    return con


# What a store holds

@pytest.mark.parametrize("type", TYPES)
def test_pane_rows(con, text, type):
    con.execute(READINGS.format(type=type))
    con.execute(STORE)
    assert clock(text("SELECT sensor, pane_start, pane_end, temp.n, temp.sum, temp.min, temp.max, temp.m2 FROM panes ORDER BY ALL"), 1, 2) == [
        ("a", "00:00", "01:00", "1", "10.0", "10.0", "10.0", "0.0"), ("a", "01:00", "02:00", "2", "30.0", "14.0", "16.0", "2.0"),
        ("a", "04:00", "05:00", "1", "30.0", "30.0", "30.0", "0.0"), ("b", "02:00", "03:00", "1", "50.0", "50.0", "50.0", "0.0"),
        ("b", "03:00", "04:00", "0", None, None, None, None), (None, "04:00", "05:00", "1", "7.0", "7.0", "7.0", "0.0")]
    assert con.sql("SELECT DISTINCT typeof(pane_start) = typeof(ts) AND typeof(pane_end) = typeof(ts) FROM panes, readings").fetchall() == [(True,)]


#  value type           sum                  min and max; of the values 1, 2, 3
KINDS = [
    ("TINYINT", "DECIMAL(38,0)", "TINYINT", ("6", "1", "3")), ("UBIGINT", "DECIMAL(38,0)", "UBIGINT", ("6", "1", "3")),
    ("HUGEINT", "DECIMAL(38,0)", "DECIMAL(38,0)", ("6", "1", "3")), ("DECIMAL(4,1)", "DECIMAL(38,1)", "DECIMAL(4,1)", ("6.0", "1.0", "3.0")),
    ("DECIMAL(38,30)", "DECIMAL(38,30)", "DECIMAL(38,30)", (f"6.{'0' * 30}", f"1.{'0' * 30}", f"3.{'0' * 30}")),
    ("FLOAT", "DOUBLE", "FLOAT", ("6.0", "1.0", "3.0")), ("DOUBLE", "DOUBLE", "DOUBLE", ("6.0", "1.0", "3.0")),
    ("BOOLEAN", "DECIMAL(38,0)", "BOOLEAN", ("3", "true", "true")),
]


def in_files(con, folder):
    """Views of the store `panes` as Parquet, CSV and Arrow keep it."""
    con.execute(f"COPY panes TO '{folder}/panes.parquet'; COPY panes TO '{folder}/panes.csv'")
    con.execute(f"CREATE VIEW parquet AS FROM '{folder}/panes.parquet'")
    types = ", ".join(f"'{name}': '{type}'" for name, type, *_ in con.sql("DESCRIBE panes").fetchall())
    con.execute(f"CREATE VIEW csv AS FROM read_csv('{folder}/panes.csv', header = true, columns = {{{types}}})")
    con.register("arrow", con.sql("FROM panes").to_arrow_table())
    return "parquet", "csv", "arrow"


@pytest.mark.parametrize("type, sum_type, value_type, want", KINDS)
def test_results_keep_their_types_in_files_too(con, text, tmp_path, type, sum_type, value_type, want):
    con.execute(f"CREATE TABLE t AS SELECT TIMESTAMP '2026-01-01' + to_minutes(x) AS ts, x::INT::{type} AS x FROM range(1, 4) AS r(x)")
    con.execute("CREATE TABLE panes AS FROM pane_rows('t', 'ts', ['x'], INTERVAL '1 minute', [])")
    kept = text("SELECT typeof(x), * FROM panes ORDER BY ALL")
    for store in ("panes", *in_files(con, tmp_path)):
        assert text(f"SELECT typeof(x), * FROM {store} ORDER BY ALL") == kept, store
        for source in (f"rolling_panes('{store}', [], INTERVAL '3 minutes', INTERVAL '1 minute')",
                       f"window_at('{store}', [], INTERVAL '3 minutes', TIMESTAMP '2026-01-01 00:04:00')"):
            assert text(f"SELECT typeof(x.sum), typeof(x.min), typeof(x.max), x.sum, x.min, x.max FROM {source} "
                        "WHERE window_end = '2026-01-01 00:04:00'") == [(sum_type, value_type, value_type, *want)]
        assert text(f"SELECT DISTINCT typeof(x.sum), typeof(x.min), typeof(x.m2) FROM merge_panes('{store}', [])") == [(sum_type, value_type, "DOUBLE")]


def test_several_values_in_one_store(con, text):
    con.execute("CREATE TABLE t AS SELECT TIMESTAMP '2026-01-01' + to_seconds(20 * i) AS ts, i AS a, CASE WHEN i % 2 = 0 THEN i * 0.5 END AS \"odd name\" FROM range(6) AS r(i)")
    con.execute("CREATE TABLE panes AS FROM pane_rows('t', 'ts', ['a', 'odd name'], INTERVAL '1 minute', [])")
    assert text('SELECT a.n, a.sum, "odd name".n, "odd name".sum FROM panes ORDER BY pane_start') == [("3", "3", "2", "1.0"), ("3", "12", "1", "2.0")]
    assert text('SELECT a.n, a.avg, "odd name".n, "odd name".avg FROM rolling_panes(\'panes\', [], INTERVAL \'2 minutes\', INTERVAL \'1 minute\') ORDER BY window_end') == [
        ("3", "1.0", "2", "0.5"), ("6", "2.5", "3", "1.0")]


# Windows

@pytest.mark.parametrize("type", TYPES)
def test_rolling_panes(con, text, type):
    con.execute(READINGS.format(type=type))
    con.execute(STORE)
    rows = clock(text("SELECT sensor, window_end, missing, temp.n, temp.sum, temp.min, temp.max, temp.avg::DECIMAL(9, 4), temp.var_samp::DECIMAL(9, 4) FROM "
                      "rolling_panes('panes', ['sensor'], INTERVAL '3 minutes', INTERVAL '1 minute') ORDER BY sensor, window_end"), 1)
    assert rows == [
        ("a", "01:00", "2", "1", "10.0", "10.0", "10.0", "10.0000", None),
        ("a", "02:00", "1", "3", "40.0", "10.0", "16.0", "13.3333", "9.3333"),
        ("a", "05:00", "2", "1", "30.0", "30.0", "30.0", "30.0000", None),
        ("b", "03:00", "2", "1", "50.0", "50.0", "50.0", "50.0000", None),
        ("b", "04:00", "1", "1", "50.0", "50.0", "50.0", "50.0000", None),
        (None, "05:00", "2", "1", "7.0", "7.0", "7.0", "7.0000", None)]
    assert con.sql("SELECT DISTINCT typeof(w.window_start) = typeof(r.ts) AND typeof(w.window_end) = typeof(r.ts), date_diff('us', window_start, window_end) "
                   "FROM rolling_panes('panes', ['sensor'], '3 minutes', '1 minute') AS w, readings AS r").fetchall() == [(True, 180_000_000)]


def test_rolling_panes_over_a_range(readings, text):
    every = clock(text("FROM rolling_panes('panes', ['sensor'], '3 minutes', '1 minute') ORDER BY ALL"), 1, 2)
    #  bounds, and the ends that remain: those of the panes from the one that holds since to the one before that which holds until
    for bounds, ends in [("since := TIMESTAMP '2026-01-01 12:02:00'", ["03:00", "04:00", "05:00"]),
                         ("since := TIMESTAMP_NS '2026-01-01 12:01:59.999999999'", ["02:00", "03:00", "04:00", "05:00"]),
                         ("until := TIMESTAMP '2026-01-01 12:02:00'", ["01:00", "02:00"]),
                         ("until := TIMESTAMP_NS '2026-01-01 12:01:59.999999999'", ["01:00"]),
                         ("since := TIMESTAMP '2026-01-01 12:01:30', until := TIMESTAMP_MS '2026-01-01 12:03:30'", ["02:00", "03:00"]),
                         ("since := DATE '2026-01-02'", []), ("until := TIMESTAMP 'infinity'", ["01:00", "02:00", "03:00", "04:00", "05:00"])]:
        rows = clock(text(f"FROM rolling_panes('panes', ['sensor'], '3 minutes', '1 minute', {bounds}) ORDER BY ALL"), 1, 2)
        assert rows == [row for row in every if row[2] in ends], bounds


def test_window_at(readings, text):
    def at(when, more=""):
        return clock(text(f"SELECT sensor, window_start, window_end, missing, temp.n, temp.sum, temp.avg FROM "
                          f"window_at('panes', ['sensor'], INTERVAL '3 minutes', {when}{more}) ORDER BY ALL"), 1, 2)
    want = [("a", "02:00", "05:00", "2", "1", "30.0", "30.0"), ("b", "02:00", "05:00", "1", "1", "50.0", "50.0"),
            (None, "02:00", "05:00", "2", "1", "7.0", "7.0")]
    # Inside a pane it means the pane's start, whatever its precision.
    for when in ("TIMESTAMP '2026-01-01 12:05:00'", "TIMESTAMP_NS '2026-01-01 12:05:59.999999999'", "TIMESTAMP_S '2026-01-01 12:05:30'"):
        assert at(when) == want
    # Silent keys have a row.
    assert [row[:1] + row[2:] for row in at("TIMESTAMP '2026-01-01 12:02:00'")] == [
        ("a", "02:00", "1", "3", "40.0", "13.333333333333334"), ("b", "02:00", "3", "0", None, None), (None, "02:00", "3", "0", None, None)]
    readings.execute("CREATE TABLE known AS FROM (VALUES ('b'), ('c')) AS v(sensor)")
    assert [row[:1] + row[3:5] for row in at("TIMESTAMP '2026-01-01 12:03:00'", ", members := 'known'")] == [("a", "1", "3"), ("b", "2", "1"), ("c", "3", "0")]
    # Where nothing was stored, nothing is complete; with the width given the same.
    for more in ("", ", width := '1 minute'"):
        assert [row[1:] for row in at("DATE '2027-01-01'", more)] == [("2026-12-31 23:57:00", "2027-01-01 00:00:00", "3", "0", None, None)] * 3
        assert at("TIMESTAMP_NS '2026-01-01 12:05:59.999999999'", more) == want
    # An empty store has no width of its own.
    readings.execute("CREATE TABLE none AS FROM panes LIMIT 0")
    assert text("SELECT sensor, missing, temp.n FROM window_at('none', ['sensor'], '3 minutes', TIMESTAMP '2026-01-01 12:03:00', members := 'known') ORDER BY ALL") == [
        ("b", None, "0"), ("c", None, "0")]
    assert text("SELECT sensor, missing, temp.n FROM window_at('none', ['sensor'], '3 minutes', TIMESTAMP '2026-01-01 12:03:00', members := 'known', width := '1 minute') "
                "ORDER BY ALL") == [("b", "3", "0"), ("c", "3", "0")]


def test_merge_panes(readings, text):
    readings.execute("CREATE TABLE one AS FROM pane_rows('readings', 'ts', ['temp'], INTERVAL '1 minute', ['sensor'])")
    readings.execute("CREATE TABLE more AS FROM (VALUES (TIMESTAMP '2026-01-01 12:01:59', 'a', 24.0), ('2026-01-01 12:07:00', 'c', 1)) AS v(ts, sensor, temp)")
    readings.execute("CREATE VIEW parts AS FROM one UNION ALL FROM pane_rows('more', 'ts', ['temp'], INTERVAL '1 minute', ['sensor'])")
    readings.execute("INSERT INTO readings FROM more")
    assert text("FROM merge_panes('parts', ['sensor']) ORDER BY ALL") == text("FROM pane_rows('readings', 'ts', ['temp'], INTERVAL '1 minute', ['sensor']) ORDER BY ALL")
    # Partial panes may also be rolled over directly.
    readings.execute("CREATE TABLE whole AS FROM merge_panes('parts', ['sensor'])")
    roll = "FROM rolling_panes('{}', ['sensor'], INTERVAL '3 minutes', INTERVAL '1 minute') ORDER BY ALL"
    assert text(roll.format("parts")) == text(roll.format("whole"))


def test_stored_panes_and_a_live_tail_equal_a_rebuild(readings):
    rebuilt = readings.sql("FROM pane_rows('readings', 'ts', ['temp'], '1 minute', ['sensor']) ORDER BY ALL").fetchall()
    assert len(rebuilt) == 6
    readings.execute("CREATE TABLE early AS FROM pane_rows('readings', 'ts', ['temp'], '1 minute', ['sensor'], until := TIMESTAMP '2026-01-01 12:02:30')")
    assert readings.sql("SELECT max(pane_start)::VARCHAR FROM early").fetchall() == [("2026-01-01 12:01:00",)]
    for watermark in ("TIMESTAMP '2026-01-01 12:00:00'", "TIMESTAMP '2026-01-01 12:01:30'", "TIMESTAMP '2026-01-01 12:02:00'",
                      "TIMESTAMP_NS '2026-01-01 12:02:59.999999999'", "TIMESTAMP_S '2026-01-01 12:02:59'"):
        live = f"FROM panes_live('early', 'readings', 'ts', ['temp'], '1 minute', ['sensor'], {watermark}) ORDER BY ALL"
        assert readings.sql(live).fetchall() == rebuilt


# Nothing outside a window changes what is said of it

#  a far value beside 1e9 + 1, 2, 4, 6: sum, avg and var_samp of the last three are exact all the same
@pytest.mark.parametrize("far", ["1e9", "1e18", "-1e300", "'inf'::DOUBLE", "'nan'::DOUBLE"])
def test_a_window_depends_on_its_own_values_alone(con, text, far):
    con.execute(f"CREATE TABLE t AS SELECT TIMESTAMP '2026-01-01' + to_minutes(i) AS ts, x::DOUBLE AS x FROM (VALUES (0, {far}), (1, 2), (2, 4), (3, 6), (7, {far})) AS v(i, x)")
    con.execute("CREATE TABLE panes AS FROM pane_rows('t', 'ts', ['x'], INTERVAL '1 minute', [])")
    assert text("SELECT x.sum, x.avg, x.var_samp FROM rolling_panes('panes', [], INTERVAL '3 minutes', INTERVAL '1 minute') WHERE window_end = '2026-01-01 00:04:00'") == [("12.0", "4.0", "4.0")]


def test_integers_beside_a_far_one_are_exact(con, text):
    con.execute("CREATE TABLE t AS SELECT TIMESTAMP '2026-01-01' + to_minutes(i) AS ts, x FROM (VALUES (0, 1700000000000000000), (1, 20), (2, 21), (3, 1700000000000000001), (4, 1700000000000000003)) AS v(i, x)")
    con.execute("CREATE TABLE panes AS FROM pane_rows('t', 'ts', ['x'], INTERVAL '1 minute', [])")
    assert text("SELECT x.sum, x.avg, x.var_samp FROM rolling_panes('panes', [], INTERVAL '2 minutes', INTERVAL '1 minute') ORDER BY window_end")[2:3] == [("41", "20.5", "0.5")]
    assert text("SELECT x.sum, x.var_samp FROM rolling_panes('panes', [], INTERVAL '2 minutes', INTERVAL '1 minute') ORDER BY window_end")[4] == ("3400000000000000004", "2.0")


def test_infinity_and_nan_leave_counts_and_sums_to_those_who_want_them(con, text):
    con.execute("CREATE TABLE t AS SELECT TIMESTAMP '2026-01-01' + to_minutes(i) AS ts, x::DOUBLE AS x FROM (VALUES (0, 1), (0, 'inf'::DOUBLE), (1, 'nan'), (1, 2), (2, -1), (2, '-inf')) AS v(i, x)")
    con.execute("CREATE TABLE panes AS FROM pane_rows('t', 'ts', ['x'], INTERVAL '1 minute', [])")
    assert text("SELECT x.n, x.sum, x.min, x.max, x.m2 FROM panes ORDER BY pane_start") == [
        ("2", "inf", "1.0", "inf", "nan"), ("2", "nan", "2.0", "nan", "nan"), ("2", "-inf", "-inf", "-1.0", "nan")]
    assert text("SELECT x.n, x.sum, x.min, x.max, x.avg FROM rolling_panes('panes', [], INTERVAL '2 minutes', INTERVAL '1 minute') ORDER BY window_end") == [
        ("2", "inf", "1.0", "inf", "inf"), ("4", "nan", "1.0", "nan", "nan"), ("4", "nan", "-inf", "nan", "nan")]


def exact(values):
    """n, sum, min, max, mean and sample variance of numbers, as fractions."""
    n, mean = len(values), sum(values) / len(values)
    return n, sum(values), min(values), max(values), mean, sum((v - mean) ** 2 for v in values) / (n - 1) if n > 1 else None


#  type of the values, and how to draw one: small ones far from zero, of mixed sizes, near the ends of the type
VALUES = {
    "DOUBLE": [lambda rng: 1e9 + rng.random(), lambda rng: rng.choice([1, -1]) * 10 ** rng.uniform(-5, 15), lambda rng: rng.randint(0, 3) / 8],
    "FLOAT": [lambda rng: rng.randint(-1000, 1000) / 16],
    "INTEGER": [lambda rng: rng.randint(-2**31, 2**31 - 1), lambda rng: rng.randint(20, 21)],
    "BIGINT": [lambda rng: 2**62 + rng.randint(0, 9), lambda rng: rng.randint(-2**63, 2**63 - 1)],
    "DECIMAL(18,3)": [lambda rng: decimal.Decimal(rng.randint(-10**17, 10**17)).scaleb(-3), lambda rng: decimal.Decimal(10**17 + rng.randint(0, 9)).scaleb(-3)],
    "HUGEINT": [lambda rng: 10**30 + rng.randint(0, 99)],
    "UBIGINT": [lambda rng: 2**64 - 1 - rng.randint(0, 5)],
}
NAMES = ["k", "n", "sum", "_key", "m2", "w", "v", "x", "pane", "lookback", "width", "at", "ts", 'a "b" c', "unit", "keys", "vals", "stored", "keyed", "flat"]


def check_random_windows(con, rng, rows):
    """Random rows and a random lookback: each window of rolling_panes and window_at against fractions. Gives how many."""
    kind = rng.choice(list(VALUES))
    type = rng.choice(TYPES)
    ts, key, value = rng.sample(NAMES, 3)
    width, panes = rng.choice([1, 7, 60, 86400]), rng.choice([1, 2, 5, 30])
    offset, base = rng.randint(-100, 100), rng.choice([0, -5_000_000_000, 1_767_225_600]) if "NS" not in type else 0
    data = []
    for _ in range(rows):
        draw = rng.choice(VALUES[kind])
        data.append((base + rng.randint(-20 * width, 20 * width), rng.choice([None, 0, 1]), None if rng.random() < 0.1 else draw(rng)))
    q = [f'"{name.replace(chr(34), chr(34) * 2)}"' for name in (ts, key, value)]
    con.execute(f"CREATE OR REPLACE TABLE t ({q[0]} {type}, {q[1]} INTEGER, {q[2]} {kind})")
    con.executemany(f"INSERT INTO t SELECT make_timestamp($1::BIGINT * 1000000)::{type}, $2, $3::{kind}", [(t, k, None if v is None else repr(v) if kind == "DOUBLE" else str(v)) for t, k, v in data])
    literal = lambda name: "'" + name.replace("'", "''") + "'"
    origin = f"origin := INTERVAL '{offset} seconds'"
    con.execute(f"CREATE OR REPLACE TABLE store AS FROM pane_rows('t', {literal(ts)}, [{literal(value)}], INTERVAL '{width} seconds', [{literal(key)}], {origin})")
    read = con.sql(f"SELECT {q[1]}, date_diff('us', cast_to_type(make_timestamp(0), window_end), window_end) // 1000000, missing, {q[2]}.n, {q[2]}.sum, {q[2]}.min, {q[2]}.max, {q[2]}.avg, {q[2]}.var_samp FROM "
                   f"rolling_panes('store', [{literal(key)}], INTERVAL '{width * panes} seconds', INTERVAL '{width} seconds')").fetchall()
    stored = {(k, (t - offset) // width * width + offset) for t, k, _ in data}
    assert {(k, end) for k, end, *_ in read} == {(k, start + width) for k, start in stored} and len(read) == len(stored)
    ends = {end for _, end, *_ in read}
    at = rng.choice(sorted(ends)) + rng.randint(0, width - 1)
    more = rng.choice(["", f", width := INTERVAL '{width} seconds', {origin}"])
    alone = con.sql(f"SELECT {q[1]}, date_diff('us', cast_to_type(make_timestamp(0), window_end), window_end) // 1000000, missing, {q[2]}.n, {q[2]}.sum, {q[2]}.min, {q[2]}.max, {q[2]}.avg, {q[2]}.var_samp FROM "
                    f"window_at('store', [{literal(key)}], INTERVAL '{width * panes} seconds', make_timestamp({at}::BIGINT * 1000000)::{type}{more})").fetchall()
    assert {k for k, *_ in alone} == {k for k, _ in stored}
    for k, end, missing, n, total, low, high, mean, variance in read + alone:
        inside = [Fraction(v) for t, key_of, v in data if key_of == k and end - width * panes <= t < end and v is not None]
        assert missing == panes - sum((k, end - (i + 1) * width) in stored for i in range(panes))
        assert n == len(inside)
        if not inside:
            assert total is low is high is mean is variance is None
            continue
        _, want_total, want_low, want_high, want_mean, want_variance = exact(inside)
        assert (Fraction(low), Fraction(high)) == (want_low, want_high)
        if kind in ("DOUBLE", "FLOAT"):
            assert abs(Fraction(total) - want_total) <= abs(want_total) * Fraction(1e-15) + sum(map(abs, inside)) * Fraction(2) ** -90
        else:
            assert Fraction(total) == want_total
        assert abs(Fraction(mean) - want_mean) <= abs(want_mean) * Fraction(1e-12) + sum(map(abs, inside)) * Fraction(2) ** -90
        assert variance is None if want_variance is None else abs(Fraction(variance) - want_variance) <= want_variance * Fraction(1e-9), (kind, inside, variance)
    return len(read) + len(alone)


@pytest.mark.parametrize("seed", range(12))
def test_windows_equal_exact_arithmetic(con, seed):
    rng = random.Random(seed)
    assert sum(check_random_windows(con, rng, rng.choice([1, 20, 120])) for _ in range(3)) > 2


# Hostile names, places, versions

@pytest.mark.parametrize("name", ["_key", "_n", "_avg", "_i", "_all", "n", "sum", "min", "max", "avg", "mean", "m2", "w", "v", "m", "unit", "stored", "keyed", "pane", "residue", "c", "k", "at"])
def test_no_name_of_a_column_matters(con, text, name):
    con.execute(f"""CREATE TABLE t AS SELECT TIMESTAMP '2026-01-01 12:00:00' + to_minutes(i // 2) AS ts, i % 2 AS "{name}", i::DOUBLE AS x FROM range(6) AS r(i)""")
    con.execute(f"CREATE TABLE panes AS FROM pane_rows('t', 'ts', ['x'], '1 minute', ['{name}'])")
    assert text(f"""SELECT "{name}", x.sum FROM rolling_panes('panes', ['{name}'], '2 minutes', '1 minute') ORDER BY ALL""") == [
        ("0", "0.0"), ("0", "2.0"), ("0", "6.0"), ("1", "1.0"), ("1", "4.0"), ("1", "8.0")]
    con.execute(f"""CREATE TABLE u AS SELECT ts, "{name}" AS k_, x AS "{name}" FROM t""")
    con.execute(f"CREATE OR REPLACE TABLE panes AS FROM pane_rows('u', 'ts', ['{name}'], '1 minute', ['k_'])")
    assert text(f"""SELECT k_, "{name}".sum FROM window_at('panes', ['k_'], '2 minutes', TIMESTAMP '2026-01-01 12:03:00') ORDER BY ALL""") == [("0", "6.0"), ("1", "8.0")]


def test_macros_of_an_attached_database(con, text, tmp_path):
    from conftest import MACROS
    con.execute(f"ATTACH '{tmp_path}/other.db' AS other; USE other;" + MACROS + "USE memory;")
    for macro in ("pane_rows", "panes_live", "rolling_panes", "window_at", "merge_panes"):
        con.execute(f"DROP MACRO TABLE {macro}")
    con.execute(READINGS.format(type="TIMESTAMP"))
    con.execute("CREATE TABLE panes AS FROM other.pane_rows('readings', 'ts', ['temp'], '1 minute', ['sensor'])")
    con.execute("CREATE VIEW live AS FROM other.panes_live('panes', 'readings', 'ts', ['temp'], '1 minute', ['sensor'], TIMESTAMP '2026-01-01 12:01:00')")
    con.execute("CREATE VIEW rolled AS FROM other.rolling_panes('live', ['sensor'], '2 minutes', '1 minute')")
    assert con.sql("SELECT count(*), sum(temp.n) FROM rolled").fetchall() == [(6, 8)]
    assert con.sql("SELECT count(*) FROM other.window_at('live', ['sensor'], '2 minutes', TIMESTAMP '2026-01-01 12:05:00')").fetchall() == [(3,)]
    assert con.sql("SELECT count(*) FROM other.merge_panes('live', ['sensor'])").fetchall() == [(6,)]


def test_a_read_only_database_takes_temporary_macros(connect, tmp_path):
    from conftest import MACROS
    with connect(tmp_path / "store.db") as con:
        con.execute(READINGS.format(type="TIMESTAMP") + MACROS + STORE)
    con = connect(tmp_path / "store.db", read_only=True)
    con.execute(MACROS.replace("CREATE OR REPLACE MACRO", "CREATE OR REPLACE TEMP MACRO"))
    assert con.sql("SELECT count(*) FROM rolling_panes('panes', ['sensor'], '2 minutes', '1 minute')").fetchall() == [(6,)]


def test_without_the_extension_stored_macros_stop(connect, tmp_path):
    from conftest import MACROS
    with connect(tmp_path / "store.db") as con:
        con.execute(READINGS.format(type="TIMESTAMP") + MACROS + STORE)
    con = connect(tmp_path / "store.db", load=False)
    for sql in ("FROM pane_rows('readings', 'ts', ['temp'], INTERVAL '7 days', ['sensor'])", "FROM rolling_panes('panes', ['sensor'], '2 minutes', '1 minute')",
                "FROM panes_live('panes', 'readings', 'ts', ['temp'], '1 minute', ['sensor'], TIMESTAMP '2026-01-01')"):
        with pytest.raises(duckdb.CatalogException, match="time_bucket_"):
            con.execute(sql).fetchall()


# What is refused

REFUSED = [
    ("pane_rows('clash', 'ts', ['temp'], '1 minute', ['pane_start'])", "pane_rows: the column pane_start is named twice, in keys and in the results; name it once, or copy it under another name"),
    ("pane_rows('readings', 'ts', ['temp', 'TEMP'], '1 minute', [])", "pane_rows: the column TEMP is named twice, in vals and in vals"),
    ("pane_rows('readings', 'ts', ['temp'], '1 minute', ['temp'])", "pane_rows: the column temp is named twice, in keys and in vals; name it once"),
    ("pane_rows('readings', 'ts', ['sensor'], '1 minute', [])", "pane_rows: a value of type VARCHAR is no number; cast it to one"),
    ("pane_rows('lengths', 'ts', ['x'], '1 minute', [])", "pane_rows: a value of type INTERVAL is no number; cast it to one, as in epoch(x)"),
    ("pane_rows('readings', 'ts', ['temp'], '1 minute', ['sensors'])", "pane_rows: the table has no column sensors; its columns are ts, sensor, temp"),
    ("pane_rows('readings', 'ts', ['temp'], INTERVAL '1 month', ['sensor'])", "is calendar"),
    ("rolling_panes('panes', ['sensor'], '3 minutes', '2 minutes')", "lookback INTERVAL '00:03:00' is not a multiple of width INTERVAL '00:02:00'; use a lookback that is one"),
    ("rolling_panes('empty', ['sensor'], '3 minutes', '2 minutes')", "lookback INTERVAL '00:03:00' is not a multiple of width INTERVAL '00:02:00'; use a lookback that is one"),
    ("rolling_panes('panes', ['sensor'], '4 minutes', '2 minutes')", "rolling_panes: the stored pane from 2026-01-01 12:"),
    ("rolling_panes('panes', [], '3 minutes', '1 minute')", "rolling_panes: the store has a column that is neither a pane nor among keys; name all of its keys"),
    ("rolling_panes('odd', ['missing'], '3 minutes', '1 minute')", "rolling_panes: the input already has a column missing, which is a result; rename it"),
    ("window_at('panes', [], '3 minutes', TIMESTAMP '2026-01-01 12:05:00')", "window_at: the store has a column that is neither a pane nor among keys"),
    ("window_at('panes', ['sensor'], '90 seconds', TIMESTAMP '2026-01-01 12:05:00')", "lookback INTERVAL '00:01:30' is not a multiple of width INTERVAL '00:01:00'; use a lookback that is one"),
    ("window_at('panes', ['sensor'], '4 minutes', TIMESTAMP '2026-01-01 12:06:00', width := '2 minutes')", "window_at: the stored pane from 2026-01-01 12:"),
    ("window_at('panes', ['sensor'], '2 minutes', TIMESTAMP '2026-01-01 12:06:00', width := '1 minute', origin := INTERVAL '1 second')", "window_at: the stored pane from 2026-01-01 12:"),
    ("window_at('panes', ['sensor'], '90 seconds', TIMESTAMP '2026-01-01 12:05:00', width := '1 minute')", "lookback INTERVAL '00:01:30' is not a multiple of width INTERVAL '00:01:00'; use a lookback that is one"),
    ("window_at('mixed', ['sensor'], '4 minutes', TIMESTAMP '2026-01-01 12:06:00')", "window_at: the stored pane from 2026-01-01 12:04:00 to 2026-01-01 12:06:00 is not of width INTERVAL '00:01:00'"),
    ("window_at('panes', ['sensor'], '2 minutes', TIMESTAMP '2026-01-01 12:06:00', zone := 'UTC')", "window_at: a zone needs the width of its buckets; give width, such as INTERVAL '1 day'"),
    ("window_at('panes', ['sensor'], '2 minutes', TIMESTAMP 'infinity')", "at must be finite"),
    ("window_at('panes', ['sensor'], '2 minutes', TIMESTAMP '2026-01-01 12:06:00', members := 'lengths')", "window_at: the table has no column sensor; its columns are ts, x"),
    ("window_at('panes', ['sensor'], '2 minutes', TIMESTAMP '2026-01-01 12:06:00', members := 5)", "window_at: members must be the name of a table, a view or a CTE, as a string"),
    ("window_at('odd', ['missing'], '3 minutes', TIMESTAMP '2026-01-01 12:05:00')", "window_at: the input already has a column missing, which is a result; rename it"),
    ("merge_panes('panes', [])", "merge_panes: the store has a column that is neither a pane nor among keys"),
    ("panes_live('panes', 'readings', 'ts', ['temp'], '2 minutes', ['sensor'], TIMESTAMP '2026-01-01 12:04:00')", "panes_live: the stored pane from 2026-01-01 12:"),
    ("panes_live('panes', 'readings', 'ts', ['temp'], '1 minute', ['sensor'], TIMESTAMP '2026-01-01 12:04:00', origin := INTERVAL '1 second')", "panes_live: the stored pane from 2026-01-01 12:"),
    ("panes_live('panes', 'readings', 'ts', ['temp'], '1 minute', [], TIMESTAMP '2026-01-01 12:04:00')", "panes_live: the store has a column sensor, which is neither in keys nor in vals; name all of them"),
    ("window_candidates(INTERVAL '1 month', '1 minute', '1 minute')", "lookback"),
    ("window_candidates('1 hour', '1 minute', '0 minutes')", "window_candidates: granularity must be positive"),
    ("window_candidates('1 hour', '1 minute', NULL)", "window_candidates: granularity must be positive"),
    ("window_candidates('1 hour', '1 minute', '1 microsecond')", "granularity 1 microsecond is too fine for lookback 1 hour"),
]


@pytest.mark.parametrize("sql, message", REFUSED)
def test_refused_and_the_connection_goes_on(readings, sql, message):
    readings.execute("CREATE TABLE clash AS SELECT *, ts AS pane_start FROM readings; CREATE TABLE lengths AS SELECT ts, INTERVAL '1 day' AS x FROM readings;"
                     "CREATE TABLE empty AS FROM panes LIMIT 0; CREATE TABLE odd AS SELECT sensor AS missing, * EXCLUDE (sensor) FROM panes;"
                     "CREATE TABLE mixed AS FROM panes WHERE pane_start < '2026-01-01 12:02:00' UNION ALL FROM pane_rows('readings', 'ts', ['temp'], '2 minutes', ['sensor']) WHERE pane_start = '2026-01-01 12:04:00'")
    with pytest.raises((duckdb.BinderException, duckdb.InvalidInputException)) as refusal:
        readings.execute(f"FROM {sql}").fetchall()
    assert message in str(refusal.value) and "INTERNAL" not in str(refusal.value)
    # One line of ours; the engine may quote the query below it.
    assert "No function matches" not in str(refusal.value) and message in str(refusal.value).split("\n")[0]
    assert readings.execute("SELECT count(*) FROM readings").fetchall() == [(9,)]


# window_candidates

#  arguments                                                            answer       size, slide, rows an hour, rows read
CANDIDATES = [
    ("'300 seconds', '60 seconds', '15 seconds', slide := '60 seconds'", "merge", [(60, 60, 60, 5)]),
    ("'300 seconds', '60 seconds', '15 seconds'", "direct", [(300, 60, 60, 1), (300, 30, 120, 1), (300, 15, 240, 1)]),
    ("'300 seconds', '60 seconds', '15 seconds'", "subtract", [(60, 60, 60, 2), (30, 30, 120, 2), (15, 15, 240, 2)]),
    ("'20 seconds', '5 seconds', '1 second', size := '10 seconds'", "merge", [(10, 5, 720, 2), (10, 1, 3600, 2)]),
    ("'60 seconds', '7 seconds', '2 seconds'", "merge", []),
    ("'60 seconds', NULL, '30 seconds'", "direct", [(60, 60, 60, 1), (60, 30, 120, 1)]),
]


@pytest.mark.parametrize("arguments, answer, want", CANDIDATES)
def test_window_candidates(con, arguments, answer, want):
    assert con.sql(f"SELECT epoch(window_size)::INT, epoch(slide)::INT, rows_per_hour, rows_read "
                   f"FROM window_candidates({arguments}) WHERE answer = '{answer}' ORDER BY 3, 4").fetchall() == want


def test_every_candidate_makes_a_cover(con):
    for size, slide, windows in con.sql("SELECT window_size::VARCHAR, slide::VARCHAR, rows_read FROM window_candidates('12 minutes', '6 minutes', '1 minute') WHERE answer <> 'subtract'").fetchall():
        for at in ("12:06:00", "12:12:00"):  # two evaluations a cadence apart
            rows = con.sql(f"SELECT window_start, window_end, staleness::VARCHAR FROM time_bucket_cover(TIMESTAMP '2026-01-01 {at}', INTERVAL '12 minutes', INTERVAL '{size}', INTERVAL '{slide}') ORDER BY 1").fetchall()
            assert len(rows) == windows and {row[2] for row in rows} == {"00:00:00"}
            assert all(one[1] == other[0] for one, other in zip(rows, rows[1:]))


# The window operator

def test_the_aggregates_share_the_window_operator_with_the_engines_own(con):
    con.execute("CREATE TABLE t AS SELECT TIMESTAMP '2026-01-01' + to_minutes(i) AS ts, i % 3 AS k, (i * 7 % 11)::DOUBLE AS x FROM range(3000) AS r(i)")
    query = """SELECT k, ts, time_bucket_moments(x) OVER (w RANGE BETWEEN INTERVAL '30 minutes' PRECEDING AND CURRENT ROW) AS m,
                      sum(x) OVER (w RANGE BETWEEN INTERVAL '30 minutes' PRECEDING AND CURRENT ROW) AS sum,
                      max(x) OVER (w ROWS BETWEEN 2 PRECEDING AND CURRENT ROW), row_number() OVER w,
                      var_samp(x) OVER (w RANGE BETWEEN INTERVAL '30 minutes' PRECEDING AND CURRENT ROW) AS var_samp
               FROM t WINDOW w AS (PARTITION BY k ORDER BY ts)"""

    def names(node):
        return [node["name"].strip()] + [name for child in node["children"] for name in names(child)]
    plan = con.sql("EXPLAIN (FORMAT json) " + query).fetchall()[0][1]
    operators = [name for root in json.loads(plan) for name in names(root)]
    assert [name for name in operators if "WINDOW" in name.upper()] == ["WINDOW"]
    rows = con.sql(f"SELECT m.n, m.sum, sum, m.m2 / nullif(m.n - 1, 0), var_samp FROM ({query})").fetchall()
    assert len(rows) == 3000 and {row[0] for row in rows} == set(range(1, 12))
    assert all(total == engines and variance == pytest.approx(own, rel=1e-9) for _, total, engines, variance, own in rows if own is not None)


# Memory, threads, size

def test_many_keys_and_many_threads(con):
    con.execute("SET threads = 4")
    con.execute("CREATE TABLE t AS SELECT TIMESTAMP '2026-01-01' + to_minutes(i % 97) AS ts, i % 20011 AS k, (i % 1000)::BIGINT AS x FROM range(600000) AS r(i)")
    con.execute("CREATE TABLE panes AS FROM pane_rows('t', 'ts', ['x'], INTERVAL '1 minute', ['k'])")
    assert con.sql("SELECT sum(x.n), sum(x.sum) FROM panes").fetchall() == con.sql("SELECT count(*), sum(x) FROM t").fetchall()
    whole = con.sql("SELECT k, max(x.n), max(x.sum) FROM rolling_panes('panes', ['k'], INTERVAL '97 minutes', INTERVAL '1 minute') GROUP BY k ORDER BY k").fetchall()
    assert whole == con.sql("SELECT k, count(*), sum(x) FROM t GROUP BY k ORDER BY k").fetchall()
