"""The window macros of sql/macros, and the recipes of docs/windows.md that use them."""
import json
import re
import subprocess
import sys

import duckdb
import pytest
from conftest import MACROS, ROOT
from readings import READINGS, TYPES, clock


def readings(con, type="TIMESTAMP"):
    con.execute(READINGS.format(type=type))


# The file itself

def test_the_file_is_macros_with_three_comment_lines_each():
    blocks = MACROS.rstrip("\n").split("\n\n")
    names = []
    for block in blocks:
        purpose, detail, example, create = block.split("\n")[:4]
        assert purpose.startswith("-- ") and detail.startswith("-- ") and example.startswith("-- Example: ")
        names.append(re.match(r"CREATE OR REPLACE MACRO (\w+)\(", create)[1])
        assert names[-1] + "(" in example and example.endswith(";")
        assert block.endswith(";")
    assert names == sorted(names)


def test_the_binary_alone_gives_the_macros(con):
    rows = con.sql("FROM time_bucket_macros()").fetchall()
    assert "\n\n".join(sql for _, sql in sorted(rows)) == MACROS.strip()


def test_loading_twice_is_harmless(con):
    con.execute(MACROS)
    assert con.sql("SELECT count(*) FROM duckdb_functions() WHERE function_name = 'gapfill'").fetchall() == [(1,)]


def test_every_example_line_runs(con):
    readings(con)
    con.execute("CREATE TABLE panes AS FROM pane_rows('readings', 'ts', ['temp'], INTERVAL '1 minute', ['sensor'])")
    con.execute("CREATE VIEW parts AS FROM panes")
    con.execute("CREATE TABLE minutes AS SELECT sensor, time_bucket(INTERVAL '1 minute', ts) AS ts, avg(temp) AS temp, count(*) AS n FROM readings GROUP BY ALL")
    for example in re.findall(r"-- Example: (.*);", MACROS):
        con.execute(example.replace("CREATE TABLE", "CREATE OR REPLACE TABLE")).fetchall()


# The document

def test_every_block_of_the_document_runs(con, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```sql\n(.*?)^```$", (ROOT / "docs/windows.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) > 20
    for block in blocks:
        sql, read, file = block.partition(".read ")
        con.execute(sql).fetchall()
        if read:
            con.execute((tmp_path / file.strip()).read_text(encoding="utf-8"))


def test_the_figure_is_what_its_script_draws(tmp_path):
    subprocess.run([sys.executable, ROOT / "scripts/windows_figure.py", tmp_path / "windows.svg"], check=True)
    assert (tmp_path / "windows.svg").read_text(encoding="utf-8") == (ROOT / "docs/windows.svg").read_text(encoding="utf-8")


# tumble and hop

@pytest.mark.parametrize("type", TYPES)
def test_tumble_gives_each_row_once(con, text, type):
    readings(con, type)
    rows = text("SELECT sensor, temp, window_start, window_end, typeof(window_start), typeof(window_end) "
                "FROM tumble('readings', 'ts', INTERVAL '2 minutes') ORDER BY ALL")
    types = {row[4:] for row in rows}
    assert types == {(t, t) for t in [con.execute("SELECT typeof(ts) FROM readings LIMIT 1").fetchall()[0][0]]}
    assert clock([row[:4] for row in rows], 2, 3) == [
        ("a", "10.0", "00:00", "02:00"), ("a", "14.0", "00:00", "02:00"), ("a", "16.0", "00:00", "02:00"),
        ("a", "30.0", "04:00", "06:00"), ("a", "1000.0", None, None), ("a", "2000.0", "infinity", "infinity"),
        ("b", "50.0", "02:00", "04:00"), ("b", None, "02:00", "04:00"), (None, "7.0", "04:00", "06:00")]


