"""The store and its windows, in this process: against the raw rows, and as files come, change and go."""

import json
import os
import pathlib
import pickle
import re
import subprocess
import sys

import duckdb
import duckdb_time_bucket
import pytest
import rows
from conftest import PACKAGE, ROOT
from duckdb_time_bucket import cluster
from duckdb_time_bucket.cluster import tasks
from rows import KEYS, VALUES, grouped, source, write

WIDTH = "15 minutes"
OTHERS = [engine for engine in ("1.5.6", "2.0.1") if engine != duckdb.__version__]


@pytest.fixture
def days(tmp_path, con):
    """Four files, one a day, but a few rows of the last are late and fall on the first."""
    folder = tmp_path / "rows"
    folder.mkdir()
    for day in range(4):
        write(con, folder / f"{day}.parquet", day, 2000 * day)
    write(con, folder / "late.parquet", 0, 8000, 50)
    return folder


def a_store(tmp_path, **changed):
    return cluster.Store(tmp_path / "store", **{"ts": "time", "values": VALUES, "width": WIDTH, "keys": KEYS, **changed})


# What the windows are

@pytest.mark.parametrize("lookback", ["15 minutes", "3 hours", "2 days"])
def test_rolling(tmp_path, con, days, lookback):
    store = a_store(tmp_path)
    update = store.update(f"{days}/*.parquet")
    assert (update.computed, update.kept, update.dropped) == (5, 0, 0)
    made = store.windows(cluster.Rolling(lookback), partitions=2, span=150)
    everything = source(days.glob("*.parquet"))
    keyed = grouped(rows.rolling(everything, WIDTH, lookback))
    assert rows.differences(con, made.files, keyed) == []
    names = [row[0] for row in con.execute(f"DESCRIBE FROM read_parquet({list(made.files)})").fetchall()]
    assert names == [*KEYS, "window_start", "window_end", "missing", *VALUES]
    (bad,) = con.execute(f"""SELECT count(*) FROM read_parquet({list(made.files)}) WHERE missing <>
        epoch_us(INTERVAL '{lookback}') // epoch_us(INTERVAL '{WIDTH}') - 1 AND window_end = (SELECT min(window_end) FROM read_parquet({list(made.files)}))""").fetchone()
    assert bad == 0


@pytest.mark.parametrize("width", ["15 minutes", "6 hours", "7 days"])
def test_tumble(tmp_path, con, days, width):
    store = a_store(tmp_path)
    store.update(f"{days}/*.parquet")
    made = store.windows(cluster.Tumble(width), partitions=2, span=150)
    want = grouped(f"(SELECT *, time_bucket(INTERVAL '{width}', time) AS window_start, time_bucket_end(INTERVAL '{width}', time) AS window_end "
                   f"FROM {source(days.glob('*.parquet'))})")
    assert rows.differences(con, made.files, want) == []


@pytest.mark.parametrize("slide, size", [("30 minutes", "45 minutes"), ("1 hour", "3 days"), ("3 hours", "1 hour")])
def test_hop(tmp_path, con, days, slide, size):
    store = a_store(tmp_path)
    store.update(f"{days}/*.parquet")
    made = store.windows(cluster.Hop(slide, size), partitions=2, span=150)
    want = grouped(f"(SELECT *, unnest(time_bucket_hop(INTERVAL '{slide}', INTERVAL '{size}', time), max_depth := 2) FROM {source(days.glob('*.parquet'))})")
    assert rows.differences(con, made.files, want) == []


def test_local_time(tmp_path, con):
    """Berlin's day of 23 hours is 2026-03-29, two days into the rows; Lord Howe's change of half an hour is 2026-04-05."""
    paths = [write(con, tmp_path / f"{day}.parquet", day, 2000 * day, zoned=True) for day in range(11)]
    store = a_store(tmp_path)
    store.update(paths)
    for zone, width, lengths in [("Europe/Berlin", "1 day", {23, 24}), ("Australia/Lord_Howe", "1 day", {24, 24.5})]:
        made = store.windows(cluster.Tumble(width, zone=zone), partitions=2, span=400)
        arguments = f"(INTERVAL '{width}', time, '{zone}')"
        want = grouped(f"(SELECT *, time_bucket{arguments} AS window_start, time_bucket_end{arguments} AS window_end FROM {source(paths)})")
        assert rows.differences(con, made.files, want) == []
        assert {row[0] for row in con.execute("SELECT DISTINCT epoch(window_end - window_start) / 3600 FROM want").fetchall()} == lengths
    made = store.windows(cluster.Hop("1 day", "2 days", zone="Europe/Berlin"), partitions=2, span=400)
    want = grouped(f"(SELECT *, unnest(time_bucket_hop(INTERVAL '1 day', INTERVAL '2 days', time, 'Europe/Berlin'), max_depth := 2) FROM {source(paths)})")
    assert rows.differences(con, made.files, want) == []
    kind = cluster.Gapfill("1 day", {"n": "whole.n"}, zero=("n",), zone="Europe/Berlin")
    filled = store.windows(kind, partitions=2)
    by_day = grouped(f"(SELECT *, time_bucket(INTERVAL '1 day', time, 'Europe/Berlin') AS day FROM {source(paths)})", "day")
    con.execute(f"CREATE TABLE local_days AS SELECT * EXCLUDE (whole, exact, float), whole.n AS n FROM ({by_day})")
    want = f"SELECT * REPLACE (v + 0 AS v) FROM gapfill('local_days', 'day', INTERVAL '1 day', {list(KEYS)}, zero := ['n'], zone := 'Europe/Berlin')"
    assert con.execute(f"({want}) EXCEPT ALL SELECT * REPLACE (v + 0 AS v) FROM read_parquet({list(filled.files)})").fetchall() == []
    assert con.execute(f"SELECT count(*) FROM ({want})").fetchone() == con.execute(f"SELECT count(*) FROM read_parquet({list(filled.files)})").fetchone()
    # A pane of 15 minutes can't be part of buckets of a zone that was 33 minutes and 40 seconds off.
    with pytest.raises(cluster.ClusterError, match="cut through the pane from .* make panes of a length that divides them"):
        store.windows(cluster.Tumble("1 day", origin="INTERVAL '1 minute'", zone="Europe/Berlin"))


