"""The macros that add rows or spread them: gapfill, sessions, cumulate, and hop where memory is short."""
import json
import math
import os
import random
import resource
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import duckdb
import pytest
from conftest import MACROS, ROOT

#  type            nanoseconds a tick, how a tick is written, how it is read
TYPES = {
    "TIMESTAMP_S": (10**9, "make_timestamp({} * 1000000::BIGINT)::TIMESTAMP_S", "epoch_us({}::TIMESTAMP) // 1000000"),
    "TIMESTAMP_MS": (10**6, "make_timestamp({} * 1000::BIGINT)::TIMESTAMP_MS", "epoch_us({}::TIMESTAMP) // 1000"),
    "TIMESTAMP": (10**3, "make_timestamp({}::BIGINT)", "epoch_us({})"),
    "TIMESTAMP_NS": (1, "make_timestamp_ns({}::BIGINT)", "epoch_ns({})"),
    "TIMESTAMPTZ": (10**3, "make_timestamp({}::BIGINT)::TIMESTAMPTZ", "epoch_us({})"),
}
INSTANTS = ["TIMESTAMPTZ"]

MINUTES = """
CREATE TABLE minutes AS SELECT * REPLACE (price::DECIMAL(5,2) AS price) FROM (VALUES
  (TIMESTAMP '2026-01-01 12:00:00', 'a', 10.0::DOUBLE, 'on', 1.00, 1), ('2026-01-01 12:04:00', 'a', 30, 'off', 2.50, 2),
  ('2026-01-01 12:02:00', 'b', 50, NULL, NULL, 3), ('2026-01-01 12:03:00', 'b', NULL, 'x', 7, 4)) AS v(ts, sensor, temp, state, price, n)
"""

@pytest.fixture
def minutes(con):
    con.execute(MINUTES)


def clocks(con, columns, arguments, tbl="minutes", order="sensor, window_start"):
    """Those columns of gapfill, after the minute that each row's bucket starts at."""
    sql = f"SELECT strftime(window_start, '%M')::INTEGER, {columns} FROM gapfill('{tbl}', 'ts', INTERVAL '1 minute', {arguments}) ORDER BY {order}"
    return con.sql(sql).fetchall()


# What becomes of a column

def test_every_key_has_every_bucket_and_columns_become_what_is_asked(con, minutes):
    rows = clocks(con, "sensor, state, temp, price, n, filled", "['sensor'], carry := ['state'], interpolate := ['temp', 'PRICE'], zero := ['n']")
    assert rows == [
        (0, "a", "on", 10.0, Decimal("1.00"), 1, False), (1, "a", "on", 15.0, Decimal("1.38"), 0, True), (2, "a", "on", 20.0, Decimal("1.75"), 0, True),
        (3, "a", "on", 25.0, Decimal("2.13"), 0, True), (4, "a", "off", 30.0, Decimal("2.50"), 2, False),
        (0, "b", None, None, None, 0, True), (1, "b", None, None, None, 0, True), (2, "b", None, 50.0, None, 3, False),
        (3, "b", "x", None, Decimal("7.00"), 4, False), (4, "b", "x", None, None, 0, True)]


def test_other_columns_are_null_and_all_types_stay(con, minutes):
    assert clocks(con, "temp, n", "['sensor']")[:3] == [(0, 10.0, 1), (1, None, None), (2, None, None)]
    described = con.sql("DESCRIBE FROM gapfill('minutes', 'ts', INTERVAL '1 minute', ['sensor'], interpolate := ['price', 'n'], carry := ['temp'])").fetchall()
    assert [row[:2] for row in described] == [
        ("sensor", "VARCHAR"), ("window_start", "TIMESTAMP"), ("window_end", "TIMESTAMP"), ("temp", "DOUBLE"), ("price", "DECIMAL(5,2)"), ("n", "INTEGER"),
        ("state", "VARCHAR"), ("filled", "BOOLEAN")]


@pytest.mark.parametrize("type, low, high, middle", [
    ("DOUBLE", "1e308", "-1e308", "0.0"), ("FLOAT", "0.5", "1.5", "1.0"), ("TINYINT", "-128", "127", "-1"), ("SMALLINT", "1", "2", "2"), ("INTEGER", "-3", "-2", "-3"),
    ("BIGINT", "-9223372036854775808", "9223372036854775807", "-1"), ("UBIGINT", "0", "18446744073709551615", "9223372036854775808"),
    ("HUGEINT", "-170141183460469231731687303715884105728", "170141183460469231731687303715884105727", "-1"),
    ("DECIMAL(38,38)", "0.00000000000000000000000000000000000001", "0.99999999999999999999999999999999999999", ".50000000000000000000000000000000000000"),
    ("DECIMAL(4,1)", "-0.1", "0.0", "-0.1"), ("DATE", "2026-01-01", "2026-01-03", "2026-01-02"), ("TIME", "10:00:00", "11:00:00", "10:30:00"),
    ("TIMESTAMP_S", "1969-12-31 23:59:59", "1970-01-01 00:00:00", "1969-12-31 23:59:59"),
    ("TIMESTAMP_NS", "2026-01-01 00:00:00.000000001", "2026-01-01 00:00:00.000000003", "2026-01-01 00:00:00.000000002")])
