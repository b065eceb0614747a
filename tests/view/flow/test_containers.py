"""Values that were put into containers, and are read again in any way: the edges in SQL lead to exactly those,
and `why` names the line of the one that is NaN. What is right is known by how each program is made."""

import pytest

from tests.commands import hostile
from tests.view.flow import container_trace, container_ways

pytest.importorskip("torch")


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    ways = [(name, container_ways.ITEMS + body) for name, body, _ in container_ways.WAYS]
    return container_trace.record(tmp_path_factory.mktemp("containers"), container_ways.PRELUDE, ways)


@pytest.mark.parametrize(
    "name, items",
    [(name, items) for name, _, items in container_ways.WAYS],
    ids=[way[0] for way in container_ways.WAYS],
)
def test_items_are_the_values_that_were_put_in(trace, name, items):
    function = f"way_{name}"
    result = trace.named(function, "r")[-1]
    made = {trace.named(function, item)[0]["seq"]: item for item in "abc"}
    reached = trace.reached(result["seq"], made)
    assert "".join(sorted(made[seq] for seq in reached)) == items

    run = hostile.run("why", trace.path, f"#{result['seq']}")
    first = run.stdout.split("\n", 1)[0]
    line = trace.named(function, "b")[0]["line"]
    wanted = f":{line}: NaN made here: b: log of a negative number" if "b" in items else ": fine: r"
    assert wanted in first, run.stdout