def test_panes_of_local_days(tmp_path, con):
    """Rolling weeks of Berlin's days, one of which has 23 hours."""
    paths = [write(con, tmp_path / f"{day}.parquet", day, 1000 * day, 1000, zoned=True) for day in range(11)]
    store = a_store(tmp_path, width="1 day", zone="Europe/Berlin")
    store.update(paths)
    made = store.windows(cluster.Rolling("3 days"), partitions=2, span=4)
    keys = ", ".join('"' + key.replace('"', '""') + '"' for key in KEYS)
    zoned = "(INTERVAL '1 day', time, 'Europe/Berlin')"
    want = (f"(SELECT r.*, w.starts AS window_start, w.ends AS window_end FROM (SELECT DISTINCT {keys}, time_bucket_end{zoned} AS ends, "
            f"((time_bucket{zoned} AT TIME ZONE 'Europe/Berlin') - INTERVAL '2 days') AT TIME ZONE 'Europe/Berlin' AS starts FROM {source(paths)}) AS w "
            f"JOIN {source(paths)} AS r ON {' AND '.join(f'w.{name} IS NOT DISTINCT FROM r.{name}' for name in keys.split(', '))} AND r.time >= w.starts AND r.time < w.ends)")
    assert rows.differences(con, made.files, grouped(want)) == []
    assert {row[0] for row in con.execute("SELECT DISTINCT epoch(window_end - window_start) / 3600 FROM want").fetchall()} == {71, 72}


@pytest.mark.parametrize("origin", ["INTERVAL '7 minutes'", "TIMESTAMP '2026-03-27 00:00:01'"])
def test_an_origin(tmp_path, con, days, origin):
    store = a_store(tmp_path, origin=origin)
    store.update(f"{days}/*.parquet")
    everything = source(days.glob("*.parquet"))
    made = store.windows(cluster.Tumble("1 hour", origin=origin), partitions=2, span=200)
    want = grouped(f"(SELECT *, time_bucket(INTERVAL '1 hour', time, {origin}) AS window_start, time_bucket_end(INTERVAL '1 hour', time, {origin}) AS window_end FROM {everything})")
    assert rows.differences(con, made.files, want) == []
    made = store.windows(cluster.Rolling("1 hour"), partitions=2, span=200)
    want = rows.rolling(everything, WIDTH, "1 hour").replace("time_bucket_end(INTERVAL '15 minutes', time)", f"time_bucket_end(INTERVAL '15 minutes', time, {origin})")
    assert rows.differences(con, made.files, grouped(want)) == []