def test_interpolate_is_exact_in_every_type(con, text, type, low, high, middle):
    con.execute(f"CREATE TABLE t AS FROM (VALUES (TIMESTAMP '2026-01-01 00:00', '{low}'::{type}), ('2026-01-01 00:02', '{high}'::{type})) AS v(ts, x)")
    rows = text("SELECT x, typeof(x) FROM gapfill('t', 'ts', INTERVAL '1 minute', [], interpolate := ['x']) ORDER BY window_start")
    assert {row[1] for row in rows} == {type} and rows[1][0] == middle
    assert con.sql(f"SELECT bool_and(x IN ('{low}'::{type}, '{high}'::{type})) FROM gapfill('t', 'ts', INTERVAL '1 minute', [], interpolate := ['x']) WHERE NOT filled").fetchall() == [(True,)]


def test_values_of_any_type_are_carried(con):
    con.execute("CREATE TABLE t AS FROM (VALUES (TIMESTAMP '2026-01-01 00:00', [1, NULL], {'a': 1}, 'x'::BLOB, MAP {1: 'y'}), ('2026-01-01 00:02', NULL, NULL, NULL, NULL)) AS v(ts, l, s, b, m)")
    rows = con.sql("SELECT l, s, b, m FROM gapfill('t', 'ts', INTERVAL '1 minute', [], carry := ['l', 's', 'b', 'm'])").fetchall()
    assert rows == [([1, None], {"a": 1}, b"x", {1: "y"})] * 3


# The range

def test_rows_outside_the_range_seed_what_is_in_it(con, minutes):
    rows = clocks(con, "sensor, state, temp, filled", "['sensor'], carry := ['state'], interpolate := ['temp'], since := TIMESTAMP '2026-01-01 12:01:30', until := TIMESTAMP '2026-01-01 12:03:00'")
    assert rows == [(1, "a", "on", 15.0, True), (2, "a", "on", 20.0, True), (1, "b", None, None, True), (2, "b", None, 50.0, False)]
    after = clocks(con, "sensor, state, filled", "['sensor'], carry := ['state'], since := TIMESTAMP '2026-01-01 12:10:00', until := TIMESTAMP '2026-01-01 12:11:00'")
    assert after == [(10, "a", "off", True), (10, "b", "x", True)]


def test_a_key_appears_from_its_first_row_before_until_or_as_a_member(con, minutes):
    until = "until := TIMESTAMP '2026-01-01 12:02:00', since := TIMESTAMP '2026-01-01 12:01:00'"
    assert clocks(con, "sensor", f"['sensor'], {until}") == [(1, "a")]
    con.execute("CREATE TABLE sensors AS FROM (VALUES ('a', 1), ('c', 2), ('c', 3), (NULL, 4)) AS v(sensor, x)")
    assert clocks(con, "sensor, n", f"['sensor'], members := 'sensors', zero := ['n'], {until}") == [(1, "a", 0), (1, "c", 0), (1, None, 0)]


def test_empty_ranges_and_empty_tables(con, minutes):
    con.execute("CREATE TABLE nothing AS FROM minutes LIMIT 0")
    since, until = "since := TIMESTAMP '2026-01-01 12:00:30'", "until := TIMESTAMP '2026-01-01 12:02:00'"
    assert clocks(con, "filled", f"[], {since}, {until}", "nothing", "1") == [(0, True), (1, True)]
    assert clocks(con, "filled", f"['sensor'], {since}, {until}", "nothing") == []
    assert clocks(con, "filled", "[]", "nothing", "1") == [] and clocks(con, "filled", "['sensor']", "nothing") == []
    assert clocks(con, "sensor", f"['sensor'], {since}, {until}, members := 'minutes'", "nothing") == [(0, "a"), (1, "a"), (0, "b"), (1, "b")]
    assert clocks(con, "sensor", "['sensor'], since := TIMESTAMP '2026-01-02'") == []
    assert clocks(con, "sensor", f"['sensor'], {since}, until := TIMESTAMP '2026-01-01 12:00:30'") == []


def filters(con, sql):
    """What the scans of a query filter by."""
    def scans(node):
        here = [node["extra_info"].get("Filters", "")] if "SCAN" in node["name"].upper().replace("TABLE", "SCAN") and "CTE" not in node["name"] else []
        return here + [found for child in node["children"] for found in scans(child)]
    return [found for root in json.loads(con.sql("EXPLAIN (FORMAT json) " + sql).fetchall()[0][1]) for found in scans(root)]


def test_bounds_prune_the_scan(con):
    con.execute("CREATE TABLE t AS SELECT TIMESTAMP '2026-01-01' + to_minutes(i) AS ts, i AS n FROM range(300000) AS r(i)")
    until = "until := TIMESTAMP_NS '2026-01-01 12:00:30.5'"
    for call, bounds in [(f"gapfill('t', 'ts', INTERVAL '1 minute', [], carry := ['n'], {until})", ["< '2026-01-01 12:01:00'"]),
                         (f"pane_rows('t', 'ts', ['n'], INTERVAL '1 minute', [], since := DATE '2026-01-02', until := TIMESTAMP '2026-01-03 12:00:30')", [">= '2026-01-02 00:00:00'", "< '2026-01-03 12:00:00'"])]:
        scans = [scan.replace("ts<'", "ts < '").replace("ts>='", "ts >= '") for scan in filters(con, "FROM " + call)]
        assert any(all("ts " + bound in scan for bound in bounds) for scan in scans), scans
    # Later rows are needed to interpolate.
    assert "12:01:00" not in str(filters(con, f"FROM gapfill('t', 'ts', INTERVAL '1 minute', [], interpolate := ['n'], {until})"))


