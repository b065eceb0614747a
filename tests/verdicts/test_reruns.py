"""Two runs of a program with the same seed give the same events."""

import subprocess
import sys

import pytest

from tests.support import paths, recording, viewer, warm
from tests.verdicts import forked_runs, seeded_bugs

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]

SAMPLES = sorted((paths.ROOT / "samples").glob("*.py"))
PROGRAMS = SAMPLES + [bug.bad for bug in seeded_bugs.BUGS]
SEEDED = ["--deterministic", "--seed", "7"]
STEPS = {"train_digits": ["--steps", "3"], "transformer_block": ["--steps", "2"]}
# The programs that are run with one thread, and with two.
WITH_THREADS = {1: [path.stem for path in SAMPLES], 2: [path.stem for path in PROGRAMS]}
# Samples that draw end the recording of `run` where theirs begins. Here they do not draw.
UNDRAWN = """
_hints = {}

def on(**options):
    pass

def off(**options):
    pass

def lines(first, last):
    pass

def args(**hints):
    _hints.update(hints)

def run(function, **given):
    return function(**_hints, **given)
"""


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    """The programs by name, as files of one folder."""
    folder = tmp_path_factory.mktemp("programs")
    (folder / "undrawn.py").write_text(UNDRAWN)
    for path in PROGRAMS:
        text = path.read_text().replace("import monitorch\n", "import undrawn as monitorch\n")
        (folder / path.name).write_text(text)
    return {path.stem: folder / path.name for path in PROGRAMS}


def words_of(name, script, trace):
    options = ["-q", *SEEDED, "--exclude", "undrawn", "-o", trace]
    return ["monitorch", "run", *options, script, *STEPS.get(name, [])]


@pytest.fixture(scope="module")
def traces(scripts, tmp_path_factory):
    """Two folders of traces for each number of threads: of two processes, which fork."""
    found = {
        threads: [tmp_path_factory.mktemp(f"{side}{threads}") for side in "ab"]
        for threads in WITH_THREADS
    }
    for side in range(2):
        with warm.server(PYTHONHASHSEED="7") as python:
            for threads, names in WITH_THREADS.items():
                for name in names:
                    trace = found[threads][side] / f"{name}.mtrace"
                    words = words_of(name, scripts[name], trace)
                    variables = {"OMP_NUM_THREADS": str(threads), "PYTHONHASHSEED": "7"}
                    done = forked_runs.run(scripts[name].parent, words, python, **variables)
                    assert done.code == 0, f"{name}: {done.output}"
    return found


def check_equal(first, second):
    shown = [viewer.run("show", "--canonical", trace) for trace in (first, second)]
    assert [done.returncode for done in shown] == [0, 0], shown[0].stderr
    assert shown[0].stdout == shown[1].stdout
    assert shown[0].stdout.count("\n") >= 4
    done = viewer.run("diff", "--exact", first, second)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


@pytest.mark.parametrize(
    "threads, name", [(threads, name) for threads, names in WITH_THREADS.items() for name in names]
)
def test_two_runs(traces, threads, name):
    check_equal(*(folder / f"{name}.mtrace" for folder in traces[threads]))


@pytest.mark.parametrize("name", WITH_THREADS[1])
def test_another_number_of_threads_is_no_divergence(traces, name):
    done = viewer.run("diff", *(traces[threads][0] / f"{name}.mtrace" for threads in (1, 2)))
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_two_runs_from_the_command_line(scripts, tmp_path):
    name = "transformer_block"
    made = [tmp_path / "a.mtrace", tmp_path / "b.mtrace"]
    for trace in made:
        done = subprocess.run(
            [sys.executable, "-m", *words_of(name, scripts[name], trace)],
            capture_output=True,
            env=recording.environment("off"),
            timeout=300,
        )
        assert done.returncode == 0, done.stderr.decode()
    check_equal(*made)


def test_another_seed_is_another_run(tmp_path):
    script = tmp_path / "noise.py"
    script.write_text("import random\nnoise = random.random()\n")
    made = [tmp_path / f"{seed}.mtrace" for seed in (7, 8)]
    for trace in made:
        words = ["run", "-q", "--seed", trace.stem, "-o", trace, script]
        subprocess.run(
            [sys.executable, "-m", "monitorch", *words],
            check=True,
            env=recording.environment("off"),
            timeout=300,
        )
    done = viewer.run("diff", *made)
    assert done.returncode == 1
    assert done.stdout.startswith(f"{script}:2: first divergence: noise: ")
    assert "seed: A 7, B 8" in done.stdout


def test_all_samples_are_run():
    assert len(SAMPLES) >= 10
    assert len(set(WITH_THREADS[2])) == len(PROGRAMS)
