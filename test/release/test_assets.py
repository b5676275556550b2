"""What a release offers: each form holds the very file, and the checksums are those of what lies beside them."""

import gzip
import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import package  # noqa: E402
import project  # noqa: E402
import repository  # noqa: E402

PLATFORMS = {"linux_amd64": "manylinux2014_x86_64", "windows_amd64": "win_amd64", "linux_amd64_musl": None}


@pytest.fixture(scope="module")
def assets(tmp_path_factory):
    """The folder, and the content of the file for each platform."""
    there = tmp_path_factory.mktemp("assets")
    contents = {}
    for name in PLATFORMS:
        (there / "library").write_bytes(f"a library for {name}".encode() * 1000)
        package.write(there / "library", there / name / repository.NAME, name)
        contents[name] = (there / name / repository.NAME).read_bytes()
    for folder in ("one", "two"):
        subprocess.run([sys.executable, ROOT / "scripts/assets.py", there / folder, *(there / name / repository.NAME for name in PLATFORMS)], check=True)
    return there, contents


def test_what_is_offered(assets):
    folder = assets[0] / "one"
    version = project.VERSION
    wheels = {f"duckdb_time_bucket-{version}-py3-none-{tag}.whl" for tag in PLATFORMS.values() if tag}
    archives = {f"time_bucket-v{version}-{name}.zip" for name in [*PLATFORMS, "repository"]}
    assert {path.name for path in folder.iterdir()} == wheels | archives | {"SHA256SUMS"}


def test_the_sums_are_right_and_the_same_again(assets):
    folder = assets[0] / "one"
    lines = (folder / "SHA256SUMS").read_text().splitlines()
    assert len(lines) == len(list(folder.iterdir())) - 1
    for line in lines:
        digest, name = line.split("  ")
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    assert (assets[0] / "two/SHA256SUMS").read_text().splitlines() == lines


@pytest.mark.parametrize("name", PLATFORMS)
def test_each_form_holds_the_file(assets, name):
    folder, content = assets[0] / "one", assets[1][name]
    with zipfile.ZipFile(folder / f"time_bucket-v{project.VERSION}-{name}.zip") as archive:
        assert archive.namelist() == [repository.NAME] and archive.read(repository.NAME) == content
    with zipfile.ZipFile(folder / f"time_bucket-v{project.VERSION}-repository.zip") as archive:
        for engine in repository.engines():
            assert gzip.decompress(archive.read(f"v{engine}/{name}/{repository.NAME}.gz")) == content
    if PLATFORMS[name]:
        with zipfile.ZipFile(folder / f"duckdb_time_bucket-{project.VERSION}-py3-none-{PLATFORMS[name]}.whl") as archive:
            assert archive.read(f"duckdb_time_bucket/{repository.NAME}") == content
