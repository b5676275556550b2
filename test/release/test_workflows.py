"""The workflows: that actionlint finds nothing, and that each step calls what is there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import project  # noqa: E402

FILES = sorted((ROOT / ".github/workflows").glob("*.yml"))
ACTIONLINT = Path(sys.executable).with_name("actionlint")


def jobs():
    for file in FILES:
        for name, job in yaml.safe_load(file.read_text(encoding="utf-8"))["jobs"].items():
            yield file.name, name, job


def commands():
    """Each line that a step of a job runs, once, with the expressions of each row of its matrix put in."""
    found = set()
    for _, _, job in jobs():
        for row in job.get("strategy", {}).get("matrix", {}).get("include", [{}]):
            for step in job["steps"]:
                condition = step.get("if")
                if "run" in step and (condition is None or row.get(condition.removeprefix("matrix."))):
                    command = re.sub(r"\$\{\{ matrix\.(\w+) \}\}", lambda found: str(row[found[1]]), step["run"])
                    found.update(command.replace('"$GITHUB_REF_NAME"', f"v{project.VERSION}").splitlines())
    return sorted(found)


def lint(*files):
    return subprocess.run([ACTIONLINT, "-no-color", "-oneline", *files], capture_output=True, text=True, timeout=120)


def test_actionlint_finds_nothing():
    done = lint(*FILES)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_actionlint_finds_faults(tmp_path):
    """Else finding nothing would say nothing."""
    text = FILES[0].read_text(encoding="utf-8")
    for wrong in (text.replace("runs-on:", "run-on:"), text.replace("matrix.platform }}", "matrix.plattform }}")):
        assert wrong != text
        (tmp_path / "wrong.yml").write_text(wrong)
        assert lint(tmp_path / "wrong.yml").returncode == 1


@pytest.mark.parametrize("command", commands())
def test_each_make_target_and_program_is_there(command):
    program, *arguments = command.split()
    if program == "make":
        done = subprocess.run(["make", "-n", *arguments], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    elif program.startswith(".ci/"):
        assert (ROOT / program).exists()
    else:
        assert program in ("rustup", "cargo", "sudo", "gh")


def test_every_native_platform_is_built():
    """Those that no runner of GitHub is the platform of are musl and WebAssembly."""
    for file, _, job in jobs():
        rows = job.get("strategy", {}).get("matrix", {}).get("include", [])
        built = {row["platform"] for row in rows if "platform" in row}
        if built:
            assert built == set(project.PLATFORMS) - {"linux_amd64_musl", "wasm_eh"}, file


def test_actions_are_pinned_to_a_commit():
    """A tag of somebody else's repository may be moved."""
    used = {step["uses"] for _, _, job in jobs() for step in job["steps"] if "uses" in step}
    assert used and [action for action in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action)] == []


def test_permissions_are_the_least():
    for file in FILES:
        assert yaml.safe_load(file.read_text(encoding="utf-8"))["permissions"] == {"contents": "read"}, file
    assert [name for file, name, job in jobs() if "permissions" in job] == ["publish"]


def test_loops_of_recipes_stop_at_a_failure():
    """macOS has make 3.81, which knows no .SHELLFLAGS: without `set -e` only the last round of a loop counts."""
    recipes = [ROOT / "Makefile", *ROOT.glob("*/*.mk")]
    loops = [line for file in recipes for line in file.read_text(encoding="utf-8").splitlines() if re.match(r"\t.*\bfor \w+ in", line)]
    assert loops and all(re.match(r"\t@?set -e; for", line) for line in loops), loops


# What GNU make has learnt since 3.81, from its NEWS, as it would stand in our files.
NEWER = [r"^\s*\.ONESHELL", r"^\s*\.RECIPEPREFIX", r"^\s*\.EXTRA_PREREQS", r"^\s*\.NOTINTERMEDIATE", r"^\s*\.WAIT\b", r"\.WAIT\b", r"^\s*private\b", r"^\s*undefine\b",
         r"^\s*-?load\b", r"^define \S+ *[:+?!]?=", r"^[^\t#]*[^:]::?:=", r"^[^\t#]*\w\s*!=", r"^[^\t#]*&:", r"\$[({](file|guile|let|intcmp) ", r"--output-sync|--shuffle"]


@pytest.mark.parametrize("line", ["X ::= 1", "X :::= 1", "X != date", "a b &: c", "define x =", "define x :=", "private X = 1", "undefine X", "X = $(file > a,b)",
                                  "X = $(let a,b,c)", ".ONESHELL:", "a: b .WAIT c"])
def test_newer_features_are_seen(line):
    assert any(re.search(pattern, line) for pattern in NEWER)


def test_make_3_81_is_enough():
    """macOS's own; there are no runs with it here, so what it lacks must not stand in our files."""
    for file in (ROOT / "Makefile", *ROOT.glob("*/*.mk")):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            found = [pattern for pattern in NEWER if re.search(pattern, line) and not line.startswith("\t")]
            assert not found, f"{file.name}:{number}: {line}"


def test_the_version_of_a_tag_is_checked():
    assert subprocess.run(["make", "check-version", f"TAG=v{project.VERSION}"], cwd=ROOT, capture_output=True).returncode == 0
    assert subprocess.run(["make", "check-version", "TAG=v9.9.9"], cwd=ROOT, capture_output=True).returncode != 0
