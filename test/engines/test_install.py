"""INSTALL from a repository that scripts/repository.py lays out: from its folder and over HTTP on loopback."""

import functools
import gzip
import http.server
import json
import re
import shutil
import sys
import threading
from pathlib import Path

import duckdb
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import repository  # noqa: E402
from loading_page import kept, one_line  # noqa: E402

WORKS = "2024-01-02 00:00:00"

# Runs statements one by one, each in the database that the one before left; the answer of each as text.
ASK = """
    import json
    folder, unsigned, statements = json.loads(sys.argv[1])
    connection = duckdb.connect(config={"allow_unsigned_extensions": unsigned, "extension_directory": folder,
                                        "autoinstall_known_extensions": False})
    answers = []
    for statement in statements:
        try:
            answers.append(connection.execute(statement).fetchall())
        except Exception as error:
            answers.append(type(error).__name__ + ": " + str(error))
    print(json.dumps(answers, default=str))
"""
USE = ["LOAD time_bucket", "SELECT time_bucket_end(INTERVAL '1 day', TIMESTAMP '2024-01-01 12:00:00')::VARCHAR"]
LISTED = """SELECT loaded, installed, extension_version, install_mode, installed_from FROM duckdb_extensions()
            WHERE extension_name = 'time_bucket'"""


@pytest.fixture
def ask(in_process, tmp_path):
    """ask(*statements): their answers, in a process of its own with this test's folder of installed extensions."""
    def ask(*statements, unsigned=True, home="installed"):
        return json.loads(in_process(ASK, json.dumps([str(tmp_path / home), unsigned, statements])))
    return ask


@pytest.fixture(scope="module")
def laid_out(extension, tmp_path_factory):
    folder = tmp_path_factory.mktemp("laid-out")
    repository.write(folder, extension.read_bytes())
    return folder


@pytest.fixture
def folder(laid_out, tmp_path):
    """A repository with the extension in it, for one test to change."""
    return shutil.copytree(laid_out, tmp_path / "repository")


@pytest.fixture
def address(folder):
    """The same repository over HTTP."""
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(params=["folder", "address"])
def origin(request):
    return str(request.getfixturevalue(request.param))


def version(content):
    return content[-512 + 4 * 32 :][:32].rstrip(b"\0").decode()


def newer(content):
    """The same extension, stamped as a later version."""
    field = len(content) - 512 + 4 * 32
    return content[:field] + b"v9.9.9".ljust(32, b"\0") + content[field + 32 :]


def test_the_same_file_gives_the_same_repository(extension, folder, tmp_path):
    again = repository.write(tmp_path / "again", extension.read_bytes())
    assert len(again) == len(repository.engines())
    for path in again:
        assert path.read_bytes() == (folder / path.relative_to(tmp_path / "again")).read_bytes()
        assert gzip.decompress(path.read_bytes()) == extension.read_bytes()


def test_install_and_load(ask, extension, origin):
    installed, loaded, answer, listed = ask(f"INSTALL time_bucket FROM '{origin}'", *USE, LISTED)
    assert (installed, loaded, answer) == ([], [], [[WORKS]])
    assert listed == [[True, True, version(extension.read_bytes()), "REPOSITORY", origin]]
    # The next session has it without INSTALL.
    assert ask(*USE) == [[], [[WORKS]]]


def test_a_newer_version_arrives_by_update_or_force(ask, extension, folder, laid_out, origin):
    old, new = extension.read_bytes(), newer(extension.read_bytes())
    ask(f"INSTALL time_bucket FROM '{origin}'")
    repository.write(folder, new)
    # A second INSTALL keeps what is there.
    _, listed = ask(f"INSTALL time_bucket FROM '{origin}'", LISTED)
    assert listed[0][2] == version(old)
    updated, listed, *used = ask("UPDATE EXTENSIONS (time_bucket)", LISTED, *USE)
    assert updated == [["time_bucket", origin, "UPDATED", version(old), "v9.9.9"]]
    assert listed[0][2] == "v9.9.9" and used[-1] == [[WORKS]]
    assert ask("UPDATE EXTENSIONS (time_bucket)")[0][0][2] == "NO_UPDATE_AVAILABLE"
    shutil.copytree(laid_out, folder, dirs_exist_ok=True)
    _, listed, *used = ask(f"FORCE INSTALL time_bucket FROM '{origin}'", LISTED, *USE)
    assert listed[0][2] == version(old) and used[-1] == [[WORKS]]


