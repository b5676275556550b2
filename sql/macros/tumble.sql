-- Each row with the one window of `width` that its time lies in: every column, then window_start and window_end.
-- Tables and columns are named by strings; origin is a point or an offset of the grid, zone a wall clock, as in time_bucket.
-- Example: FROM tumble('readings', 'ts', INTERVAL '5 minutes');
CREATE OR REPLACE MACRO tumble(tbl, ts, width, origin := INTERVAL '0 seconds', zone := 'none') AS TABLE
SELECT COLUMNS(time_bucket_columns('tumble', *, ['window_start', 'window_end'], [ts])),
       time_bucket_start(width, COLUMNS([ts]), zone, origin) AS window_start,
       time_bucket_end(width, COLUMNS([ts]), zone, origin) AS window_end
FROM query_table(time_bucket_source('tumble', 'tbl', tbl, 'ts', ts));
