#!/usr/bin/env python3
"""What Cargo.toml says of the project, for the scripts and the Makefile: the version, and what is pinned for DuckDB.

    project.py          each value of [package.metadata.duckdb] that is a text or a list of them as KEY=VALUE, and the version
    project.py host     this machine's platform
"""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CARGO = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
VERSION = CARGO["workspace"]["package"]["version"]
DUCKDB = CARGO["package"]["metadata"]["duckdb"]
PLATFORMS = DUCKDB["platforms"]


def host_target() -> str:
    """Rust's name of this machine."""
    said = subprocess.run(["rustc", "-vV"], check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout
    return next(line for line in said.splitlines() if line.startswith("host: ")).removeprefix("host: ")


def host() -> str:
    """DuckDB's name of this machine."""
    target = host_target()
    return next((name for name, row in PLATFORMS.items() if target in (row["target"], row.get("cross"))), target)


def pinned() -> list[str]:
    """KEY=VALUE, one for each value."""
    values = {"version": VERSION, **DUCKDB}
    return [f"{key}={one}" for key, value in values.items() if not isinstance(value, dict)
            for one in ([value] if isinstance(value, str) else value)]


if __name__ == "__main__":
    # make keeps a carriage return.
    sys.stdout.reconfigure(newline="\n")
    match sys.argv[1:]:
        case []:
            print(*pinned())
        case ["host"]:
            print(host())
        case _:
            sys.exit(__doc__)
