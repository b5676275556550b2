"""Our side of what DuckDB's community extensions ask: the description, and the targets that their builds call."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import project  # noqa: E402

DESCRIPTION = yaml.safe_load((ROOT / "platforms/description.yml").read_text(encoding="utf-8"))
EXTENSION = DESCRIPTION["extension"]

# The platforms of their distribution matrix: those built unless they are excluded, and those built only on request.
BUILT = {"linux_amd64", "linux_arm64", "osx_amd64", "osx_arm64", "windows_amd64", "windows_amd64_mingw", "wasm_mvp", "wasm_eh", "wasm_threads"}
ON_REQUEST = {"linux_amd64_musl", "linux_arm64_musl", "windows_arm64"}


def make(*arguments, **environment):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "DUCKDB_", "LINUX_CI"))}
    return subprocess.run(["make", *arguments], cwd=ROOT, capture_output=True, text=True, env=clean | environment)


def test_the_description_has_what_their_script_reads():
    assert set(EXTENSION) >= {"name", "description", "version", "language", "build", "license", "maintainers", "requires_toolchains"}
    assert (EXTENSION["name"], EXTENSION["language"], EXTENSION["build"]) == ("time_bucket", "Rust", "cargo")
    assert EXTENSION["version"] == project.VERSION
    assert EXTENSION["license"] == project.CARGO["workspace"]["package"]["license"]
    assert set(DESCRIPTION["repo"]) == {"github", "ref"} and set(DESCRIPTION["docs"]) == {"hello_world", "extended_description"}
    assert set(EXTENSION["requires_toolchains"].split(";")) == {"rust", "python3"}


def test_each_of_their_platforms_is_built_or_left_out():
    left_out = set(EXTENSION["excluded_platforms"].split(";"))
    assert left_out <= BUILT
    # What is left is what Cargo.toml has a target for.
    assert BUILT - left_out == set(project.PLATFORMS) - ON_REQUEST - {"wasm_eh"}


@pytest.mark.parametrize("target", ["configure", "configure_ci", "set_duckdb_version", "set_duckdb_tag"])
def test_preparations_do_nothing(target):
    done = make(target, DUCKDB_GIT_VERSION="v1.5.6")
    assert done.returncode == 0 and "Nothing to be done" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("variant", ["release", "debug"])
@pytest.mark.parametrize("platform", sorted(BUILT - set(EXTENSION["excluded_platforms"].split(";"))))
def test_their_platform_is_built_where_they_look_for_it(variant, platform):
    done = make("-n", "-B", variant, DUCKDB_PLATFORM=platform, LINUX_CI_IN_DOCKER="1")
    assert done.returncode == 0, done.stderr
    file = f"build/{variant}/extension/time_bucket/time_bucket.duckdb_extension"
    assert f"scripts/build.py {variant} {file} --expect {platform}" in done.stdout


def test_an_excluded_platform_is_refused():
    done = subprocess.run([sys.executable, ROOT / "scripts/build.py", "release", "x", "--expect", "windows_amd64_mingw"], capture_output=True, text=True)
    assert done.returncode != 0 and "invalid choice: 'windows_amd64_mingw'" in done.stderr


@pytest.mark.parametrize("variant", ["release", "debug"])
def test_their_tests_are_test_sql_on_the_file_that_they_built(variant):
    file = f"build/{variant}/extension/time_bucket/time_bucket.duckdb_extension"
    done = make("-n", f"test_{variant}", DUCKDB_PLATFORM=project.host())
    assert done.returncode == 0, done.stderr
    engines = len(project.DUCKDB["engines"])
    assert done.stdout.count(f"--extension {file} ") == engines, done.stdout
    assert len(re.findall(r" test/sql$", done.stdout, re.MULTILINE)) == engines, done.stdout


@pytest.mark.parametrize("environment", [{"LINUX_CI_IN_DOCKER": "1"}, {"SKIP_TESTS": "1"}, {"DUCKDB_PLATFORM": "linux_amd64_musl"}])
def test_their_tests_are_left_out_where_they_can_not_run(environment):
    for target in ("test_release", "test_debug"):
        done = make("-n", target, **environment)
        assert done.returncode == 0 and "sqltest" not in done.stdout, done.stdout
