#!/usr/bin/env python3
"""Makes build/cross/windows/duckdb: DuckDB's own command line for Windows, which runs under Wine as if it were this machine's."""

import subprocess
import sys
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))
import build  # noqa: E402
import engines  # noqa: E402
from project import DUCKDB  # noqa: E402


def main():
    build.tools("wine")
    folder = build.CROSS / "windows"
    folder.mkdir(exist_ok=True)
    requirement = f"duckdb-cli=={DUCKDB['cli']}"
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:",
                    "--platform", "win_amd64", "--dest", folder, requirement], check=True)
    (wheel,) = folder.glob(f"duckdb_cli-{DUCKDB['cli']}-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (folder / "duckdb.exe").write_bytes(archive.read("duckdb_cli/duckdb.exe"))
    script = folder / "duckdb"
    engines.write(script, *engines.wine(folder), folder / "duckdb.exe")
    # The first start makes Wine's configuration, and says so.
    subprocess.run([script, "-c", "SELECT version()"], check=True, stdin=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
