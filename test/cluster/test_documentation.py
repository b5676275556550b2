"""The Python of docs/cluster.md, in order and in one folder, prints what the page says."""

import os
import re
import subprocess
import sys

import duckdb
from conftest import PACKAGE, ROOT

BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_cluster_page(tmp_path):
    (tmp_path / "months").mkdir()
    with duckdb.connect() as con:
        for month in range(1, 13):
            con.execute(f"COPY (FROM read_csv('{ROOT}/build/data/flights.csv', all_varchar = true) WHERE month = '{month}') TO '{tmp_path}/months/{month:02}.csv' (HEADER true)")
    blocks = BLOCK.findall((ROOT / "docs/cluster.md").read_text(encoding="utf-8"))
    examples = [(code, blocks[number + 1][1]) for number, (language, code) in enumerate(blocks) if language == "python"]
    assert len(examples) == 3
    for number, (code, printed) in enumerate(examples):
        (tmp_path / f"example{number}.py").write_text(code)
        done = subprocess.run([sys.executable, f"example{number}.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300,
                              env=os.environ | {"PYTHONPATH": str(PACKAGE)})
        assert done.returncode == 0 and done.stdout == printed, f"example {number}\n{done.stdout}{done.stderr}"
