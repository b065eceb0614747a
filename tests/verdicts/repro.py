"""Scripts of `why --repro`: each makes the NaN or infinity of its trace again, alone."""

from __future__ import annotations

import pathlib

from tests.support import viewer
from tests.verdicts import forked_runs


def check(folder: pathlib.Path, refused: str | None = None, *words: object) -> str:
    """Writes the script for run.mtrace in the folder, and runs it: gives its text. `refused`: a part of what
    is said where there is none."""
    script = folder / "nan.py"
    said = viewer.run("why", folder / "run.mtrace", *words, "--repro", script)
    if refused is not None:
        assert said.returncode == 1 and refused in said.stderr and not script.exists(), said.stderr
        return ""
    assert said.returncode == 0 and script.exists(), said.stdout + said.stderr
    alone = folder / "alone"
    alone.mkdir()
    script.rename(alone / "nan.py")
    run = forked_runs.run(alone, ["nan"])
    text = (alone / "nan.py").read_text()
    assert run.code == 0 and "\nmade again: " in "\n" + run.output, run.output + text
    return text
