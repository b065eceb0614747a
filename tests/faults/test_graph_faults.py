"""`monitorch graph` with every n-th allocation or write failing: the whole picture, or a message,
exit code 3 and never half a file."""

import os
import resource

import pytest

from tests.support import viewer
from tests.trace import scenarios

ATTEMPTS = 2000


ALL = ("--scalars", "--fold=none")
#: A step and closed calls; calls between those that are wanted.
PARTS = (("--scalars", "--step=1", "--depth=0"), ("--scalars", "--function=Block*"))


def run(folder, trace, suffix, words=ALL, **variables):
    words = [trace, *words, "-o", folder / f"out.{suffix}"]
    return viewer.run("graph", *words, env=variables, encoding=None)


def is_whole(data, suffix):
    ends = {"svg": b"</svg>\n", "dot": b"}\n", "png": b"IEND\xaeB`\x82", "pdf": b"%%EOF\n"}
    return data.endswith(ends[suffix])


@pytest.mark.parametrize("suffix", ["svg", "dot", "png", "pdf"])
@pytest.mark.parametrize("and_all_after", ["", "+"])
def test_allocations_fail(suffix, and_all_after, tmp_path):
    trace = scenarios.nested_calls().write(tmp_path / "run.mtrace")
    output = tmp_path / f"out.{suffix}"
    assert run(tmp_path, trace, suffix).returncode == 0
    whole = output.read_bytes()
    failed = 0
    for attempt in range(1, ATTEMPTS):
        output.unlink(missing_ok=True)
        done = run(
            tmp_path, trace, suffix, MONITORCH_TEST_FAIL_ALLOCATION=f"{attempt}{and_all_after}"
        )
        told = done.stderr.decode()
        if done.returncode == 0:
            assert told == "", attempt
            assert len(output.read_bytes()) == len(whole) or suffix == "pdf", attempt
        else:
            assert done.returncode == 3, (attempt, told)
            assert "memory" in told, (attempt, told)
            if output.exists():  # what could be read of the trace is drawn, and told to be a part
                assert "offset" in told and is_whole(output.read_bytes(), suffix), attempt
            assert set(os.listdir(tmp_path)) <= {"run.mtrace", output.name}
            failed += 1
        if done.returncode == 0 and attempt > failed + 10:
            break
    assert failed > 10


@pytest.mark.parametrize("words", PARTS)
def test_allocations_fail_for_a_part(words, tmp_path):
    trace = scenarios.nested_calls().write(tmp_path / "run.mtrace")
    output = tmp_path / "out.dot"
    assert run(tmp_path, trace, "dot", words).returncode == 0
    whole = output.read_bytes()
    failed = 0
    for attempt in range(1, ATTEMPTS):
        output.unlink(missing_ok=True)
        done = run(tmp_path, trace, "dot", words, MONITORCH_TEST_FAIL_ALLOCATION=str(attempt))
        if done.returncode == 0:
            assert output.read_bytes() == whole, attempt
        else:
            assert done.returncode == 3 and b"memory" in done.stderr, (attempt, done.stderr)
            failed += 1
        if done.returncode == 0 and attempt > failed + 10:
            break
    assert failed > 10


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_writes_fail(suffix, tmp_path):
    trace = scenarios.nested_calls().write(tmp_path / "run.mtrace")
    output = tmp_path / f"out.{suffix}"
    output.write_bytes(b"old")
    failed = 0
    for attempt in range(1, 10):
        done = run(tmp_path, trace, suffix, MONITORCH_TEST_FAIL_WRITE=str(attempt))
        if done.returncode == 0:
            break
        assert done.returncode == 3 and str(output) in done.stderr.decode()
        assert output.read_bytes() == b"old"
        assert sorted(os.listdir(tmp_path)) == [f"out.{suffix}", "run.mtrace"]
        failed += 1
    assert failed >= 3 and len(output.read_bytes()) > 1000


@pytest.mark.skipif(
    os.environ.get("MONITORCH_MODE") == "asan", reason="the sanitizer needs all addresses"
)
def test_no_room_for_the_pixels(tmp_path):
    """What is large enough to fail on a real machine: the pixels, and nothing is left of the file."""
    trace = scenarios.nested_calls().write(tmp_path / "run.mtrace")
    done = viewer.run(
        "graph", trace, "--dpi=900", "-o", tmp_path / "out.png",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20)),
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (3, "out of memory\n")
    assert os.listdir(tmp_path) == ["run.mtrace"]