@pytest.mark.parametrize("width", ["30 minutes", "7 hours"])
def test_gapfill(tmp_path, con, days, width):
    """The same as the macro says of all rows at once, whichever keys and files they lie in."""
    store = a_store(tmp_path)
    store.update(f"{days}/*.parquet")
    con.execute(f"CREATE TABLE members AS SELECT 'nobody' AS \"{KEYS[0].replace(chr(34), chr(34) * 2)}\", 7.0::DOUBLE AS v")
    con.execute(f"COPY members TO '{tmp_path}/members.parquet'")
    kind = cluster.Gapfill(width, {"n": "whole.n", "level": "exact.max", "mean": "float.avg", "hop": "exact.min"}, carry=("level",), interpolate=("mean",),
                           zero=("n",), max_gap="9 hours", members=f"{tmp_path}/members.parquet")
    made = store.windows(kind, partitions=3)
    con.execute(f"""CREATE TABLE halves AS {grouped(f"(SELECT *, time_bucket(INTERVAL '{width}', time) AS half FROM {source(days.glob('*.parquet'))})", 'half')}""")
    con.execute("CREATE TABLE chosen AS SELECT * EXCLUDE (whole, exact, float), whole.n AS n, exact.max AS level, float.avg AS mean, exact.min AS hop FROM halves")
    con.execute(f"""CREATE TABLE want AS FROM gapfill('chosen', 'half', INTERVAL '{width}', {list(KEYS)}, carry := ['level'], interpolate := ['mean'],
        zero := ['n'], max_gap := INTERVAL '9 hours', members := 'members')""")
    con.execute(f"CREATE TABLE got AS FROM read_parquet({list(made.files)})")
    assert con.execute("SELECT count(*), count(*) FILTER (filled) > 5 FROM want").fetchone() == con.execute("SELECT count(*), count(*) FILTER (filled) > 5 FROM got").fetchone()
    exact = "* EXCLUDE (mean) REPLACE (v + 0 AS v), CASE WHEN isfinite(mean) THEN printf('%.9e', mean) ELSE mean::VARCHAR END AS mean"
    assert con.execute(f"SELECT {exact} FROM want EXCEPT ALL SELECT {exact} FROM got").fetchall() == []
    # Another member is another question.
    con.execute(f"COPY (FROM members UNION ALL SELECT 'somebody', NULL) TO '{tmp_path}/members.parquet'")
    again = store.windows(kind, partitions=3)
    assert con.execute(f"SELECT count(DISTINCT \"{KEYS[0].replace(chr(34), chr(34) * 2)}\") FROM read_parquet({list(again.files)})").fetchone()[0] == 16


def test_no_keys_and_rows_of_csv(tmp_path, con, days):
    con.execute(f"COPY (FROM {source(days.glob('*.parquet'))}) TO '{tmp_path}/rows.csv' (HEADER true)")
    store = cluster.Store(tmp_path / "store", ts="time", values=["one"], width=WIDTH,
                          rows="SELECT time, 1 AS one FROM read_csv($files) WHERE v IS NOT NULL")
    store.update(tmp_path / "rows.csv")
    made = store.windows(cluster.Tumble("1 day"))
    got = con.execute(f"SELECT window_start, one.n, one.sum FROM read_parquet({list(made.files)}) ORDER BY ALL").fetchall()
    assert got == con.execute(f"SELECT time_bucket(INTERVAL '1 day', time), count(*), count(*) FROM {source(days.glob('*.parquet'))} WHERE v IS NOT NULL GROUP BY ALL ORDER BY ALL").fetchall()


@pytest.mark.parametrize("type", ["TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMPTZ"])
def test_types_of_time(tmp_path, con, type):
    """Files keep an instant an instant, and nanoseconds; seconds and milliseconds become microseconds, which hold them."""
    con.execute(f"COPY (SELECT ('2026-01-01 00:00:0' || i)::{type} AS time, i AS x FROM range(6) AS r(i)) TO '{tmp_path}/rows.parquet'")
    store = cluster.Store(tmp_path / "store", ts="time", values=["x"], width="2 seconds")
    store.update(tmp_path / "rows.parquet")
    for kind in (cluster.Tumble("2 seconds"), cluster.Rolling("2 seconds"), cluster.Hop("2 seconds", "2 seconds")):
        made = store.windows(kind)
        assert con.execute(f"SELECT epoch_us(window_start), x.sum::INTEGER FROM read_parquet({list(made.files)}) ORDER BY ALL").fetchall() == [
            (1767225600000000, 1), (1767225602000000, 5), (1767225604000000, 9)]