@pytest.mark.parametrize("type", ["TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP"])
def test_bounds_finer_than_the_column_are_exact(con, minutes, type):
    con.execute(f"CREATE TABLE t AS SELECT * REPLACE (ts::{type} AS ts) FROM minutes")
    def starts(since, until):
        return [row[0] for row in clocks(con, "n", f"[], since := {since}, until := {until}", "t", "1")]
    assert starts("TIMESTAMP_NS '2026-01-01 12:00:59.999999999'", "TIMESTAMP_NS '2026-01-01 12:02:00.000000001'") == [0, 1, 2]
    assert starts("TIMESTAMP_NS '2026-01-01 12:01:00.000000001'", "TIMESTAMP_NS '2026-01-01 12:02:00'") == [1]
    assert starts("DATE '2026-01-01'", "TIMESTAMP '2026-01-01 00:01:00.000001'") == [0, 1]


@pytest.mark.parametrize("max_gap, carried, line", [
    ("NULL", ["on"] * 4, [15.0, 20.0, 25.0]), ("INTERVAL '3 minutes'", ["on"] * 4, [15.0, 20.0, 25.0]),
    ("INTERVAL '00:02:59.999999'", ["on", "on", "on", None], [None] * 3), ("INTERVAL '0 days'", ["on", None, None, None], [None] * 3)])
def test_max_gap_bounds_what_is_filled(con, minutes, max_gap, carried, line):
    rows = clocks(con, "state, temp", f"['sensor'], carry := ['state'], interpolate := ['temp'], max_gap := {max_gap}")[:5]
    assert [row[1] for row in rows[:4]] == carried and [row[2] for row in rows[1:4]] == line
    assert rows[4] == (4, "off", 30.0)


def test_a_gap_longer_than_a_piece_and_wider_than_an_interval(con):
    con.execute("CREATE TABLE t AS FROM (VALUES (TIMESTAMP '2026-01-01', 0), (TIMESTAMP '2026-01-04', 259200)) AS v(ts, x)")
    assert con.sql("SELECT count(*), count(DISTINCT window_start), count(*) FILTER (x = epoch(window_start - TIMESTAMP '2026-01-01')) "
                   "FROM gapfill('t', 'ts', INTERVAL '1 second', [], interpolate := ['x'])").fetchall() == [(259201, 259201, 259201)]
    con.execute("CREATE TABLE far AS FROM (VALUES (TIMESTAMP '4713-01-01 (BC)', 1), (TIMESTAMP '9999-01-01', 2)) AS v(ts, x)")
    assert con.sql("SELECT count(*), count(*) FILTER (filled) FROM gapfill('far', 'ts', INTERVAL '3000 days', [])").fetchall() == [(1792, 1790)]


def test_the_grid_goes_through_the_origin_to_the_nanosecond(con, text):
    con.execute("CREATE TABLE t AS FROM (VALUES (TIMESTAMP_NS '1969-12-31 23:59:59.999999001', 1), (TIMESTAMP_NS '1970-01-01 00:00:00.000002500', 4)) AS v(ts, x)")
    assert text("SELECT window_start, x FROM gapfill('t', 'ts', INTERVAL '1 microsecond', [], interpolate := ['x'], origin := TIMESTAMP_NS '2000-01-01 00:00:00.000000001') ORDER BY 1") == [
        ("1969-12-31 23:59:59.999999001", "1"), ("1970-01-01 00:00:00.000000001", "2"), ("1970-01-01 00:00:00.000001001", "3"), ("1970-01-01 00:00:00.000002001", "4")]


# Names

INNER = ["k", "c", "i", "z", "o", "s", "t", "b", "rows", "row", "place", "first", "last", "low", "high", "lower", "upper", "piece_start", "data", "w_u_filled", "k_u_k", "u_", "n",
         "width", "since", "until", "keys", "carry", "members", "max_gap", "origin", "gap", "tbl", "ts2", "Sensor", 'we"ird', "a b", "x\ny", ".*", "select"]


