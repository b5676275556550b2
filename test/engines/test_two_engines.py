"""Two DuckDB engines in one process: another version, or a second copy of the same library.

The first is this Python's, the second is called through the C API that every wheel's library has too.
"""

import shutil
import subprocess

import _duckdb
import pytest

SECOND = """
    import ctypes

    class Engine:
        def __init__(self, library):
            self.library = ctypes.CDLL(library, mode=os.RTLD_NOW | os.RTLD_LOCAL)
            self.library.duckdb_result_error.restype = self.library.duckdb_value_varchar.restype = ctypes.c_char_p
            self.library.duckdb_value_varchar.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64]
            config, database, self.connection = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
            assert self.library.duckdb_create_config(ctypes.byref(config)) == 0
            assert self.library.duckdb_set_config(config, b"allow_unsigned_extensions", b"true") == 0
            assert self.library.duckdb_open_ext(None, ctypes.byref(database), config, None) == 0
            assert self.library.duckdb_connect(database, ctypes.byref(self.connection)) == 0

        def value(self, sql):
            "The first value of a query as text, or the error."
            result = ctypes.create_string_buffer(64)
            failed = self.library.duckdb_query(self.connection, sql.encode(), result)
            text = self.library.duckdb_result_error(result) if failed else self.library.duckdb_value_varchar(result, 0, 0)
            self.library.duckdb_destroy_result(result)
            return (text or b"").decode()

    class Own:
        def __init__(self):
            self.connection = duckdb.connect(config=CONFIG)

        def value(self, sql):
            try:
                row = self.connection.execute(sql).fetchone()
                return str(row[0]) if row else ""
            except duckdb.Error as error:
                return str(error)

    QUERY = "SELECT sum(epoch_us(time_bucket(INTERVAL '7 seconds', make_timestamp(i * 1000000))))::VARCHAR FROM range(10000) r(i)"
    ANSWER = str(sum(i // 7 * 7 * 1_000_000 for i in range(10_000)))
    WIDTH = "SELECT time_bucket(INTERVAL '1 month', TIMESTAMP '2024-01-01')"
    HOP = "SELECT sum(len(time_bucket_hop(INTERVAL '1 second', INTERVAL '3 seconds', make_timestamp(i))))::VARCHAR FROM range(10000) r(i)"

    def works(engine):
        return (engine.value(QUERY), engine.value(HOP)) == (ANSWER, "30000") and "is calendar" in engine.value(WIDTH)
"""

REFUSED = SECOND + """
    engines = [Own(), Engine(sys.argv[1])]
    if sys.argv[2] == "second first":
        engines.reverse()
    first, second = engines
    assert first.value(f"LOAD '{EXTENSION}'") == ""
    assert works(first)
    for _ in range(3):
        error = second.value(f"LOAD '{EXTENSION}'")
        assert "time_bucket: this file already serves another DuckDB in this process; LOAD a copy of it" in error, error
        # The second goes on with its own functions, the first with ours.
        assert second.value("SELECT time_bucket(INTERVAL '7 days', TIMESTAMP '2024-01-04')::DATE::VARCHAR") == "2024-01-01"
        assert "does not exist" in second.value("SELECT time_bucket_end(INTERVAL '7 days', TIMESTAMP '2024-01-04')")
        assert works(first)
        assert first.value(f"LOAD '{EXTENSION}'") == ""
    again = Own() if isinstance(first, Own) else Engine(sys.argv[1])
    assert again.value(f"LOAD '{EXTENSION}'") == ""
    assert works(again) and works(first)
"""

BOTH = SECOND + """
    engines = [Own(), Engine(sys.argv[1])]
    for engine, file in zip(engines, [EXTENSION, sys.argv[2]]):
        assert engine.value(f"LOAD '{file}'") == ""
    for engine in engines * 3:
        assert works(engine)
    faults = []
    threads = [threading.Thread(target=lambda engine=engine: faults.extend("fault" for _ in range(20) if not works(engine))) for engine in engines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
"""


@pytest.fixture(params=["another version", "a copy of the library"])
def second(request, tmp_path):
    """The library of a second engine."""
    if request.param == "a copy of the library":
        return shutil.copy(_duckdb.__file__, tmp_path)
    python = request.getfixturevalue("other_python")
    command = [python, "-c", "import _duckdb; print(_duckdb.__file__)"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("order", ["own first", "second first"])
def test_a_file_serves_one_engine_and_says_so_to_a_second(in_process, second, order):
    in_process(REFUSED, second, order)


def test_each_engine_is_served_by_a_copy_of_its_own(in_process, extension, second, tmp_path):
    folder = tmp_path / "second"
    folder.mkdir()
    in_process(BOTH, second, shutil.copy(extension, folder / "time_bucket.duckdb_extension"))
