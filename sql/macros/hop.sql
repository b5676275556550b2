-- Each row once for every window of `size` that its time lies in; a window starts every `slide`.
-- Where size is not a multiple of slide the windows still start on the slide grid; a row in a gap (slide > size) is left out.
-- Example: SELECT window_start, count(*) FROM hop('readings', 'ts', INTERVAL '1 minute', INTERVAL '5 minutes') GROUP BY ALL;
CREATE OR REPLACE MACRO hop(tbl, ts, slide, size, origin := INTERVAL '0 seconds', zone := 'none') AS TABLE
SELECT COLUMNS(time_bucket_columns('hop', *, ['window_start', 'window_end'], [ts])),
       unnest(time_bucket_hop(slide, size, COLUMNS([ts]), zone, origin), max_depth := 2)
FROM query_table(time_bucket_source('hop', 'tbl', tbl, 'ts', ts));