@pytest.mark.parametrize("name", INNER)
def test_no_name_of_a_column_changes_an_answer(con, name):
    quoted, literal = '"' + name.replace('"', '""') + '"', "'" + name.replace("'", "''") + "'"
    con.execute(f"CREATE TABLE t AS FROM (VALUES (TIMESTAMP '2026-01-01 00:00', 1, 5), ('2026-01-01 00:02', 1, 9)) AS v(the_time, {quoted}, other)")
    def fill(keys, rest, columns):
        return con.sql(f"SELECT {columns} FROM gapfill('t', 'the_time', INTERVAL '1 minute', {keys}, {rest}) ORDER BY window_start").fetchall()
    assert fill(f"[{literal}]", "interpolate := ['other']", f"{quoted}, other") == [(1, 5), (1, 7), (1, 9)]
    assert fill("[]", f"carry := [{literal}], zero := ['other']", f"{quoted}, other") == [(1, 5), (1, 0), (1, 9)]
    assert con.sql(f"SELECT {quoted}, window_end FROM sessions('t', 'the_time', INTERVAL '1 minute', [{literal}]) ORDER BY 2").fetchall()[0][0] == 1
    assert con.sql(f"SELECT sum({quoted}), count(*) FROM sessions('t', 'the_time', INTERVAL '1 minute', ['other'])").fetchall() == [(2, 2)]
    con.execute(f"ALTER TABLE t RENAME COLUMN other TO other2; ALTER TABLE t RENAME COLUMN {quoted} TO spare; ALTER TABLE t RENAME COLUMN the_time TO {quoted}")
    assert con.sql(f"SELECT count(*) FROM gapfill('t', {literal}, INTERVAL '1 minute', [])").fetchall() == [(3,)]
    for call in ["sessions('t', {}, INTERVAL '1 minute', [])", "tumble('t', {}, INTERVAL '1 minute')", "cumulate('t', {}, INTERVAL '1 minute', INTERVAL '1 minute')"]:
        assert con.sql(f"SELECT count(DISTINCT window_start) FROM {call.format(literal)}").fetchall() == [(2,)]


@pytest.mark.parametrize("name", ["data", "bounds", "range_of", "by_key", "ordered", "neighbours", "placed", "pieces", "filled", "result"])
def test_tables_and_ctes_may_be_named_like_the_macros_own(con, minutes, name):
    want = con.sql("FROM gapfill('minutes', 'ts', INTERVAL '1 minute', ['sensor'], members := 'minutes') ORDER BY ALL").fetchall()
    assert con.sql(f"WITH {name} AS (FROM minutes) FROM gapfill('{name}', 'ts', INTERVAL '1 minute', ['sensor'], members := '{name}') ORDER BY ALL").fetchall() == want
    assert con.sql(f"WITH {name} AS (FROM minutes) SELECT count(*) FROM sessions('{name}', 'ts', INTERVAL '1 minute', ['sensor'])").fetchall() == [(4,)]


def test_views_of_one_macro_over_views_of_another(con, minutes):
    con.execute("CREATE VIEW first_view AS SELECT sensor, window_start, avg(temp) AS temp FROM tumble('minutes', 'ts', INTERVAL '1 minute') GROUP BY ALL")
    con.execute("CREATE VIEW second_view AS FROM gapfill('first_view', 'window_start', INTERVAL '1 minute', ['sensor'], carry := ['temp'])")
    con.execute("CREATE VIEW third_view AS SELECT * EXCLUDE (window_start, window_end), window_start AS ts FROM second_view")
    assert con.sql("SELECT count(*) FROM sessions('third_view', 'ts', INTERVAL '2 minutes', ['sensor'])").fetchall() == [(10,)]
    assert con.sql("SELECT count(*) FROM hop('third_view', 'ts', INTERVAL '1 minute', INTERVAL '2 minutes')").fetchall() == [(20,)]


def test_a_macro_over_a_view_of_itself_needs_a_second_name_on_some_engines(con, minutes):
    """DuckDB 2.0 takes it for a recursion."""
    con.execute("CREATE VIEW once AS SELECT sensor, window_start AS ts, state FROM gapfill('minutes', 'ts', INTERVAL '1 minute', ['sensor'], carry := ['state'])")
    again = con.sql("SELECT sql FROM time_bucket_macros() WHERE name = 'gapfill'").fetchall()[0][0].replace("MACRO gapfill(", "MACRO gapfill_again(")
    con.execute(again)
    call = "{}('once', 'ts', INTERVAL '30 seconds', ['sensor'], carry := ['state'])"
    assert len(con.sql("FROM " + call.format("gapfill_again")).fetchall()) == 18
    if duckdb.__version__.startswith("1."):
        assert len(con.sql("FROM " + call.format("gapfill")).fetchall()) == 18
    else:
        with pytest.raises(duckdb.BinderException, match="infinite recursion"):
            con.sql("FROM " + call.format("gapfill"))


def test_from_an_attached_and_from_a_read_only_database(con, minutes, tmp_path):
    con.execute(f"ATTACH '{tmp_path / 'm.db'}' AS m; USE m")
    con.execute(MACROS)
    con.execute("USE memory; DETACH m")
    con.execute(f"ATTACH '{tmp_path / 'm.db'}' AS m (READ_ONLY)")
    for name in ["tumble", "hop", "cumulate", "sessions", "gapfill"]:
        con.execute(f"DROP MACRO TABLE {name}")
    assert con.sql("SELECT count(*) FROM m.gapfill('minutes', 'ts', INTERVAL '1 minute', ['sensor'])").fetchall() == [(10,)]
    assert con.sql("SELECT count(*) FROM m.sessions('minutes', 'ts', INTERVAL '1 minute', ['sensor'])").fetchall() == [(4,)]
    assert con.sql("SELECT count(*) FROM m.cumulate('minutes', 'ts', INTERVAL '1 minute', INTERVAL '2 minutes')").fetchall() == [(7,)]
    con.execute(MACROS.replace("CREATE OR REPLACE MACRO", "CREATE OR REPLACE TEMP MACRO"))
    assert con.sql("SELECT count(*) FROM hop('minutes', 'ts', INTERVAL '1 minute', INTERVAL '2 minutes')").fetchall() == [(8,)]


