"""Runs with the clients of requirements.txt:

    build/clients-1.5.6/bin/python -m pytest test/clients

TIME_BUCKET_EXTENSION names the extension's file, if it is not the one that `make` builds.
"""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILT = "build/release/extension/time_bucket/time_bucket.duckdb_extension"
EXTENSION = pathlib.Path(os.environ.get("TIME_BUCKET_EXTENSION", ROOT / BUILT)).resolve()
