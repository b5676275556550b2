-- One row for each key and pane, from partial panes of several files, machines or loads.
-- keys are all keys of the store; the result is a store of panes again.
-- Example: CREATE TABLE panes AS FROM merge_panes('parts', ['sensor']);
CREATE OR REPLACE MACRO merge_panes(panes, keys) AS TABLE
WITH sorted AS (
  SELECT COLUMNS(time_bucket_named('', keys, ['pane_start', 'pane_end'])) AS 'k_\0', COLUMNS(time_bucket_others('k', *, keys, ['pane_start', 'pane_end'])) AS 'p_\0'
  FROM ( -- every column is u_<name>, so that none has a name of ours
    SELECT COLUMNS(time_bucket_columns('merge_panes', *, [], keys, ['pane_start', 'pane_end'])) AS 'u_\0'
    FROM query_table(time_bucket_source('merge_panes', 'panes', panes, 'keys', keys)))
), merged AS (
  SELECT COLUMNS('^k_'), struct_pack(w := time_bucket_merge(COLUMNS('^p_'), (COLUMNS('^p_')).sum), v := cast_to_type(NULL, any_value(COLUMNS('^p_')))) AS '\0'
  FROM sorted
  WHERE time_bucket_paned('merge_panes', typeof(COLUMNS('^p_')))
  GROUP BY ALL
)
SELECT COLUMNS('(?s)^k_u_(.*)$') AS '\1',
       cast_to_type(struct_pack(n := (COLUMNS('(?s)^p_u_(.*)$')).w.n, sum := (COLUMNS('(?s)^p_u_(.*)$')).w.sum * cast_to_type(time_bucket_unit((COLUMNS('(?s)^p_u_(.*)$')).v.sum), (COLUMNS('(?s)^p_u_(.*)$')).v.sum), residue := (COLUMNS('(?s)^p_u_(.*)$')).w.residue,
                                min := (COLUMNS('(?s)^p_u_(.*)$')).w.min * cast_to_type(time_bucket_unit((COLUMNS('(?s)^p_u_(.*)$')).v.sum), (COLUMNS('(?s)^p_u_(.*)$')).v.sum), max := (COLUMNS('(?s)^p_u_(.*)$')).w.max * cast_to_type(time_bucket_unit((COLUMNS('(?s)^p_u_(.*)$')).v.sum), (COLUMNS('(?s)^p_u_(.*)$')).v.sum), m2 := (COLUMNS('(?s)^p_u_(.*)$')).w.m2),
                    (COLUMNS('(?s)^p_u_(.*)$')).v) AS '\1'
FROM merged;
