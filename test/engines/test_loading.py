"""What LOAD says to files that are damaged or meant for others, and which engines take the file."""

import json
import re
import sys
from pathlib import Path

import duckdb
import pytest
from conftest import BUILT, PINNED, engine
from loading_page import kept, one_line

FOOTER = 534
FIELDS = ["reserved", "reserved", "reserved", "abi", "version", "capi", "platform", "magic"]

LOAD = """
    import json
    from pathlib import Path
    for allow in sys.argv[2:]:
        connection = duckdb.connect(config={"allow_unsigned_extensions": allow == "unsigned"})
        try:
            connection.execute(f"LOAD '{sys.argv[1]}'")
            said = str(connection.execute("SELECT time_bucket_end(INTERVAL '1 day', TIMESTAMP '2024-01-01 12:00:00')").fetchone()[0])
        except Exception as error:
            said = type(error).__name__ + ": " + str(error)
        try:
            connection.execute("SELECT 42").fetchone()
        except duckdb.Error:
            said += "\\nDEAD"
        print(json.dumps([duckdb.__version__, said]))
"""
WORKS = "2024-01-02 00:00:00"


def stamped(content, **fields):
    """The file with other footer fields."""
    section = bytearray(content[-512:-256])
    for name, value in fields.items():
        at = FIELDS.index(name) * 32
        section[at : at + 32] = value.encode().ljust(32, b"\0")
    return content[:-512] + bytes(section) + content[-256:]


def flipped(content, at):
    return content[:at] + bytes([content[at] ^ 0x20]) + content[at + 1 :]


def wrong_platform(content):
    here = content[-512 + 6 * 32 :][:32].rstrip(b"\0").decode()
    return stamped(content, platform="windows_amd64" if here != "windows_amd64" else "linux_amd64")


