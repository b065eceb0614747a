"""The trace file while the disk fails: the program ends as it would have, and what it recorded
is read. The program is tests/trace/test_log_faults.c, which follows a seed."""

import os
import resource
import shutil
import subprocess

import pytest

from tests.support import paths

PROGRAM = paths.unit_program("test_log_faults")

pytestmark = pytest.mark.skipif(
    not os.path.exists(PROGRAM), reason="the program is not built (make unit-programs)"
)


def run(words, prepare=None, folder=None, **environment):
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=1", **environment}
    environment.pop("LD_PRELOAD", None)
    done = subprocess.run(
        words,
        cwd=folder,
        capture_output=True,
        text=True,
        env=environment,
        preexec_fn=prepare,
        timeout=600,
    )
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def parse(text):
    """The first line's numbers by their names, the others' texts."""
    first, *others = text.splitlines()
    words = first.split()
    found = {name: int(number) for name, number in zip(words[::2], words[1::2])}
    for line in others:
        name, _, value = line.partition(" ")
        found.setdefault(name, value)
    return found


def write(path, count=3000, last=0, **options):
    return parse(run([PROGRAM, "write", path, "7", str(count), str(last)], **options))


def read(path):
    return parse(run([PROGRAM, "read", path, "7"]))


def check(path, written):
    if not written["created"]:
        assert written["error"].startswith(path) or written["error"] == "out of memory"
        return
    found = read(path)
    assert found["open"] and found["right"] and not found["damage"], found
    assert found["next"] == written["committed"]
    assert found["closed"] == written["closed"]
    assert bool(written["stopped"]) == (written["committed"] + written["lost"] > found["next"])


@pytest.mark.parametrize("last", [0, 200])
@pytest.mark.parametrize("then", ["", "+"])
def test_every_operation_fails(tmp_path, last, then):
    """Set from outside, as a program under recording would meet it."""
    path = str(tmp_path / "a.mtrace")
    for n in range(1, 500):
        written = write(path, last=last, MONITORCH_TEST_FAIL_WRITE=f"{n}{then}")
        check(path, written)
        if written["created"] and written["closed"] and not written["stopped"]:
            break
    assert 10 < n < 499


def test_file_size_limit(tmp_path):
    """The system's limit sends a signal that ends a program: it must not come to that."""
    path = str(tmp_path / "a.mtrace")
    for limit in [1, 4096, 65536, 100_000, 200_000, 400_000]:

        def lower():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        written = write(path, prepare=lower)
        check(path, written)
        assert not written["created"] or "File too large" in written["stopped"]


def test_full_disk(tmp_path):
    """A file system of 1 MiB, where the system lets us have one of our own."""
    unshare = shutil.which("unshare")
    script = (
        f"mount -t tmpfs -o size=1m tmpfs '{tmp_path}' && cd '{tmp_path}' && "
        f"'{PROGRAM}' write a.mtrace 7 30000 0 && '{PROGRAM}' read a.mtrace 7"
    )
    words = [unshare, "-rm", "sh", "-c", script]
    if unshare is None or subprocess.run(words, capture_output=True).returncode != 0:
        pytest.skip("no file system can be mounted here")
    lines = run(words).splitlines()
    written, found = parse("\n".join(lines[:3])), parse("\n".join(lines[3:]))
    assert "No space left on device" in written["stopped"]
    assert written["closed"] and 100 < written["committed"] < 30000
    assert found["right"] and not found["damage"] and found["closed"]
    assert found["count"] == written["committed"] and found["lost"] == written["lost"]


def test_little_memory(tmp_path):
    """Address space runs out: mapping a chunk fails for real."""
    if os.environ.get("MONITORCH_MODE") == "asan":
        pytest.skip("the sanitizer needs the address space")
    path = str(tmp_path / "a.mtrace")
    stopped = set()
    for limit in range(2_000_000, 12_000_000, 500_000):

        def lower():
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

        words = [PROGRAM, "write", path, "7", "30000", "0"]
        done = subprocess.run(words, capture_output=True, text=True, preexec_fn=lower)
        if done.returncode == 127 or not done.stdout:
            continue  # the program itself did not start
        assert done.returncode == 0, done
        written = parse(done.stdout)
        check(path, written)
        stopped.add(bool(written.get("stopped")) or not written["created"])
    assert stopped, "no limit let the program start"


def peak_memory(words):
    """Runs a program: its output, and its largest resident size in bytes."""
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, output
    return parse(output), usage.ru_maxrss * 1024


@pytest.mark.slow
@pytest.mark.parametrize("last", [0, 100_000])
def test_constant_memory(tmp_path, last):
    """10 million records take no more memory than 100 thousand, to write and to read."""
    path = str(tmp_path / "a.mtrace")
    peaks = []
    try:
        for count in [100_000, 10_000_000]:
            written, writing = peak_memory(
                [PROGRAM, "write", path, "7", str(count), str(last)]
            )
            assert written["committed"] == count and written["closed"]
            found, reading = peak_memory([PROGRAM, "read", path, "7"])
            assert found["right"] and not found["damage"] and found["next"] == count
            assert last or found["count"] == count
            peaks.append((writing, reading))
    finally:
        os.unlink(path)
    for short, long in zip(*peaks):
        assert long < short + 1_500_000, peaks
