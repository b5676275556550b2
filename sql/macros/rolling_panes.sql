-- For every key and stored pane the window of length lookback that ends with the pane: of each value n, sum, min, max, avg, var_samp.
-- keys are all keys of the store; width, zone and origin are those of its panes. missing counts panes that are not stored.
-- Example: FROM rolling_panes('panes', ['sensor'], INTERVAL '1 hour', INTERVAL '1 minute');
CREATE OR REPLACE MACRO rolling_panes(panes, keys, lookback, width, since := NULL, until := NULL, origin := INTERVAL '0 seconds', zone := 'none') AS TABLE
WITH sorted AS (
  SELECT COLUMNS(time_bucket_named('k', keys)) AS 'k_\0', u_pane_start AS s, u_pane_end AS e,
         time_bucket_trailing(lookback, width, u_pane_start, u_pane_end, zone, origin) AS w, COLUMNS(time_bucket_others('k', *, keys, ['pane_start', 'pane_end'])) AS 'p_\0'
  FROM ( -- every column is u_<name>, so that none has a name of ours
    SELECT COLUMNS(time_bucket_columns('rolling_panes', *, ['window_start', 'window_end', 'missing'], keys, ['pane_start', 'pane_end'])) AS 'u_\0', true AS k
    FROM query_table(time_bucket_source('rolling_panes', 'panes', panes, 'zone', zone, 'keys', keys))
    WHERE (since IS NULL OR pane_start >= time_bucket_floor(since, CASE WHEN false THEN pane_start END, lookback)) -- no later than the windows of the range start
      AND (until IS NULL OR pane_start < time_bucket_floor(until, CASE WHEN false THEN pane_start END)))
), rolled AS (
  SELECT COLUMNS('^k_'), struct_pack(w := time_bucket_rolling(w, s, e, COLUMNS('^p_'), (COLUMNS('^p_')).sum), v := cast_to_type(NULL, any_value(COLUMNS('^p_')))) AS '\0'
  FROM sorted
  WHERE time_bucket_paned('rolling_panes', typeof(COLUMNS('^p_')))
  GROUP BY ALL
), flat AS (
  SELECT COLUMNS('^k_'), struct_pack(w := unnest((COLUMNS('^p_')).w), v := (COLUMNS('^p_')).v, unit := cast_to_type(time_bucket_unit((COLUMNS('^p_')).v.sum), (COLUMNS('^p_')).v.sum)) AS '\0'
  FROM rolled
), bounded AS (
  SELECT *, (COLUMNS(list_filter(*, lambda c: starts_with(c, 'p_'))[1:1])).w.window_start AS w_u_window_start,
         (COLUMNS(list_filter(*, lambda c: starts_with(c, 'p_'))[1:1])).w.window_end AS w_u_window_end,
         epoch_us(lookback::INTERVAL) // epoch_us(width::INTERVAL) - (COLUMNS(list_filter(*, lambda c: starts_with(c, 'p_'))[1:1])).w.panes AS w_u_missing
  FROM flat
)
SELECT COLUMNS('(?s)^[kw]_u_(.*)$') AS '\1',
       struct_pack(n := (COLUMNS('(?s)^p_u_(.*)$')).w.n, sum := (COLUMNS('(?s)^p_u_(.*)$')).w.sum * (COLUMNS('(?s)^p_u_(.*)$')).unit,
                   min := cast_to_type((COLUMNS('(?s)^p_u_(.*)$')).w.min * (COLUMNS('(?s)^p_u_(.*)$')).unit, (COLUMNS('(?s)^p_u_(.*)$')).v.min), max := cast_to_type((COLUMNS('(?s)^p_u_(.*)$')).w.max * (COLUMNS('(?s)^p_u_(.*)$')).unit, (COLUMNS('(?s)^p_u_(.*)$')).v.max),
                   avg := (COLUMNS('(?s)^p_u_(.*)$')).w.avg, var_samp := (COLUMNS('(?s)^p_u_(.*)$')).w.var_samp) AS '\1'
FROM bounded
WHERE (since IS NULL OR w_u_window_end > time_bucket_floor(since, CASE WHEN false THEN w_u_window_end END))
  AND (until IS NULL OR w_u_window_end <= time_bucket_floor(until, CASE WHEN false THEN w_u_window_end END));
