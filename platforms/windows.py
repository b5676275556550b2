#!/usr/bin/env python3
"""Makes build/cross/windows/duckdb: DuckDB's own command line for Windows, which runs under Wine as if it were this machine's.

Wine is Debian's, from the folder where tools.py unpacked it, with a configuration of its own.
"""

import subprocess
import sys
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))
import build  # noqa: E402
from project import DUCKDB  # noqa: E402

FOLDER = build.CROSS / "windows"
WINE = build.CROSS / "wine/usr/lib"


def link(path, target):
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def main():
    build.tools("wine")
    # Two things that Debian's packages look for by a path of the installed system.
    link(WINE / "wine/wineserver", "wineserver64")
    link(WINE / "x86_64-linux-gnu/wine/x86_64-windows/zlib1.dll", build.CROSS / "wine/usr/x86_64-w64-mingw32/lib/zlib1.dll")
    FOLDER.mkdir(exist_ok=True)
    requirement = f"duckdb-cli=={DUCKDB['cli']}"
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:",
                    "--platform", "win_amd64", "--dest", FOLDER, requirement], check=True)
    (wheel,) = FOLDER.glob(f"duckdb_cli-{DUCKDB['cli']}-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (FOLDER / "duckdb.exe").write_bytes(archive.read("duckdb_cli/duckdb.exe"))
    script = FOLDER / "duckdb"
    script.write_text(f"#!/bin/sh\nexport WINEDEBUG=-all WINEPREFIX='{FOLDER}/prefix' LD_LIBRARY_PATH='{WINE}/x86_64-linux-gnu'\n"
                      f"exec '{WINE}/wine/wine64' '{FOLDER}/duckdb.exe' \"$@\"\n")
    script.chmod(0o755)
    # The first start makes the configuration, and says so.
    subprocess.run([script, "-c", "SELECT version()"], check=True, stdin=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
