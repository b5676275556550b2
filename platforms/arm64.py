#!/usr/bin/env python3
"""Runs tests for linux_arm64 under qemu, on a machine with another processor.

    arm64.py python ENGINE      build/cross/arm64-ENGINE/python, Debian's Python with DuckDB's own wheel of that version
    arm64.py kernel             the kernel's tests
"""

import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))
import build  # noqa: E402

PLATFORM = "linux_arm64"
SYSTEM = build.CROSS / "arm64"
QEMU = [str(build.CROSS / "qemu/usr/bin/qemu-aarch64-static"), "-L", str(SYSTEM)]


def python(engine):
    """An interpreter to hand to the SQL runner."""
    folder = build.CROSS / f"arm64-{engine}"
    if not (folder / "lib/duckdb").exists():
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:",
                        "--platform", "manylinux_2_28_aarch64", "--platform", "manylinux_2_26_aarch64", "--platform", "manylinux2014_aarch64",
                        "--python-version", "3.11", "--target", folder / "lib", f"duckdb=={engine}"], check=True)
    wrapper = folder / "python"
    home = f"PYTHONHOME='{SYSTEM}/usr' PYTHONPATH='{folder}/lib'"
    wrapper.write_text(f"#!/bin/sh\n{home} exec {' '.join(QEMU)} '{SYSTEM}/usr/bin/python3.11' \"$@\"\n")
    wrapper.chmod(0o755)


def kernel():
    cargo = build.Cargo(PLATFORM)
    triple = cargo.triple.upper().replace("-", "_")
    cargo.environment[f"CARGO_TARGET_{triple}_RUNNER"] = " ".join(QEMU)
    return cargo.run("test", "--locked", "--package", "time_bucket_kernel").returncode


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build.tools("qemu", "arm64")
    if sys.argv[1] == "kernel":
        sys.exit(kernel())
    for engine in sys.argv[2:]:
        python(engine)


if __name__ == "__main__":
    main()
