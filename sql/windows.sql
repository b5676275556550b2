-- Each row with the one window of `width` that its time lies in: every column, then window_start and window_end.
-- Tables and columns are named by strings; origin is a point or an offset of the grid, as in time_bucket.
-- Example: FROM tumble('readings', 'ts', INTERVAL '5 minutes');
CREATE OR REPLACE MACRO tumble(tbl, ts, width, origin := INTERVAL '0 seconds') AS TABLE
SELECT COLUMNS(lambda c: CASE WHEN lower(c) IN ('window_start', 'window_end')
                              THEN CAST('tumble: the input already has a column ' || c || '; rename it' AS BOOLEAN) ELSE true END),
       time_bucket(width, COLUMNS([ts]), origin) AS window_start,
       time_bucket_end(width, COLUMNS([ts]), origin) AS window_end
FROM query_table(tbl);

-- Each row once for every window of `size` that its time lies in; a window starts every `slide`.
-- Where size is not a multiple of slide the windows still start on the slide grid; a row in a gap (slide > size) is left out.
-- Example: SELECT window_start, count(*) FROM hop('readings', 'ts', INTERVAL '1 minute', INTERVAL '5 minutes') GROUP BY ALL;
CREATE OR REPLACE MACRO hop(tbl, ts, slide, size, origin := INTERVAL '0 seconds') AS TABLE
SELECT COLUMNS(lambda c: CASE WHEN lower(c) IN ('window_start', 'window_end')
                              THEN CAST('hop: the input already has a column ' || c || '; rename it' AS BOOLEAN) ELSE true END),
       unnest(time_bucket_hop(slide, size, COLUMNS([ts]), origin), max_depth := 2)
FROM query_table(tbl);

