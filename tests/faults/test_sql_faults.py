"""`monitorch sql` with every n-th allocation failing, SQLite's own too: all of the output, or a
message and exit code 3."""

import pytest

from tests.trace import scenarios
from tests.view.sql.test_sql import run

ATTEMPTS = 3000
QUERIES = [
    ["select * from events"],
    ["--table", "select name, shape, module from events where name > 'a' and nan >= 0"],
    ["--json", "select s.code, c.module, e.value from events e"
     " join sites s using (site) join calls c using (call)"],
    ["--csv", "select a.seq, b.module from events a join events b on b.seq = a.seq - 1"],
    ["select * from edges where source > 1 order by kind, target desc"],
]


@pytest.mark.parametrize("words", QUERIES, ids=str)
@pytest.mark.parametrize("and_all_after", ["", "+"])
def test_allocations_fail(words, and_all_after, tmp_path):
    path = scenarios.nested_calls().write(tmp_path / "run.mtrace")
    whole = run(*words, path)
    assert whole.returncode == 0
    assert len(whole.stdout) > 100
    failed = quiet = 0
    attempt = 1
    while attempt < ATTEMPTS and quiet < 8:
        failing = {"MONITORCH_TEST_FAIL_ALLOCATION": f"{attempt}{and_all_after}"}
        answer = run(*words, path, env=failing)
        if answer.returncode == 0:
            # SQLite does without some of its memory.
            assert (answer.stdout, answer.stderr) == (whole.stdout, ""), attempt
            quiet += 1
        else:
            assert answer.returncode == 3, (attempt, answer.stderr)
            assert "memory" in answer.stderr, (attempt, answer.stderr)
            failed += 1
            quiet = 0
        attempt += 1 + attempt // 40
    assert failed > 30