def test_distinct_counts_and_quantiles(tmp_path, con):
    """The recipes of docs/cluster.md: registers and classes as keys, over files and hours, merged by windows."""
    page = (ROOT / "docs/cluster.md").read_text(encoding="utf-8")
    macros = tuple(statement for statement in page.split("## Distinct counts")[1].split("```sql\n")[1].split("```")[0].replace("-- the first ten bits", "").split(";")
                   if statement.strip())
    for part in range(3):  # 6,000 visitors in all, each seen in two files
        con.execute(f"""COPY (SELECT TIMESTAMP '2026-01-01' + to_seconds({part} * 3600 + i % 7200) AS ts, 'page ' || i % 2 AS page, (i + {part} * 2000) % 6000 AS visitor,
            1 + i * 7919 % 997 AS ms FROM range(4000) AS r(i)) TO '{tmp_path}/{part}.parquet'""")
    everything = f"read_parquet('{tmp_path}/?.parquet')"
    store = cluster.Store(tmp_path / "distinct", ts="ts", values=["run"], width="1 hour", keys=["page", "register"], settings=cluster.Settings(setup=macros),
                          rows="SELECT ts, page, register(visitor) AS register, run(visitor) AS run FROM read_parquet($files)")
    store.update(f"{tmp_path}/?.parquet")
    made = store.windows(cluster.Tumble("1 day"), partitions=3)
    for macro in macros:
        con.execute(macro)
    estimates = dict(con.execute(f"SELECT page, distinct_count(list(run.max)) FROM read_parquet({list(made.files)}) GROUP BY page").fetchall())
    once = con.execute(f"""SELECT page, distinct_count(list(run)), (SELECT count(DISTINCT visitor) FROM {everything} AS e WHERE e.page = t.page)
        FROM (SELECT page, register(visitor) AS register, max(run(visitor)) AS run FROM {everything} GROUP BY ALL) AS t GROUP BY page""").fetchall()
    assert len(once) == 2
    for which, estimate, exact in once:
        assert estimates[which] == estimate and abs(estimate / exact - 1) < 0.1
    store = cluster.Store(tmp_path / "classes", ts="ts", values=["one"], width="1 hour", keys=["page", "class"],
                          rows="SELECT ts, page, ceil(ln(ms) / ln(1.02))::SMALLINT AS class, 1 AS one FROM read_parquet($files) WHERE ms > 0")
    store.update(f"{tmp_path}/?.parquet")
    made = store.windows(cluster.Hop("1 hour", "3 hours"), partitions=3)
    ranked = con.execute(f"""SELECT page, window_start, min(1.02 ** (class - 0.5)) FILTER (up_to >= 0.95 * total),
          (SELECT quantile_disc(ms, 0.95) FROM {everything} AS e WHERE e.page = r.page AND e.ts >= window_start AND e.ts < window_end)
        FROM (SELECT *, sum(one.n) OVER (PARTITION BY page, window_start ORDER BY class) AS up_to, sum(one.n) OVER (PARTITION BY page, window_start) AS total
              FROM read_parquet({list(made.files)})) AS r GROUP BY page, window_start, window_end""").fetchall()
    assert len(ranked) == 2 * 6
    for _, _, estimate, exact in ranked:
        assert abs(estimate / exact - 1) <= 0.0101


# Files that come, change and go

def check(con, store, folder, kind=cluster.Rolling("3 hours"), **arguments):
    made = store.windows(kind, **{"partitions": 2, "span": 96, **arguments})
    assert rows.differences(con, made.files, grouped(rows.rolling(source(folder.glob("*.parquet")), WIDTH, kind.lookback))) == []
    return made


def test_late_changed_and_deleted_files(tmp_path, con, days):
    """A span of 96 panes is a day, and each is asked for in two parts."""
    store = a_store(tmp_path)
    store.update(f"{days}/*.parquet")
    assert check(con, store, days).computed == 8
    assert check(con, store, days).computed == 0
    # A new day: it does not touch the others.
    write(con, days / "4.parquet", 4, 9000)
    update = store.update(f"{days}/*.parquet")
    assert (update.computed, update.kept, update.dropped) == (1, 5, 0)
    assert check(con, store, days).computed == 2
    # Late rows of the second day: it, and what looks back to it.
    write(con, days / "later.parquet", 1, 11000, 50)
    assert store.update(f"{days}/*.parquet").computed == 1
    assert check(con, store, days).computed == 4
    # The same file with other rows: never both.
    write(con, days / "later.parquet", 1, 12000, 70)
    update = store.update(f"{days}/*.parquet")
    assert (update.computed, update.kept, update.dropped) == (1, 6, 1)
    assert check(con, store, days).computed == 4
    # It goes, and the windows are those of before, which are still there.
    (days / "later.parquet").unlink()
    update = store.update(f"{days}/*.parquet")
    assert (update.computed, update.kept, update.dropped) == (0, 6, 1)
    assert check(con, store, days).computed == 0
    # Another lookback over the same panes.
    assert store.update(f"{days}/*.parquet").computed == 0
    assert check(con, store, days, cluster.Rolling("1 hour")).computed == 10
    before = len(list((tmp_path / "store").rglob("*.parquet")))
    assert store.vacuum() > 4 and len(list((tmp_path / "store").rglob("*.parquet"))) < before
    assert check(con, store, days).computed == 0 and check(con, store, days, cluster.Rolling("1 hour")).computed == 0


def test_groups(tmp_path, con, days):
    (days / "more").mkdir()
    write(con, days / "more" / "5.parquet", 1, 20000)
    store = a_store(tmp_path)
    every = [f"{days}/*.parquet", f"{days}/more/*.parquet"]
    assert store.update(every, group="folder").computed == 2
    assert store.update(every, group=lambda path: pathlib.Path(path).stem[0]).computed == 5
    assert store.update(every, group="folder").dropped == 5  # the sixth is of the same file alone, and stays
    made = store.windows(cluster.Rolling("3 hours"))
    assert rows.differences(con, made.files, grouped(rows.rolling(source(days.rglob("*.parquet")), WIDTH, "3 hours"))) == []


