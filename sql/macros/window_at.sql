-- The one window of length lookback that ends at `at`, a row for each key: of each value n, sum, min, max, avg, var_samp.
-- Silent keys have n = 0: those of the store, or of the table `members`, which spares reading all of it. Between two panes `at` means the earlier end.
-- Example: FROM window_at('panes', ['sensor'], INTERVAL '5 minutes', TIMESTAMP '2026-01-01 12:05:00');
CREATE OR REPLACE MACRO window_at(panes, keys, lookback, "at", members := NULL) AS TABLE
WITH recent AS (
  SELECT COLUMNS(lambda c: CASE WHEN lower(c) IN ('window_start', 'window_end', 'missing')
                                THEN time_bucket_refuse('window_at: the store has a column ' || c || ', which is a result; rename it') ELSE true END),
         date_diff('us', pane_start, pane_end) AS missing, -- the width, under a name that no column has
         cast_to_type(time_bucket_start(to_microseconds(date_diff('us', pane_start, pane_end)), "at", pane_start), pane_start) AS window_end
  FROM query_table(panes)
  WHERE time_bucket_check(CASE WHEN NOT starts_with(typeof(COLUMNS(lambda c: NOT list_contains(list_transform(keys::VARCHAR[] || ['pane_start', 'pane_end'], lambda k: lower(k)), lower(c)))), 'STRUCT(n BIGINT, ')
                               THEN 'window_at: the store has a column that is neither a pane nor among keys; name all of its keys' END) IS NULL
    AND pane_start <= coalesce(TRY(cast_to_type("at", pane_start)), cast_to_type(CASE WHEN "at" > '1970-01-01' THEN 'infinity' ELSE '-infinity' END, pane_start))
    AND pane_start >= coalesce(TRY(cast_to_type(cast_to_type("at", pane_start) - to_microseconds(2 * epoch_us(lookback::INTERVAL) + 1), pane_start)), cast_to_type('-infinity', pane_start))
    AND time_bucket_refuse(CASE WHEN epoch_us(lookback::INTERVAL) % date_diff('us', pane_start, pane_end) <> 0
                                THEN format('window_at: lookback {} is not a multiple of the stored pane from {} to {}; give whole panes',
                                            lookback::VARCHAR, pane_start::VARCHAR, pane_end::VARCHAR) END) IS NULL
), inside AS (
  SELECT * REPLACE (true AS pane_end), time_bucket_start(lookback, pane_start, window_end) AS window_start
  FROM recent
  WHERE pane_end <= window_end AND time_bucket_end(lookback, pane_start, window_end) = window_end
), keyed AS (
  SELECT struct_pack(*COLUMNS(keys::VARCHAR[] || ['pane_end'])) AS pane_end, pane_start, window_start, window_end, missing,
         COLUMNS(lambda c: NOT list_contains(list_transform(keys::VARCHAR[] || ['pane_start', 'pane_end', 'window_start', 'window_end', 'missing'], lambda k: lower(k)), lower(c)))
  FROM inside
  UNION ALL BY NAME
  SELECT DISTINCT struct_pack(*COLUMNS(keys::VARCHAR[] || ['pane_end'])) AS pane_end
  FROM (SELECT *, true AS pane_end FROM (SELECT COLUMNS(lambda c: lower(c) <> 'pane_end') FROM query_table(coalesce(members, panes))))
), merged AS (
  SELECT pane_end, count(DISTINCT pane_start) AS pane_start, max(window_start) AS window_start, max(window_end) AS window_end, max(missing) AS missing,
         struct_pack(w := time_bucket_merge(COLUMNS(* EXCLUDE (pane_start, pane_end, window_start, window_end, missing)), (COLUMNS(* EXCLUDE (pane_start, pane_end, window_start, window_end, missing))).sum), v := cast_to_type(NULL, any_value(COLUMNS(* EXCLUDE (pane_start, pane_end, window_start, window_end, missing)))))
  FROM keyed
  GROUP BY pane_end
), bounded AS (
  SELECT * EXCLUDE (pane_start)
           REPLACE (coalesce(max(window_start) OVER (), cast_to_type("at" - to_microseconds(epoch_us(lookback::INTERVAL)), window_end)) AS window_start,
                    coalesce(max(window_end) OVER (), cast_to_type("at", window_end)) AS window_end,
                    epoch_us(lookback::INTERVAL) // max(missing) OVER () - pane_start AS missing)
  FROM merged
), typed AS (
  SELECT unnest(pane_end), window_start, window_end, missing,
         struct_pack(n := (COLUMNS(* EXCLUDE (pane_end, window_start, window_end, missing))).w.n,
                     sum := (COLUMNS(* EXCLUDE (pane_end, window_start, window_end, missing))).w.sum * cast_to_type(10.0 ** -coalesce(TRY_CAST(regexp_extract(typeof((COLUMNS(* EXCLUDE (pane_end, window_start, window_end, missing))).v.sum), '^DECIMAL\(\d+,(\d+)\)', 1) AS INTEGER), 0), (COLUMNS(* EXCLUDE (pane_end, window_start, window_end, missing))).v.sum),
                     min := cast_to_type((COLUMNS(* EXCLUDE (pane_end, window_start, window_end, missing))).w.min * cast_to_type(10.0 ** -coalesce(TRY_CAST(regexp_extract(typeof((COLUMNS(* EXCLUDE (pane_end, window_start, window_end, missing))).v.sum), '^DECIMAL\(\d+,(\d+)\)', 1) AS INTEGER), 0), (COLUMNS(* EXCLUDE (pane_end, window_start, window_end, missing))).v.sum), (COLUMNS(* EXCLUDE (pane_end, window_start, window_end, missing))).v.min),
                     max := cast_to_type((COLUMNS(* EXCLUDE (pane_end, window_start, window_end, missing))).w.max * cast_to_type(10.0 ** -coalesce(TRY_CAST(regexp_extract(typeof((COLUMNS(* EXCLUDE (pane_end, window_start, window_end, missing))).v.sum), '^DECIMAL\(\d+,(\d+)\)', 1) AS INTEGER), 0), (COLUMNS(* EXCLUDE (pane_end, window_start, window_end, missing))).v.sum), (COLUMNS(* EXCLUDE (pane_end, window_start, window_end, missing))).v.max),
                     avg := (COLUMNS(* EXCLUDE (pane_end, window_start, window_end, missing))).w.avg, var_samp := (COLUMNS(* EXCLUDE (pane_end, window_start, window_end, missing))).w.var_samp)
  FROM bounded
)
SELECT * EXCLUDE (pane_end) FROM typed;
