-- Each row with its session, window_start to window_end: rows of a key less than `gap` apart are of one, which ends `gap` after the last.
-- A row without a time has none. The rows of up to 2,048 keys are in memory at once.
-- Example: SELECT sensor, window_start, window_end, count(*) FROM sessions('readings', 'ts', INTERVAL '2 minutes', ['sensor']) GROUP BY ALL;
CREATE OR REPLACE MACRO sessions(tbl, ts, gap, keys) AS TABLE
SELECT COLUMNS(time_bucket_columns('sessions', *, ['window_start', 'window_end'], [ts], keys))
FROM query_table(time_bucket_source('sessions', 'tbl', tbl, 'ts', ts, 'keys', keys)) WHERE COLUMNS([ts]) IS NULL
UNION ALL BY NAME
SELECT COLUMNS('(?s)^[kvw]_u_(.*)$') AS '\1'
FROM (SELECT COLUMNS('^k_'), list_extract(COLUMNS('^v_'), row) AS '\0', window_start AS w_u_window_start, window_end AS w_u_window_end
      FROM (SELECT *, unnest(time_bucket_sessions(v_t, gap), max_depth := 2)
            FROM (SELECT COLUMNS(time_bucket_named('k', keys)) AS 'k_\0',
                         list(COLUMNS(lambda c: c = 't' OR starts_with(c, 'u_') AND NOT list_contains(
                                        list_transform(keys::VARCHAR[], lambda n: 'u_' || lower(n)), lower(c)))) AS 'v_\0'
                  -- every column is u_<name>, so that none has a name of ours
                  FROM (SELECT COLUMNS(*) AS 'u_\0',
                               COLUMNS([ts]) AS t, true AS k
                        FROM query_table(tbl))
                  WHERE t IS NOT NULL
                  GROUP BY ALL)));