def test_compaction(tmp_path, con, days):
    store = a_store(tmp_path)
    store.update(f"{days}/*.parquet")
    before = check(con, store, days)
    update = store.compact(before="2026-03-28")
    assert (update.computed, update.kept, update.dropped) == (1, 3, 2)
    # The windows that are there stay, for their panes are the same; others are made of the merged ones.
    after = check(con, store, days)
    assert after.computed == 0 and after.files == before.files
    assert check(con, store, days, cluster.Rolling("1 hour")).computed == 8
    panes = con.execute(f"SELECT count(*) FROM read_parquet({list(store.files())})").fetchone()[0]
    apart = con.execute(f"SELECT count(*) FROM (SELECT DISTINCT {', '.join(f'COLUMNS([{key!r}])' for key in KEYS)}, time_bucket(INTERVAL '{WIDTH}', time) FROM {source(days.glob('*.parquet'))})").fetchone()[0]
    assert panes == apart
    # The raw rows of the first day may go, and rows of it may still come.
    (tmp_path / "kept").mkdir()
    for name in ("0.parquet", "late.parquet"):
        (days / name).rename(tmp_path / "kept" / name)
    write(con, days / "latest.parquet", 0, 13000, 60)
    update = store.update(f"{days}/*.parquet")
    assert (update.computed, update.dropped) == (1, 0)
    for name in ("0.parquet", "late.parquet"):
        (tmp_path / "kept" / name).rename(days / name)
    check(con, store, days)
    # But not change, for what was merged can't be taken apart.
    write(con, days / "late.parquet", 0, 14000, 10)
    with pytest.raises(cluster.ClusterError, match=r"the file .*late\.parquet changed, and its panes were merged .* a file of their own$"):
        store.update(f"{days}/*.parquet")
    # A second compaction takes the newcomer in, and finds nothing more to do.
    (days / "late.parquet").unlink()
    assert store.compact(before="2026-03-28").computed == 1
    assert store.compact(before="2026-03-28").computed == 0


def test_merging_in_a_tree(tmp_path, con):
    """Eight files of one day, merged by six hours and then by the day: the windows stay through both, and new ones are of one file."""
    whole = write(con, tmp_path / "whole.parquet", rows=4000)
    (tmp_path / "rows").mkdir()
    for part in range(8):
        con.execute(f"COPY (FROM '{whole}' WHERE hour(time) // 6 = {part // 2} AND epoch_ms(time) % 2 = {part % 2}) TO '{tmp_path}/rows/{part}.parquet'")
    store = a_store(tmp_path)
    assert store.update(f"{tmp_path}/rows/*.parquet").computed == 8
    made = check(con, store, tmp_path / "rows")
    for span, merged in [("6 hours", 4), ("1 day", 1)]:
        assert store.compact(span=span).computed == merged == len(store.files())
        assert check(con, store, tmp_path / "rows").files == made.files
    assert check(con, store, tmp_path / "rows", cluster.Rolling("5 hours")).computed > 0
    assert store.update(f"{tmp_path}/rows/*.parquet").kept == 1


def test_settings(tmp_path, con, days):
    """Each task's DuckDB has them, as it says itself in a column."""
    settings = cluster.Settings(threads=2, memory_limit="300MiB", temp_directory=str(tmp_path), config={"max_temp_directory_size": "70MiB"},
                                setup=("CREATE MACRO asked() AS current_setting('threads') || ' ' || current_setting('memory_limit') || ' ' || current_setting('temp_directory') || ' ' || current_setting('max_temp_directory_size')",))
    store = cluster.Store(tmp_path / "store", ts="time", values=["one"], width="1 day", keys=["asked"], rows="SELECT time, 1 AS one, asked() AS asked FROM read_parquet($files)", settings=settings)
    store.update(f"{days}/0.parquet")
    (said,), = con.execute(f"SELECT DISTINCT asked FROM read_parquet({list(store.files())})").fetchall()
    assert re.fullmatch(rf"2 300.0 MiB {tmp_path}/duckdb_time_bucket-\S+ 70.0 MiB", said), said
    assert list(tmp_path.glob("duckdb_time_bucket-*")) == []


def test_what_was_left_behind_is_not_read(tmp_path, con, days):
    store = a_store(tmp_path)
    store.update(f"{days}/*.parquet")
    first = check(con, store, days)
    panes, windows = pathlib.Path(store.files()[0]).parent, pathlib.Path(first.files[0]).parent
    (panes / ".half.tmp").write_bytes(b"PAR1 half of a file")
    (panes / "0123456789abcdef.parquet").write_bytes(pathlib.Path(store.files()[0]).read_bytes())
    (windows / "0123456789abcdef.parquet").write_bytes(pathlib.Path(first.files[0]).read_bytes())
    assert check(con, store, days).files == first.files
    assert store.update(f"{days}/*.parquet").kept == 5
    assert store.vacuum() == 3 and check(con, store, days).computed == 0


def test_two_jobs_at_once(tmp_path, con, days):
    one, other = a_store(tmp_path), a_store(tmp_path)
    def slow(tasks):
        other.update(f"{days}/[01].parquet")
        return map(cluster.tasks.work, tasks)
    with pytest.raises(cluster.ClusterError, match="another job wrote to the store"):
        one.update(f"{days}/*.parquet", slow)
    assert one.update(f"{days}/*.parquet").kept == 2
    check(con, one, days)


