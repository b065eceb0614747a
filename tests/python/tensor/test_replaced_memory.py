"""A tensor's memory is measured while other threads replace, resize and free it."""

import subprocess
import textwrap

import pytest

from tests.support import paths, recording, warm

pytestmark = [
    pytest.mark.torch,
    pytest.mark.usefixtures("compiler_module"),
    pytest.mark.skipif(
        not list(paths.PACKAGE.glob("_recorder*.so")), reason="the recorder is not built (make)"
    ),
]

# Each changes the memory of the global `x` once.
CHANGES = {
    "data": "x.data = torch.ones(N)",
    "set_": "x.set_(torch.ones(N))",
    "set_storage": "x.set_(torch.ones(N).untyped_storage(), 0, (N,), (1,))",
    "resize_storage": "s = x.untyped_storage(); s.resize_(0); s.resize_(4 * N)",
    "resize_storage_to_half": "s = x.untyped_storage(); s.resize_(2 * N); s.resize_(4 * N)",
    "swap_tensors": "torch.utils.swap_tensors(x, torch.ones(N))",
    "item_of_list": "box[0] = torch.ones(N); x.data = box[0]",
    "free": "globals().update(x=torch.ones(N))",
}

PROGRAM = """
import sys, threading, torch

sys.setswitchinterval(1e-5)
N = {count}
x = torch.ones(N)
box = [x]
stop = False

def change():
    global x
    while not stop:
        {change}

def use():
    for i in range({turns}):
        y = x
        z = box
    return i

threads = [threading.Thread(target=change) for _ in range(2)]
for thread in threads:
    thread.start()
use()
stop = True
for thread in threads:
    thread.join()
print("done")
"""


def run(tmp_path, change, count=1 << 20, turns=150, **options):
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(PROGRAM.format(change=change, count=count, turns=turns)))
    return subprocess.run(
        [warm.python(), "-m", "monitorch", "run", "-o", str(tmp_path / "run.mtrace"), str(program)],
        env=recording.environment("off", **options),
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("change", CHANGES)
def test_memory_that_another_thread_replaces(tmp_path, change):
    done = run(tmp_path, CHANGES[change])
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr[-2000:]
