"""`monitorch diff` of two small programs, or `why` of one, names the line that ends in `# HERE`; of two programs
that do the same it says that they are equal."""

import pathlib
import runpy

import pytest

from tests.support import viewer
from tests.verdicts import forked_runs

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]

PAIRS = sorted((pathlib.Path(__file__).parent / "pairs").glob("*.py"))

# What fresh memory holds is another thing in each run. On the line of the import: lines keep their numbers.
FILL = "import ctypes; ctypes.CDLL(None).mallopt(-6, {fresh}); import torch"


def record(folder, text, options, fresh):
    """The trace of the program, which lies in a folder of its own."""
    folder.mkdir()
    script, trace = folder / "prog.py", folder / "run.mtrace"
    filled = FILL.format(fresh=fresh)
    script.write_text(text.lstrip("\n").replace("import torch", filled, 1))
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
    bad = record(tmp_path / "bad", has["BAD"], options, 42)
    if "GOOD" in has:
        words = ["diff", record(tmp_path / "good", has["GOOD"], options, 17), bad]
    else:
        words = ["why", bad]
    done = viewer.run(*words)
    first = done.stdout.splitlines()[0]
    assert done.returncode == bool(wanted), done.stdout
    if wanted:
        assert f"bad/prog.py:{wanted[0]}: " in first, done.stdout
        assert "control flow" not in first
    else:
        assert first.startswith("equal: "), done.stdout
