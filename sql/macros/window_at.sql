-- The one window of length lookback that ends at `at` (inside a pane: at its start), a row for each key: of each value n, sum, min, max, avg, var_samp.
-- Silent keys have n = 0: those of the store, or of the table `members`, which spares reading all of it. Only a zone needs the width, and the store's origin.
-- Example: FROM window_at('panes', ['sensor'], INTERVAL '5 minutes', TIMESTAMP '2026-01-01 12:05:00');
CREATE OR REPLACE MACRO window_at(panes, keys, lookback, "at", members := NULL, width := NULL, origin := INTERVAL '0 seconds', zone := 'none') AS TABLE
SELECT COLUMNS('(?s)^[kw]_u_(.*)$') AS '\1',
       cast_to_type((COLUMNS('(?s)^p_u_(.*)$')).w, struct_pack(n := 0::BIGINT, sum := (COLUMNS('(?s)^p_u_(.*)$')).v.sum, min := (COLUMNS('(?s)^p_u_(.*)$')).v.min,
                                                               max := (COLUMNS('(?s)^p_u_(.*)$')).v.max, avg := 0::DOUBLE, var_samp := 0::DOUBLE)) AS '\1'
FROM (
  SELECT COLUMNS('^k_'), time_bucket_window_start("at", any_value(a), any_value(b), lookback, width, zone, origin) AS w_u_window_start,
         time_bucket_window_end("at", any_value(a), any_value(b), lookback, width, zone, origin) AS w_u_window_end,
         time_bucket_window_panes("at", any_value(a), any_value(b), lookback, width, zone, origin) - list_unique(list(s))::BIGINT AS w_u_missing,
         struct_pack(w := time_bucket_window(COLUMNS('^p_'), (COLUMNS('^p_')).sum), v := cast_to_type(NULL, any_value(COLUMNS('^p_')))) AS '\0'
  FROM (
    SELECT COLUMNS(time_bucket_named('k', keys)) AS 'k_\0', u_pane_start AS s, u_pane_end AS e, COLUMNS(time_bucket_others('k', *, ['pane_start', 'pane_end'], keys)) AS 'p_\0'
    FROM ( -- every column is u_<name>, so that none has a name of ours
      SELECT COLUMNS(time_bucket_columns('window_at', *, ['window_start', 'window_end', 'missing'], keys, ['pane_start', 'pane_end'])) AS 'u_\0', true AS k
      FROM query_table(time_bucket_source('window_at', 'panes', panes, 'zone', zone, 'keys', keys, 'members', members))
      WHERE pane_start <= time_bucket_floor("at", CASE WHEN false THEN pane_start END)
        AND pane_start >= time_bucket_floor("at", CASE WHEN false THEN pane_start END, lookback)
      UNION ALL BY NAME
      SELECT COLUMNS(time_bucket_named('k', keys))
      FROM (SELECT COLUMNS(time_bucket_columns('window_at', *, [], keys)) AS 'u_\0', true AS k FROM query_table(coalesce(members, panes)))))
  LEFT JOIN (SELECT pane_start AS a, pane_end AS b FROM query_table(panes) LIMIT 1) ON true -- any pane
  WHERE time_bucket_paned('window_at', typeof(COLUMNS('^p_'))) AND time_bucket_window_holds("at", a, b, s, e, lookback, width, zone, origin)
  GROUP BY ALL);
