-- What to store so that a query over lookback, asked again every cadence, is answered from it, and what each choice costs for a key.
-- direct: one stored window; merge: several side by side (time_bucket_cover); subtract: two running totals, for counts and exact sums.
-- Example: FROM window_candidates(INTERVAL '10 minutes', INTERVAL '1 minute', INTERVAL '30 seconds', size := INTERVAL '5 minutes');
CREATE OR REPLACE MACRO window_candidates(lookback, cadence, granularity, size := NULL, slide := NULL) AS TABLE
WITH given AS (
  SELECT time_bucket_length('window_candidates', 'lookback', lookback) AS l, coalesce(time_bucket_length('window_candidates', 'cadence', cadence), 0) AS c,
         time_bucket_length('window_candidates', 'granularity', granularity) AS g, time_bucket_length('window_candidates', 'size', size) AS w,
         time_bucket_length('window_candidates', 'slide', slide) AS s, epoch_us(time_bucket_pane(lookback::INTERVAL, cadence::INTERVAL)) AS pane
), checked AS (
  SELECT l, c, CASE WHEN coalesce(g, 0) = 0
                    THEN error(format('window_candidates: granularity must be positive, not {}; give one such as 15 seconds', coalesce(granularity::VARCHAR, 'NULL')))
                    WHEN pane IS NULL OR l // g > 1000000
                    THEN error(format('window_candidates: granularity {} is too fine for lookback {}; give at least a millionth of it',
                                      granularity::VARCHAR, lookback::VARCHAR))
                    ELSE g END AS g
  FROM given
), sizes AS (
  SELECT l, c, g, w FROM (SELECT *, unnest(range(g, l + 1, g)) AS w FROM checked) WHERE l % w = 0
), slides AS (
  SELECT l, w, s FROM (SELECT *, unnest(range(g, gcd(w, c) + 1, g)) AS s FROM sizes) WHERE gcd(w, c) % s = 0
), answers AS (
  SELECT CASE WHEN w = l THEN 'direct' ELSE 'merge' END AS answer, w, s, l // w AS rows_read FROM slides
  UNION ALL
  SELECT 'subtract', s, s, 2 FROM slides WHERE w = l
)
SELECT answer, to_microseconds(w) AS window_size, to_microseconds(s) AS slide, 3600000000 / s AS rows_per_hour, rows_read
FROM answers
WHERE (size IS NULL OR w = (SELECT w FROM given)) AND (slide IS NULL OR s = (SELECT s FROM given))
ORDER BY answer, rows_per_hour, rows_read;
