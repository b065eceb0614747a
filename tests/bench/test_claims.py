"""What the benchmarks share: claims decide the exit code, and make docs/explanation/benchmarks.md."""

import json
import os
import re
import subprocess
import sys
import textwrap

import pytest

from tests.support import paths

BENCH = paths.ROOT / "bench"


@pytest.fixture
def bench(tmp_path):
    """A folder of benchmarks of its own, beside the helper and the page's maker."""
    folder = tmp_path / "bench"
    folder.mkdir()
    for name in ("claims.py", "page.py"):
        (folder / name).write_bytes((BENCH / name).read_bytes())
    (tmp_path / "results").mkdir()
    return folder


def run(bench, name, body):
    """A benchmark of these claims."""
    text = 'import sys\nfrom claims import *\nclaims = Claims("Title of it")\n'
    text += textwrap.dedent(body) + "\nsys.exit(claims.finish())\n"
    (bench / name).write_text(text)
    results = bench.parent / "results"
    return start(bench / name, MONITORCH_BENCH_RESULTS=str(results))


def start(*words, **variables):
    command = [sys.executable, *map(str, words)]
    environment = {**os.environ, "PYTHONPATH": str(paths.PYTHON_PATH), **variables}
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def make_page(bench):
    page = bench.parent / "benchmarks.md"
    done = start(bench / "page.py", bench.parent / "results", page)
    return done, page.read_text() if page.exists() else ""


def test_a_claim_that_holds(bench):
    done = run(bench, "bench_one.py", "claims.at_most(2.0, 'a call', 1.5, peer='a no-op')")
    assert done.returncode == 0, done.stderr
    assert "at most 2: holds" in done.stdout
    done, page = make_page(bench)
    assert done.returncode == 0, done.stderr
    assert "| a call | a no-op | 1.5 times |  | at most 2 | yes |" in page
    assert "`python bench/bench_one.py`" in page and "## Title of it" in page


@pytest.mark.parametrize(
    "claim",
    [
        "claims.at_most(2.0, 'a call', 2.01, peer='a no-op')",
        "claims.at_least(2.0, 'a call', 1.99, peer='a no-op')",
        "claims.at_most(2.0, 'a call', median([1, 2.5, 3]), peer='a no-op')",
        "claims.at_least(2.0, 'a call', best([3, 9], [2, 1]) , peer='x');"
        "claims.at_least(4.0, 'a call', best([3, 9], [2, 1]) , peer='x')",
        "claims.at_most(2.0, 'a call', float('nan'), peer='a no-op')",
    ],
)
def test_a_claim_that_does_not_hold_fails(bench, claim):
    done = run(bench, "bench_one.py", claim)
    assert done.returncode == 1
    assert "DOES NOT HOLD" in done.stdout
    done, page = make_page(bench)
    assert done.returncode == 1
    assert "bench/bench_one.py: a call" in done.stderr
    assert "**NO**" in page and "## What does not hold" in page


def test_spread_is_the_middle_half_of_the_rounds(bench):
    run(bench, "bench_one.py", "claims.at_most(9, 'a call', median([5, 1, 2, 3, 4]), peer='x')")
    assert "| 3 times | 2 to 4 |" in make_page(bench)[1]


def test_best_is_of_the_shortest_times(bench):
    run(bench, "bench_one.py", "claims.at_most(9, 'it', best([4, 8, 6], [2, 1, 2]), peer='x')")
    row = json.loads((bench.parent / "results" / "bench_one.json").read_text())["claims"][0]
    assert row["found"] == {"value": 4.0, "low": 2.5, "high": 5.5}


def test_what_cannot_be_measured_is_told_and_does_not_fail(bench):
    done = run(bench, "bench_one.py", "claims.not_measured('a picture', 'dot is not installed')")
    assert done.returncode == 0
    done, page = make_page(bench)
    assert done.returncode == 0 and "not measured: dot is not installed" in page


def test_a_benchmark_that_breaks_fails_the_page(bench):
    assert run(bench, "bench_one.py", "1 / 0").returncode == 1
    done, page = make_page(bench)
    assert done.returncode == 1
    assert "bench/bench_one.py did not end" in page


def test_the_page_tells_no_names_and_no_paths(bench):
    run(bench, "bench_one.py", "claims.at_most(2.0, 'a call', 1.5, peer='a no-op')")
    _, page = make_page(bench)
    assert os.uname().nodename not in page
    assert not re.search(r"[\s`(]/\w+/", page), page