def test_what_is_stored_stops_without_the_extension(con, tmp_path):
    con.execute(f"ATTACH '{tmp_path / 'm.db'}' AS m; USE m")
    con.execute(MACROS)
    con.execute(MINUTES)
    con.execute("USE memory; DETACH m")
    sql = "SELECT count(*) FROM {}"
    with duckdb.connect(str(tmp_path / "m.db")) as without:
        for call in ["tumble('minutes', 'ts', INTERVAL '7 days')", "hop('minutes', 'ts', INTERVAL '7 days', INTERVAL '7 days')",
                     "cumulate('minutes', 'ts', INTERVAL '7 days', INTERVAL '7 days')", "sessions('minutes', 'ts', INTERVAL '7 days', [])",
                     "gapfill('minutes', 'ts', INTERVAL '7 days', [])"]:
            with pytest.raises(duckdb.CatalogException, match="time_bucket"):
                without.execute(sql.format(call)).fetchall()


# What is refused

REFUSED = [
    ("gapfill('twice', 'ts', INTERVAL '1 minute', ['sensor'])", "gapfill: two rows of one key are in the bucket of '2026-01-01 12:02:00'; GROUP BY"),
    ("gapfill('clash', 'ts', INTERVAL '1 minute', [])", "gapfill: the input already has a column Filled, which is a result; rename it"),
    ("sessions('ended', 'ts', INTERVAL '1 minute', [])", "sessions: the input already has a column window_end, which is a result; rename it"),
    ("cumulate('ended', 'ts', INTERVAL '1 minute', INTERVAL '1 minute')", "cumulate: the input already has a column window_end, which is a result; rename it"),
    ("gapfill('minutes', 'ts', INTERVAL '1 minute', ['sensor'], carry := ['n'], zero := ['N'])", "gapfill: the column N is named twice, in carry and in zero"),
    ("gapfill('minutes', 'ts', INTERVAL '1 minute', ['sensor'], carry := ['Sensor'])", "gapfill: the column Sensor is named twice, in keys and in carry"),
    ("gapfill('minutes', 'ts', INTERVAL '1 minute', ['sensors'])", 'the table has no column sensors; its columns are '),
    ("gapfill('minutes', 'ts', INTERVAL '1 minute', [], carry := ['heat'])", 'gapfill: the table has no column heat; its columns are '),
    ("sessions('minutes', 'ts', INTERVAL '1 minute', ['sensors'])", 'the table has no column sensors; its columns are '),
    ("gapfill('minutes', 'ts', INTERVAL '1 minute', [], interpolate := ['state'])", "gapfill: interpolate takes columns of numbers, DECIMAL and times"),
    ("gapfill('minutes', 'ts', INTERVAL '1 month', [])", "time_bucket_ceil: width INTERVAL '1 month' is calendar"),
    ("gapfill('minutes', 'ts', INTERVAL '0 days', [])", "time_bucket_ceil: width must be positive"),
    ("gapfill('minutes', 'ts', INTERVAL '1 minute', [], since := TIMESTAMP '2026-01-02', until := TIMESTAMP '2026-01-01')",
     "gapfill: since 2026-01-02 00:00:00 is later than until 2026-01-01 00:00:00; swap them"),
    ("gapfill('minutes', 'ts', INTERVAL '1 minute', [], until := 'infinity'::TIMESTAMP)", "time_bucket_until: until must be finite, not 'infinity'"),
    ("gapfill('minutes', 'ts', INTERVAL '1 minute', [], since := '-infinity'::TIMESTAMP)", "time_bucket_since: since must be finite, not '-infinity'"),
    ("gapfill('minutes', 'ts', INTERVAL '1 minute', [], since := '2026-01-01')", "time_bucket_since: since must be a timestamp, not '2026-01-01'"),
    ("gapfill('minutes', 'ts', INTERVAL '1 minute', [], since := TIMESTAMPTZ '2026-01-01 00:00:00+00')", "time_bucket_since: since '2026-01-01 00:00:00' is of another type than ts"),
    ("gapfill('minutes', 'ts', INTERVAL '1 microsecond', [], since := TIMESTAMP '1900-01-01')", "gapfill: more than 100 million buckets from '1900-01-01 00:00:00'"),
    ("gapfill('minutes', 'ts', INTERVAL '1 minute', [], carry := ['state'], max_gap := INTERVAL '1 month')", "time_bucket_within: max_gap INTERVAL '1 month' is calendar"),
    ("gapfill('minutes', 'ts', INTERVAL '1 minute', [], carry := ['state'], max_gap := INTERVAL '-1 day')", "time_bucket_within: max_gap must not be negative"),
    ("sessions('minutes', 'ts', INTERVAL '1 month', [])", "time_bucket_sessions: gap INTERVAL '1 month' is calendar"),
    ("sessions('minutes', 'ts', INTERVAL '0 days', [])", "time_bucket_sessions: gap must be positive"),
    ("cumulate('minutes', 'ts', INTERVAL '2 minutes', INTERVAL '5 minutes')", "time_bucket_cumulate: size INTERVAL '00:05:00' is not a multiple of step INTERVAL '00:02:00'"),
    ("cumulate('minutes', 'ts', INTERVAL '-2 minutes', INTERVAL '4 minutes')", "time_bucket_cumulate: step must be positive"),
]