def test_another_origin_needs_force(ask, folder, tmp_path):
    shutil.copytree(folder, tmp_path / "second")
    ask(f"INSTALL time_bucket FROM '{folder}'")
    refused, forced, listed = ask(f"INSTALL time_bucket FROM '{tmp_path}/second'", f"FORCE INSTALL time_bucket FROM '{tmp_path}/second'", LISTED)
    assert "FORCE INSTALL" in refused
    assert forced == [] and listed[0][4] == f"{tmp_path}/second"


def without(folder, _):
    """The repository has no file for this engine."""
    for path in folder.glob("*/*/*.gz"):
        path.unlink()


def cut(folder, _):
    """A download that broke off."""
    for path in folder.glob("*/*/*.gz"):
        path.write_bytes(path.read_bytes()[:-1000])


def foreign(folder, content):
    """A file for another platform in this one's place."""
    field = len(content) - 512 + 6 * 32
    name = b"windows_amd64" if repository.platform(content) != "windows_amd64" else b"linux_amd64"
    packed = gzip.compress(content[:field] + name.ljust(32, b"\0") + content[field + 32 :], compresslevel=1)
    for path in folder.glob("*/*/*.gz"):
        path.write_bytes(packed)


def page(folder, _):
    """What a portal or a proxy sends in the file's place."""
    for path in folder.glob("*/*/*.gz"):
        path.write_bytes(b"<html>Sign in first</html>\n" * 100)


# What is wrong with the repository, and what INSTALL says.
FAULTS = {
    "no file for this version of DuckDB, or for its platform": (without, r"no access to the file|HTTP 404"),
    "a download that broke off": (cut, "Failed to uncompress"),
    "another content, as of a page to sign in": (page, "not a DuckDB extension|not a GZIP stream"),
    "a file for another platform": (foreign, "built for the platform"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_repository_with_a_fault(ask, extension, folder, address, fault):
    spoil, expected = FAULTS[fault]
    spoil(folder, extension.read_bytes())
    for home, origin in (("a", folder), ("b", address)):
        said, loaded, _, alive = ask(f"INSTALL time_bucket FROM '{origin}'", *USE, "SELECT 42", home=home)
        assert re.search(expected, said), said
        assert "not found" in loaded and alive == [[42]]


def test_without_permission_nothing_is_installed(ask, folder):
    said, loaded, *_ = ask(f"INSTALL time_bucket FROM '{folder}'", *USE, unsigned=False)
    assert "doesn't have a valid signature" in said and "not found" in loaded


def test_the_page_of_what_install_says(ask, extension, folder, laid_out, address, tmp_path):
    """The same on every engine."""
    rows = []
    for n, (fault, (spoil, _)) in enumerate(FAULTS.items()):
        spoil(folder, extension.read_bytes())
        # Two engines have two words for a page that comes over HTTP.
        for kind, origin in (("folder", folder), ("address", address))[: 1 if spoil is page else 2]:
            (said,) = ask(f"INSTALL time_bucket FROM '{origin}'", home=f"{kind}{n}")
            rows.append((fault, kind, one_line(said, tmp_path)))
        shutil.copytree(laid_out, folder, dirs_exist_ok=True)
    said, = ask(f"INSTALL time_bucket FROM '{folder}'", unsigned=False)
    rows.append(("no allow_unsigned_extensions", "folder", one_line(said, tmp_path)))
    (said,) = ask("INSTALL time_bucket FROM 'http://127.0.0.1:9'")
    rows.append(("no server", "address", one_line(said, tmp_path)))
    version, = duckdb.execute("SELECT version()").fetchone()
    here = repository.platform(extension.read_bytes())
    rows = [(fault, kind, said.replace(version, "VERSION").replace(here, "PLATFORM")) for fault, kind, said in rows]
    kept("INSTALL", ["what is wrong", "R", "what INSTALL says"], rows)
