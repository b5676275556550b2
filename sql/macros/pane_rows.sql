-- Panes of a table, a row for each key and pane that has rows: the moments of one or several columns, which merge into any window.
-- From the pane that holds since up to, but without, the pane that holds until; rows without a finite time lie in none.
-- Example: CREATE TABLE panes AS FROM pane_rows('readings', 'ts', ['temp'], INTERVAL '1 minute', ['sensor']);
CREATE OR REPLACE MACRO pane_rows(tbl, ts, vals, width, keys, since := NULL, until := NULL, origin := INTERVAL '0 seconds') AS TABLE
WITH timed AS (
  SELECT COLUMNS(keys::VARCHAR[] || vals::VARCHAR[]), time_bucket_start(width, COLUMNS([ts]), origin) AS pane_start
  FROM query_table(tbl)
  WHERE COLUMNS([ts]) > '-infinity' AND COLUMNS([ts]) < 'infinity'
    AND (since IS NULL OR COLUMNS([ts]) >=
      coalesce(TRY(cast_to_type(time_bucket_start(width, coalesce(since, cast_to_type(NULL, COLUMNS([ts]))), origin), COLUMNS([ts]))),
               cast_to_type(CASE WHEN since > '1970-01-01' THEN 'infinity' ELSE '-infinity' END, COLUMNS([ts]))))
    AND (until IS NULL OR COLUMNS([ts]) <
      coalesce(TRY(cast_to_type(time_bucket_start(width, coalesce(until, cast_to_type(NULL, COLUMNS([ts]))), origin), COLUMNS([ts]))),
               cast_to_type(CASE WHEN until > '1970-01-01' THEN 'infinity' ELSE '-infinity' END, COLUMNS([ts]))))
    AND time_bucket_check(CASE WHEN len(list_intersect(list_transform(keys::VARCHAR[] || vals::VARCHAR[], lambda c: lower(c)), ['pane_start', 'pane_end'])) > 0
                               THEN 'pane_rows: pane_start and pane_end are results; rename the key or value of that name' END) IS NULL
    AND time_bucket_check(CASE WHEN len(list_distinct(list_transform(keys::VARCHAR[] || vals::VARCHAR[], lambda c: lower(c)))) < len(list_transform(keys::VARCHAR[] || vals::VARCHAR[], lambda c: lower(c)))
                               THEN 'pane_rows: a column is named twice in keys and vals; name it once, or copy it under another name' END) IS NULL
    AND time_bucket_check(CASE WHEN NOT regexp_matches(typeof(COLUMNS(vals::VARCHAR[])), '^((U?(TINY|SMALL|BIG)INT|U?INTEGER|HUGEINT|BOOLEAN|FLOAT|DOUBLE)$|DECIMAL)')
                               THEN format('pane_rows: a value of type {} is no number; cast it to one, as in epoch(x) for an INTERVAL x',
                                           typeof(COLUMNS(vals::VARCHAR[]))) END) IS NULL
), summed AS (
  SELECT COLUMNS(keys::VARCHAR[] || ['pane_start']),
         struct_pack(m := time_bucket_moments(COLUMNS(vals::VARCHAR[])),
                     -- min and max keep the type, but for HUGEINT, which Parquet would make a DOUBLE
                     v := struct_extract(struct_pack(own := cast_to_type(NULL, any_value(COLUMNS(vals::VARCHAR[]))), kept := NULL::DECIMAL(38, 0)),
                                         CASE WHEN typeof(any_value(COLUMNS(vals::VARCHAR[]))) = 'HUGEINT' THEN 'kept' ELSE 'own' END),
                     unit := cast_to_type(10.0 ** -coalesce(TRY_CAST(regexp_extract(typeof(any_value(COLUMNS(vals::VARCHAR[]))), '^DECIMAL\(\d+,(\d+)\)', 1) AS INTEGER), 0),
                                          sum(COLUMNS(vals::VARCHAR[])) + 0::DECIMAL(1, 0)))
  FROM timed
  GROUP BY ALL
)
SELECT COLUMNS(keys::VARCHAR[] || ['pane_start']), time_bucket_end(width, pane_start, pane_start) AS pane_end,
       struct_pack(n := (COLUMNS(vals::VARCHAR[])).m.n, sum := (COLUMNS(vals::VARCHAR[])).m.sum * (COLUMNS(vals::VARCHAR[])).unit, residue := (COLUMNS(vals::VARCHAR[])).m.residue,
                   min := cast_to_type((COLUMNS(vals::VARCHAR[])).m.min * (COLUMNS(vals::VARCHAR[])).unit, (COLUMNS(vals::VARCHAR[])).v),
                   max := cast_to_type((COLUMNS(vals::VARCHAR[])).m.max * (COLUMNS(vals::VARCHAR[])).unit, (COLUMNS(vals::VARCHAR[])).v), m2 := (COLUMNS(vals::VARCHAR[])).m.m2)
FROM summed;
