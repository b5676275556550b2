-- Each row once for every window that holds it, of those that start every `size` and grow by `step` up to it.
-- They are [s, s + step), [s, s + 2 step) and so on to [s, s + size); size is a multiple of step.
-- Example: SELECT window_start, window_end, count(*) FROM cumulate('readings', 'ts', INTERVAL '2 minutes', INTERVAL '6 minutes') GROUP BY ALL;
CREATE OR REPLACE MACRO cumulate(tbl, ts, step, size, origin := INTERVAL '0 seconds', zone := 'none') AS TABLE
SELECT COLUMNS(time_bucket_columns('cumulate', *, ['window_start', 'window_end'], [ts])),
       unnest(time_bucket_cumulate(step, size, COLUMNS([ts]), zone, origin), max_depth := 2)
FROM query_table(time_bucket_source('cumulate', 'tbl', tbl, 'ts', ts));
