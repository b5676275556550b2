-- One row for each key and pane, from partial panes of several files, machines or loads.
-- keys are all keys of the store; the result is a store of panes again.
-- Example: CREATE TABLE panes AS FROM merge_panes('parts', ['sensor']);
CREATE OR REPLACE MACRO merge_panes(panes, keys) AS TABLE
WITH stored AS (
  FROM query_table(panes)
  WHERE time_bucket_check(CASE WHEN NOT starts_with(typeof(COLUMNS(lambda c: NOT list_contains(list_transform(keys::VARCHAR[] || ['pane_start', 'pane_end'], lambda k: lower(k)), lower(c)))), 'STRUCT(n BIGINT, ')
                               THEN 'merge_panes: the store has a column that is neither a pane nor among keys; name all of its keys' END) IS NULL
), keyed AS (
  SELECT struct_pack(*COLUMNS(keys::VARCHAR[] || ['pane_start', 'pane_end'])) AS pane_end, COLUMNS(lambda c: NOT list_contains(list_transform(keys::VARCHAR[] || ['pane_start', 'pane_end'], lambda k: lower(k)), lower(c)))
  FROM stored
), merged AS (
  SELECT pane_end, struct_pack(w := time_bucket_merge(COLUMNS(* EXCLUDE (pane_end)), (COLUMNS(* EXCLUDE (pane_end))).sum), v := cast_to_type(NULL, any_value(COLUMNS(* EXCLUDE (pane_end)))))
  FROM keyed
  GROUP BY pane_end
)
SELECT unnest(pane_end),
       struct_pack(n := (COLUMNS(* EXCLUDE (pane_end))).w.n,
                   sum := (COLUMNS(* EXCLUDE (pane_end))).w.sum * cast_to_type(10.0 ** -coalesce(TRY_CAST(regexp_extract(typeof((COLUMNS(* EXCLUDE (pane_end))).v.sum), '^DECIMAL\(\d+,(\d+)\)', 1) AS INTEGER), 0), (COLUMNS(* EXCLUDE (pane_end))).v.sum),
                   residue := (COLUMNS(* EXCLUDE (pane_end))).w.residue,
                   min := cast_to_type((COLUMNS(* EXCLUDE (pane_end))).w.min * cast_to_type(10.0 ** -coalesce(TRY_CAST(regexp_extract(typeof((COLUMNS(* EXCLUDE (pane_end))).v.sum), '^DECIMAL\(\d+,(\d+)\)', 1) AS INTEGER), 0), (COLUMNS(* EXCLUDE (pane_end))).v.sum), (COLUMNS(* EXCLUDE (pane_end))).v.min),
                   max := cast_to_type((COLUMNS(* EXCLUDE (pane_end))).w.max * cast_to_type(10.0 ** -coalesce(TRY_CAST(regexp_extract(typeof((COLUMNS(* EXCLUDE (pane_end))).v.sum), '^DECIMAL\(\d+,(\d+)\)', 1) AS INTEGER), 0), (COLUMNS(* EXCLUDE (pane_end))).v.sum), (COLUMNS(* EXCLUDE (pane_end))).v.max),
                   m2 := (COLUMNS(* EXCLUDE (pane_end))).w.m2)
FROM merged;
