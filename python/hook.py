"""Puts the extension that TIME_BUCKET_EXTENSION names into the wheel; the file's own stamp says for which platform it is."""

import os
import tomllib
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CARGO = Path(__file__).resolve().parent.parent / "Cargo.toml"


class Hook(BuildHookInterface):
    """One wheel, for every Python 3 on one platform."""

    def initialize(self, version, build_data):
        file = Path(os.environ["TIME_BUCKET_EXTENSION"]).absolute()
        platform = file.read_bytes()[-512 + 6 * 32 :][:32].rstrip(b"\0").decode()
        tag = tomllib.loads(CARGO.read_text(encoding="utf-8"))["package"]["metadata"]["duckdb"]["platforms"].get(platform, {}).get("wheel")
        if tag is None:
            raise SystemExit(f"wheel: {file} is for {platform}, for which Cargo.toml names no wheel")
        build_data["force_include"][str(file)] = "duckdb_time_bucket/time_bucket.duckdb_extension"
        build_data["force_include"][str(CARGO.with_name("LICENSE"))] = "duckdb_time_bucket/LICENSE"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{tag}"
