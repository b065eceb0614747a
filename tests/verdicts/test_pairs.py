"""`monitorch diff` of two small programs, or `why` of one, names the line that ends in `# HERE`; of two programs
that do the same it says that they are equal."""

import pathlib
import runpy

import pytest

from tests.support import viewer
from tests.verdicts import forked_runs

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]

PAIRS = sorted((pathlib.Path(__file__).parent / "pairs").glob("*.py"))

# What fresh memory holds is another thing in each run. Both programs have the same line, and lines keep their numbers.
FILL = "import ctypes; ctypes.CDLL(None).mallopt(-6, 17 if 'good' in __file__ else 42); import torch"


def record(folder, text, options):
    """The trace of the program, which lies in a folder of its own."""
    folder.mkdir()
    script, trace = folder / "prog.py", folder / "run.mtrace"
    script.write_text(text.lstrip("\n").replace("import torch", FILL, 1))
    words = ["monitorch", "run", "-q", "-o", trace, *options, script]
    done = forked_runs.run(folder, words)
    assert done.code == 0, done.output
    return trace


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.stem)
def test_pair(pair, tmp_path):
    has = runpy.run_path(str(pair))
    lines = has["BAD"].lstrip("\n").splitlines()
    wanted = [n for n, line in enumerate(lines, 1) if line.endswith("# HERE")]
    options = has.get("OPTIONS", [])
    bad = record(tmp_path / "bad", has["BAD"], options)
    if "GOOD" in has:
        words = ["diff", record(tmp_path / "good", has["GOOD"], options), bad]
    else:
        words = ["why", bad]
    done = viewer.run(*words)
    first = done.stdout.splitlines()[0]
    assert done.returncode == bool(wanted), done.stdout
    if wanted:
        assert any(f"bad/prog.py:{line}: " in first for line in wanted), done.stdout
        assert has.get("IS_FLOW") or "control flow" not in first
    else:
        assert first.startswith("equal: "), done.stdout


@pytest.mark.parametrize("option", ["--backward", "--parameters"])
@pytest.mark.parametrize(
    "name", ["gradient_detach_missing", "no_grad_around", "optimizer_order", "optimizer_setting"]
)
def test_gradients_and_parameters_change_no_verdict(name, option, tmp_path):
    pair = pathlib.Path(__file__).parent / "pairs" / f"{name}.py"
    has = runpy.run_path(str(pair))
    lines = has["BAD"].lstrip("\n").splitlines()
    options = [*has.get("OPTIONS", []), option]
    good, bad = (record(tmp_path / side, has[side.upper()], options) for side in ("good", "bad"))
    first = viewer.run("diff", good, bad).stdout.splitlines()[0]
    wanted = [n for n, line in enumerate(lines, 1) if line.endswith("# HERE")]
    assert any(f"bad/prog.py:{line}: " in first for line in wanted), first
