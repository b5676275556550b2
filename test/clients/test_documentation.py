"""Each example of docs/clients.md prints what the block below it says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import BUILT, EXTENSION, ROOT

PAGE = ROOT / "docs/clients.md"
SECTIONS = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# dbt tells its maintainers of each run unless it is asked not to; the time zone is that of the page.
ENVIRONMENT = {**os.environ, "DO_NOT_TRACK": "1", "TZ": "UTC", "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def run(command, code, folder):
    done = subprocess.run(command, input=code, cwd=folder, capture_output=True, text=True, timeout=1200, env=ENVIRONMENT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# What Rust's example links with and runs on; what cargo builds for it stays for the next run.
LIBRARY = os.environ.get("DUCKDB_LIB_DIR")
if LIBRARY:
    ENVIRONMENT |= {"LD_LIBRARY_PATH": LIBRARY, "CARGO_TARGET_DIR": str(ROOT / "build/clients-rust")}


@pytest.mark.parametrize("section", SECTIONS, ids=[section.partition("\n")[0] for section in SECTIONS])
def test_section(section, tmp_path):
    if section.startswith("Rust\n") and not LIBRARY:
        pytest.skip("DUCKDB_LIB_DIR names no libduckdb")
    printed = None
    for language, name, code in BLOCK.findall(section):
        code = code.replace(BUILT, EXTENSION.as_posix())
        if language == "text":
            assert printed is not None and printed.strip() == code.strip()
            printed = None
        elif name == "no-run":
            continue
        elif name:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(code, encoding="utf-8")
        else:
            assert printed is None, "an example whose output is not stated"
            printed = run({"python": [sys.executable, "-"], "sh": ["sh", "-e"]}[language], code, tmp_path)
    assert printed is None, "an example whose output is not stated"
