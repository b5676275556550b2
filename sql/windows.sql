-- Macros over the functions of time_bucket, for those who like a table form. Each says what it is for, with an example.
-- LOAD creates none of them: read this file, or run what FROM time_bucket_macros() returns. Doing so twice is harmless.

-- tumble: every row of a table with the bucket [window_start, window_end) that it lies in.
-- An input that has a column of one of these names is refused.
-- SELECT window_start, count(*) FROM tumble('flights', 'departure', INTERVAL '1 hour') GROUP BY ALL;
CREATE OR REPLACE MACRO tumble(tbl, ts, width) AS TABLE
SELECT COLUMNS(lambda c: CAST(list_extract(['tumble: the input already has a column ' || c || '; rename it', 'true'],
                                           1 + CAST(lower(c) NOT IN ('window_start', 'window_end') AS INT)) AS BOOLEAN)),
       time_bucket(width, COLUMNS(lambda c: lower(c) = lower(ts))) AS window_start,
       time_bucket_end(width, COLUMNS(lambda c: lower(c) = lower(ts))) AS window_end
FROM query_table(tbl);
