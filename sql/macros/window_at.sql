-- The one window of length lookback that ends at `at`, a row for each key: of each value n, sum, min, max, avg, var_samp.
-- Silent keys have n = 0: those of the store, or of the table `members`, which spares reading all of it. Between two panes `at` means the earlier end.
-- Example: FROM window_at('panes', ['sensor'], INTERVAL '5 minutes', TIMESTAMP '2026-01-01 12:05:00');
CREATE OR REPLACE MACRO window_at(panes, keys, lookback, "at", members := NULL) AS TABLE
WITH named AS (
  SELECT COLUMNS(CASE WHEN time_bucket_columns('window_at', *, keys, ['pane_start', 'pane_end'])
                      THEN list_filter(*, lambda c: time_bucket_keep('window_at', c, 'window_start', 'window_end', 'missing')) END) AS 'u_\0', true AS k
  FROM query_table(time_bucket_source(panes, 'window_at', 'keys', keys))
), recent AS (
  SELECT *, date_diff('us', u_pane_start, u_pane_end) AS m,
         cast_to_type(time_bucket_start(to_microseconds(date_diff('us', u_pane_start, u_pane_end)), "at", u_pane_start), u_pane_start) AS e
  FROM named
  WHERE u_pane_start <= time_bucket_floor("at", CASE WHEN false THEN u_pane_start END)
    AND u_pane_start >= time_bucket_floor("at", CASE WHEN false THEN u_pane_start END, lookback)
    AND time_bucket_check(CASE WHEN "at" IS NULL THEN 'window_at: at must not be NULL; give the time at which the window ends' END) IS NULL
    AND time_bucket_refuse(CASE WHEN epoch_us(lookback::INTERVAL) % date_diff('us', u_pane_start, u_pane_end) <> 0
                                THEN format('window_at: lookback {} is not a multiple of the stored pane from {} to {}; give whole panes',
                                            lookback::VARCHAR, u_pane_start::VARCHAR, u_pane_end::VARCHAR) END) IS NULL
), sorted AS (
  SELECT COLUMNS(['k'] || list_transform(keys::VARCHAR[], lambda n: 'u_' || n)) AS 'k_\0', u_pane_start AS s, e, m, time_bucket_start(lookback, u_pane_start, e) AS w,
         COLUMNS(lambda c: starts_with(c, 'u_') AND NOT list_contains(list_transform(keys::VARCHAR[] || ['pane_start', 'pane_end'], lambda n: 'u_' || lower(n)), lower(c))) AS 'p_\0'
  FROM recent
  WHERE u_pane_end <= e AND time_bucket_end(lookback, u_pane_start, e) = e
  UNION ALL BY NAME
  SELECT DISTINCT COLUMNS(['k'] || list_transform(keys::VARCHAR[], lambda n: 'u_' || n)) AS 'k_\0'
  FROM (SELECT COLUMNS(*) AS 'u_\0', true AS k FROM query_table(coalesce(members, panes)))
), merged AS (
  SELECT COLUMNS('^k_'), count(DISTINCT s) AS s, max(w) AS w, max(e) AS e, max(m) AS m,
         struct_pack(w := time_bucket_merge(COLUMNS('^p_'), (COLUMNS('^p_')).sum), v := cast_to_type(NULL, any_value(COLUMNS('^p_')))) AS '\0'
  FROM sorted
  WHERE time_bucket_paned('window_at', typeof(COLUMNS('^p_')))
  GROUP BY ALL
), bounded AS (
  SELECT COLUMNS('^[kp]_'), coalesce(max(w) OVER (), cast_to_type("at" - to_microseconds(epoch_us(lookback::INTERVAL)), w)) AS w_u_window_start,
         coalesce(max(e) OVER (), cast_to_type("at", e)) AS w_u_window_end,
         epoch_us(lookback::INTERVAL) // max(m) OVER () - s AS w_u_missing
  FROM merged
)
SELECT COLUMNS('(?s)^[kw]_u_(.*)$') AS '\1',
       struct_pack(n := (COLUMNS('(?s)^p_u_(.*)$')).w.n, sum := (COLUMNS('(?s)^p_u_(.*)$')).w.sum * cast_to_type(time_bucket_unit((COLUMNS('(?s)^p_u_(.*)$')).v.sum), (COLUMNS('(?s)^p_u_(.*)$')).v.sum),
                   min := cast_to_type((COLUMNS('(?s)^p_u_(.*)$')).w.min * cast_to_type(time_bucket_unit((COLUMNS('(?s)^p_u_(.*)$')).v.sum), (COLUMNS('(?s)^p_u_(.*)$')).v.sum), (COLUMNS('(?s)^p_u_(.*)$')).v.min),
                   max := cast_to_type((COLUMNS('(?s)^p_u_(.*)$')).w.max * cast_to_type(time_bucket_unit((COLUMNS('(?s)^p_u_(.*)$')).v.sum), (COLUMNS('(?s)^p_u_(.*)$')).v.sum), (COLUMNS('(?s)^p_u_(.*)$')).v.max),
                   avg := (COLUMNS('(?s)^p_u_(.*)$')).w.avg, var_samp := (COLUMNS('(?s)^p_u_(.*)$')).w.var_samp) AS '\1'
FROM bounded;
