-- Which windows to store so that a query over `lookback`, repeated every `cadence`, is answered from them by time_bucket_cover.
-- Sizes and slides are whole multiples of granularity, the time that the data can be cut at; size and slide keep those of one value.
-- Example: FROM window_candidates(INTERVAL '10 minutes', INTERVAL '1 minute', INTERVAL '30 seconds', size := INTERVAL '5 minutes');
CREATE OR REPLACE MACRO window_candidates(lookback, cadence, granularity, size := NULL, slide := NULL) AS TABLE
WITH given AS (
  SELECT epoch_us(lookback::INTERVAL) AS l, coalesce(epoch_us(cadence::INTERVAL), 0) AS c, epoch_us(granularity::INTERVAL) AS g,
         epoch_us(time_bucket_pane(lookback::INTERVAL, cadence::INTERVAL)) AS pane
), checked AS (
  SELECT l, c, CASE WHEN coalesce(g, 0) <= 0 OR datepart('month', granularity::INTERVAL) <> 0 OR datepart('year', granularity::INTERVAL) <> 0
                    THEN error(format('window_candidates: granularity must be positive and of fixed length, not {}; give one such as 15 seconds',
                                      coalesce(granularity::VARCHAR, 'NULL')))
                    WHEN pane IS NULL OR l // g > 1000000
                    THEN error(format('window_candidates: granularity {} is too fine for lookback {}; give at least a millionth of it',
                                      granularity::VARCHAR, lookback::VARCHAR))
                    ELSE g END AS g
  FROM given
), sizes AS (
  SELECT l, c, g, w FROM (SELECT *, unnest(range(g, l + 1, g)) AS w FROM checked)
  WHERE l % w = 0 AND (size IS NULL OR w = epoch_us(size::INTERVAL))
), slides AS (
  SELECT l, w, s FROM (SELECT *, unnest(range(g, gcd(w, c) + 1, g)) AS s FROM sizes)
  WHERE gcd(w, c) % s = 0 AND (slide IS NULL OR s = epoch_us(slide::INTERVAL))
)
SELECT CASE WHEN s = w THEN 'tumbling' ELSE 'sliding' END AS kind, to_microseconds(w) AS window_size, to_microseconds(s) AS slide,
       l // w AS windows_per_query, w // s AS panes_per_window
FROM slides
ORDER BY kind DESC, w DESC, s DESC;
