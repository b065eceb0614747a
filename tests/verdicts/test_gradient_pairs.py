"""`monitorch diff` of two trainings whose forward is equal names the line whose backward, or whose step, differs."""

import pytest

from tests.support import viewer
from tests.verdicts import forked_runs, gradient_pairs, gradient_pairs_held

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]

PAIRS = {**gradient_pairs.PAIRS, **gradient_pairs_held.PAIRS}


@pytest.mark.parametrize("name", PAIRS)
def test_gradient_pair(name, tmp_path):
    good, edits, marks = PAIRS[name]
    bad = good
    for old, new in edits:
        assert old in bad
        bad = bad.replace(old, new)
    traces = []
    for side, text in (("good", good), ("bad", bad)):
        script = tmp_path / side / "prog.py"
        script.parent.mkdir()
        script.write_text(text.lstrip("\n"))
        traces.append(script.with_suffix(".mtrace"))
        forked_runs.record([(script, traces[-1], "--backward")])
    run = viewer.run("diff", *traces)
    first = run.stdout.splitlines()[0]
    assert run.returncode == (marks is not None), run.stdout
    if marks is None:
        assert first.startswith("equal: "), run.stdout
        return
    wanted = [
        number
        for number, line in enumerate(bad.lstrip("\n").splitlines(), 1)
        if any(mark in line for mark in ((marks,) if isinstance(marks, str) else marks))
    ]
    assert any(f"bad/prog.py:{line}: " in first for line in wanted), run.stdout