def test_a_file_that_changes_while_it_is_read(tmp_path, con, days):
    def meanwhile(todo):
        write(con, days / "late.parquet", 0, 15000, 20)
        return map(tasks.work, todo)
    store = a_store(tmp_path)
    with pytest.raises(cluster.ClusterError, match=r"worker \S+:\d+: the file .*late\.parquet changed while it was read"):
        store.update(f"{days}/*.parquet", meanwhile)
    store.update(f"{days}/*.parquet")
    check(con, store, days)


def test_hostile_names_of_files(tmp_path, con):
    folder = tmp_path / "it's a [folder]*? ü"
    folder.mkdir()
    write(con, tmp_path / "rows.parquet").rename(folder / "x[1]*?'.parquet")
    write(con, tmp_path / "other.parquet", 1, 5000).rename(folder / "x1.parquet")  # what the pattern of the first would match
    store = cluster.Store(folder / "store", ts="time", values=VALUES, width=WIDTH, keys=KEYS)
    store.update([folder / "x[1]*?'.parquet"])
    made = store.windows(cluster.Tumble("1 day"))
    escaped = ["".join(f"[{letter}]" if letter in "*?[" else letter for letter in file) for file in made.files]
    counted = con.execute("SELECT sum(whole.n) FROM read_parquet(?)", [escaped]).fetchone()
    assert counted == con.execute("SELECT count(*) FILTER (i % 11 > 0) FROM range(2000) AS r(i)").fetchone()


# What is refused

REFUSED = [
    (dict(ts="when"), r"file .*/0\.parquet: the file .*/0\.parquet has no column when; it has time, odd \"key\" 1, v, whole, exact, float$"),
    (dict(values=["whole", "weight"]), r"the file .*/0\.parquet has no column weight"),
    (dict(values=[]), "values must name at least one column"),
    (dict(values=["whole", "WHOLE"]), "the column whole is named twice"),
    (dict(keys=["pane_slot"]), "pane_slot is a column of the store's own; rename it in rows"),
    (dict(rows="FROM t"), r"rows must read \$files, not 'FROM t'"),
    (dict(rows="SELECT * REPLACE (v::HUGEINT AS v) FROM read_parquet($files)"), r"the column v is of type HUGEINT, which files keep as DOUBLE; cast it in rows"),
    (dict(rows="SELECT * REPLACE (to_days(v::INT) AS v) FROM read_parquet($files)"), r"the key v is of type INTERVAL, in which equal values have different texts; cast it in rows"),
    (dict(rows="SELECT * REPLACE ([v] AS v) FROM read_parquet($files)"), r"the key v is of type DOUBLE\[\], in which equal values"),
    (dict(rows="SELECT * REPLACE ({'a': v} AS v) FROM read_parquet($files)"), r"the key v is of type STRUCT\(a DOUBLE\), in which equal values"),
    (dict(rows="SELECT * REPLACE (time::VARCHAR AS time) FROM read_parquet($files)"), "time_bucket_floor: ts must be a timestamp, not "),
    (dict(rows="SELECT * REPLACE (v::VARCHAR AS whole) FROM read_parquet($files)"), "a value of type VARCHAR is no number; cast it to one"),
    (dict(width="1 month"), "calendar: months or years have no fixed length"),
    (dict(width="0 hours"), "width must be positive"),
    (dict(width="soon"), "soon"),
    (dict(settings=cluster.Settings(extension="/nowhere/time_bucket")), r"worker \S+:\d+ has no extension at /nowhere/time_bucket; install duckdb-time-bucket there"),
]


@pytest.mark.parametrize("changed, text", REFUSED, ids=[text[:30] for _, text in REFUSED])
def test_refusals(tmp_path, days, changed, text):
    with pytest.raises(cluster.ClusterError, match=text) as raised:
        a_store(tmp_path, **changed).update(f"{days}/*.parquet")
    assert str(raised.value).startswith("duckdb_time_bucket.cluster: ") and "\n" not in str(raised.value)
    a_store(tmp_path).update(f"{days}/*.parquet")  # nothing of it is left in the way


FILES = [([], "the list of files is empty"), ("/nowhere/*.parquet", "no file is at /nowhere/"), ("{days}", "is a folder; give files or a pattern such as")]


@pytest.mark.parametrize("files, text", FILES)
def test_no_files(tmp_path, days, files, text):
    with pytest.raises(cluster.ClusterError, match=text):
        a_store(tmp_path).update(files if isinstance(files, list) else files.format(days=days))


KINDS = [
    (cluster.Rolling("20 minutes"), "lookback INTERVAL '00:20:00' is not a multiple of width INTERVAL '00:15:00'; use a lookback that is one, or another width"), (cluster.Rolling("1 month"), "calendar"),
    (cluster.Tumble("7 minutes"), "7 minutes is not a multiple of the store's width 15 minutes"),
    (cluster.Tumble("1 day", zone="Europe/Berlin"), "needs an instant"),
    (cluster.Hop("10 minutes", "30 minutes"), "10 minutes is not a multiple"),
    (cluster.Gapfill("1 hour", {"n": "nothing.n"}), "nothing"),
]


