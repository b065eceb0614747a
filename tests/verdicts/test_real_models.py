"""Models of transformers and timm: the line and the cause of a NaN are right, and a model that is well raises no alarm."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

from tests.support import recording, viewer
from tests.verdicts import broken_models
from tests.verdicts.broken_models import CASES
from tests.verdicts.healthy_models import MODELS

HERE = pathlib.Path(__file__).parent
FOLDER = broken_models.folder_of_packages()
FIRST_LINE = re.compile(r"(?P<file>.+?):(?P<line>\d+): (?P<words>.*)")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.torch,
    pytest.mark.usefixtures("compiler_module"),
    pytest.mark.skipif(FOLDER is None, reason="transformers and timm are not there (make test-all)"),
]


def run(folder, *options, **variables):
    """The finished process of a recorded program, in whose folder run.mtrace is made."""
    environment = recording.environment("off")
    environment["PYTHONPATH"] += os.pathsep + os.pathsep.join([str(FOLDER), str(HERE)])
    return subprocess.run(
        [sys.executable, "-m", "monitorch", "run", "-q", *options, broken_models.PROGRAM],
        cwd=folder,
        env={**environment, **variables},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_line_and_the_cause(case, tmp_path, request):
    if case.open:
        request.applymarker(pytest.mark.xfail(reason=case.open, strict=True))
    selected = broken_models.write(case, tmp_path)
    done = run(tmp_path, *selected)
    assert done.returncode == 0, done.stderr
    said = viewer.run("why", tmp_path / "run.mtrace")
    first = FIRST_LINE.match(said.stdout)
    assert said.returncode == 1 and first, said.stdout + said.stderr
    where = (pathlib.Path(first["file"]).name, int(first["line"]))
    assert where == broken_models.expected(case, tmp_path), said.stdout
    assert re.search(case.words, first["words"]), first["words"]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_no_alarm(model, tmp_path):
    (tmp_path / broken_models.PROGRAM).write_text(model.program())
    selected = broken_models.selection(["__main__", *model.modules])
    done = run(tmp_path, "--record", "stop=nan", *selected, UNINITIALISED_IS_NAN="yes")
    assert done.returncode == 0, done.stderr
    trace = tmp_path / "run.mtrace"
    for words in (["check", "--no-nan"], ["check"], ["why"]):
        said = viewer.run(*words, trace)
        assert said.returncode == 0, said.stdout + said.stderr
        assert said.stdout.startswith("ok: "), said.stdout
    assert len(recording.read(trace).events) > 200


def test_there_are_many():
    assert len({case.name for case in CASES}) >= 20 and len({case.model for case in CASES}) >= 10
    assert len({model.name for model in MODELS}) >= 30
