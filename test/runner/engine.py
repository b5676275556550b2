"""Serves one DuckDB engine over JSON lines: a request on stdin, its reply on stdout.

Requests: {"op": "open", "path", "read_only"}, {"op": "load", "file"}, {"op": "sql", "con", "sql"}.
Replies: {"columns", "rows"}, {"error"} for an error of the engine's, {"driver"} for one of ours.

Values reach the reply through the engine's own cast to VARCHAR, never through Python's types, which hold
neither nanoseconds nor years before Christ.
"""

import gc
import json
import os
import sys

import duckdb

CONFIG = {
    "allow_unsigned_extensions": True,
    "autoinstall_known_extensions": False,
    # A table that does not exist is an error, never a variable of this program.
    "python_enable_replacements": False,
}

# The runner's own tests make the process die; there is no other use.
SELF_TEST = os.environ.get("SQLTEST_SELF_TEST") == "1"

COUNTED = {"INSERT", "UPDATE", "DELETE", "COPY", "MERGE_INTO"}


def text(value):
    if value is None:
        return "NULL"
    if value == "":
        return "(empty)"
    return str(value).replace("\0", "\\0")


class Engine:
    def __init__(self):
        self.database = None
        self.connections = {}

    def open(self, path, read_only):
        for connection in self.connections.values():
            connection.close()
        self.connections.clear()
        if self.database is not None:
            self.database.close()
            self.database = None
        gc.collect()
        self.database = duckdb.connect(path or ":memory:", read_only, CONFIG)

    def load(self, file):
        self.database.execute("LOAD '" + file.replace("'", "''") + "'")

    def connection(self, name):
        if name not in self.connections:
            connection = self.database.cursor()
            connection.execute("SET TimeZone = 'UTC'")
            self.connections[name] = connection
        return self.connections[name]

    def sql(self, con, sql):
        """Executes once; returns the number of columns and the rows of the last statement."""
        if SELF_TEST and "sqltest_abort" in sql:
            os.abort()
        connection = self.connection(con)
        statements = connection.extract_statements(sql)
        if not statements:
            raise ValueError("the record holds no statement")
        if counts_rows(statements[-1], sql):
            rows = connection.execute(sql).fetchall()
            return 1, [[text(value) for value in row] for row in rows]
        # A SELECT is only bound here, anything else has run when this returns.
        relation = connection.query(sql)
        if relation is None:
            return 0, []
        columns = len(relation.columns)
        # By position, since names may be empty or repeated.
        casts = ", ".join(f"#{i + 1}::VARCHAR" for i in range(columns))
        rows = relation.project(casts).fetchall()
        if not returns_rows(statements[-1]):
            return 0, []
        return columns, [[text(value) for value in row] for row in rows]


def name(member):
    return str(member).rpartition(".")[2]


def counts_rows(statement, sql):
    """Whether the result is the number of changed rows. DuckDB 1 has no relation for that."""
    listed = any(word in sql.lower() for word in ("returning", "return_files", "return_stats"))
    return name(statement.type) in COUNTED and not listed


def returns_rows(statement):
    """Whether a query may be asked for the result. DuckDB 2 has a relation for every statement."""
    results = {name(result) for result in statement.expected_result_type}
    return "QUERY_RESULT" in results and name(statement.type) != "CREATE"


def answer(engine, request):
    op = request.pop("op")
    try:
        if op == "sql":
            columns, rows = engine.sql(**request)
            return {"columns": columns, "rows": rows}
        if op == "open":
            engine.open(**request)
        elif op == "load":
            engine.load(**request)
        else:
            raise ValueError(f"unknown request {op!r}")
        return {"columns": 0, "rows": []}
    except duckdb.Error as error:
        return {"error": str(error)}
    except Exception as error:
        return {"driver": f"{type(error).__name__}: {error}"}


def main():
    # Whatever else prints goes to stderr; the replies have stdout to themselves.
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def reply(message):
        replies.write(json.dumps(message) + "\n")
        replies.flush()

    reply({"version": duckdb.__version__})
    engine = Engine()
    for line in sys.stdin:
        reply(answer(engine, json.loads(line)))


main()
