"""A warm Python does what `python` does, as far as a program and who started it can tell."""

import os
import signal
import subprocess
import sys

import pytest

from tests.support import warm

pytest.importorskip("torch")
pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(warm.python() == sys.executable, reason="nothing is warm in this build"),
]

SCRIPT = """\
import sys
print(sys.argv, __name__, __file__, sys.path[0], sys.orig_argv[1:], sorted(globals()))
def fail():
    raise ValueError(sys.stdin.read())
if len(sys.argv) > 1:
    fail()
"""
THREAD = "import threading, time; threading.Thread(target=lambda: (time.sleep(0.1), print('late'))).start()"
WAYS = {
    "script": ["s.py"],
    "script that fails": ["s.py", "word"],
    "script in a folder": ["./inner/s.py"],
    "no such script": ["nothing.py"],
    "module": ["-m", "s", "word"],
    "no such module": ["-m", "nothing"],
    "code": ["-c", "import sys, os; print(sys.argv, os.getcwd(), os.environ['MARK'])", "word"],
    "code that is none": ["-c", "x = = 1"],
    "an option": ["-O", "-c", "print(__debug__)"],
    "standard input": ["-"],
    "exit code": ["-c", "import sys; sys.exit(300)"],
    "exit text": ["-c", "import sys; sys.exit('why')"],
    "interrupt": ["-c", "raise KeyboardInterrupt"],
    "signal": ["-c", "import os; os.kill(os.getpid(), 9)"],
    "exit function": ["-c", "import atexit; atexit.register(print, 'bye'); print('now')"],
    "thread": ["-c", THREAD],
    "torch": ["-c", "import torch; print(torch.ones(2), torch.get_num_threads())"],
}


def finish(python, folder, words, **variables):
    done = subprocess.run(
        [python, *words],
        cwd=folder,
        env={**os.environ, "MARK": "told", **variables},
        input="print('given')\n",
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("words", WAYS.values(), ids=WAYS.keys())
def test_the_same_as_python(words, tmp_path):
    (tmp_path / "inner").mkdir()
    for folder in (tmp_path, tmp_path / "inner"):
        (folder / "s.py").write_text(SCRIPT)
    found = finish(warm.python(), tmp_path, words, OMP_NUM_THREADS="1")
    assert found == finish(sys.executable, tmp_path, words, OMP_NUM_THREADS="1")


IS_WARM = ["-c", "import sys; print('torch' in sys.modules)"]


def test_torch_is_there(tmp_path):
    assert finish(warm.python(), tmp_path, IS_WARM)[1] == "True\n"


def test_what_is_random_is_another_each_time(tmp_path):
    program = "import numpy, random, torch; print(random.random(), numpy.random.rand(), torch.rand(1))"
    found = [finish(warm.python(), tmp_path, ["-c", program])[1].split() for _ in range(2)]
    assert len(found[0]) == 3 and not set(found[0]) & set(found[1])


@pytest.mark.parametrize("name", ["PYTHONHASHSEED", "ATEN_CPU_CAPABILITY"])
def test_variables_that_are_read_at_the_start(name, tmp_path):
    value = {"PYTHONHASHSEED": "7"}.get(name, "default")
    assert finish(warm.python(), tmp_path, IS_WARM, **{name: value}) == (0, "False\n", "")


def test_a_program_ends_with_the_one_who_asked(tmp_path):
    program = "import os, time; print(os.getpid(), flush=True); time.sleep(100)"
    with subprocess.Popen([warm.python(), "-c", program], stdout=subprocess.PIPE) as asked:
        number = int(asked.stdout.readline())
        asked.kill()
        assert asked.stdout.read() == b""  # closed by the program's end alone
    with pytest.raises(ProcessLookupError):
        while True:
            os.kill(number, signal.SIG_DFL)
