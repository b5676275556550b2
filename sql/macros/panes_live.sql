-- Stored panes up to a watermark, and panes of the raw rows from there on: as fresh as the rows, without a refresh.
-- The stored panes are those of pane_rows with the same columns, width and origin; a watermark inside a pane means that pane's start.
-- Example: FROM panes_live('panes', 'readings', 'ts', 'temp', INTERVAL '1 minute', ['sensor'], TIMESTAMP '2026-01-01 12:00:00');
CREATE OR REPLACE MACRO panes_live(panes, tbl, ts, val, width, keys, watermark, origin := INTERVAL '0 seconds') AS TABLE
FROM query_table(panes) WHERE pane_start < time_bucket(width, cast_to_type(watermark, pane_start), origin)
UNION ALL BY NAME
FROM pane_rows(tbl, ts, val, width, keys, since := watermark, origin := origin);
