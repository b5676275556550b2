-- For every key and stored pane the window of length lookback that ends with the pane: of each value n, sum, min, max, avg, var_samp.
-- keys are all keys of the store and width is that of its panes; missing counts the panes of the window that are not stored.
-- Example: FROM rolling_panes('panes', ['sensor'], INTERVAL '1 hour', INTERVAL '1 minute');
CREATE OR REPLACE MACRO rolling_panes(panes, keys, lookback, width, since := NULL, until := NULL) AS TABLE
WITH stored AS (
  SELECT * REPLACE (true AS pane_end) -- a key that is always there
  FROM query_table(panes)
  WHERE time_bucket_check(CASE WHEN NOT starts_with(typeof(COLUMNS(lambda c: NOT list_contains(list_transform(keys::VARCHAR[] || ['pane_start', 'pane_end'], lambda k: lower(k)), lower(c)))), 'STRUCT(n BIGINT, ')
                               THEN 'rolling_panes: the store has a column that is neither a pane nor among keys; name all of its keys' END) IS NULL
    AND time_bucket_check(CASE WHEN epoch_us(lookback::INTERVAL) % epoch_us(width::INTERVAL) <> 0
                               THEN format('rolling_panes: lookback {} is not a multiple of width {}; give whole panes', lookback::VARCHAR, width::VARCHAR) END) IS NULL
    AND time_bucket_refuse(CASE WHEN pane_end <> time_bucket_end(width, pane_start, pane_start)
                                THEN format('rolling_panes: the stored pane from {} to {} is not of width {}; give that of the store',
                                            pane_start::VARCHAR, pane_end::VARCHAR, width::VARCHAR) END) IS NULL
    -- at least the panes of the windows in the range
    AND (since IS NULL OR pane_start >=
      coalesce(TRY(cast_to_type(time_bucket_start(lookback, coalesce(since, cast_to_type(NULL, pane_start))), pane_start) - to_microseconds(epoch_us(lookback::INTERVAL))),
               cast_to_type('-infinity', pane_start)))
    AND (until IS NULL OR pane_start < until)
), keyed AS (
  SELECT struct_pack(*COLUMNS(keys::VARCHAR[] || ['pane_end'])) AS pane_end, pane_start,
         COLUMNS(lambda c: CASE WHEN lower(c) IN ('window_start', 'window_end', 'missing')
                                THEN time_bucket_refuse('rolling_panes: the store has a column ' || c || ', which is a result; rename it')
                                ELSE NOT list_contains(list_transform(keys::VARCHAR[] || ['pane_start', 'pane_end'], lambda k: lower(k)), lower(c)) END)
  FROM stored
), rolled AS (
  SELECT pane_end, struct_pack(w := time_bucket_rolling(lookback::INTERVAL, width::INTERVAL, pane_start, COLUMNS(* EXCLUDE (pane_start, pane_end)), (COLUMNS(* EXCLUDE (pane_start, pane_end))).sum),
                               v := cast_to_type(NULL, any_value(COLUMNS(* EXCLUDE (pane_start, pane_end)))))
  FROM keyed
  GROUP BY pane_end
), flat AS (
  SELECT pane_end, struct_pack(w := unnest((COLUMNS(* EXCLUDE (pane_end))).w), v := (COLUMNS(* EXCLUDE (pane_end))).v) FROM rolled
), bounded AS (
  SELECT *, (COLUMNS(list_filter(*, lambda c: c <> 'pane_end')[1:1])).w.window_start AS window_start, (COLUMNS(list_filter(*, lambda c: c <> 'pane_end')[1:1])).w.window_end AS window_end,
         epoch_us(lookback::INTERVAL) // epoch_us(width::INTERVAL) - (COLUMNS(list_filter(*, lambda c: c <> 'pane_end')[1:1])).w.panes AS missing
  FROM flat
), typed AS (
  SELECT unnest(pane_end), window_start, window_end, missing,
         struct_pack(n := (COLUMNS(* EXCLUDE (pane_end, window_start, window_end, missing))).w.n,
                     sum := (COLUMNS(* EXCLUDE (pane_end, window_start, window_end, missing))).w.sum * cast_to_type(10.0 ** -coalesce(TRY_CAST(regexp_extract(typeof((COLUMNS(* EXCLUDE (pane_end, window_start, window_end, missing))).v.sum), '^DECIMAL\(\d+,(\d+)\)', 1) AS INTEGER), 0), (COLUMNS(* EXCLUDE (pane_end, window_start, window_end, missing))).v.sum),
                     min := cast_to_type((COLUMNS(* EXCLUDE (pane_end, window_start, window_end, missing))).w.min * cast_to_type(10.0 ** -coalesce(TRY_CAST(regexp_extract(typeof((COLUMNS(* EXCLUDE (pane_end, window_start, window_end, missing))).v.sum), '^DECIMAL\(\d+,(\d+)\)', 1) AS INTEGER), 0), (COLUMNS(* EXCLUDE (pane_end, window_start, window_end, missing))).v.sum), (COLUMNS(* EXCLUDE (pane_end, window_start, window_end, missing))).v.min),
                     max := cast_to_type((COLUMNS(* EXCLUDE (pane_end, window_start, window_end, missing))).w.max * cast_to_type(10.0 ** -coalesce(TRY_CAST(regexp_extract(typeof((COLUMNS(* EXCLUDE (pane_end, window_start, window_end, missing))).v.sum), '^DECIMAL\(\d+,(\d+)\)', 1) AS INTEGER), 0), (COLUMNS(* EXCLUDE (pane_end, window_start, window_end, missing))).v.sum), (COLUMNS(* EXCLUDE (pane_end, window_start, window_end, missing))).v.max),
                     avg := (COLUMNS(* EXCLUDE (pane_end, window_start, window_end, missing))).w.avg, var_samp := (COLUMNS(* EXCLUDE (pane_end, window_start, window_end, missing))).w.var_samp)
  FROM bounded
  WHERE (since IS NULL OR window_end > since) AND (until IS NULL OR window_end <= until)
)
SELECT * EXCLUDE (pane_end) FROM typed;
