#!/usr/bin/env python3
"""Runs a job of a workflow as GitHub would, on this machine: each `run` step of the file, in a fresh clone of what is committed.

    run_workflow.py FOLDER FILE JOB [KEY=VALUE]     the row of the job's matrix whose KEY is VALUE
    run_workflow.py FOLDER release.yml publish      after the build job, whose artifact stays in FOLDER

FOLDER keeps what jobs hand to each other, cargo's output and the fetched tools, so that a second run is quick. Steps that `use` an action are done by
what takes its place here: the clone, this Python, copies of artifacts; an attestation is left out. `gh` is one that asks whether the
files are there that it is given. Needs Linux and the packages of requirements.txt.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import project  # noqa: E402

GH = """#!/bin/sh -e
test "$1 $2 $3" = "release create $GITHUB_REF_NAME" && test -n "$GH_TOKEN"
shift 3
for file; do case $file in --*) ;; *) test -s "$file" && echo "gh: $file";; esac; done
"""


def row_of(job, wanted):
    rows = job.get("strategy", {}).get("matrix", {}).get("include", [{}])
    chosen = [row for row in rows if not wanted or str(row.get(wanted[0])) == wanted[1]]
    if len(chosen) != 1:
        sys.exit(f"run_workflow: {len(chosen)} rows of the matrix have {'='.join(wanted) or 'no key'}, not one")
    return chosen[0]


def expand(text, row):
    """The text with the expressions of GitHub's that our files have."""
    values = {"github.token": "token", **{f"matrix.{name}": str(value) for name, value in row.items()}}
    return re.sub(r"\$\{\{ ([\w.]+) \}\}", lambda found: values[found[1]], text)


def use(step, row, clone, artifacts):
    """What takes the place of an action."""
    action, given = step["uses"].split("@")[0], {name: expand(str(value), row) for name, value in step.get("with", {}).items()}
    if action == "actions/upload-artifact":
        if not any((clone / given["path"]).rglob("*")):
            sys.exit(f"run_workflow: {given['path']} has nothing to be uploaded")
        shutil.copytree(clone / given["path"], artifacts / given["name"], dirs_exist_ok=True)
    elif action == "actions/download-artifact":
        for folder in artifacts.iterdir():
            shutil.copytree(folder, clone / given["path"], dirs_exist_ok=True)
    elif action not in ("actions/checkout", "actions/setup-python", "actions/attest-build-provenance"):
        sys.exit(f"run_workflow: no action {action} here")


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    folder, file, name = Path(sys.argv[1]).absolute(), *sys.argv[2:4]
    job = yaml.safe_load((ROOT / ".github/workflows" / file).read_text(encoding="utf-8"))["jobs"][name]
    row = row_of(job, tuple(sys.argv[4].split("=")) if len(sys.argv) == 5 else ())
    clone, programs, artifacts = folder / "clone", folder / "bin", folder / "artifacts"
    for made in (clone, programs):
        shutil.rmtree(made, ignore_errors=True)
    for made in (programs, artifacts, folder / "cross"):
        made.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, clone], check=True)
    (clone / "build").mkdir()
    (clone / "build/cross").symlink_to(folder / "cross")
    (programs / "gh").write_text(GH)
    (programs / "gh").chmod(0o755)
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS", "PLATFORM", "DUCKDB_"))}
    environment = inherited | {"CI": "true", "GITHUB_REF_NAME": f"v{project.VERSION}", "CARGO_TARGET_DIR": str(folder / "target"),
                               "PATH": f"{programs}:{inherited['PATH']}"}
    if "LIMITS" in os.environ:
        environment["MAKEFLAGS"] = f"-- {os.environ['LIMITS']}"
    for step in job["steps"]:
        condition = step.get("if")
        if condition and not row.get(condition.removeprefix("matrix.")):
            continue
        if "uses" in step:
            use(step, row, clone, artifacts)
            continue
        command = expand(step["run"], row)
        print(f"::: {file} {name}: {command}", flush=True)
        script = folder / "step.sh"
        script.write_text(command)
        began = time.monotonic()
        variables = {key: expand(value, row) for key, value in step.get("env", {}).items()}
        done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", script], cwd=clone, env=environment | variables, stdin=subprocess.DEVNULL)
        if done.returncode:
            sys.exit(f"run_workflow: {command!r} ended with {done.returncode}")
        print(f"::: {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
