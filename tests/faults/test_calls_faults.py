"""`monitorch calls` with every n-th allocation or write failing: all of it, or a message, exit
code 3 and never half a file."""

from __future__ import annotations

import os

import pytest

from tests.support import viewer
from tests.trace import scenarios

ATTEMPTS = 3000
PATHS = "embed\nencoder.layers.0.attn.q\nencoder.layers.1.attn.q\nhead\t[2] -> [3]\nroot\n"
PATHS += "\n".join(f"wide.b{i}.c{k}" for i in range(12) for k in range(4))
ENDS = {"svg": b"</svg>\n", "dot": b"}\n", "png": b"IEND\xaeB`\x82", "json": b"}\n"}


def run(*words, **variables):
    return viewer.run("calls", *words, env=variables, encoding=None)


@pytest.fixture
def paths(tmp_path):
    path = tmp_path / "paths.txt"
    path.write_text(PATHS)
    return path


@pytest.mark.parametrize("suffix", ENDS)
@pytest.mark.parametrize("and_all_after", ["", "+"])
def test_allocations_fail(suffix, and_all_after, paths, tmp_path):
    output = tmp_path / f"out.{suffix}"
    words = [paths, "--no-prune-leaves", "-o", output]
    assert run(*words).returncode == 0
    whole = output.read_bytes()
    failed = 0
    for attempt in range(1, ATTEMPTS):
        output.unlink(missing_ok=True)
        done = run(*words, MONITORCH_TEST_FAIL_ALLOCATION=f"{attempt}{and_all_after}")
        if done.returncode == 0:
            assert output.read_bytes() == whole and done.stderr == b"", attempt
            if attempt > failed + 5:
                break
            continue
        assert done.returncode == 3, attempt
        assert done.stderr.removeprefix(b"monitorch calls: ") == b"out of memory\n", attempt
        assert os.listdir(tmp_path) == ["paths.txt"]
        failed += 1
    assert failed > 10


@pytest.mark.parametrize("and_all_after", ["", "+"])
def test_allocations_fail_for_a_trace(and_all_after, tmp_path):
    trace = scenarios.nested_calls().write(tmp_path / "run.mtrace")
    wanted = run(trace)
    failed = 0
    for attempt in range(1, ATTEMPTS):
        done = run(trace, MONITORCH_TEST_FAIL_ALLOCATION=f"{attempt}{and_all_after}")
        if (done.returncode, done.stderr) == (wanted.returncode, wanted.stderr):
            assert done.stdout == wanted.stdout
            if attempt > failed + 5:
                break
            continue
        assert done.returncode == 3 and b"memory" in done.stderr, (attempt, done.stderr)
        failed += 1
    assert failed > 5


def test_writes_fail(paths, tmp_path):
    output = tmp_path / "out.svg"
    output.write_bytes(b"old")
    failed = 0
    for attempt in range(1, 10):
        done = run(paths, "-o", output, MONITORCH_TEST_FAIL_WRITE=str(attempt))
        if done.returncode == 0:
            break
        assert done.returncode == 3 and str(output) in done.stderr.decode()
        assert output.read_bytes() == b"old"
        assert sorted(os.listdir(tmp_path)) == ["out.svg", "paths.txt"]
        failed += 1
    assert failed >= 3 and output.read_bytes().endswith(ENDS["svg"])
