#!/usr/bin/env python3
"""Builds the committed source in two folders of different names and compares the packaged files, byte for byte."""

import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE = "build/release/extension/time_bucket/time_bucket.duckdb_extension"


def build(folder):
    folder.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "x"], cwd=folder, input=archive, check=True)
    subprocess.run(["make", "release"], cwd=folder, check=True)
    return hashlib.sha256((folder / FILE).read_bytes()).hexdigest()


def main():
    with tempfile.TemporaryDirectory() as temporary:
        hashes = [build(Path(temporary) / name) for name in ("a", "another/deeper/folder")]
    print("\n".join(hashes))
    sys.exit("reproducible: the files differ" if hashes[0] != hashes[1] else 0)


if __name__ == "__main__":
    main()