# What was done to the file, how, and what the engine's answer holds (None: it works).
DAMAGES = {
    "nothing": (lambda c: c, None),
    "without its footer": (lambda c: c[:-FOOTER], "not a DuckDB extension"),
    "cut in the middle": (lambda c: c[: len(c) // 2], "not a DuckDB extension"),
    "cut by its last byte": (lambda c: c[:-1], "not a DuckDB extension|metadata"),
    "empty": (lambda c: b"", "not a DuckDB extension|too small|could not|Could not"),
    "text": (lambda c: b"not an extension\n" * 100, "not a DuckDB extension"),
    "its footer cut in two": (lambda c: c[: -FOOTER // 2], "not a DuckDB extension"),
    "its footer alone": (lambda c: c[-FOOTER:], "could not be loaded"),
    "another content under its footer": (lambda c: b"\x7fELF" * 1000 + c[-FOOTER:], "could not be loaded"),
    "a flipped byte in the magic number": (lambda c: flipped(c, len(c) - 512 + 7 * 32), "not a DuckDB extension|metadata"),
    "a flipped byte in the platform": (lambda c: flipped(c, len(c) - 512 + 6 * 32), "platform"),
    "a flipped byte in the C API version": (lambda c: flipped(c, len(c) - 512 + 5 * 32 + 1), "version|API"),
    # The engine calls this one INTERNAL and gives the database up. The extension is not asked before that.
    "a flipped byte in the ABI": (lambda c: flipped(c, len(c) - 512 + 3 * 32), "INTERNAL Error: Unknown ABI type"),
    "stamped for another platform": (wrong_platform, "platform"),
    "stamped with a newer C API": (lambda c: stamped(c, capi="v9.9.9"), "v9.9.9"),
    "stamped for one engine only (C++ ABI)": (lambda c: stamped(c, abi="CPP", capi="v0.0.1"), "v0.0.1"),
}


def answers(run, path, content, modes=("unsigned",), python=sys.executable):
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    output = run(LOAD, path, *modes, python=python)
    path.unlink()
    return [json.loads(line) for line in output.splitlines()]


def row(text, path):
    """What LOAD said, for the table."""
    return one_line(text, path) + " (and the database has to be opened anew)" * text.endswith("DEAD")


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file(in_process, extension, tmp_path, damage):
    change, expected = DAMAGES[damage]
    (version, said), = answers(in_process, tmp_path / "d" / "time_bucket.duckdb_extension", change(extension.read_bytes()))
    if expected is None:
        assert said == WORKS
    else:
        assert re.search(expected, said), said
        # Else the connection serves on.
        assert ("INTERNAL" in said or "DEAD" in said) == (damage == "a flipped byte in the ABI")


def test_every_flipped_bit_of_the_footers_fields(in_process, extension, tmp_path):
    """A damaged footer may load only where the damage is in a field that no engine reads."""
    content = extension.read_bytes()
    code = """
        from pathlib import Path
        content, loaded = open(EXTENSION, "rb").read(), []
        for at in range(len(content) - 512, len(content) - 256):
            if content[at] == 0 and at % 5:
                continue
            # A loaded file must not be written to, so each has a place of its own.
            path = Path(sys.argv[1]) / str(at) / "time_bucket.duckdb_extension"
            path.parent.mkdir()
            path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1:])
            connection = duckdb.connect(config=CONFIG)
            try:
                connection.execute(f"LOAD '{path}'")
                loaded.append(at - len(content) + 512)
            except duckdb.Error:
                pass
            connection.close()
            path.unlink()
        print(sorted({at // 32 for at in loaded}))
    """
    fields = json.loads(in_process(code, tmp_path))
    assert {FIELDS[field] for field in fields} <= {"reserved", "version", "capi"}, fields


def test_an_unsigned_file_needs_the_option(in_process, extension, tmp_path):
    answer, = answers(in_process, tmp_path / "d" / "time_bucket.duckdb_extension", extension.read_bytes(), ["signed"])
    assert "signature is either missing or invalid" in answer[1] and "allow_unsigned_extensions" in answer[1]


def test_the_footer_is_what_the_engine_reads(connect, extension):
    footer = extension.read_bytes()[-512:]
    fields = {name: footer[32 * n :][:32].rstrip(b"\0").decode() for n, name in enumerate(FIELDS)}
    (platform,) = connect(load=False).execute("PRAGMA platform").fetchone()
    assert fields.pop("version").startswith("v")
    assert fields == {"magic": "4", "platform": platform, "capi": "v1.5.6", "abi": "C_STRUCT", "reserved": ""}
    assert footer[256:] == bytes(256)


def test_the_file_is_no_larger_than_is_promised(connect, extension):
    if extension != BUILT:
        pytest.skip("it is another file than the one that is promised about")
    (platform,) = connect(load=False).execute("PRAGMA platform").fetchone()
    assert extension.stat().st_size <= PINNED["platforms"][platform].get("largest", 2**62)


def test_loads_again_after_a_refusal(connect, extension, tmp_path):
    connection = connect(load=False)
    (tmp_path / "time_bucket.duckdb_extension").write_bytes(extension.read_bytes()[:-FOOTER])
    for _ in range(3):
        with pytest.raises(duckdb.Error):
            connection.execute(f"LOAD '{tmp_path}/time_bucket.duckdb_extension'")
    # The refused file changed nothing: weeks still start on Monday.
    assert connection.execute("SELECT time_bucket(INTERVAL '7 days', TIMESTAMP '2024-01-04')::DATE::VARCHAR").fetchone() == ("2024-01-01",)
    connection.execute(f"LOAD '{extension}'")
    assert connection.execute("SELECT count(time_bucket_end(INTERVAL '1 day', now()))").fetchone() == (1,)


def test_the_table_of_engines(in_process, extension, tmp_path):
    content = extension.read_bytes()
    rows = []
    *_, newest = versions = sorted(PINNED["refused"] + PINNED["taken"] + PINNED["engines"])
    for python in map(engine, versions):
        for damage, (change, _) in DAMAGES.items():
            if damage == "nothing" or python == engine(newest):
                path = tmp_path / "d" / "time_bucket.duckdb_extension"
                (version, said), = answers(in_process, path, change(content), python=python)
                refused = tuple(map(int, version.split("."))) < (1, 5, 6)
                if damage == "nothing":
                    assert ("v1.5.6" in said and "Error" in said) if refused else said == WORKS, (version, said)
                    assert "INTERNAL" not in said and "DEAD" not in said, (version, said)
                rows.append((version, damage, "works" if said == WORKS else row(said, path)))
    kept("LOAD", ["DuckDB", "what was done to the file", "what LOAD says"], rows)
