"""torch gives the same bits when its own sources, or a model's, are instrumented."""

import functools
import json
import pathlib
import subprocess
import sys

import pytest

from tests.support import compiler, paths, recording, warm

FOLDER = pathlib.Path(__file__).resolve().parent
MODELS = FOLDER / "compile_models.py"

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]


def run_child(folder, script, word, mode):
    result, trace = pathlib.Path(folder, "result.json"), pathlib.Path(folder, "run.mtrace")
    # What instruments torch must be there before torch is.
    python = sys.executable if word == "instrumented" else warm.python()
    words = [python, str(FOLDER / script), str(word), str(result)]
    environment = recording.environment(mode, trace)
    run = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-3000:]
    return json.loads(result.read_text())


@pytest.fixture(scope="module")
def plain_modules(tmp_path_factory):
    return run_child(tmp_path_factory.mktemp("plain"), "torch_child.py", "plain", "off")


@pytest.mark.parametrize("mode", ["off", "on"])
def test_modules_losses_and_optimisers(mode, plain_modules, tmp_path):
    told = run_child(tmp_path, "torch_child.py", "instrumented", mode)
    expected = plain_modules["results"]
    differ = [key for key in expected if told["results"].get(key) != expected[key]]
    assert told["results"].keys() == expected.keys()
    assert not differ
    assert len(expected) > 130
    if mode == "on":
        assert recording.count_events(tmp_path / "run.mtrace") > 50_000


@functools.lru_cache(None)
def compiled_plain(folder):
    return run_child(folder, "torch_compile_child.py", MODELS, "off")


@pytest.mark.parametrize("how", [{"all": True}, {"forward": True}], ids=["all", "forward"])
def test_compile_and_export_when_off(how, tmp_path, tmp_path_factory):
    expected = compiled_plain(tmp_path_factory.getbasetemp())
    text = compiler.instrument(MODELS.read_bytes(), str(MODELS), **how).text
    assert text != MODELS.read_bytes()
    models = tmp_path / "compile_models.py"
    models.write_bytes(text)
    told = run_child(tmp_path, "torch_compile_child.py", models, "off")
    for name in expected:
        for what in expected[name]:
            assert told[name][what] == expected[name][what], f"{name}: {what}"
