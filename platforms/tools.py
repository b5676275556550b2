#!/usr/bin/env python3
"""Fetches the sets of tools that tools.toml names into build/cross, and installs nothing on the system.

    tools.py SET…       build/cross/SET for each

Debian's packages come through apt-get with a state of its own, from the sources of the machine (Debian 12), PyPI's through
pip into a virtual environment. A set that is there in the same versions is kept; one appears whole or not at all.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib
import venv

HERE = pathlib.Path(__file__).resolve().parent
CROSS = HERE.parent / "build" / "cross"
SOURCES = pathlib.Path("/etc/apt/sources.list.d")
SETS = tomllib.loads((HERE / "tools.toml").read_text(encoding="utf-8"))


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, **options)
    if done.returncode:
        sys.exit(f"tools: {' '.join(map(str, command))} failed; see its message above")


def apt(packages, architecture, folder, suite=None):
    """Unpacks Debian's `packages` into `folder`, of the machine's own Debian or of another `suite` from the same place."""
    if not shutil.which("apt-get"):
        sys.exit("tools: Debian's apt-get is needed to fetch them; build on Debian 12, or natively on the platform itself")
    state = folder.with_name(folder.name + ".apt")
    for name in ("lists/partial", "archives/partial"):
        (state / name).mkdir(parents=True, exist_ok=True)
    (state / "status").touch()
    options = {"Dir::State::lists": state / "lists", "Dir::State::status": state / "status", "Dir::Cache": state,
               "Dir::Cache::archives": state / "archives", "APT::Architecture": architecture, "APT::Architectures": architecture,
               "APT::Sandbox::User": "root", "Acquire::Languages": "none", "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false"}
    if suite:
        (state / "sources").mkdir()
        # Those of security and of updates have suites of their own.
        for file in SOURCES.glob("*.sources"):
            text = file.read_text()
            if re.search(r"^Suites: bookworm\b(?!-)", text, re.MULTILINE):
                (state / "sources" / file.name).write_text(re.sub(r"^Suites:.*", f"Suites: {suite}", text.split("\n\n")[0], flags=re.MULTILINE) + "\n")
        options |= {"Dir::Etc::sourcelist": "/dev/null", "Dir::Etc::sourceparts": state / "sources"}
    settings = [part for name, value in options.items() for part in ("-o", f"{name}={value}")]
    # A second architecture in the variable would be added to the list.
    settings += ["-o", f"APT::Architectures::={architecture}"]
    run("apt-get", "-qq", *settings, "update")
    run("apt-get", "-q", *settings, "download", *packages, cwd=state / "archives")
    for archive in sorted((state / "archives").glob("*.deb")):
        run("dpkg-deb", "-x", archive, folder)
    shutil.rmtree(state)


def pip(packages, folder):
    """Makes `folder` a virtual environment with PyPI's `packages`."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", *packages)


def fetch(name):
    wanted, folder = SETS[name], CROSS / name
    stamp = CROSS / f"{name}.stamp"
    if stamp.exists() and stamp.read_text() == repr(wanted) and folder.exists():
        return
    print(f"tools: {name}: {' '.join(wanted.get('apt') or wanted['pip'])}", flush=True)
    CROSS.mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    if "apt" in wanted:
        apt(wanted["apt"], wanted.get("architecture", "amd64"), folder, wanted.get("suite"))
    else:
        pip(wanted["pip"], folder)
    stamp.write_text(repr(wanted))


def main():
    names = sys.argv[1:]
    if not names or not set(names) <= set(SETS):
        sys.exit(f"{__doc__}\nSets: {', '.join(SETS)}")
    for name in names:
        fetch(name)


if __name__ == "__main__":
    main()
