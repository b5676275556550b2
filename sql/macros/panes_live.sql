-- Stored panes up to a watermark, and panes of the raw rows from there on: as fresh as the rows, without a refresh.
-- The stored panes are those of pane_rows with the same columns, width, origin and zone; a watermark inside a pane means that pane's start.
-- Example: FROM panes_live('panes', 'readings', 'ts', ['temp'], INTERVAL '1 minute', ['sensor'], TIMESTAMP '2026-01-01 12:00:00');
CREATE OR REPLACE MACRO panes_live(panes, tbl, ts, vals, width, keys, watermark, origin := INTERVAL '0 seconds', zone := 'none') AS TABLE
WITH stored AS (
  SELECT COLUMNS(lambda c: CASE WHEN NOT list_contains(list_transform(keys::VARCHAR[] || vals::VARCHAR[], lambda n: lower(n)) || ['pane_start', 'pane_end'], lower(c))
                                THEN time_bucket_refuse('panes_live: the store has a column ' || c || ', which is neither in keys nor in vals; name all of them')
                                ELSE true END)
  FROM query_table(time_bucket_source('panes_live', 'panes', panes, 'tbl', tbl, 'watermark', watermark, 'ts', ts, 'keys', keys, 'vals', vals, 'the results', ['pane_start', 'pane_end']))
  WHERE pane_start < time_bucket_floor(watermark, CASE WHEN false THEN pane_start END, width, zone, origin)
    AND time_bucket_stored('panes_live', width, pane_start, pane_end, zone, origin)
), timed AS (
  SELECT COLUMNS(CASE WHEN time_bucket_columns('panes_live', *, [], [ts], keys, vals) <> '' THEN keys::VARCHAR[] || vals::VARCHAR[] END), time_bucket_start(width, COLUMNS([ts]), zone, origin) AS pane_start
  FROM query_table(tbl)
  WHERE COLUMNS([ts]) > '-infinity' AND COLUMNS([ts]) < 'infinity'
    AND COLUMNS([ts]) >= time_bucket_floor(watermark, CASE WHEN false THEN COLUMNS([ts]) END, width, zone, origin)
    AND time_bucket_numeric('panes_live', typeof(COLUMNS(vals::VARCHAR[])))
), summed AS (
  SELECT COLUMNS(keys::VARCHAR[] || ['pane_start']),
         struct_pack(m := time_bucket_moments(COLUMNS(vals::VARCHAR[])), s := cast_to_type(NULL, sum(COLUMNS(vals::VARCHAR[])) + 0::DECIMAL(1, 0)),
                     v := struct_extract(struct_pack(own := cast_to_type(NULL, any_value(COLUMNS(vals::VARCHAR[]))), kept := NULL::DECIMAL(38, 0)),
                                         CASE WHEN typeof(any_value(COLUMNS(vals::VARCHAR[]))) = 'HUGEINT' THEN 'kept' ELSE 'own' END))
  FROM timed
  GROUP BY ALL
)
FROM stored
UNION ALL BY NAME
SELECT COLUMNS(keys::VARCHAR[] || ['pane_start']), time_bucket_end(width, pane_start, zone, origin) AS pane_end,
       struct_update((COLUMNS(vals::VARCHAR[])).m,
                     sum := (COLUMNS(vals::VARCHAR[])).m.sum * cast_to_type(time_bucket_unit((COLUMNS(vals::VARCHAR[])).s), (COLUMNS(vals::VARCHAR[])).s),
                     min := cast_to_type((COLUMNS(vals::VARCHAR[])).m.min * cast_to_type(time_bucket_unit((COLUMNS(vals::VARCHAR[])).s), (COLUMNS(vals::VARCHAR[])).s), (COLUMNS(vals::VARCHAR[])).v),
                     max := cast_to_type((COLUMNS(vals::VARCHAR[])).m.max * cast_to_type(time_bucket_unit((COLUMNS(vals::VARCHAR[])).s), (COLUMNS(vals::VARCHAR[])).s), (COLUMNS(vals::VARCHAR[])).v))
FROM summed;
