"""`monitorch show` with every n-th allocation failing: all of the output, or a message
and exit code 3."""

import pytest

from tests.trace import scenarios, tracked_scenarios
from tests.trace.made import show

ATTEMPTS = 400


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--json", "--sample"],
        ["--source", "--function=*", "--name=*", "--tail=3"],
        ["--style=tree", "--labels=en"],
        ["--style=tree", "--labels=zh", "--canonical", "--source", "--name=*"],
        ["--sites"],
        ["--sites", "--json"],
    ],
)
@pytest.mark.parametrize("and_all_after", ["", "+"])
@pytest.mark.parametrize(
    "scenario", [scenarios.nested_calls, scenarios.threads, tracked_scenarios.turns]
)
def test_allocations_fail(scenario, and_all_after, words, tmp_path):
    path = scenario().write(tmp_path / "run.mtrace")
    whole = show(*words, path)
    assert whole.returncode == 0
    failed = 0
    for attempt in range(1, ATTEMPTS):
        failing = {"MONITORCH_TEST_FAIL_ALLOCATION": f"{attempt}{and_all_after}"}
        run = show(*words, path, env=failing)
        if run.returncode == 0:
            assert (run.stdout, run.stderr) == (whole.stdout, ""), attempt
        else:
            assert run.returncode == 3, (attempt, run.stderr)
            assert "memory" in run.stderr, (attempt, run.stderr)
            failed += 1
        if run.returncode == 0 and attempt > failed + 30:
            break
    assert failed > 3
