"""python -m monitorch run --deterministic --seed N, and what a trace tells of its run."""

import json
import os
import subprocess
import sys

import pytest

from tests.python.run.test_run import PYTHONS, good, run
from tests.python.run.test_run_equality import make_files
from tests.support import compiler, paths, recording, viewer

pytestmark = pytest.mark.skipif(compiler.EXTENSION is None, reason="not built (make)")

DRAWS = """
import random, sys
order = list({"a", "b", "c", "d", "e", "f"})
number = random.random()
words = sys.argv
text = sys.stdin.read()
kinds = [type(x).__name__ for x in (random.__spec__, random.__loader__)]
print(order, number, words, text, *kinds, *vars(random.__spec__))
"""


def viewed(trace, *words):
    done = viewer.run("show", *words, trace)
    assert done.stderr == "" and done.returncode == 0
    return done.stdout


def settings(trace):
    """{name: value} of the settings."""
    records = [json.loads(line) for line in viewed(trace, "--settings", "--json").splitlines()]
    assert {record["record"] for record in records} == {"setting"}
    return {record["name"]: record["value"] for record in records}


def pair(folder, *words, **arguments):
    """Runs twice, in two processes; gives the outputs and the canonical texts."""
    outputs, texts = [], []
    for name in ("a.mtrace", "b.mtrace"):
        done = good(folder, "-o", name, "--quiet", *words, **arguments)
        outputs.append(done.stdout)
        texts.append(viewed(folder / name, "--canonical", "--json", "--sample"))
    return outputs, texts


@pytest.mark.parametrize("python", [path for _, path in PYTHONS])
def test_the_same_again(tmp_path, python):
    make_files(tmp_path, {"draw.py": DRAWS})
    outputs, texts = pair(
        tmp_path, "--seed", "7", "draw.py", "x", "-y", python=python, stdin="piped"
    )
    assert outputs[0] == outputs[1] and texts[0] == texts[1] != ""
    assert "['draw.py', 'x', '-y'] piped ModuleSpec" in outputs[0]
    plain = run(tmp_path, "run", "--no-record", "draw.py", python=python, stdin="").stdout
    assert plain.partition("ModuleSpec")[2] == outputs[0].partition("ModuleSpec")[2] != ""


def test_other_seeds_are_other_runs(tmp_path):
    make_files(tmp_path, {"draw.py": DRAWS})
    seven, _ = pair(tmp_path, "--seed=7", "draw.py")
    eight, _ = pair(tmp_path, "--seed=8", "draw.py")
    none, _ = pair(tmp_path, "--deterministic", "draw.py")
    zero, _ = pair(tmp_path, "--seed=0", "draw.py")
    assert seven[0] != eight[0] and none == zero


def test_the_program_decides_last(tmp_path):
    script = "import random\nrandom.seed(3)\nx = random.random()\nprint(x)\n"
    make_files(tmp_path, {"s.py": script})
    plain = subprocess.run([sys.executable, "s.py"], cwd=tmp_path, capture_output=True, text=True)
    assert good(tmp_path, "--seed=9", "s.py").stdout == plain.stdout


def test_hashes_that_were_fixed_stay(tmp_path):
    script = "import os\nprint(os.environ['PYTHONHASHSEED'], os.getpid())\n"
    make_files(tmp_path, {"s.py": script})
    fixed = good(tmp_path, "--seed=9", "s.py", PYTHONHASHSEED="5").stdout
    ours = good(tmp_path, "--seed=9", "s.py", PYTHONHASHSEED="random").stdout
    assert fixed.startswith("5 ") and ours.startswith("9 ")
    assert settings(tmp_path / "run.mtrace")["python.hashseed"] == "9"


