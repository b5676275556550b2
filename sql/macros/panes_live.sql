-- Stored panes up to a watermark, and panes of the raw rows from there on: as fresh as the rows, without a refresh.
-- The stored panes are those of pane_rows with the same columns, width and origin; a watermark inside a pane means that pane's start.
-- Example: FROM panes_live('panes', 'readings', 'ts', ['temp'], INTERVAL '1 minute', ['sensor'], TIMESTAMP '2026-01-01 12:00:00');
CREATE OR REPLACE MACRO panes_live(panes, tbl, ts, vals, width, keys, watermark, origin := INTERVAL '0 seconds') AS TABLE
WITH stored AS (
  SELECT COLUMNS(lambda c: CASE WHEN NOT list_contains(list_transform(keys::VARCHAR[] || vals::VARCHAR[], lambda c: lower(c)) || ['pane_start', 'pane_end'], lower(c))
                                THEN time_bucket_refuse('panes_live: the store has a column ' || c || ', which is neither in keys nor in vals; name all of them')
                                ELSE true END)
  FROM query_table(panes)
  WHERE pane_start <
      coalesce(TRY(cast_to_type(time_bucket_start(width, watermark, origin), pane_start)),
               cast_to_type(CASE WHEN watermark > '1970-01-01' THEN 'infinity' ELSE '-infinity' END, pane_start))
    AND time_bucket_refuse(CASE WHEN pane_start <> time_bucket_start(width, pane_start, origin) OR pane_end <> time_bucket_end(width, pane_start, origin)
                                THEN format('panes_live: the stored pane from {} to {} is none of width {} and this origin; give those of the store',
                                            pane_start::VARCHAR, pane_end::VARCHAR, width::VARCHAR) END) IS NULL
), timed AS (
  SELECT COLUMNS(keys::VARCHAR[] || vals::VARCHAR[]), time_bucket_start(width, COLUMNS([ts]), origin) AS pane_start
  FROM query_table(tbl)
  WHERE COLUMNS([ts]) > '-infinity' AND COLUMNS([ts]) < 'infinity'
    AND COLUMNS([ts]) >=
      coalesce(TRY(cast_to_type(time_bucket_start(width, watermark, origin), COLUMNS([ts]))),
               cast_to_type(CASE WHEN watermark > '1970-01-01' THEN 'infinity' ELSE '-infinity' END, COLUMNS([ts])))
    AND time_bucket_check(CASE WHEN len(list_intersect(list_transform(keys::VARCHAR[] || vals::VARCHAR[], lambda c: lower(c)), ['pane_start', 'pane_end'])) > 0
                               THEN 'panes_live: pane_start and pane_end are results; rename the key or value of that name' END) IS NULL
    AND time_bucket_check(CASE WHEN len(list_distinct(list_transform(keys::VARCHAR[] || vals::VARCHAR[], lambda c: lower(c)))) < len(list_transform(keys::VARCHAR[] || vals::VARCHAR[], lambda c: lower(c)))
                               THEN 'panes_live: a column is named twice in keys and vals; name it once, or copy it under another name' END) IS NULL
    AND time_bucket_check(CASE WHEN NOT regexp_matches(typeof(COLUMNS(vals::VARCHAR[])), '^((U?(TINY|SMALL|BIG)INT|U?INTEGER|HUGEINT|BOOLEAN|FLOAT|DOUBLE)$|DECIMAL)')
                               THEN format('panes_live: a value of type {} is no number; cast it to one, as in epoch(x) for an INTERVAL x',
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
FROM stored
UNION ALL BY NAME
SELECT COLUMNS(keys::VARCHAR[] || ['pane_start']), time_bucket_end(width, pane_start, pane_start) AS pane_end,
       struct_pack(n := (COLUMNS(vals::VARCHAR[])).m.n, sum := (COLUMNS(vals::VARCHAR[])).m.sum * (COLUMNS(vals::VARCHAR[])).unit, residue := (COLUMNS(vals::VARCHAR[])).m.residue,
                   min := cast_to_type((COLUMNS(vals::VARCHAR[])).m.min * (COLUMNS(vals::VARCHAR[])).unit, (COLUMNS(vals::VARCHAR[])).v),
                   max := cast_to_type((COLUMNS(vals::VARCHAR[])).m.max * (COLUMNS(vals::VARCHAR[])).unit, (COLUMNS(vals::VARCHAR[])).v), m2 := (COLUMNS(vals::VARCHAR[])).m.m2)
FROM summed;