@pytest.mark.parametrize("type", TYPES)
def test_hop_gives_each_row_once_for_each_window(con, text, type):
    readings(con, type)
    rows = text("SELECT window_start, window_end, count(*), sum(temp) FROM hop('readings', 'ts', INTERVAL '2 minutes', "
                "INTERVAL '5 minutes') WHERE ts < 'infinity' GROUP BY ALL ORDER BY ALL")
    assert clock(rows, 0, 1) == [
        ("2026-01-01 11:56:00" + "+00" * type.startswith("TIMESTAMPTZ"), "01:00", "1", "10.0"),
        ("2026-01-01 11:58:00" + "+00" * type.startswith("TIMESTAMPTZ"), "03:00", "4", "90.0"),
        ("00:00", "05:00", "7", "127.0"), ("02:00", "07:00", "4", "87.0"), ("04:00", "09:00", "2", "37.0")]
    assert con.sql("SELECT DISTINCT typeof(window_start) = typeof(ts) AND typeof(window_end) = typeof(ts) "
                   "FROM hop('readings', 'ts', '2 minutes', '5 minutes')").fetchall() == [(True,)]


#  slide   size    ts                     the starts of its windows
HOPS = [
    ("2m", "5m", "2026-01-01 00:00:00", ["2025-12-31 23:56:00", "2025-12-31 23:58:00", "2026-01-01 00:00:00"]),
    ("2m", "5m", "2026-01-01 00:01:00", ["2025-12-31 23:58:00", "2026-01-01 00:00:00"]),
    ("15m", "20m", "2026-01-01 10:40:00", ["2026-01-01 10:30:00"]),
    ("4s", "10s", "1969-12-31 23:59:53", ["1969-12-31 23:59:44", "1969-12-31 23:59:48", "1969-12-31 23:59:52"]),
    ("60s", "30s", "2026-01-01 00:00:40", []),
    ("10s", "30s", "1970-01-01 00:00:15", ["1969-12-31 23:59:50", "1970-01-01 00:00:00", "1970-01-01 00:00:10"]),
    ("10s", "30s", "1970-01-01 00:00:30", ["1970-01-01 00:00:10", "1970-01-01 00:00:20", "1970-01-01 00:00:30"]),
]


@pytest.mark.parametrize("slide, size, ts, starts", HOPS)
def test_hop_starts(con, text, slide, size, ts, starts):
    con.execute(f"CREATE TABLE t AS SELECT TIMESTAMP '{ts}' AS ts")
    assert text(f"SELECT window_start FROM hop('t', 'ts', '{slide}', '{size}') ORDER BY 1") == [(s,) for s in starts]


def test_origin_moves_the_grid(con, text):
    readings(con)
    for origin in ("TIMESTAMP '2026-01-01 00:00:30'", "INTERVAL '30 seconds'"):
        assert clock(text(f"SELECT DISTINCT window_start FROM tumble('readings', 'ts', '4 minutes', origin := {origin}) "
                          "WHERE ts < 'infinity' ORDER BY 1"), 0) == [("2026-01-01 11:56:30",), ("00:30",), ("04:30",)]
        assert clock(text(f"SELECT DISTINCT window_start FROM hop('readings', 'ts', '4 minutes', '4 minutes', origin := {origin}) "
                          "WHERE ts < 'infinity' ORDER BY 1"), 0) == [("2026-01-01 11:56:30",), ("00:30",), ("04:30",)]


