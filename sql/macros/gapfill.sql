-- A row for every key and every window from the first to the last of the data, or of since and until if given: n and avg of the
-- window's values, then avg with gaps of up to max_gap filled, by the last value (locf) and on the line between the neighbours (linear).
-- Example: FROM gapfill('readings', 'ts', 'temp', INTERVAL '1 minute', ['sensor'], max_gap := INTERVAL '10 minutes');
CREATE OR REPLACE MACRO gapfill(tbl, ts, val, width, keys, since := NULL, until := NULL, max_gap := NULL, origin := INTERVAL '0 seconds') AS TABLE
WITH bucketed AS (
  SELECT COLUMNS(lambda c: CASE WHEN lower(c) IN ('window_start', 'window_end')
                                THEN time_bucket_refuse('gapfill: the input already has a column ' || c || '; rename it') ELSE true END),
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
