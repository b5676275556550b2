#!/usr/bin/env python3
"""Lays out a folder that DuckDB takes as a repository: INSTALL time_bucket FROM 'FOLDER', or its address over HTTP.

    repository.py FOLDER FILE…      one extension file for each platform, each stamped with its own

An engine looks in a folder of its own version, so the same file stands below each version that Cargo.toml names as one that
takes it. WebAssembly's engines ask for a file that is not compressed.
"""

import gzip
import os
import sys
from pathlib import Path

import project

NAME = "time_bucket.duckdb_extension"


def engines() -> list[str]:
    """The versions of DuckDB that the file is known to load into."""
    return sorted(project.DUCKDB["engines"] + project.DUCKDB["taken"])


def platform(content: bytes) -> str:
    """What the file is stamped with."""
    return content[-512 + 6 * 32 :][:32].rstrip(b"\0").decode()


def write(folder: Path, content: bytes) -> list[Path]:
    """Adds an extension to the repository, for each engine; the paths."""
    name = platform(content)
    wasm = name.startswith("wasm")
    # Without a time the same file gives the same archive.
    packed = content if wasm else gzip.compress(content, mtime=0)
    paths = []
    for engine in engines():
        path = folder / f"v{engine}" / name / (NAME + (".wasm" if wasm else ".gz"))
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(path.name + ".part")
        part.write_bytes(packed)
        os.replace(part, path)
        paths.append(path)
    return paths


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    for file in sys.argv[2:]:
        for path in write(Path(sys.argv[1]), Path(file).read_bytes()):
            print(path)


if __name__ == "__main__":
    main()
