-- Panes of a table, a row for each key and pane that has rows: the moments of a column, which merge into any window of whole panes.
-- From the pane that holds since up to, but without, the pane that holds until; rows without a finite time lie in none.
-- Example: CREATE TABLE panes AS FROM pane_rows('readings', 'ts', 'temp', INTERVAL '1 minute', ['sensor']);
CREATE OR REPLACE MACRO pane_rows(tbl, ts, val, width, keys, since := NULL, until := NULL, origin := INTERVAL '0 seconds') AS TABLE
SELECT COLUMNS(keys::VARCHAR[] || ['pane_start']), count(COLUMNS([val])) AS n, sum(COLUMNS([val])) AS sum,
       min(COLUMNS([val])) AS min, max(COLUMNS([val])) AS max, avg(COLUMNS([val])) AS mean,
       var_pop(COLUMNS([val])) * count(COLUMNS([val])) AS m2
FROM (SELECT COLUMNS(lambda c: CASE WHEN lower(c) = 'pane_start' OR lower(c) IN ('n', 'sum', 'min', 'max', 'mean', 'm2')
                                         AND list_contains(list_transform(keys::VARCHAR[], lambda k: lower(k)), lower(c))
                                    THEN time_bucket_refuse('pane_rows: a result has the name of the column ' || c || '; rename it') ELSE true END),
             time_bucket(width, COLUMNS([ts]), origin) AS pane_start
      FROM query_table(tbl)
      WHERE COLUMNS([ts]) > '-infinity' AND COLUMNS([ts]) < 'infinity'
        AND (since IS NULL OR COLUMNS([ts]) >= time_bucket(width, cast_to_type(since, COLUMNS([ts])), origin))
        AND (until IS NULL OR COLUMNS([ts]) < time_bucket(width, cast_to_type(until, COLUMNS([ts])), origin)))
GROUP BY ALL;
