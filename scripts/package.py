#!/usr/bin/env python3
"""Turn the library that cargo built into a DuckDB extension: append the footer that LOAD checks.

usage: package.py LIBRARY EXTENSION [--platform NAME]

The footer is the WebAssembly custom section `duckdb_signature`: eight 32-byte fields, then 256 bytes for a signature
(zeros: unsigned). The version and the C API version come from Cargo.toml.
"""

import argparse
import os
import platform
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SYSTEMS = {"Linux": "linux", "Darwin": "osx", "Windows": "windows"}
MACHINES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


def host_platform() -> str:
    """The name that `PRAGMA platform` gives on this machine."""
    return f"{SYSTEMS[platform.system()]}_{MACHINES[platform.machine().lower()]}"


def footer(version: str, capi: str, target: str) -> bytes:
    """534 bytes: section header, fields from last to first, empty signature."""
    fields = ["", "", "", "C_STRUCT", version, capi, target, "4"]
    section = b"".join(field.encode().ljust(32, b"\0") for field in fields)
    header = b"\x00\x93\x04\x10duckdb_signature\x80\x04"
    return header + section + bytes(256)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", type=Path)
    parser.add_argument("extension", type=Path)
    parser.add_argument("--platform", default=host_platform())
    arguments = parser.parse_args()
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text())
    capi, version = manifest["package"]["metadata"]["duckdb"]["capi"], manifest["workspace"]["package"]["version"]
    content = arguments.library.read_bytes() + footer("v" + version, capi, arguments.platform)
    arguments.extension.parent.mkdir(parents=True, exist_ok=True)
    # A process that has the old file loaded keeps it: the new one takes its name, not its content.
    temporary = arguments.extension.with_suffix(".new")
    temporary.write_bytes(content)
    os.replace(temporary, arguments.extension)
    print(f"{arguments.extension} ({len(content):,} bytes, {arguments.platform}, C_STRUCT {capi})")


if __name__ == "__main__":
    main()
