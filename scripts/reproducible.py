#!/usr/bin/env python3
"""Builds the committed source twice, and compares the packaged files, byte for byte.

The second time everything that must not matter is different: the folder, with a space in its name, the folder of cargo's
registry, and the one that it builds in.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from project import ROOT

FILE = "build/release/extension/time_bucket/time_bucket.duckdb_extension"


def build(folder, **variables):
    folder.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "x"], cwd=folder, input=archive, check=True)
    subprocess.run(["make", "release"], cwd=folder, check=True, env=os.environ | variables)
    return hashlib.sha256((folder / FILE).read_bytes()).hexdigest()


def main():
    with tempfile.TemporaryDirectory() as temporary:
        there = Path(temporary)
        hashes = [build(there / "a"),
                  build(there / "another folder/deeper", CARGO_HOME=str(there / "home"), CARGO_TARGET_DIR=str(there / "built"))]
    print("\n".join(hashes))
    sys.exit("reproducible: the files differ" if hashes[0] != hashes[1] else 0)


if __name__ == "__main__":
    main()
