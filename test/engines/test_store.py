"""The store of panes of docs/cookbook.md, refreshed while another connection writes."""
import random
import re
import threading

from conftest import ROOT

PAGE = (ROOT / "docs/cookbook.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```sql\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
TABLES = next(block for block in BLOCKS if "CREATE TABLE touched" in block)
REFRESH = next(block for block in BLOCKS if "due_rows" in block).partition("COMMIT;")[0] + "COMMIT;"
STORED = "SELECT host, pane_start, pane_end, ms.n, ms.min, ms.max, failed.sum FROM {} ORDER BY ALL"


def test_a_store_refreshed_beside_a_writer_equals_a_rebuild(con):
    con.execute(TABLES)
    rng, failures = random.Random(1), []
    written = threading.Event()

    def write():
        try:
            with con.cursor() as writer:
                for batch in range(40):
                    first = rng.choice([batch * 60, batch * 60, rng.randint(0, 86400)])  # some of them late
                    writer.execute("BEGIN")
                    writer.execute(f"""CREATE OR REPLACE TEMP TABLE batch AS
                        SELECT TIMESTAMP '2026-01-01' + to_seconds({first} + i * 3) AS ts, CASE WHEN i % 5 > 0 THEN 'host ' || i % 5 END AS host,
                               (i % 17)::DOUBLE AS ms, i % 7 = 0 AS failed FROM range({rng.randint(1, 60)}) AS r(i)""")
                    writer.execute("INSERT INTO requests FROM batch")
                    writer.execute("INSERT INTO touched SELECT DISTINCT host, time_bucket_start(INTERVAL '1 minute', ts) FROM batch")
                    writer.execute("COMMIT")
        except Exception as failure:  # shown by the test's own thread
            failures.append(failure)
        finally:
            written.set()

    thread = threading.Thread(target=write)
    thread.start()
    refreshes = 0
    while not written.is_set() or refreshes == 0:
        con.execute(REFRESH)
        refreshes += 1
    thread.join()
    con.execute(REFRESH)
    assert not failures and con.sql("FROM touched").fetchall() == []
    rebuilt = STORED.format("pane_rows('requests', 'ts', ['ms', 'failed'], INTERVAL '1 minute', ['host'])")
    rows = con.sql(STORED.format("request_panes")).fetchall()
    assert len(rows) > 100 and rows == con.sql(rebuilt).fetchall()
    # A second refresh changes nothing, and reads nothing.
    con.execute(REFRESH)
    assert con.sql(STORED.format("request_panes")).fetchall() == rows
    assert con.sql("SELECT count(*) FROM due_rows").fetchall() == [(0,)]


def test_a_late_row_refreshes_its_pane_and_no_other(con):
    con.execute(TABLES)
    con.execute("INSERT INTO requests SELECT TIMESTAMP '2026-01-01' + to_seconds(i), 'h', i, false FROM range(7200) AS r(i)")
    con.execute("INSERT INTO touched SELECT DISTINCT host, time_bucket_start(INTERVAL '1 minute', ts) FROM requests")
    con.execute(REFRESH)
    con.execute("INSERT INTO requests VALUES ('2026-01-01 00:00:30', 'h', 1, true), ('2026-01-01 01:59:30', 'h', 1, true)")
    con.execute("INSERT INTO touched VALUES ('h', '2026-01-01 00:00:00'), ('h', '2026-01-01 01:59:00')")
    con.execute(REFRESH)
    assert con.sql("SELECT count(*) FROM due_rows").fetchall() == [(122,)]
    assert con.sql("SELECT count(*), sum(ms.n) FROM request_panes").fetchall() == [(120, 7202)]
