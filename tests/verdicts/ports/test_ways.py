"""Ways of running one model that should agree: a fused kernel, a cache, a padded batch."""

import pathlib

import pytest

from tests.support import viewer
from tests.verdicts import forked_runs

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]

TEXT = pathlib.Path("samples/ways.py").read_text()

# way -> what is wrong there: old text, new text.
WRONG = {
    "fused": ("is_causal=True", "is_causal=False"),
    "cache": ("torch.cat(keys, 1).mT / 4", "torch.cat(keys, 1).mT / 3"),
    "padded": ("attend(batch, later(9))", "attend(batch, later(9).mT)"),
}


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ways")

    def of(way, text=TEXT):
        number = sum(1 for _ in folder.iterdir())
        script, trace = folder / f"{number}.py", folder / f"{number}.mtrace"
        script.write_text(text)
        done = forked_runs.run(folder, ["monitorch", "run", "-q", "-o", trace, script, way])
        assert done.code == 0, done.output
        return trace

    return of


@pytest.fixture(scope="module")
def full(record):
    return record("full")


@pytest.mark.parametrize("way", WRONG)
def test_a_way_agrees_with_the_full_forward_and_a_wrong_one_does_not(record, full, way):
    done = viewer.run("diff", "--by-values", full, record(way))
    assert done.returncode == 0 and done.stdout.startswith("equal by values: "), done.stdout
    old, new = WRONG[way]
    assert TEXT.count(old) == 1
    done = viewer.run("diff", "--by-values", full, record(way, TEXT.replace(old, new)))
    assert done.returncode == 1 and ": first divergence: " in done.stdout, done.stdout
    first = TEXT[: TEXT.index(old)].count("\n") + 1
    assert f".py:{first}: " in done.stdout.splitlines()[0] or "not certain" in done.stdout