@pytest.mark.parametrize("call, message", REFUSED)
def test_refused_in_words_and_the_connection_goes_on(con, minutes, call, message):
    con.execute("CREATE TABLE twice AS SELECT * REPLACE (CASE WHEN n = 4 THEN ts - INTERVAL '30 seconds' ELSE ts END AS ts) FROM minutes")
    con.execute("CREATE TABLE clash AS SELECT *, 1 AS Filled FROM minutes; CREATE TABLE ended AS SELECT *, 1 AS window_end FROM minutes")
    with pytest.raises((duckdb.BinderException, duckdb.InvalidInputException)) as refusal:
        con.execute(f"FROM {call}").fetchall()
    assert message in str(refusal.value)
    assert con.execute("SELECT count(*) FROM minutes").fetchall() == [(4,)]


# Sessions and windows that grow

def test_sessions_end_a_gap_after_their_last_row(con):
    con.execute("""CREATE TABLE t AS FROM (VALUES (TIMESTAMP '2026-01-01 00:00:00', 'a', 1), ('2026-01-01 00:00:59', 'a', 2), ('2026-01-01 00:01:59', 'a', 3),
                   ('2026-01-01 00:01:58.999999', 'b', 4), ('2026-01-01 00:00:59', 'b', 5), (NULL, 'b', 6), ('infinity', 'b', 7), ('2026-01-01 00:00:59', 'b', 8)) AS v(ts, k, x)""")
    rows = con.sql("SELECT list(x ORDER BY x), k, window_start::VARCHAR, window_end::VARCHAR FROM sessions('t', 'ts', INTERVAL '1 minute', ['k']) GROUP BY ALL ORDER BY 1").fetchall()
    assert rows == [([1, 2], "a", "2026-01-01 00:00:00", "2026-01-01 00:01:59"), ([3], "a", "2026-01-01 00:01:59", "2026-01-01 00:02:59"),
                    ([4, 5, 8], "b", "2026-01-01 00:00:59", "2026-01-01 00:02:58.999999"), ([6], "b", None, None), ([7], "b", "infinity", "infinity")]


@pytest.mark.parametrize("type", TYPES)
def test_sessions_of_random_rows(con, type):
    rng, (_, write, read) = random.Random(type), TYPES[type]
    rows = [(rng.choice([None, 0, 1]), rng.randint(-2000, 2000), i) for i in range(500)]
    con.execute(f"CREATE TABLE t AS SELECT k, {write.format('(ts * {}::BIGINT)'.format(10**9 // TYPES[type][0]))} AS ts, i FROM (VALUES {', '.join(str(row).replace('None', 'NULL') for row in rows)}) AS v(k, ts, i)")
    got = con.sql(f"SELECT i, {read.format('window_start')}, {read.format('window_end')} FROM sessions('t', 'ts', INTERVAL '13 seconds', ['k']) ORDER BY i").fetchall()
    scale, want = 10**9 // TYPES[type][0], {}
    for key in [None, 0, 1]:
        mine = sorted(row[1:] for row in rows if row[0] == key)
        for ts, i in mine:
            first = last = ts
            while any(first - 13 < other < first for other, _ in mine):
                first = min(other for other, _ in mine if first - 13 < other < first)
            while any(last < other < last + 13 for other, _ in mine):
                last = max(other for other, _ in mine if last < other < last + 13)
            want[i] = (i, first * scale, (last + 13) * scale)
    assert got == [want[i] for i in range(500)]


def test_windows_that_grow(con, text):
    con.execute("CREATE TABLE t AS FROM (VALUES (TIMESTAMP '2026-01-01 00:00:00', 1), ('2026-01-01 00:02:00', 2), ('2026-01-01 00:05:59', 3), (NULL, 4)) AS v(ts, x)")
    rows = con.sql("SELECT strftime(window_start, '%M'), strftime(window_end, '%M'), sum(x) FROM cumulate('t', 'ts', INTERVAL '2 minutes', INTERVAL '6 minutes') GROUP BY ALL ORDER BY ALL").fetchall()
    assert rows == [("00", "02", 1), ("00", "04", 3), ("00", "06", 6)]
    rows = con.sql("SELECT strftime(window_start, '%M'), strftime(window_end, '%M'), sum(x) FROM cumulate('t', 'ts', INTERVAL '2 minutes', INTERVAL '4 minutes', origin := INTERVAL '2 minutes') GROUP BY ALL ORDER BY ALL").fetchall()
    assert rows == [("02", "04", 2), ("02", "06", 5), ("58", "02", 1)]


# Memory

