-- time_bucket on real data: every flight scheduled out of New York City in 2013, and the weather
-- at its airports. `make demo` runs this in the DuckDB CLI, with the extension loaded, in the
-- folder of the two CSV files.

-- sched_dep is the scheduled departure on New York's clocks. The file's own time_hour is UTC and
-- cut to the hour, and its dep_time, the actual departure, has lost the date of a flight that
-- was delayed past midnight. dep_delay is NULL for a cancelled flight.
CREATE TABLE flights AS
SELECT make_timestamp(year, month, day, hour, minute, 0) AS sched_dep,
       dep_delay,
       origin AS airport
FROM read_csv('flights.csv', nullstr = 'NA');

-- The weather is read hourly. There time_hour is right as it is: the instant of the reading.
CREATE TABLE weather AS
SELECT time_hour AS ts,                                       -- TIMESTAMPTZ
       time_hour AT TIME ZONE 'America/New_York' AS local_ts, -- TIMESTAMP
       origin AS airport, temp, wind_gust, precip
FROM read_csv('weather.csv', nullstr = 'NA');

-- 1. A blizzard closes the airports: departures in buckets of four hours, with their mean delay
--    in minutes.
SELECT time_bucket(INTERVAL '4 hours', sched_dep) AS bucket,
       count(dep_delay) AS departures,
       count(*) - count(dep_delay) AS cancelled,
       round(avg(dep_delay), 1) AS mean_delay
FROM flights
WHERE sched_dep >= '2013-02-08' AND sched_dep < '2013-02-10'
GROUP BY bucket
ORDER BY bucket;

-- 2. The whole year in four-week buckets, as a chart. The origin makes each start on a Monday.
SELECT time_bucket(INTERVAL '28 days', sched_dep, TIMESTAMP '2012-12-31') AS four_weeks_from,
       count(dep_delay) AS departures,
       round(avg(dep_delay), 1) AS mean_delay,
       bar(avg(dep_delay), 0, 30, 30) AS chart
FROM flights
GROUP BY four_weeks_from
ORDER BY four_weeks_from;

-- 3. The blizzard at JFK in buckets of six hours, each with its start and its exclusive end.
SELECT time_bucket(INTERVAL '6 hours', local_ts) AS starts,
       time_bucket_end(INTERVAL '6 hours', local_ts) AS ends,
       round(avg(temp), 1) AS mean_temp_f,
       max(wind_gust)::INTEGER AS gust_mph,
       round(sum(precip), 2) AS precip_in
FROM weather
WHERE airport = 'JFK' AND local_ts >= '2013-02-08' AND local_ts < '2013-02-10'
GROUP BY starts, ends
ORDER BY starts;

-- 4. Nanoseconds stay exact: the grid is computed in them, and the result is a TIMESTAMP_NS too.
SELECT ts,
       time_bucket(INTERVAL '1 microsecond', ts) AS starts,
       time_bucket_end(INTERVAL '1 microsecond', ts) AS ends
FROM (VALUES (TIMESTAMP_NS '1969-12-31 23:59:59.999999999'),
             (TIMESTAMP_NS '2013-02-08 16:00:00.000000999'),
             (TIMESTAMP_NS '2013-02-08 16:00:00.000001000')) AS events(ts);

-- 5. The clocks go forward on 10 March. With the name of a time zone, buckets go by its clock: days
--    are from midnight to midnight, and 10 March has 23 hours.
SET TimeZone = 'America/New_York';
SELECT time_bucket(INTERVAL '1 day', ts, 'America/New_York') AS starts,
       time_bucket_end(INTERVAL '1 day', ts, 'America/New_York') AS ends,
       count(*) AS hours
FROM weather
WHERE airport = 'JFK' AND ts >= '2013-03-09 00:00:00' AND ts < '2013-03-12 00:00:00'
GROUP BY starts, ends
ORDER BY starts;

--    Without a zone, a TIMESTAMPTZ is bucketed by its instant: every day has 24 hours, and the grid
--    that passed through midnight passes through 01:00 from then on.
SELECT time_bucket(INTERVAL '1 day', ts, TIMESTAMPTZ '2013-03-09 00:00:00') AS starts,
       time_bucket_end(INTERVAL '1 day', ts, TIMESTAMPTZ '2013-03-09 00:00:00') AS ends,
       count(*) AS hours
FROM weather
WHERE airport = 'JFK' AND ts >= '2013-03-09 00:00:00' AND ts < '2013-03-12 01:00:00'
GROUP BY starts, ends
ORDER BY starts;

-- 6. A month has no fixed length, so it is no bucket width. It is refused before any row is read.
SELECT time_bucket(INTERVAL '1 month', sched_dep) AS month, count(*) AS departures
FROM flights
GROUP BY month;

--    date_trunc is for calendar units.
SELECT date_trunc('month', sched_dep) AS month, count(dep_delay) AS departures
FROM flights
GROUP BY month
ORDER BY month
LIMIT 3;
