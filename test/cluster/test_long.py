"""Twenty million rows of 1,000 keys and NULL, on each engine, with a worker killed in each stage, against the macros in one process."""

import pytest
from duckdb_time_bucket import cluster
from test_engines import ENGINES, Killer

FILES, ROWS = 10, 2_000_000
VALUES = ["whole", "exact", "float"]
KEYS = ["key"]


@pytest.fixture(scope="module")
def long_folder(tmp_path_factory):
    """The files of rows, and in `want` what one process makes of them."""
    import duckdb_time_bucket

    folder = tmp_path_factory.mktemp("long")
    with duckdb_time_bucket.connect(macros=True) as con:
        for number in range(FILES):
            # Three hours each, and one row in a hundred of the day before.
            con.execute(f"""COPY (
                SELECT TIMESTAMP '2026-01-02' + to_hours({number} * 3) + to_milliseconds(i * 7919 % 10800000) - to_days((i % 100 = 7)::INTEGER) AS ts,
                       CASE WHEN i % 1009 > 0 THEN 'key ' || i * 31 % 1000 END AS key,
                       (i * 1000003) % 1000000007 * 9000000000 AS whole, (i * 7907 % 100000)::DECIMAL(12, 3) / 8 AS exact, sin(i) * 10.0 ** (i % 17 - 8) AS float
                FROM range({number * ROWS}, {(number + 1) * ROWS}) AS r(i)) TO '{folder}/{number}.parquet' (FORMAT parquet)""")
        con.execute(f"CREATE VIEW source AS FROM read_parquet('{folder}/*.parquet')")
        con.execute(f"CREATE TEMP TABLE fresh AS FROM pane_rows('source', 'ts', {VALUES}, INTERVAL '5 minutes', {KEYS})")
        (folder / "want").mkdir()
        con.execute(f"COPY (FROM rolling_panes('fresh', {KEYS}, INTERVAL '1 hour', INTERVAL '5 minutes')) TO '{folder}/want/rolled.parquet'")
    return folder


@pytest.mark.parametrize("engine", ENGINES)
def test_long(tmp_path, con, long_folder, engine):
    con.execute(f"CREATE VIEW want AS FROM read_parquet('{long_folder}/want/rolled.parquet')")
    store = cluster.Store(tmp_path / "store", ts="ts", values=VALUES, width="5 minutes", keys=KEYS, settings=cluster.Settings(memory_limit="2GB"))
    with ENGINES[engine](2) as run:
        with Killer(store.folder / "panes") as first:
            store.update(f"{long_folder}/*.parquet", run)
        with Killer(store.folder / "windows") as second:
            made = store.windows(cluster.Rolling("1 hour"), run, span=72)
    assert first.killed and second.killed
    same = " AND ".join([*(f"g.{value}.{part} IS NOT DISTINCT FROM w.{value}.{part}" for value in VALUES for part in ("n", "min", "max")),
                         *(f"g.{value}.sum IS NOT DISTINCT FROM w.{value}.sum" for value in VALUES[:2]), "g.missing = w.missing",
                         "abs(g.float.sum - w.float.sum) <= 1e-15 * greatest(abs(w.float.sum), abs(w.float.min), abs(w.float.max))"])
    counts = con.execute(f"""SELECT (SELECT count(*) FROM want), (SELECT count(*) FROM read_parquet({list(made.files)})),
        (SELECT count(*) FROM want AS w JOIN read_parquet({list(made.files)}) AS g
         ON g.key IS NOT DISTINCT FROM w.key AND g.window_start = w.window_start AND g.window_end = w.window_end AND {same})""").fetchone()
    assert counts[0] == counts[1] == counts[2] > 360_000
