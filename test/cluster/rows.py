"""Rows for the tests, and what one DuckDB process says of them without panes."""

KEYS = ('odd "key" 1', "v")
"""Texts that hurt, NULL among them, and zeros of both signs."""
VALUES = ("whole", "exact", "float")

WRITE = """
COPY (
  SELECT TIMESTAMP '2026-03-27' + to_seconds({day} * 86400) + to_milliseconds((i * 7919 * 977 + {day} * 31) % 86400000) AS time,
         [NULL, 'a', 'A', '', ' ', 'it''s', '"', 'NULL', chr(31), 'ü😀', '{{}}', '%', 'a;--', 'time', E'line\\nline'][1 + i % 15] AS "odd ""key"" 1",
         CASE i % 4 WHEN 0 THEN 0::DOUBLE WHEN 1 THEN '-0.0'::DOUBLE WHEN 2 THEN NULL ELSE 1.5 END::DOUBLE AS v,
         CASE WHEN i % 11 > 0 THEN (i * 1000003) % 1000000007 * (CASE WHEN i % 3 = 0 THEN -9000000000 ELSE 1000000000 END) END::BIGINT AS whole,
         CASE WHEN i % 13 > 0 THEN (i * 7907 % 100000)::DECIMAL(18, 3) / 8 END::DECIMAL(12, 3) AS exact,
         CASE WHEN i % 7 > 0 THEN sin(i) * 10.0 ** (i % 17 - 8) END AS float
  FROM range({first}, {first} + {rows}) AS r(i)
) TO '{path}' (FORMAT parquet)
"""


def write(con, path, day=0, first=0, rows=2000, zoned=False):
    """A file of rows of one day, 2026-03-27 being day 0: on day 2 clocks are set in Berlin."""
    text = WRITE.format(day=day, first=first, rows=rows, path=str(path).replace("'", "''"))
    con.execute(text.replace("SELECT TIMESTAMP '", "SELECT TIMESTAMPTZ '") if zoned else text)
    return path


def source(paths):
    return "(FROM read_parquet([{}]))".format(", ".join("'" + str(path).replace("'", "''") + "'" for path in paths))


def grouped(relation, bounds='window_start, window_end'):
    """Windows of rows that have their bounds, by DuckDB's own aggregate functions; fsum is Kahan's."""
    keys = ", ".join('"' + key.replace('"', '""') + '"' for key in KEYS)
    exact = "struct_pack(n := count({0}), sum := sum({0})::DECIMAL(38, {1}), min := min({0}), max := max({0}), avg := avg({0}), var_samp := var_samp({0}::DOUBLE)) AS {0}"
    inexact = "struct_pack(n := count({0}), sum := fsum({0}), min := min({0}), max := max({0}), avg := favg({0}), var_samp := var_samp({0})) AS {0}"
    return f"SELECT {keys}, {bounds}, {exact.format('whole', 0)}, {exact.format('exact', 3)}, {inexact.format('float')} FROM {relation} GROUP BY ALL"


def rolling(relation, width, lookback):
    """The rows of the window that ends with each pane that has rows."""
    same = " AND ".join('w."{0}" IS NOT DISTINCT FROM r."{0}"'.format(key.replace('"', '""')) for key in KEYS)
    keys = ", ".join('"' + key.replace('"', '""') + '"' for key in KEYS)
    return (f"(SELECT r.*, w.window_end - INTERVAL '{lookback}' AS window_start, w.window_end "
            f"FROM (SELECT DISTINCT {keys}, time_bucket_end(INTERVAL '{width}', time) AS window_end FROM {relation}) AS w "
            f"JOIN {relation} AS r ON {same} AND r.time >= w.window_end - INTERVAL '{lookback}' AND r.time < w.window_end)")


def differences(con, files, want):
    """The windows of the files that are not those of a query: none, if they are as alike as they have to be."""
    keys = ", ".join('"' + key.replace('"', '""') + '"' for key in KEYS)
    con.execute(f"CREATE OR REPLACE TEMP TABLE got AS FROM read_parquet({list(map(str, files))})")
    con.execute(f"CREATE OR REPLACE TEMP TABLE want AS {want}")
    twice = con.execute(f"SELECT count(*) FROM (SELECT 1 FROM got GROUP BY {keys}, window_start, window_end HAVING count(*) > 1)").fetchone()[0]
    same = " AND ".join('got."{0}" IS NOT DISTINCT FROM want."{0}"'.format(key.replace('"', '""')) for key in KEYS)
    wrong = []
    for value in VALUES:
        sums = f"got.{value}.sum IS DISTINCT FROM want.{value}.sum"
        if value == "float":
            # A sum near zero has lost the digits of its terms, in any order: what counts is their size.
            sums = f"NOT coalesce(abs(got.float.sum - want.float.sum) <= 1e-15 * greatest(abs(want.float.sum), abs(want.float.min), abs(want.float.max)), got.float.sum IS NOT DISTINCT FROM want.float.sum)"
        close = "NOT coalesce(abs(got.{0}.{1} - want.{0}.{1}) <= {2} * greatest(abs(want.{0}.{1}), {3}), got.{0}.{1} IS NOT DISTINCT FROM want.{0}.{1})"
        wrong += [f"got.{value}.n IS DISTINCT FROM want.{value}.n", f"got.{value}.min IS DISTINCT FROM want.{value}.min",
                  f"got.{value}.max IS DISTINCT FROM want.{value}.max", sums,
                  close.format(value, "avg", 1e-12, f"abs(want.{value}.max::DOUBLE) / 1000"), close.format(value, "var_samp", 1e-9, 1e-30)]
    found = con.execute(f"""
        SELECT got.window_start, want.window_start, got, want FROM got FULL JOIN want
          ON {same} AND got.window_start = want.window_start AND got.window_end = want.window_end
        WHERE got.window_start IS NULL OR want.window_start IS NULL OR {' OR '.join(wrong)}""").fetchall()
    rows = con.execute("SELECT count(*) FROM want").fetchone()[0]
    assert rows > 0, "nothing to compare with"
    return found[:3] + ([f"{twice} windows are there twice"] if twice else [])
