"""The clients' examples of README.md print what it says. Its SQL is checked by scripts/check_docs.py."""

import re
import subprocess
import sys

from conftest import EXTENSION, ROOT

BUILT = "build/release/extension/time_bucket/time_bucket.duckdb_extension"
README = (ROOT / "README.md").read_text(encoding="utf-8")


def example(language, comment):
    """The one block of a language, with this run's file in it, and the output that its last line states."""
    (block,) = re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert BUILT in block
    code, stated = re.fullmatch(rf"(.*\n){comment} (.*)\n", block, re.DOTALL).groups()
    return code.replace(BUILT, EXTENSION.as_posix()), stated


def printed(command, code, cwd):
    done = subprocess.run(command, input=code, cwd=cwd, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_python(tmp_path):
    code, stated = example("python", "#")
    assert printed([sys.executable, "-"], code, tmp_path) == stated


def test_every_function_and_macro_has_a_place_in_the_documents(con):
    pages = README + "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md"))
    functions = con.sql("SELECT DISTINCT function_name FROM duckdb_functions() WHERE starts_with(function_name, 'time_bucket')")
    macros = con.sql("SELECT name FROM time_bucket_macros()")
    names = [name for (name,) in functions.fetchall() + macros.fetchall()]
    assert len(names) > 15
    assert [name for name in names if f"{name}(" not in pages] == []


def test_node(node):
    code, stated = example("js", "//")
    assert printed(["node", "--input-type=module"], code, node) == stated
