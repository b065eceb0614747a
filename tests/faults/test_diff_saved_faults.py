"""`monitorch diff` of saved tensors with every n-th allocation failing: all of the output, or a
message and exit code 3."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

from tests.support import paths, viewer

torch = pytest.importorskip("torch")
if str(paths.PYTHON_PATH) not in sys.path:
    sys.path.insert(0, str(paths.PYTHON_PATH))
from monitorch.spy import TensorSaver  # noqa: E402

ATTEMPTS = 1500


def diff(words: list[object], failing: str | None = None) -> subprocess.CompletedProcess[str]:
    variables = {} if failing is None else {"MONITORCH_TEST_FAIL_ALLOCATION": failing}
    return viewer.run("diff", *words, env=variables)


@pytest.fixture(scope="module", params=[("pt", "pt"), ("pt", "safetensors"), ("mtrace", "pt")])
def folders(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> list[pathlib.Path]:
    """Three tensors each: one is equal, one differs, one is in one folder alone."""
    made = []
    for which, name in enumerate(request.param):
        folder = tmp_path_factory.mktemp("saved")
        saver = TensorSaver(folder, format=name)
        saver.save("same", torch.arange(6))
        saver.save("other", torch.ones(2, 3).t() * (1 + which))
        saver.save(f"alone{which}", torch.zeros(1))
        saver.close()
        made.append(folder)
    return made


@pytest.mark.parametrize("and_all_after", ["", "+"])
@pytest.mark.parametrize("words", [[], ["--json"]])
def test_allocations_fail(
    folders: list[pathlib.Path], words: list[str], and_all_after: str
) -> None:
    whole = diff([*words, *folders])
    assert (whole.returncode, whole.stderr) == (1, "")
    failed = since = 0
    for attempt in range(1, ATTEMPTS):
        run = diff([*words, *folders], f"{attempt}{and_all_after}")
        if run.returncode == 1:
            assert (run.stdout, run.stderr) == (whole.stdout, ""), attempt
            since += 1
        else:
            assert run.returncode == 3, (attempt, run.stderr)
            # A trace that can be read no further looks like one that has changed.
            told = "memory" in run.stderr or "context0.mtrace has changed" in run.stderr
            assert told, (attempt, run.stderr)
            failed += 1
            since = 0
        if since > 30:
            break
    assert failed > 10
