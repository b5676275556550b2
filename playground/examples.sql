-- The examples of the playground. test.mjs compares what the page shows for each with the answer of the command line.

-- # Buckets
-- Each ride with the start and the end of the quarter of an hour that holds it: starts ≤ ts < ends.
WITH rides AS (
  SELECT TIMESTAMP '2026-03-02 08:00:00' + to_seconds(i * i * 7) AS ts
  FROM range(28) AS t(i)
)
SELECT ts,
       time_bucket(INTERVAL '15 minutes', ts) AS starts,
       time_bucket_end(INTERVAL '15 minutes', ts) AS ends
FROM rides;

-- # Count by bucket
-- Buckets are made to be grouped by. The height of a bar is the first number after its times.
WITH rides AS (
  SELECT TIMESTAMP '2026-03-02 08:00:00' + to_seconds(i * i * 7) AS ts, 1 + i % 4 AS people
  FROM range(60) AS t(i)
)
SELECT time_bucket(INTERVAL '30 minutes', ts) AS starts,
       time_bucket_end(INTERVAL '30 minutes', ts) AS ends,
       count(*) AS rides, sum(people) AS people
FROM rides
GROUP BY ALL ORDER BY ALL;

-- # Weeks from Monday
-- The grid passes through 1970-01-01, a Thursday. An origin moves it: any Monday will do.
WITH days AS (
  SELECT TIMESTAMP '2026-03-01 12:00:00' + to_days(2 * i) AS ts
  FROM range(12) AS t(i)
)
SELECT ts, dayname(ts) AS day,
       time_bucket(INTERVAL '7 days', ts, DATE '2024-01-01') AS starts,
       time_bucket_end(INTERVAL '7 days', ts, DATE '2024-01-01') AS ends
FROM days;

-- # Days of a time zone
-- A lamp of one kilowatt, read every hour. New York sets its clocks back on 1 November 2026, so that its day from midnight to midnight has 25
-- hours. The page shows times in UTC, in which its midnight is 04:00 before, and 05:00 after.
WITH lamp AS (
  SELECT (TIMESTAMP '2026-10-30 04:00:00' + to_hours(i))::TIMESTAMPTZ AS ts, 1 AS kwh
  FROM range(121) AS t(i)
)
SELECT time_bucket(INTERVAL '1 day', ts, 'America/New_York') AS starts,
       time_bucket_end(INTERVAL '1 day', ts, 'America/New_York') AS ends,
       sum(kwh) AS kwh
FROM lamp
GROUP BY ALL ORDER BY ALL;

-- # A clock for each row
-- The zone may be a column: here are the days of three meters, each by the clock of its place.
WITH meters(meter, zone) AS (
  VALUES ('Berlin', 'Europe/Berlin'), ('Kathmandu', 'Asia/Kathmandu'), ('New York', 'America/New_York')
), readings AS (
  SELECT meter, zone, (TIMESTAMP '2026-06-10 00:00:00' + to_hours(i))::TIMESTAMPTZ AS ts
  FROM meters, range(48) AS t(i)
)
SELECT meter,
       time_bucket(INTERVAL '1 day', ts, zone) AS starts,
       time_bucket_end(INTERVAL '1 day', ts, zone) AS ends,
       count(*) AS readings
FROM readings
GROUP BY ALL ORDER BY ALL;

-- # Hopping windows
-- Windows of an hour, one every 20 minutes: each row lies in three of them.
WITH rides AS (
  SELECT TIMESTAMP '2026-03-02 08:05:00' + to_minutes(i * i) AS ts
  FROM range(11) AS t(i)
)
SELECT ts, unnest(time_bucket_hop(INTERVAL '20 minutes', INTERVAL '1 hour', ts), max_depth := 2)
FROM rides
ORDER BY ALL;

-- # Empty buckets too
-- A bucket without rows does not exist for GROUP BY. The series has every bucket from a time to another.
WITH calls AS (
  SELECT unnest([TIMESTAMP '2026-03-02 09:10', '2026-03-02 09:15', '2026-03-02 09:50', '2026-03-02 11:20',
                 '2026-03-02 11:25', '2026-03-02 11:40', '2026-03-02 13:05']) AS ts
)
SELECT window_start, window_end, count(ts) AS calls
FROM time_bucket_series(INTERVAL '30 minutes', TIMESTAMP '2026-03-02 09:00', TIMESTAMP '2026-03-02 14:00')
LEFT JOIN calls ON ts >= window_start AND ts < window_end
GROUP BY ALL ORDER BY ALL;

-- # Panes of a sliding query
-- Ten minutes, asked for every four: panes of two minutes serve every such query, and each is aggregated once.
SELECT pane, pane_start, pane_end
FROM time_bucket_panes(INTERVAL '10 minutes', INTERVAL '4 minutes', at := TIMESTAMP '2026-03-02 12:00');

-- # Nanoseconds
-- Each type of timestamp keeps its own ticks, so 250 ns are 250 ns, before 1970 too.
SELECT ts,
       time_bucket(INTERVAL '1 microsecond', ts) AS starts,
       time_bucket_end(INTERVAL '1 microsecond', ts) AS ends,
       typeof(starts) AS type
FROM (SELECT make_timestamp_ns(450 * i - 1800) AS ts FROM range(9) AS t(i));

-- # Edges
-- NULL stays NULL and infinity itself; the last bucket of the type has no end that it could hold, which TRY makes NULL.
SELECT ts, time_bucket(INTERVAL '1 hour', ts) AS starts, TRY(time_bucket_end(INTERVAL '1 hour', ts)) AS ends
FROM (VALUES (TIMESTAMP '1969-12-31 23:59:59'), ('infinity'), (NULL), ('294247-01-10 04:00:00')) AS v(ts);

-- # An error
-- A month has no fixed length, so it is refused before a row is read, with what to write instead.
SELECT time_bucket(INTERVAL '1 month', TIMESTAMP '2026-03-02 08:00:00');