def test_tumble_by_a_wall_clock(con, text):
    """New York's 2026-11-01 has 25 hours, from 04:00 to 05:00 UTC; a day from 06:00 begins an hour later by UTC after the change."""
    con.execute("SET TimeZone = 'UTC'")
    con.execute("CREATE TABLE t AS SELECT TIMESTAMPTZ '2026-11-01 03:30:00+00' + to_hours(i) AS ts FROM range(28) AS r(i)")
    day = "SELECT window_start, window_end, count(*) FROM tumble('t', 'ts', INTERVAL '1 day', zone := 'America/New_York'{}) GROUP BY ALL ORDER BY ALL"
    assert text(day.format("")) == [
        ("2026-10-31 04:00:00+00", "2026-11-01 04:00:00+00", "1"), ("2026-11-01 04:00:00+00", "2026-11-02 05:00:00+00", "25"),
        ("2026-11-02 05:00:00+00", "2026-11-03 05:00:00+00", "2")]
    from_six = [("2026-10-31 10:00:00+00", "2026-11-01 11:00:00+00", "8"), ("2026-11-01 11:00:00+00", "2026-11-02 11:00:00+00", "20")]
    for origin in ("INTERVAL '6 hours'", "TIMESTAMP '2026-01-01 06:00:00'"):
        assert text(day.format(f", origin := {origin}")) == from_six
    for zone, says in (("'nowhere'", "there is no time zone 'nowhere'"), ("NULL", "zone must not be NULL")):
        with pytest.raises(duckdb.BinderException, match=f"time_bucket_start: {says}"):
            con.execute(f"FROM tumble('t', 'ts', INTERVAL '1 day', zone := {zone})")
    con.execute("CREATE TABLE clash AS SELECT ts, 1 AS Window_End FROM t")
    with pytest.raises(duckdb.Error, match="tumble: the input already has a column Window_End, which is a result; rename it"):
        con.execute("FROM tumble('clash', 'ts', INTERVAL '1 day', zone := 'UTC')")


PARAMETERS = "tbl ts val width keys slide size origin since until max_gap panes watermark lookback k c n _n sum value".split()


@pytest.mark.parametrize("name", PARAMETERS)
def test_columns_may_be_named_like_parameters(con, text, name):
    con.execute(f"CREATE TABLE t AS SELECT TIMESTAMP '2026-01-01 12:00:10' AS {name}, 1 AS a, 2.5 AS b, 'x' AS w")
    window = ("2026-01-01 12:00:00", "2026-01-01 12:01:00")
    assert text(f"SELECT a, window_start, window_end FROM tumble('t', '{name}', '1 minute')") == [("1", *window)]
    assert text(f"SELECT a, window_start, window_end FROM hop('t', '{name}', '1 minute', '1 minute')") == [("1", *window)]


def test_tables_views_and_ctes(con):
    readings(con)
    con.execute('CREATE VIEW seen AS FROM readings; CREATE TABLE "odd name" AS FROM readings; CREATE SCHEMA s; CREATE TABLE s.r AS FROM readings')
    want = con.sql("FROM tumble('readings', 'ts', '1 minute') ORDER BY ALL").fetchall()
    for source in ("FROM tumble('seen', 'ts', '1 minute')", "FROM tumble('odd name', 'ts', '1 minute')", "FROM tumble('s.r', 'TS', '1 minute')",
                   "WITH bucketed AS (FROM readings) FROM tumble('bucketed', 'ts', '1 minute')"):
        assert con.sql(source + " ORDER BY ALL").fetchall() == want


def test_prepared_widths(con, text):
    readings(con)
    con.execute("PREPARE q AS SELECT count(DISTINCT window_start) FROM tumble('readings', 'ts', $1) WHERE ts < 'infinity'")
    assert con.execute("EXECUTE q(INTERVAL '1 minute')").fetchall() == [(5,)]
    assert con.execute("EXECUTE q(INTERVAL '1 hour')").fetchall() == [(1,)]


def test_a_day_across_the_end_of_daylight_saving_time(con):
    """2026-11-01 has 25 hours in New York; day windows of instants have 24, and each row lies in exactly one."""
    con.execute("SET TimeZone = 'America/New_York'")
    con.execute("CREATE TABLE t AS SELECT unnest(generate_series(TIMESTAMPTZ '2026-10-31 00:00:00', TIMESTAMPTZ '2026-11-03 00:00:00', INTERVAL '17 minutes')) AS ts")
    rows, inside = con.execute("SELECT count(*), count(*) FILTER (window_start <= ts AND ts < window_end) FROM tumble('t', 'ts', INTERVAL '1 day')").fetchall()[0]
    assert rows == inside == con.execute("SELECT count(*) FROM t").fetchall()[0][0]
    assert con.sql("SELECT DISTINCT epoch_us(window_end) - epoch_us(window_start) FROM tumble('t', 'ts', INTERVAL '1 day')").fetchall() == [(86_400_000_000,)]
    assert con.sql("SELECT DISTINCT epoch_us(window_end) - epoch_us(window_start) FROM hop('t', 'ts', INTERVAL '6 hours', INTERVAL '1 day')").fetchall() == [(86_400_000_000,)]
    assert con.sql("SELECT DISTINCT count(*) FROM hop('t', 'ts', INTERVAL '6 hours', INTERVAL '1 day') GROUP BY ts").fetchall() == [(4,)]


