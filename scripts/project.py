#!/usr/bin/env python3
"""What Cargo.toml says of the project, for the scripts and the Makefile: the version, and what is pinned for DuckDB.

    project.py KEY      a value of [package.metadata.duckdb], its parts separated by spaces; `version` for the version, `host`
                        for this machine's platform
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


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    value = host() if sys.argv[1] == "host" else {"version": VERSION, **DUCKDB}[sys.argv[1]]
    print(value if isinstance(value, str) else " ".join(value))