-- A row for every key and every window from the first to the last of the data, or of since and until if given: n and avg of the
-- window's values, then avg with gaps of up to max_gap filled, by the last value (locf) and on the line between the neighbours (linear).
-- Example: FROM gapfill('readings', 'ts', 'temp', INTERVAL '1 minute', ['sensor'], max_gap := INTERVAL '10 minutes');
CREATE OR REPLACE MACRO gapfill(tbl, ts, val, width, keys, since := NULL, until := NULL, max_gap := NULL, origin := INTERVAL '0 seconds') AS TABLE
WITH bucketed AS (
  SELECT COLUMNS(lambda c: CASE WHEN lower(c) IN ('window_start', 'window_end')
                                THEN CAST('gapfill: the input already has a column ' || c || '; rename it' AS BOOLEAN) ELSE true END),
         time_bucket(width, COLUMNS([ts]), origin) AS window_start
  FROM query_table(tbl)
  WHERE COLUMNS([ts]) > '-infinity' AND COLUMNS([ts]) < 'infinity'
    AND (since IS NULL OR COLUMNS([ts]) >= time_bucket(width, cast_to_type(since, COLUMNS([ts])), origin))
), filled AS (
  SELECT COLUMNS(keys::VARCHAR[] || ['window_start']), true AS _all, count(COLUMNS([val])) AS _n, avg(COLUMNS([val])) AS _avg
  FROM bucketed
  WHERE until IS NULL OR window_start < cast_to_type(until, window_start)
  GROUP BY ALL
), range_of AS (
  SELECT coalesce(time_bucket(width, cast_to_type(since, min(window_start)), origin), min(window_start)) AS _first,
         coalesce(time_bucket(width, cast_to_type(until, min(window_start)), origin), max(window_start)) AS _last
  FROM filled
), checked AS (
  SELECT _first,
         CASE WHEN _first > _last THEN error(format('gapfill: since {} is later than until {}; swap them', since::VARCHAR, until::VARCHAR))
              WHEN _first = '-infinity' OR _last = 'infinity'
              THEN error(format('gapfill: {} is no end of a range; give a finite since and until', CASE WHEN _last = 'infinity' THEN 'infinity' ELSE '-infinity' END))
              WHEN date_diff('us', _first, _last) // epoch_us(width::INTERVAL) > 100000000
              THEN error(format('gapfill: more than 100 million windows of {} between {} and {}; use a greater width or a shorter range',
                                width::VARCHAR, _first::VARCHAR, _last::VARCHAR))
              ELSE _last END AS _last
  FROM range_of
), sized AS (
  SELECT *, (1 + date_diff('us', _first, _last) // (50000 * epoch_us(width::INTERVAL))) * width::INTERVAL AS _block FROM checked
), blocks AS ( -- one call of time_bucket_hop gives up to 100,000 windows, so the grid is made of blocks
  SELECT _first, _block,
         unnest(time_bucket_hop(_block, to_microseconds(date_diff('us', _first, _last)) + _block, _last, _last)).window_start AS _upto
  FROM sized
), grid AS (
  SELECT _first, unnest(time_bucket_hop(width, _block, _upto, origin)).window_start AS window_start FROM blocks
), every AS (
  SELECT COLUMNS(keys::VARCHAR[] || ['window_start']), row(*COLUMNS(keys::VARCHAR[] || ['_all'])) AS _key, sum(_n)::BIGINT AS _n, any_value(_avg) AS _avg
  FROM (FROM filled
        UNION ALL BY NAME
        SELECT * EXCLUDE (_first)
        FROM (SELECT DISTINCT COLUMNS(keys::VARCHAR[] || ['_all']), 0 AS _n FROM filled), grid
        WHERE window_start >= _first AND (until IS NULL OR window_start < cast_to_type(until, window_start)))
  GROUP BY ALL
), numbered AS (
  SELECT *, row_number() OVER (PARTITION BY _key ORDER BY window_start) AS _i FROM every
), neighbours AS (
  SELECT *, max(_i) FILTER (_avg IS NOT NULL) OVER before AS _i0, last_value(_avg IGNORE NULLS) OVER before AS _avg0,
            min(_i) FILTER (_avg IS NOT NULL) OVER after AS _i1, first_value(_avg IGNORE NULLS) OVER after AS _avg1
  FROM numbered
  WINDOW before AS (PARTITION BY _key ORDER BY _i ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW),
         after AS (PARTITION BY _key ORDER BY _i ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)
)
SELECT COLUMNS(keys::VARCHAR[] || ['window_start']), time_bucket_end(width, window_start, origin) AS window_end, _n AS n, _avg AS avg,
       CASE WHEN max_gap IS NULL OR _i - _i0 <= epoch_us(max_gap::INTERVAL) // epoch_us(width::INTERVAL) THEN _avg0 END AS locf,
       CASE WHEN _i0 = _i1 THEN _avg
            WHEN max_gap IS NULL OR _i1 - _i0 - 1 <= epoch_us(max_gap::INTERVAL) // epoch_us(width::INTERVAL)
            THEN _avg0 + (_avg1 - _avg0) * (_i - _i0) / (_i1 - _i0) END AS linear
FROM neighbours;

-- Panes of a table, a row for each key and pane that has rows: the moments of a column, which merge into any window of whole panes.
-- From the pane that holds since up to, but without, the pane that holds until; rows without a finite time lie in none.
-- Example: CREATE TABLE panes AS FROM pane_rows('readings', 'ts', 'temp', INTERVAL '1 minute', ['sensor']);
CREATE OR REPLACE MACRO pane_rows(tbl, ts, val, width, keys, since := NULL, until := NULL, origin := INTERVAL '0 seconds') AS TABLE
SELECT COLUMNS(keys::VARCHAR[] || ['pane_start']), count(COLUMNS([val])) AS n, sum(COLUMNS([val])) AS sum,
       min(COLUMNS([val])) AS min, max(COLUMNS([val])) AS max, avg(COLUMNS([val])) AS mean,
       var_pop(COLUMNS([val])) * count(COLUMNS([val])) AS m2
FROM (SELECT COLUMNS(lambda c: CASE WHEN lower(c) = 'pane_start' OR lower(c) IN ('n', 'sum', 'min', 'max', 'mean', 'm2')
                                         AND list_contains(list_transform(keys::VARCHAR[], lambda k: lower(k)), lower(c))
                                    THEN CAST('pane_rows: a result has the name of the column ' || c || '; rename it' AS BOOLEAN) ELSE true END),
             time_bucket(width, COLUMNS([ts]), origin) AS pane_start
      FROM query_table(tbl)
      WHERE COLUMNS([ts]) > '-infinity' AND COLUMNS([ts]) < 'infinity'
        AND (since IS NULL OR COLUMNS([ts]) >= time_bucket(width, cast_to_type(since, COLUMNS([ts])), origin))
        AND (until IS NULL OR COLUMNS([ts]) < time_bucket(width, cast_to_type(until, COLUMNS([ts])), origin)))
GROUP BY ALL;

-- Stored panes up to a watermark, and panes of the raw rows from there on: as fresh as the rows, without a refresh.
-- The stored panes are those of pane_rows with the same columns, width and origin; a watermark inside a pane means that pane's start.
-- Example: FROM panes_live('panes', 'readings', 'ts', 'temp', INTERVAL '1 minute', ['sensor'], TIMESTAMP '2026-01-01 12:00:00');
CREATE OR REPLACE MACRO panes_live(panes, tbl, ts, val, width, keys, watermark, origin := INTERVAL '0 seconds') AS TABLE
FROM query_table(panes) WHERE pane_start < time_bucket(width, cast_to_type(watermark, pane_start), origin)
UNION ALL BY NAME
FROM pane_rows(tbl, ts, val, width, keys, since := watermark, origin := origin);

-- For every key and stored pane, the window of length lookback that ends with the pane: n, sum, min, max, avg, var_samp.
-- They are merged from the panes of pane_rows; lookback is a multiple of the panes' width, and a pane may lack (no rows, nothing to add).
-- Example: FROM rolling_panes('panes', ['sensor'], INTERVAL '1 hour', INTERVAL '1 minute');
CREATE OR REPLACE MACRO rolling_panes(panes, keys, lookback, width) AS TABLE
WITH timed AS (
  SELECT COLUMNS(lambda c: CASE WHEN lower(c) IN ('window_start', 'window_end')
                                THEN CAST('rolling_panes: the input already has a column ' || c || '; rename it' AS BOOLEAN) ELSE true END),
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