@pytest.mark.parametrize("kind, text", KINDS, ids=[text[:30] for _, text in KINDS])
def test_windows_that_can_not_be_made(tmp_path, days, kind, text):
    store = a_store(tmp_path)
    with pytest.raises(cluster.ClusterError, match="has no panes; call update"):
        store.windows(kind)
    store.update(f"{days}/0.parquet")
    with pytest.raises(cluster.ClusterError, match=text) as raised:
        store.windows(kind)
    assert "\n" not in str(raised.value)


def test_a_folder_of_something_else(tmp_path, days):
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "thesis.tex").touch()
    with pytest.raises(cluster.ClusterError, match=r"the folder .*store holds something else than a store of panes; give one that is empty or new"):
        a_store(tmp_path)
    (tmp_path / "store" / "thesis.tex").unlink()
    a_store(tmp_path).update(f"{days}/*.parquet")
    with pytest.raises(cluster.ClusterError, match=r"holds panes of another job, with width = '15 minutes', not '5 minutes'; give another folder"):
        a_store(tmp_path, width="5 minutes")
    stored = json.loads((tmp_path / "store" / "store.json").read_text())
    (tmp_path / "store" / "store.json").write_text(json.dumps(stored | {"format": 0}))
    with pytest.raises(cluster.ClusterError, match="was made by another version"):
        a_store(tmp_path)
    with pytest.raises(cluster.ClusterError, match=r"the store can't be at s3://bucket/store, since .*; give a folder that all workers see, and URLs to update$"):
        cluster.Store("s3://bucket/store", ts="time", values=VALUES, width=WIDTH)


def test_a_file_of_other_columns(tmp_path, con, days):
    con.execute(f"COPY (SELECT * REPLACE (whole::INTEGER AS whole) FROM (SELECT * REPLACE (1 AS whole) FROM '{days}/2.parquet')) TO '{days}/2.parquet'")
    store = a_store(tmp_path)
    with pytest.raises(cluster.ClusterError, match=r"worker \S+:\d+: the file .*2\.parquet has the column whole as INTEGER, the store as BIGINT; cast it in rows"):
        store.update(f"{days}/*.parquet")
    assert store.files() == ()


@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: data[:3000], lambda data: data[:200] + b"\xff" * 400 + data[600:], lambda data: b"no parquet"],
                         ids=["empty", "cut", "overwritten", "another"])
@pytest.mark.parametrize("group", ["file", "folder"])
def test_an_unreadable_file(tmp_path, con, days, damage, group):
    (days / "2.parquet").write_bytes(damage((days / "2.parquet").read_bytes()))
    store = a_store(tmp_path)
    with pytest.raises(cluster.ClusterError, match=r"worker \S+:\d+: file .*/2\.parquet: ") as raised:
        store.update(f"{days}/*.parquet", group=group)
    assert "\n" not in str(raised.value) and store.files() == ()
    (days / "2.parquet").unlink()
    store.update(f"{days}/*.parquet", group=group)
    check(con, store, days)


def test_no_room_to_spill(tmp_path, con, days):
    """600,000 keys do not fit into the memory given, nor into the room beside it; with more they do."""
    con.execute(f"COPY (SELECT TIMESTAMP '2026-01-01' + to_seconds(i % 40000) AS time, i AS key, i AS x FROM range(600000) AS r(i)) TO '{tmp_path}/many.parquet'")
    tight = cluster.Settings(memory_limit="25MB", config={"max_temp_directory_size": "1MB"})
    arguments = dict(ts="time", values=["x"], width="1 minute", keys=["key"])
    store = cluster.Store(tmp_path / "store", settings=tight, **arguments)
    with pytest.raises(cluster.ClusterError, match=r"worker \S+:\d+: file .*many\.parquet: Out of Memory Error: ") as raised:
        store.update(tmp_path / "many.parquet")
    assert "\n" not in str(raised.value) and store.files() == ()
    assert list((tmp_path / "store").rglob("*.tmp")) == []
    assert cluster.Store(tmp_path / "store", **arguments).update(tmp_path / "many.parquet").computed == 1


DISK = 'mount -t tmpfs -o size=4m tmpfs "$0" && exec "$@"'

