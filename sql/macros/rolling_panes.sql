-- For every key and stored pane, the window of length lookback that ends with the pane: n, sum, min, max, avg, var_samp.
-- They are merged from the panes of pane_rows; lookback is a multiple of the panes' width, and a pane may lack (no rows, nothing to add).
-- Example: FROM rolling_panes('panes', ['sensor'], INTERVAL '1 hour', INTERVAL '1 minute');
CREATE OR REPLACE MACRO rolling_panes(panes, keys, lookback, width) AS TABLE
WITH timed AS (
  SELECT COLUMNS(lambda c: CASE WHEN lower(c) IN ('window_start', 'window_end')
                                THEN time_bucket_refuse('rolling_panes: the input already has a column ' || c || '; rename it') ELSE true END),
         true AS _all,
         time_bucket(lookback, pane_start, time_bucket_end(width, pane_start, pane_start)) AS window_start,
         time_bucket_end(width, pane_start, pane_start) AS window_end
  FROM query_table(panes)
  WHERE CASE WHEN epoch_us(lookback::INTERVAL) % epoch_us(width::INTERVAL) = 0 THEN true
             ELSE error(format('rolling_panes: lookback {} is not a multiple of width {}; give whole panes',
                               lookback::VARCHAR, width::VARCHAR)) END
), keyed AS (
  SELECT *, row(*COLUMNS(keys::VARCHAR[] || ['_all'])) AS _key FROM timed
), centred AS ( -- squares of distances from a centre near the data lose fewer digits than squares of the values
  SELECT *, avg(mean) OVER (PARTITION BY _key ORDER BY date_diff('us', '1970-01-01', pane_start)
                            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS _centre
  FROM keyed
), merged AS (
  SELECT COLUMNS(keys::VARCHAR[] || ['window_start', 'window_end', '_centre']),
         sum(n) OVER recent AS _n, sum(sum) OVER recent AS _sum, min(min) OVER recent AS _min, max(max) OVER recent AS _max,
         sum(n * (mean - _centre)) OVER recent AS _s1, sum(m2 + n * (mean - _centre) ** 2) OVER recent AS _s2
  FROM centred
  WINDOW recent AS (PARTITION BY _key ORDER BY date_diff('us', '1970-01-01', pane_start)
                    RANGE BETWEEN epoch_us(lookback::INTERVAL) - epoch_us(width::INTERVAL) PRECEDING AND CURRENT ROW)
)
SELECT DISTINCT COLUMNS(keys::VARCHAR[] || ['window_start', 'window_end']), _n::BIGINT AS n, _sum AS sum, _min AS min, _max AS max,
       _centre + _s1 / nullif(_n, 0) AS avg, CASE WHEN _n > 1 THEN greatest(_s2 - _s1 * _s1 / _n, 0) / (_n - 1) END AS var_samp
FROM merged;
