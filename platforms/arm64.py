#!/usr/bin/env python3
"""Runs the kernel's tests for linux_arm64 under qemu, on a machine with another processor."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))
import build  # noqa: E402
import engines  # noqa: E402

PLATFORM = "linux_arm64"


def main():
    build.tools(*engines.PLATFORMS[PLATFORM].tools)
    cargo = build.Cargo(PLATFORM)
    triple = cargo.triple.upper().replace("-", "_")
    cargo.environment[f"CARGO_TARGET_{triple}_RUNNER"] = " ".join(engines.QEMU)
    sys.exit(cargo.run("test", "--locked", "--package", "time_bucket_kernel", variant=build.VARIANTS["release"]).returncode)


if __name__ == "__main__":
    main()