def test_exit_codes_and_tracebacks_stay(tmp_path):
    make_files(tmp_path, {"s.py": "import sys\nsys.exit(7)\n", "e.py": "x = 1\nx / 0\n"})
    assert run(tmp_path, "run", "--seed=1", "s.py").returncode == 7
    done = run(tmp_path, "run", "-q", "--seed=1", "e.py")
    plain = subprocess.run(
        [sys.executable, tmp_path / "e.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (plain.returncode, plain.stderr)


CHILDREN = """
import multiprocessing, random
def draw(i):
    number = random.random()
    return number
def tell(queue):
    number = random.random()
    queue.put(number)
if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    numbers = []
    for _ in range(2):
        queue = context.Queue()
        child = context.Process(target=tell, args=(queue,))
        child.start()
        numbers.append(queue.get())
        child.join()
    print(numbers, random.random())
"""


def test_processes_that_are_started_anew(tmp_path):
    make_files(tmp_path, {"s.py": CHILDREN})
    outputs, _ = pair(tmp_path, "--seed=4", "s.py")
    assert outputs[0] == outputs[1]
    numbers = outputs[0].replace("[", "").replace("]", ",").replace(" ", "").split(",")
    assert len(set(numbers[:2])) == 2


def test_settings(tmp_path):
    make_files(tmp_path, {"s.py": "x = 1\n"})
    good(tmp_path, "--seed=3", "s.py", "an argument", OMP_NUM_THREADS="2")
    told = settings(tmp_path / "run.mtrace")
    version = ".".join(map(str, sys.version_info[:3]))
    assert told["command"] == "s.py 'an argument'"
    assert (told["seed"], told["python.version"]) == ("3", version)
    assert told["environment.OMP_NUM_THREADS"] == "2"
    assert told["machine"] == os.uname().machine
    assert not any(name.startswith(("torch", "numpy", "deterministic")) for name in told)
    assert len(told[f"source {tmp_path / 's.py'}"]) == 32
    lines = viewed(tmp_path / "run.mtrace", "--settings").splitlines()
    assert [line.split()[0] for line in lines[:2]] == ["command", "seed"]
    good(tmp_path, "-m", "s", "-k")
    assert settings(tmp_path / "run.mtrace")["command"] == "-m s -k"


def test_settings_of_a_program_that_records_itself(tmp_path):
    make_files(tmp_path, {"s.py": "import monitorch\nwith monitorch.record('r.mtrace'):\n    x = 1\n"})
    environment = recording.environment("off")
    subprocess.run([sys.executable, "s.py"], cwd=tmp_path, env=environment, capture_output=True)
    assert settings(tmp_path / "r.mtrace")["command"] == "s.py"


def test_settings_where_the_variable_records(tmp_path):
    make_files(tmp_path, {"s.py": "x = 1\n"})
    done = good(tmp_path, "--seed=3", "s.py", "word", MONITORCH="v.mtrace")
    assert "1 events in v.mtrace" in done.stderr
    told = settings(tmp_path / "v.mtrace")
    assert (told["command"], told["seed"], told["python.hashseed"]) == ("s.py word", "3", "3")


def test_a_child_tells_what_its_parent_does(tmp_path):
    script = "import os\nx = 1\npid = os.fork()\ny = 2\nif pid:\n    os.waitpid(pid, 0)\n"
    make_files(tmp_path, {"s.py": script})
    good(tmp_path, "-q", "--seed=3", "s.py")
    parent, child = sorted(tmp_path.glob("run*.mtrace"), key=lambda path: len(path.name))
    assert settings(parent) == settings(child)


def test_settings_of_a_killed_run(tmp_path):
    make_files(tmp_path, {"s.py": "import os\nx = 1\nos.kill(os.getpid(), 9)\n"})
    assert run(tmp_path, "run", "--seed=3", "s.py").returncode == -9
    done = viewer.run("show", "--settings", tmp_path / "run.mtrace")
    assert "\nseed " in done.stdout and "python.version" in done.stdout


@pytest.mark.parametrize(
    "words, expected",
    [
        (["--seed", "x"], "--seed x: expected a whole number from 0 to 4294967295"),
        (["--seed=-1"], "--seed -1: expected a whole number"),
        (["--seed=4294967296"], "--seed 4294967296: expected a whole number"),
        (["--seed"], "--seed: expected an argument after it"),
        (["--deterministic=no"], "--deterministic=no: expected --deterministic or --determ"),
    ],
)
def test_wrong_words(tmp_path, words, expected):
    make_files(tmp_path, {"s.py": ""})
    program = ["s.py"] if words != ["--seed"] else []
    done = run(tmp_path, "run", *words, *program)
    assert done.returncode == 2 and f"monitorch run: {expected}" in done.stderr


class TestWithTorch:
    pytestmark = pytest.mark.torch

    def test_all_three_are_seeded(self, tmp_path):
        script = """
        import sys
        before = set(sys.modules)
        import torch
        weights = torch.rand(3)
        import numpy
        noise = numpy.random.rand(2)
        import random
        number = random.random()
        flags = torch.are_deterministic_algorithms_enabled(), torch.backends.cudnn.benchmark
        print(weights, noise, number, flags, type(torch.__spec__).__name__)
        print("torch._inductor" in sys.modules)
        """
        make_files(tmp_path, {"s.py": script})
        outputs, texts = pair(tmp_path, "--deterministic", "--seed=11", "s.py")
        assert outputs[0] == outputs[1] and texts[0] == texts[1]
        assert "(True, False) ModuleSpec\nFalse\n" in outputs[0]
        told = settings(tmp_path / "a.mtrace")
        assert told["torch.deterministic"] == told["deterministic"] == "yes"
        assert int(told["torch.threads"]) >= 1 and "numpy.version" in told
        # As `torch.manual_seed` in the program would have it.
        plain = "import torch\ntorch.manual_seed(11)\nprint(torch.rand(3))\n"
        seeded = subprocess.run([sys.executable, "-c", plain], capture_output=True, text=True).stdout
        assert outputs[0].startswith(seeded.strip())

    def test_warnings_instead(self, tmp_path):
        script = "import torch\nx = torch.is_deterministic_algorithms_warn_only_enabled()\nprint(x)\n"
        make_files(tmp_path, {"s.py": script})
        assert good(tmp_path, "--deterministic=warn", "s.py").stdout == "True\n"
        assert settings(tmp_path / "run.mtrace")["torch.deterministic"] == "warn"

    def test_a_killed_run_tells_of_torch(self, tmp_path):
        script = "import os, torch\nx = torch.ones(1)\nos.kill(os.getpid(), 9)\n"
        make_files(tmp_path, {"s.py": script})
        assert run(tmp_path, "run", "s.py").returncode == -9
        done = viewer.run("show", "--settings", tmp_path / "run.mtrace")
        assert "\ntorch.version " in done.stdout and "\ntorch.threads " in done.stdout

    def test_processes_with_one_and_two_threads(self, tmp_path):
        texts = []
        for threads in "12":
            script = str(paths.ROOT / "samples" / "lstm_steps.py")
            good(tmp_path, "-q", "--deterministic", "--seed=3", script, OMP_NUM_THREADS=threads)
            told = settings(tmp_path / "run.mtrace")
            assert told["torch.threads"] == threads
            texts.append(viewed(tmp_path / "run.mtrace", "--canonical"))
        assert texts[0] == texts[1] != ""
