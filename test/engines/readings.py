"""The relation that docs/windows.md begins with, in every type of timestamp that this engine has."""
import re

import duckdb

TYPES = ["TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMPTZ"]
if int(duckdb.__version__.split(".")[0]) >= 2:
    TYPES.append("TIMESTAMPTZ_NS")

READINGS = """
CREATE TABLE readings (ts {type}, sensor VARCHAR, temp DOUBLE);
INSERT INTO readings VALUES
  ('2026-01-01 12:00:10', 'a', 10), ('2026-01-01 12:01:20', 'a', 14), ('2026-01-01 12:01:40', 'a', 16),
  ('2026-01-01 12:04:30', 'a', 30), ('2026-01-01 12:02:00', 'b', 50), ('2026-01-01 12:03:59', 'b', NULL),
  ('2026-01-01 12:04:00', NULL, 7), (NULL, 'a', 1000), ('infinity', 'a', 2000);
"""


def clock(rows, *columns):
    """`rows` with the timestamps of `columns` cut to minutes and seconds: 2026-01-01 12:04:00+00 becomes 04:00."""
    def cut(value):
        return value and re.sub(r"^2026-01-01 12:(\d\d:\d\d)(\.0+)?(\+00)?$", r"\1", value)
    return [tuple(cut(v) if i in columns else v for i, v in enumerate(row)) for row in rows]
