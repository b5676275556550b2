"""The installed wheel, in the DuckDB of this environment; its refusals in the engines that are too old."""

import os
import pathlib
import subprocess
import sys
import tomllib
from importlib import metadata

import duckdb
import duckdb_time_bucket
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUCKET = "SELECT time_bucket(INTERVAL '15 minutes', TIMESTAMP '2026-01-01 12:34:56')::VARCHAR"
END = "SELECT time_bucket_end(INTERVAL '1 day', TIMESTAMP_NS '2024-01-01 12:00:00.123456789')::VARCHAR"
LOADING = (ROOT / "docs/loading.md").read_text(encoding="utf-8")
CARGO = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
PYTHON = "Scripts/python.exe" if os.name == "nt" else "bin/python"
OLDER = CARGO["package"]["metadata"]["duckdb"]["refused"]


def test_is_the_installed_one():
    assert ROOT not in pathlib.Path(duckdb_time_bucket.__file__).parents or "site-packages" in duckdb_time_bucket.__file__
    assert metadata.version("duckdb-time-bucket") == CARGO["workspace"]["package"]["version"]
    assert duckdb_time_bucket.EXTENSION.is_file()


def test_the_wheels_tag_is_this_platforms():
    tag = metadata.distribution("duckdb-time-bucket").read_text("WHEEL").split("Tag: ")[1].split()[0]
    assert tag.startswith("py3-none-") and not tag.endswith("-any")


def test_connect():
    with duckdb_time_bucket.connect() as con:
        assert con.execute(BUCKET).fetchall() == [("2026-01-01 12:30:00",)]
        assert con.execute(END).fetchall() == [("2024-01-02 00:00:00",)]
        # A cursor is another connection of the same database.
        assert con.cursor().execute(END).fetchall() == [("2024-01-02 00:00:00",)]


def test_connect_to_a_file_with_settings(tmp_path):
    with duckdb_time_bucket.connect(tmp_path / "a.db", config={"threads": 1}) as con:
        assert con.execute("SELECT current_setting('threads')").fetchone() == (1,)
        con.execute("CREATE TABLE t AS SELECT TIMESTAMP '2024-01-01 12:00:00' AS ts")
    with duckdb_time_bucket.connect(str(tmp_path / "a.db"), read_only=True) as con:
        assert con.execute("SELECT time_bucket_start(INTERVAL '1 day', ts)::VARCHAR FROM t").fetchone() == ("2024-01-01 00:00:00",)
        with pytest.raises(duckdb.Error, match="read-only"):
            con.execute("CREATE TABLE u (i INTEGER)")


def test_load_gives_the_connection_back_and_may_be_repeated():
    with duckdb.connect(config={"allow_unsigned_extensions": True}) as con:
        assert duckdb_time_bucket.load(duckdb_time_bucket.load(con)) is con
        assert con.execute(BUCKET).fetchall() == [("2026-01-01 12:30:00",)]


def test_macros_only_on_request(tmp_path):
    names = "SELECT count(*) FROM duckdb_functions() WHERE function_name = 'tumble'"
    with duckdb_time_bucket.connect() as con:
        assert con.execute(names).fetchone() == (0,)
    with duckdb_time_bucket.connect(macros=True) as con:
        con.execute("CREATE TABLE t AS SELECT TIMESTAMP '2024-01-01 12:34:00' AS ts")
        rows = con.execute("SELECT window_start::VARCHAR FROM tumble('t', 'ts', INTERVAL '1 hour')").fetchall()
        assert rows == [("2024-01-01 12:00:00",)]


def test_without_permission():
    with duckdb.connect() as con:
        with pytest.raises(duckdb_time_bucket.LoadError, match=r"does not allow unsigned extensions.*allow_unsigned_extensions': True") as raised:
            duckdb_time_bucket.load(con)
        assert f"| {raised.value} |\n" in LOADING
        assert con.execute("SELECT 42").fetchone() == (42,)
    for no in (False, "false"):
        with pytest.raises(duckdb_time_bucket.LoadError, match="leave it out"):
            duckdb_time_bucket.connect(config={"allow_unsigned_extensions": no})


def test_a_path_with_a_quote(tmp_path, monkeypatch):
    folder = tmp_path / "it's a folder"
    folder.mkdir()
    copy = folder / duckdb_time_bucket.EXTENSION.name
    copy.write_bytes(duckdb_time_bucket.EXTENSION.read_bytes())
    monkeypatch.setattr(duckdb_time_bucket, "EXTENSION", copy)
    with duckdb_time_bucket.connect() as con:
        assert con.execute(BUCKET).fetchall() == [("2026-01-01 12:30:00",)]


def test_install_from_the_wheels_file(tmp_path):
    with duckdb.connect(config={"allow_unsigned_extensions": True, "extension_directory": str(tmp_path)}) as con:
        con.execute(f"INSTALL '{duckdb_time_bucket.EXTENSION.as_posix()}'")
        con.execute("LOAD time_bucket")
        assert con.execute(BUCKET).fetchall() == [("2026-01-01 12:30:00",)]


@pytest.mark.parametrize("engine", OLDER)
def test_too_old_an_engine(engine):
    code = """if True:
        import duckdb, duckdb_time_bucket
        try:
            duckdb_time_bucket.connect()
        except duckdb_time_bucket.LoadError as error:
            print(error)
    """
    # The module alone: the other environment has another engine and none of ours.
    path = pathlib.Path(duckdb_time_bucket.__file__).parents[1]
    finder = f"import sys, importlib.util as u; s = u.spec_from_file_location('duckdb_time_bucket', {str(path / 'duckdb_time_bucket/__init__.py')!r});" \
             " m = u.module_from_spec(s); sys.modules[s.name] = m; s.loader.exec_module(m)\n"
    python = ROOT / f"build/engine-{engine}" / PYTHON
    done = subprocess.run([python, "-c", finder + code], capture_output=True, text=True, timeout=60)
    assert "is too old for the extension; pip install 'duckdb>=1.5.6'" in done.stdout, done.stdout + done.stderr
    assert f"| {done.stdout.strip()} |\n" in LOADING or engine != "1.5.5"


def test_the_example_of_the_readme(capsys):
    text = (ROOT / "python/README.md").read_text(encoding="utf-8")
    code = text.split("```python\n")[1].split("```")[0]
    exec(code, {})
    stated = [line.removeprefix("# ") for line in code.splitlines() if line.startswith("# ")]
    assert stated and capsys.readouterr().out.splitlines() == stated


def test_types(tmp_path):
    """The module's types, as mypy reads them from the wheel."""
    file = tmp_path / "use.py"
    file.write_text("import duckdb\nimport duckdb_time_bucket\n"
                    "con: duckdb.DuckDBPyConnection = duckdb_time_bucket.connect('a.db', config={'threads': 1}, macros=True)\n"
                    "duckdb_time_bucket.load(con).execute('SELECT 1')\n")
    good = subprocess.run([sys.executable, "-m", "mypy", "--strict", str(file)], capture_output=True, text=True, cwd=tmp_path)
    assert good.returncode == 0, good.stdout
    file.write_text("import duckdb_time_bucket\nduckdb_time_bucket.connect(5)\nduckdb_time_bucket.load('a.db')\n")
    bad = subprocess.run([sys.executable, "-m", "mypy", "--strict", str(file)], capture_output=True, text=True, cwd=tmp_path)
    assert bad.stdout.count("error:") == 2, bad.stdout