FULL = """
import pathlib, subprocess, sys
sys.path.insert(0, sys.argv[1])
from duckdb_time_bucket import cluster
disk, rows, elsewhere = sys.argv[2:]
tight = dict(memory_limit="40MB", temp_directory=disk, config={"max_temp_directory_size": "1GB"})
jobs = [(f"{elsewhere}/store", cluster.Settings(**tight)), (f"{disk}/store", cluster.Settings())]
for folder, settings in jobs:
    store = cluster.Store(folder, ts="time", values=["x"], width="1 minute", keys=["key"], settings=settings)
    try:
        store.update(rows)
    except cluster.ClusterError as error:
        print(error)
    assert store.files() == () and list(pathlib.Path(folder).rglob("*.tmp")) == [] and list(pathlib.Path(disk).glob("duckdb*")) == []
subprocess.run(["mount", "-o", "remount,size=400m", disk], check=True)
for folder, settings in jobs:
    store = cluster.Store(folder, ts="time", values=["x"], width="1 minute", keys=["key"], settings=settings)
    assert store.update(rows).computed == 1
    with cluster.worker.connection(cluster.Settings()) as con:
        print(con.execute(f"SELECT count(*), sum(x.n), sum(x.sum)::BIGINT FROM read_parquet({list(store.files())})").fetchone())
"""


def test_a_full_disk(tmp_path, con):
    """Four megabytes for what does not fit in memory, then for the store itself; then there is more room."""
    disk, rows = tmp_path / "disk", tmp_path / "many.parquet"
    disk.mkdir()
    own = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", DISK, str(disk)]
    if sys.platform != "linux" or (tried := subprocess.run([*own, "true"], capture_output=True, text=True)).returncode:
        pytest.skip("a disk of one's own can't be mounted here" + ("" if sys.platform != "linux" else f": {tried.stderr.strip()}"))
    con.execute(f"COPY (SELECT TIMESTAMP '2026-01-01' + to_seconds(i % 40000) AS time, i AS key, i AS x FROM range(600000) AS r(i)) TO '{rows}'")
    done = subprocess.run([*own, sys.executable, "-c", FULL, PACKAGE, disk, rows, tmp_path], capture_output=True, text=True, timeout=300)
    spill, store, *later = done.stdout.splitlines()
    # DuckDB may see beforehand that the disk will not do.
    for said, text in [(spill, "(Out of Memory Error: failed to offload data block|IO Error: .* No space left on device)"), (store, "IO Error: .* No space left on device")]:
        assert re.match(rf"duckdb_time_bucket\.cluster: worker \S+:\d+: file {rows}: {text}", said), done.stdout + done.stderr
    assert later == ["(600000, 600000, 179999700000)"] * 2 and list(disk.iterdir()) == [], done.stdout + done.stderr


@pytest.mark.parametrize("engine", OTHERS)
def test_another_engine_on_a_worker(tmp_path, days, engine):
    todo = []
    with pytest.raises(StopIteration):
        a_store(tmp_path).update(f"{days}/0.parquet", lambda found: todo.extend(found) or next(iter(())))
    code = f"import sys, pickle; sys.path.insert(0, {str(PACKAGE)!r}); import duckdb_time_bucket.cluster.tasks as tasks; " \
           "print(tasks.work(pickle.loads(sys.stdin.buffer.read())).refusal)"
    python = ROOT / f"build/engine-{engine}/bin/python"
    done = subprocess.run([python, "-c", code], input=pickle.dumps(todo[0]), capture_output=True, timeout=120)
    said = done.stdout.decode()
    assert f" has DuckDB v{engine} and time_bucket " in said and f", the job DuckDB v{duckdb.__version__} and time_bucket " in said, said + done.stderr.decode()


def test_slots_are_the_same_everywhere(con):
    """Worked out with hashlib: equal keys, be they a zero with a sign or without, have one slot, on every machine and in every version."""
    import hashlib

    store = tasks.Definition("t", ("x",), WIDTH, ("a", "b"), "", None, "", {"a": "VARCHAR", "b": "DOUBLE"})
    for a, b, text in [("x", 1.5, "x\x1f1.5"), (None, 1.5, "1.5"), ("x", None, "x"), ("é", -0.0, "é\x1f0.0"), ("é", 0.0, "é\x1f0.0"), (None, None, "")]:
        got = con.execute(f"SELECT {tasks.slot(store)} FROM (SELECT ?::VARCHAR AS a, ?::DOUBLE AS b)", [a, b]).fetchone()[0]
        assert got == int(hashlib.md5(text.encode()).hexdigest()[:3], 16)


def test_from_a_zip(tmp_path, days):
    """As engines ship it: the module is imported from the zip, and the extension's file unpacked, once."""
    from duckdb_time_bucket.cluster import engines

    code = f"import sys; sys.path.insert(0, {engines._package()!r}); from duckdb_time_bucket import cluster; import duckdb_time_bucket\n" \
           "assert '.zip' in duckdb_time_bucket.__file__\n" \
           f"store = cluster.Store({str(tmp_path / 'store')!r}, ts='time', values=['whole'], width='1 hour')\n" \
           f"print(store.update({str(days)!r} + '/*.parquet').computed, len(store.windows(cluster.Tumble('1 day'), partitions=2).files))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, cwd=tmp_path,
                          env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"})
    assert done.stdout.split() == ["5", "1"], done.stdout + done.stderr
    assert duckdb_time_bucket.EXTENSION.is_file()
