"""The DuckDB extension `time_bucket`, with the file that DuckDB loads.

    import duckdb_time_bucket

    con = duckdb_time_bucket.connect()
    con.sql("SELECT time_bucket(INTERVAL '15 minutes', TIMESTAMP '2026-01-01 12:34:56')")

The file is not signed by DuckDB's own repositories, so a connection has to allow unsigned extensions when it is opened:
`connect` does, and `load` says so where another connection does not.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import duckdb

__all__ = ["EXTENSION", "LoadError", "connect", "load"]

EXTENSION = Path(__file__).with_name("time_bucket.duckdb_extension")
"""The file, for a LOAD or INSTALL of your own."""

_OLDEST = (1, 5, 6)
_ALLOW = "allow_unsigned_extensions"


class LoadError(RuntimeError):
    """The extension can't be loaded into this engine or connection; the text says what to do."""


def connect(
    database: str | os.PathLike[str] = ":memory:",
    read_only: bool = False,
    config: dict[str, Any] | None = None,
    *,
    macros: bool = False,
) -> duckdb.DuckDBPyConnection:
    """Opens a database as `duckdb.connect` does, with the extension loaded.

    `macros` creates the window macros too, see `load`. Raises LoadError as `load` does, and where `config` forbids unsigned
    extensions.
    """
    settings: dict[str, Any] = {_ALLOW: True, **(config or {})}
    if str(settings[_ALLOW]).lower() in ("false", "0"):
        raise LoadError(f"duckdb_time_bucket.connect: config has {_ALLOW} = {settings[_ALLOW]!r}, and the extension is not signed; leave it out")
    connection = duckdb.connect(os.fspath(database), read_only, settings)
    try:
        return load(connection, macros=macros)
    except BaseException:
        connection.close()
        raise


def load(
    connection: duckdb.DuckDBPyConnection, *, macros: bool = False, file: str | os.PathLike[str] | None = None
) -> duckdb.DuckDBPyConnection:
    """Loads the extension into a connection's database, for all its connections; gives the connection back.

    `macros` creates the window macros (`tumble`, `hop`, `gapfill`, …) in the connection's current schema, or replaces them there.
    `file` is the extension's file, if not the one that comes along. Raises LoadError if the engine is too old or the connection does not allow unsigned extensions.
    """
    version, allowed = connection.execute(f"SELECT version(), current_setting('{_ALLOW}')").fetchall()[0]
    numbers = tuple(map(int, re.findall(r"\d+", version)[:3]))
    if numbers < _OLDEST:
        oldest = ".".join(map(str, _OLDEST))
        raise LoadError(f"duckdb_time_bucket.load: DuckDB {version} is too old for the extension; pip install 'duckdb>={oldest}'")
    if not allowed:
        raise LoadError(
            f"duckdb_time_bucket.load: the connection does not allow unsigned extensions, and can't be made to any more; open it "
            f"with duckdb_time_bucket.connect(…) or duckdb.connect(…, config={{'{_ALLOW}': True}})"
        )
    path = Path(file or EXTENSION).as_posix().replace("'", "''")
    connection.execute(f"LOAD '{path}'")
    if macros:
        for (text,) in connection.execute("SELECT sql FROM time_bucket_macros()").fetchall():
            connection.execute(text)
    return connection
