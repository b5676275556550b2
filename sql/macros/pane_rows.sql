-- Panes of a table, a row for each key and pane that has rows: the moments of one or several columns, which merge into any window.
-- From the pane that holds since up to, but without, the pane that holds until; rows without a finite time lie in none.
-- Example: CREATE TABLE panes AS FROM pane_rows('readings', 'ts', ['temp'], INTERVAL '1 minute', ['sensor']);
CREATE OR REPLACE MACRO pane_rows(tbl, ts, vals, width, keys, since := NULL, until := NULL, origin := INTERVAL '0 seconds', zone := 'none') AS TABLE
WITH timed AS (
  SELECT COLUMNS(CASE WHEN time_bucket_columns('pane_rows', *, [], [ts], keys, vals) <> '' THEN keys::VARCHAR[] || vals::VARCHAR[] END), time_bucket_start(width, COLUMNS([ts]), zone, origin) AS pane_start
  FROM query_table(time_bucket_source('pane_rows', 'tbl', tbl, 'ts', ts, 'keys', keys, 'vals', vals, 'the results', ['pane_start', 'pane_end']))
  WHERE COLUMNS([ts]) > '-infinity' AND COLUMNS([ts]) < 'infinity'
    AND (since IS NULL OR COLUMNS([ts]) >= time_bucket_floor(since, CASE WHEN false THEN COLUMNS([ts]) END, width, zone, origin))
    AND (until IS NULL OR COLUMNS([ts]) < time_bucket_floor(until, CASE WHEN false THEN COLUMNS([ts]) END, width, zone, origin))
    AND time_bucket_numeric('pane_rows', typeof(COLUMNS(vals::VARCHAR[])))
), summed AS (
  SELECT COLUMNS(keys::VARCHAR[] || ['pane_start']),
         struct_pack(m := time_bucket_moments(COLUMNS(vals::VARCHAR[])), s := cast_to_type(NULL, sum(COLUMNS(vals::VARCHAR[])) + 0::DECIMAL(1, 0)),
                     -- min and max keep the type, but for HUGEINT, which Parquet would make a DOUBLE
                     v := struct_extract(struct_pack(own := cast_to_type(NULL, any_value(COLUMNS(vals::VARCHAR[]))), kept := NULL::DECIMAL(38, 0)),
                                         CASE WHEN typeof(any_value(COLUMNS(vals::VARCHAR[]))) = 'HUGEINT' THEN 'kept' ELSE 'own' END))
  FROM timed
  GROUP BY ALL
)
SELECT COLUMNS(keys::VARCHAR[] || ['pane_start']), time_bucket_end(width, pane_start, zone, origin) AS pane_end,
       struct_update((COLUMNS(vals::VARCHAR[])).m,
                     sum := (COLUMNS(vals::VARCHAR[])).m.sum * cast_to_type(time_bucket_unit((COLUMNS(vals::VARCHAR[])).s), (COLUMNS(vals::VARCHAR[])).s),
                     min := cast_to_type((COLUMNS(vals::VARCHAR[])).m.min * cast_to_type(time_bucket_unit((COLUMNS(vals::VARCHAR[])).s), (COLUMNS(vals::VARCHAR[])).s), (COLUMNS(vals::VARCHAR[])).v),
                     max := cast_to_type((COLUMNS(vals::VARCHAR[])).m.max * cast_to_type(time_bucket_unit((COLUMNS(vals::VARCHAR[])).s), (COLUMNS(vals::VARCHAR[])).s), (COLUMNS(vals::VARCHAR[])).v))
FROM summed;
