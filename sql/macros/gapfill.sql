-- A row for every key and bucket of what has been aggregated, at most one row for a key and bucket: keys, window_start, window_end,
-- the columns of carry (the last known value), of interpolate (on the line between the neighbours), of zero, all others (NULL), and filled.
-- Example: FROM gapfill('minutes', 'ts', INTERVAL '1 minute', ['sensor'], interpolate := ['temp'], zero := ['n']);
CREATE OR REPLACE MACRO gapfill(tbl, ts, width, keys, carry := [], interpolate := [], zero := [], since := NULL, until := NULL,
                                members := NULL, max_gap := NULL, origin := INTERVAL '0 seconds', zone := 'none') AS TABLE
WITH data AS ( -- columns by what becomes of them: a key k_u_<name>, carried c_u_<name>, and so on, so that none has a name of ours
  SELECT COLUMNS(time_bucket_named('k', keys)) AS 'k_\0', s,
         COLUMNS(time_bucket_named('c', carry)) AS 'c_\0',
         COLUMNS(time_bucket_named('i', interpolate)) AS 'i_\0',
         COLUMNS(time_bucket_named('z', zero)) AS 'z_\0',
         COLUMNS(time_bucket_others('o', *, [ts], keys, carry, interpolate, zero)) AS 'o_\0'
  FROM (SELECT COLUMNS(time_bucket_columns('gapfill', *, list_filter(['window_start', 'window_end', 'filled'], lambda n: n <> lower(ts)), [ts], keys, carry, interpolate, zero)) AS 'u_\0',
               time_bucket_start(width, COLUMNS([ts]), zone, origin) AS s,
               true AS k, true AS c, true AS i, true AS z, true AS o -- no list of columns is empty
        FROM query_table(time_bucket_source('gapfill', 'tbl', tbl, 'ts', ts, 'keys', keys, 'carry', carry, 'interpolate', interpolate, 'zero', zero, 'members', members))
        WHERE COLUMNS([ts]) > '-infinity' AND COLUMNS([ts]) < 'infinity'
          AND (until IS NULL OR len(interpolate) > 0 OR COLUMNS([ts]) < time_bucket_ceil(until, CASE WHEN false THEN COLUMNS([ts]) END, width, zone, origin)))
  UNION ALL BY NAME -- keys that appear even without a row
  SELECT DISTINCT COLUMNS(time_bucket_named('k', keys)) AS 'k_\0'
  FROM (SELECT COLUMNS(time_bucket_columns('gapfill', *, [], keys)) AS 'u_\0', true AS k FROM query_table(coalesce(members, tbl)) WHERE members IS NOT NULL)
  UNION ALL BY NAME
  SELECT true AS k_k WHERE len(keys) = 0
), bounds AS (
  SELECT min(s) AS low, max(s) AS high, time_bucket_since(since, any_value(s)) AS lower, time_bucket_until(until, any_value(s)) AS upper
  FROM data
), range_of AS (
  SELECT CASE WHEN lower IS NULL THEN low WHEN lower = upper THEN upper ELSE time_bucket_start(width, lower, zone, origin) END AS first,
         coalesce(upper, time_bucket_end(width, high, zone, origin)) AS last
  FROM bounds
  WHERE coalesce(time_bucket_refuse(CASE WHEN lower > upper THEN 'gapfill: since ' || lower || ' is later than until ' || upper || '; swap them' END), true)
), by_key AS (
  SELECT COLUMNS('^k_'), any_value(first) AS first, any_value(last) AS last, list(COLUMNS('(?s)^(s|[cizo]_u_.*)$')) AS '\1'
  FROM data, range_of
  GROUP BY ALL
  HAVING min(s) < any_value(last) OR count(*) > count(s)
), ordered AS (
  SELECT *, NULL::BOOLEAN[] AS c_, NULL::DOUBLE[] AS i_, NULL::INTEGER[] AS z_, NULL::BOOLEAN[] AS o_, time_bucket_order(s) AS rows
  FROM by_key
), neighbours AS ( -- beside a list of values, for each row in order, the row that has the last known one, and the next
  SELECT COLUMNS('^k_'), COLUMNS('^[zo]_'), s, rows, first, last,
         struct_pack(v := COLUMNS('^c_'), p := time_bucket_previous(rows, COLUMNS('^c_'))) AS '\0',
         struct_pack(v := COLUMNS('^i_'), p := time_bucket_previous(rows, COLUMNS('^i_')), n := time_bucket_next(rows, COLUMNS('^i_'))) AS '\0'
  FROM ordered
), placed AS (
  SELECT *, unnest(time_bucket_pieces(s, rows, first, last, width), max_depth := 2) FROM neighbours
), pieces AS (
  SELECT COLUMNS('^k_'), piece_start, piece_end, list_extract(s, list_extract(rows, place)) AS s,
         list_extract(COLUMNS('^[zo]_'), list_extract(rows, place)) AS '\0',
         struct_pack(v := list_extract((COLUMNS('^c_')).v, list_extract((COLUMNS('^c_')).p, place)),
                     t := list_extract(s, list_extract((COLUMNS('^c_')).p, place))) AS '\0',
         struct_pack(v := list_extract((COLUMNS('^i_')).v, list_extract((COLUMNS('^i_')).p, place)),
                     t := list_extract(s, list_extract((COLUMNS('^i_')).p, place)),
                     w := list_extract((COLUMNS('^i_')).v, list_extract((COLUMNS('^i_')).n, place)),
                     u := list_extract(s, list_extract((COLUMNS('^i_')).n, place))) AS '\0'
  FROM placed
), filled AS (
  SELECT *, unnest(time_bucket_range(width, piece_start, piece_end, zone, origin)) AS b FROM pieces
), result AS (
  SELECT COLUMNS('^k_'), b AS w_u_window_start, time_bucket_end(width, b, zone, origin) AS w_u_window_end,
         CASE WHEN max_gap IS NULL OR time_bucket_within(max_gap, (COLUMNS('^c_')).t, b) THEN (COLUMNS('^c_')).v END AS '\0',
         CASE WHEN max_gap IS NULL OR (COLUMNS('^i_')).t = b
                OR time_bucket_within(max_gap, time_bucket_end(width, (COLUMNS('^i_')).t, zone, origin), (COLUMNS('^i_')).u)
              THEN cast_to_type(time_bucket_line((COLUMNS('^i_')).v, (COLUMNS('^i_')).w, (COLUMNS('^i_')).t, (COLUMNS('^i_')).u, b), (COLUMNS('^i_')).v) END AS '\0',
         coalesce(CASE WHEN s = b THEN COLUMNS('^z_') END, cast_to_type(0, COLUMNS('^z_'))) AS '\0',
         CASE WHEN s = b THEN COLUMNS('^o_') END AS '\0',
         s IS DISTINCT FROM b AS w_u_filled
  FROM filled
)
SELECT COLUMNS('(?s)^[kwcizo]_u_(.*)$') AS '\1' FROM result;