# What is refused

CLASH = "CREATE TABLE clash AS SELECT ts, sensor, temp, 1 AS {column} FROM readings"
REFUSED = [
    ("FROM tumble('clash', 'ts', '1 minute')", "Window_Start", "tumble: the input already has a column Window_Start"),
    ("FROM tumble('clash', 'ts', '1 minute')", "window_end", "tumble: the input already has a column window_end"),
    ("FROM hop('clash', 'ts', '1 minute', '2 minutes')", "window_start", "hop: the input already has a column window_start"),
    ("FROM hop('clash', 'ts', '1 minute', '2 minutes')", "WINDOW_END", "hop: the input already has a column WINDOW_END"),
    ("FROM tumble('nowhere', 'ts', '1 minute')", "x", "Table with name nowhere does not exist"),
    ("FROM tumble('readings', 'tz', '1 minute')", "x", ': the table has no column tz; its columns are '),
    ("FROM hop('readings', 'tz', '1 minute', '1 minute')", "x", ': the table has no column tz; its columns are '),
    ("FROM tumble('readings', 'sensor', '1 minute')", "x", "time_bucket"),
    ("FROM tumble('readings', 'ts', '0 minutes')", "x", "time_bucket_start: width must be positive"),
    ("FROM tumble('readings', 'ts', INTERVAL '1 month')", "x", "is calendar"),
    ("FROM hop('readings', 'ts', INTERVAL '-1 minute', '2 minutes')", "x", "time_bucket_hop: slide must be positive"),
    ("FROM hop('readings', 'ts', INTERVAL '1 minute', INTERVAL '1 month')", "x", "is calendar"),
    ("FROM hop('readings', 'ts', NULL, INTERVAL '1 minute')", "x", "slide must not be NULL"),
]


@pytest.mark.parametrize("sql, column, message", REFUSED)
def test_refused_and_the_connection_goes_on(con, sql, column, message):
    readings(con)
    con.execute(CLASH.format(column=column))
    with pytest.raises(duckdb.Error) as refusal:
        con.execute(sql).fetchall()
    assert message in str(refusal.value) and "INTERNAL" not in str(refusal.value)
    assert con.execute("SELECT count(*) FROM readings").fetchall() == [(9,)]


# The window operator

def test_functions_over_one_partition_and_sort_share_an_operator(con):
    readings(con)
    plan = con.sql("""EXPLAIN (FORMAT json)
        SELECT sum(temp) OVER (w ROWS BETWEEN 2 PRECEDING AND CURRENT ROW), avg(temp) OVER (w ROWS UNBOUNDED PRECEDING),
               count(*) OVER (w RANGE BETWEEN INTERVAL '5 minutes' PRECEDING AND CURRENT ROW), row_number() OVER w,
               lag(temp) OVER w, last_value(temp IGNORE NULLS) OVER (w ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)
        FROM readings WINDOW w AS (PARTITION BY time_bucket(INTERVAL '1 hour', ts) ORDER BY ts)""").fetchall()[0][1]

    def names(node):
        return [node["name"].strip()] + [name for child in node["children"] for name in names(child)]
    operators = [name for root in json.loads(plan) for name in names(root)]
    assert [name for name in operators if "WINDOW" in name.upper()] == ["WINDOW"]
