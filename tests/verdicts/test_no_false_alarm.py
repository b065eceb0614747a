"""What differs by rounding alone is no verdict: twenty models, one sample alone and in a batch,
and with sums in another order."""

import pathlib

import pytest

from tests.support import viewer
from tests.verdicts import forked_runs

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]

HERE = pathlib.Path(__file__).parent
NAMES = """Perceptron ConvNet BatchNormed LayerNormed GroupNormed RMSNormed Attention Encoder Lstm
    GruSteps Bags Autoencoder UNet Residual SqueezeExcite Depthwise Experts Positions Cosine
    LogLoss""".split()
SELECTED = {"batch": ["--function", "see"], "order": ["--include", "models.py"]}


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    """The folder with the traces of each way."""
    folders = {way: tmp_path_factory.mktemp(way) for way in SELECTED}
    jobs = [
        (HERE, ["monitorch", "run", "--no-record", *words, HERE / "model_runs.py", way, folder])
        for (way, words), folder in zip(SELECTED.items(), folders.values())
    ]
    for done in [forked_runs.run(*job) for job in jobs]:
        assert done.code == 0, done.output
    return folders


def diff(folder, name, *options):
    pair = [folder / f"{name}.{side}.mtrace" for side in "ab"]
    return viewer.run("diff", *options, *pair)


def check_no_verdict(folder, name):
    done = diff(folder, name)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


@pytest.mark.parametrize("name", NAMES)
def test_alone_and_in_a_batch(traces, name):
    check_no_verdict(traces["batch"], name)


@pytest.mark.parametrize("kept", ["figures", "whole"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", NAMES)
def test_another_order_of_sums(traces, name, dtype, kept):
    check_no_verdict(traces["order"], f"{name}.{dtype}.{kept}")


def test_there_was_something_to_be_silent_about(traces):
    """Most pairs are different to the bit."""
    told = {
        dtype: [diff(traces["order"], f"{name}.{dtype}.figures", "--exact") for name in NAMES]
        for dtype in ("float32", "bfloat16")
    }
    for dtype, runs in told.items():
        assert sum(done.returncode == 1 for done in runs) >= 15, dtype
    alone = [diff(traces["batch"], name, "--exact").returncode for name in NAMES]
    assert alone.count(1) >= 3


def test_all_models_were_run(traces):
    assert {path.name.split(".")[0] for path in traces["order"].iterdir()} == set(NAMES)
    assert len(NAMES) == 20
