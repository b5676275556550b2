"""Turns the library that cargo built into a DuckDB extension: appends the footer that LOAD checks.

The footer is the WebAssembly custom section `duckdb_signature`: eight 32-byte fields, then 256 bytes for a signature
(zeros: unsigned). The version and the C API version come from Cargo.toml.
"""

import os
from pathlib import Path

import project


def footer(version: str, capi: str, platform: str) -> bytes:
    """534 bytes: section header, fields from last to first, empty signature."""
    fields = ["", "", "", "C_STRUCT", version, capi, platform, "4"]
    section = b"".join(field.encode().ljust(32, b"\0") for field in fields)
    header = b"\x00\x93\x04\x10duckdb_signature\x80\x04"
    return header + section + bytes(256)


def write(library: Path, extension: Path, platform: str) -> None:
    """Writes the extension that the library becomes on `platform`, which is the library's own: see binary.py."""
    capi = project.DUCKDB["capi"]
    content = library.read_bytes() + footer("v" + project.VERSION, capi, platform)
    extension.parent.mkdir(parents=True, exist_ok=True)
    # A process that has the old file loaded keeps it: the new one takes its name, not its content.
    temporary = extension.with_suffix(".new")
    temporary.write_bytes(content)
    os.replace(temporary, extension)
    print(f"{extension} ({len(content):,} bytes, {platform}, C_STRUCT {capi})")