EXPANSION = """
import duckdb, resource, sys
con = duckdb.connect(config={"allow_unsigned_extensions": True, "memory_limit": "200MB", "threads": 1})
con.execute("LOAD '%s'" % sys.argv[1])
for macro in sys.argv[3:]:
    con.execute(open(macro).read())
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(con.sql(sys.argv[2]).fetchall()[0][0], (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def expansion(sql):
    from conftest import EXTENSION
    macros = sorted(str(file) for file in (ROOT / "sql/macros").glob("*.sql"))
    ran = subprocess.run([sys.executable, "-c", EXPANSION, str(EXTENSION), sql, *macros], capture_output=True, text=True, check=False)
    return ran.stdout.split(), ran.stderr


def test_ten_million_buckets_stay_within_the_memory_limit():
    (count, megabytes), _ = expansion("""WITH t AS (SELECT TIMESTAMP '2026-01-01' + to_seconds(i * 10000000 // 1000) AS ts, i AS x FROM range(1001) AS r(i))
                                         SELECT count(*) + sum(x) * 0 FROM gapfill('t', 'ts', INTERVAL '1 second', [], carry := ['x'])""")
    assert int(count) == 10_000_001 and int(megabytes) < 300


def test_a_million_sessions_and_windows_take_what_the_documents_say():
    """Sessions are lists that the engine counts; panes and their windows are 72 bytes each, which it does not count, and a vector may have grown to twice that."""
    (count, megabytes), _ = expansion("""WITH t AS (SELECT TIMESTAMP '2026-01-01' + to_seconds(i) AS ts, i % 1000 AS k FROM range(1000000) AS r(i))
                                         SELECT count(window_start) FROM sessions('t', 'ts', INTERVAL '1 minute', ['k'])""")
    assert int(count) == 1_000_000 and int(megabytes) < 300
    panes = "{'n': 1::BIGINT, 'sum': 1.0::DOUBLE, 'residue': 0.0::DOUBLE, 'min': 1.0::DOUBLE, 'max': 1.0::DOUBLE, 'm2': 0.0::DOUBLE}"
    (count, megabytes), _ = expansion(f"""WITH t AS (SELECT TIMESTAMP '2026-01-01' + to_minutes(i // 1000) AS pane_start, pane_start + INTERVAL '1 minute' AS pane_end, i % 1000 AS k,
                                                            {panes} AS x FROM range(1000000) AS r(i))
                                          SELECT sum(x.n) FROM rolling_panes('t', ['k'], INTERVAL '1 hour', INTERVAL '1 minute')""")
    assert int(count) == 1000 * (sum(range(1, 60)) + 941 * 60) and int(megabytes) < 200 + 3 * 72


def test_a_chunk_of_too_many_windows_is_refused():
    made, error = expansion("SELECT sum(len(time_bucket_hop(INTERVAL '1 second', INTERVAL '20000 seconds', TIMESTAMP '2026-01-01' + to_seconds(i)))) FROM range(2048) AS r(i)")
    assert not made and "time_bucket_hop: 40960000 windows for 2048 rows are more than are made at once" in error
    (count, megabytes), _ = expansion("SELECT sum(len(time_bucket_hop(INTERVAL '1 second', INTERVAL '2048 seconds', TIMESTAMP '2026-01-01' + to_seconds(i)))) FROM range(4096) AS r(i)")
    assert int(count) == 4096 * 2048 and int(megabytes) < 300


# Against exact arithmetic

def half_away(value):
    """A fraction rounded to the nearest whole number, halves away from zero."""
    away = math.floor(abs(value) + Fraction(1, 2))
    return -away if value < 0 else away


def oracle(rows, members, keys_given, width, origin, since, until, max_gap):
    """What gapfill gives, in whole ticks: rows are (key, ts, carried, line, zero, other), since and until fractions of a tick."""
    def start(ts):
        return origin + (math.floor(ts) - origin) // width * width
    by_key = {}
    if not keys_given:
        by_key[None,] = []
    for member in members:
        by_key.setdefault(member, [])
    for row in rows:
        if until is None or start(row[1]) < until or row[0] in by_key:
            by_key.setdefault(row[0], [])
    for row in rows:
        if row[0] in by_key:
            by_key[row[0]].append((start(row[1]), *row[2:]))
    starts = [start(row[1]) for row in rows]
    first = start(since) if since is not None else min(starts, default=None)
    last = math.ceil(until) if until is not None else max(starts, default=None)
    if since is None and until is None and not rows:
        return []
    if first is None or last is None:
        return None
    if until is None:
        last += width
    out = []
    for key, mine in by_key.items():
        mine = {row[0]: row[1:] for row in mine}
        for at in range(first, last, width):
            def before(column, strict=False):
                known = [ts for ts, row in mine.items() if ts <= at and row[column] is not None]
                return max(known, default=None)
            def after(column):
                return min((ts for ts, row in mine.items() if ts > at and row[column] is not None), default=None)
            here = mine.get(at, (None, None, None, None))
            t0 = before(0)
            carried = mine[t0][0] if t0 is not None and (max_gap is None or at - t0 <= max_gap) else None
            t0, t1 = before(1), after(1)
            line = None
            if t0 == at:
                line = mine[at][1]
            elif t0 is not None and t1 is not None and (max_gap is None or t1 - t0 - width <= max_gap):
                line = half_away(mine[t0][1] + Fraction((mine[t1][1] - mine[t0][1]) * (at - t0), t1 - t0))
            out.append((*key, at, at + width, carried, line, here[2] or 0, here[3], at not in mine))
    return out


ROUNDS = int(os.environ.get("TIME_BUCKET_ROUNDS", "12"))


@pytest.mark.parametrize("type", TYPES)
def test_random_relations_against_exact_arithmetic(con, type):
    rng, (tick, write, read) = random.Random(f"{type} {ROUNDS}"), TYPES[type]
    made = 0
    for _ in range(ROUNDS):
        centre = rng.choice([0, -6 * 10**10 if tick > 1 else -10**9, 5 * 10**10 if tick > 1 else 10**9]) * 10**9 // tick
        width = rng.choice([1, 7, 60, 3600]) * 10**9 // tick
        origin = rng.choice([0, 0, 1, -5]) * 10**9 // tick
        span, count = rng.choice([3, 20, 400]), rng.choice([0, 1, 5, 40])
        keys = rng.choice([[], [], ["k"], ["k", "we\"ird"]])
        value = rng.choice(["BIGINT", "DECIMAL(18,3)", "HUGEINT", "INTEGER"])
        seen, rows = set(), []
        for _ in range(count):
            key = tuple(rng.choice([None, 0, 1, 2]) for _ in keys) or (None,)
            ts = centre + rng.randint(-span, span) * width + rng.randrange(width)
            if (key, (ts - origin) // width) not in seen:
                seen.add((key, (ts - origin) // width))
                maybe = [rng.choice([None, rng.randint(-10**6, 10**6)]) for _ in range(4)]
                rows.append((key, ts, *maybe))
        bound = lambda: None if rng.random() < 0.4 else centre + Fraction(rng.randint(-span * width * 1000, span * width * 1000), 1000)
        since, until = bound(), bound()
        if since is not None and until is not None and math.floor(since) > math.ceil(until):
            since, until = until, since
        if since is not None and until is not None and math.floor(since) == math.ceil(until):
            until += 2
        if tick == 1 or abs(centre) * tick > 9 * 10**18:  # no finer type has these
            since, until = (b if b is None else Fraction(math.floor(b)) for b in (since, until))
        max_gap = rng.choice([None, None, 0, width - 1, 3 * width])
        members = [] if not keys or rng.random() < 0.5 else [tuple(rng.choice([None, 0, 7]) for _ in keys) for _ in range(2)]

        names = [f'"{name.replace(chr(34), chr(34) * 2)}"' for name in keys]
        def moment(ts, finer=False):
            """A tick, or a fraction of one in nanoseconds."""
            if finer and ts.denominator > 1:
                nanos = math.floor(ts * tick)
                return f"make_timestamp_ns({nanos}::BIGINT)" + ("::TIMESTAMPTZ_NS" if type in INSTANTS else "")
            return write.format(int(ts))
        if type in INSTANTS:  # there is no finer instant on every engine
            since, until = (b if b is None else Fraction(math.floor(b)) for b in (since, until))
        else:
            since, until = (b if b is None else Fraction(math.floor(b * tick), tick) for b in (since, until))
        scale = 1000 if value.startswith("DECIMAL") else 1
        cell = lambda number: "NULL" if number is None else str(number)
        line = lambda number: "NULL" if number is None else str(Decimal(number) / scale)
        con.execute(f"CREATE OR REPLACE TABLE t (ts {type}{''.join(f', {name} INTEGER' for name in names)}, \"s\" VARCHAR, v {value}, n BIGINT, \"first\" BIGINT)")
        for key, ts, a, b, c, d in rows:
            con.execute(f"INSERT INTO t VALUES ({moment(ts)}{''.join(', ' + cell(k) for k, _ in zip(key, names))}, {cell(a)}, {line(b)}, {cell(c)}, {cell(d)})")
        con.execute(f"CREATE OR REPLACE TABLE m (x INTEGER{''.join(f', {name} INTEGER' for name in names)})")
        for key in members:
            con.execute(f"INSERT INTO m VALUES (1{''.join(', ' + cell(k) for k in key)})")
        arguments = ["carry := ['s']", "interpolate := ['v']", "zero := ['n']", f"origin := to_microseconds({origin * tick // 1000}::BIGINT)"]
        arguments += [f"{name} := {moment(at, True)}" for name, at in [("since", since), ("until", until)] if at is not None]
        if max_gap is not None:
            arguments.append(f"max_gap := to_microseconds({max_gap * tick // 1000}::BIGINT)")
        arguments += ["members := 'm'"] * bool(members)
        listed = ", ".join("'" + name + "'" for name in keys)
        got = con.sql(f"SELECT {''.join(name + ', ' for name in names)}{read.format('window_start')}, {read.format('window_end')}, s, v, n, \"first\", filled "
                      f"FROM gapfill('t', 'ts', to_microseconds({width * tick // 1000}::BIGINT), [{listed}], {', '.join(arguments)})").fetchall()
        max_ticks = None if max_gap is None else max_gap * tick // 1000 * 1000 // tick
        want = oracle(rows, members, bool(keys), width, origin, since, until, max_ticks)
        if want is None:
            continue
        made += len(got)
        known = lambda row: tuple((v is None, v if not isinstance(v, Decimal) else int(v * scale)) for v in row)
        got = [tuple(int(v) if isinstance(v, str) else int(v * scale) if isinstance(v, Decimal) else v for v in row) for row in got]
        want = [row[0 if keys else 1:] for row in want]
        order = lambda row: [(v is None, v or 0) for v in row]
        assert sorted(got, key=order) == sorted(want, key=order), (type, rows, members, keys, width, origin, since, until, max_gap)
    assert made > 0
