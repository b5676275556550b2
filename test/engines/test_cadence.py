"""time_bucket_cadence of lists as other functions leave them: elements may stand anywhere, once for many rows, or not in order."""

import datetime
from itertools import pairwise
from math import gcd

import pytest

LISTS = [
    "l", "list_transform(range(3), lambda x: TIMESTAMP '2024-01-01')", "list_transform(range(i % 5), lambda x: ts)", "l[2:]", "l[:i % 3]",
    "list_reverse(l)", "list_distinct(l)", "list_filter(l, lambda x: x < ts)", "list_concat(l, l)", "[ts, TIMESTAMP '2024-01-01']",
    "CASE WHEN i % 2 = 0 THEN l ELSE [ts] END", "struct_pack(a := l).a", "MAP([1], [l])[1]", "flatten([l, [ts]])", "list_resize(l, 5, ts)",
    "list_transform([l, l], lambda y: y)[1]", "l::TIMESTAMP_NS[]::TIMESTAMP[]", "l::VARCHAR::TIMESTAMP[]", "any_value(l) OVER (PARTITION BY i % 7)",
    "array_value(ts, ts, TIMESTAMP '2024-01-01')", "generate_series(ts, ts + INTERVAL 3 MINUTE, INTERVAL 1 MINUTE)", "lag(l) OVER (ORDER BY i)",
]
ROWS = ["t", "(FROM t WHERE i % 3 = 0)", "(SELECT t.* FROM t JOIN (SELECT DISTINCT i % 100 AS i FROM t) USING (i))"]


@pytest.mark.parametrize("times", LISTS)
def test_cadence_of_any_list(connect, times):
    connection = connect()
    connection.execute(
        "CREATE TABLE t AS SELECT i, list_transform(range(i % 7), lambda k: make_timestamp((k * (k + i) % 11) * 60000000)) AS l, "
        "make_timestamp(i * 1000000) AS ts FROM range(2100) r(i)"
    )
    for rows in ROWS:
        sql = f"SELECT list_transform({times}, lambda x: epoch_us(x)), time_bucket_cadence({times}) FROM {rows}"
        for micros, cadence in connection.execute(sql).fetchall():
            expected = None if micros is None else datetime.timedelta(microseconds=gcd(*(b - a for a, b in pairwise(micros))))
            assert cadence == expected, micros
