"""Ten million events are written, and read, in memory that does not grow."""

import json
import pathlib
import resource
import subprocess
import sys

import pytest

from tests.support import compiler, recording, viewer

CHILD = pathlib.Path(__file__).with_name("growth_child.py")
COUNT = 10_000_000

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("compiler_module")]

SOURCE = b"""\
import numpy


def run(count):
    x = numpy.arange(8.0)
    for i in range(count * %d):
        y = x
        n = i
"""


def limit_memory():
    """Memory of one's own; the mapped trace is the file's."""
    resource.setrlimit(resource.RLIMIT_DATA, (64 << 20, 64 << 20))


@pytest.mark.parametrize("last", [None, 100_000])
def test_ten_million_events(last, tmp_path):
    # growth_child.py runs 2,000 turns, then 20,000: three events each.
    made = tmp_path / "growth.py"
    source = SOURCE % (COUNT // 3 // 20_000)
    made.write_bytes(compiler.instrument(source, "growth.py", all=True).text)
    trace, result = tmp_path / "run.mtrace", tmp_path / "result.json"
    options = {"sample": 8} if last is None else {"sample": 8, "last": last}
    run = subprocess.run(
        [sys.executable, str(CHILD), str(made), str(result)],
        env=recording.environment("on", trace, **options),
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0 and run.stderr == ""
    told = json.loads(result.read_text())
    assert told["memory"] < 4_000_000
    assert told["blocks"] < 500
    words = [viewer.PATH, "show", "--json", str(trace)]
    shown = subprocess.Popen(words, stdout=subprocess.PIPE, preexec_fn=limit_memory)
    events = sum(line.startswith(b'{"record":"event"') for line in shown.stdout)
    assert shown.wait() == 0
    size = trace.stat().st_size
    trace.unlink()
    if last is None:
        assert events > COUNT
        assert size / events <= 200
    else:
        assert last <= events < 3 * last
        assert size < 200 * 3 * last
