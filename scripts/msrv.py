#!/usr/bin/env python3
"""Whether every crate of Cargo.lock can be built with the Rust version that Cargo.toml promises.

The project's own code is clippy's to check: its lint incompatible_msrv refuses what the standard library got later.
"""

import json
import subprocess
import sys

from project import ROOT


def version(text):
    return tuple(int(part) for part in text.split("."))[:2]


command = ["cargo", "metadata", "--locked", "--format-version=1"]
packages = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)["packages"]
(promised,) = {package["rust_version"] for package in packages if package["name"] == "time_bucket"}
late = [f"{package['name']} {package['version']} needs {package['rust_version']}"
        for package in packages if version(package["rust_version"] or "1.0") > version(promised)]
sys.exit(f"Cargo.toml promises Rust {promised}, but " + ", ".join(late) if late else 0)
