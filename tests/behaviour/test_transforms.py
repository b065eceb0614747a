"""torch's compilers and transforms give the same with instrumented models, off and recorded."""

import json
import math
import os
import pathlib
import subprocess
import sys

import pytest

from tests.support import compiler, paths, viewer, warm

FOLDER = pathlib.Path(__file__).resolve().parent
MODELS = FOLDER / "transform_models.py"

pytestmark = [
    pytest.mark.torch,
    pytest.mark.usefixtures("compiler_module"),
    pytest.mark.skipif(
        not list(paths.PACKAGE.glob("_recorder*.so")), reason="the recorder is not built (make)"
    ),
]

# Compiled in pieces where it was compiled whole: other kernels, other roundings.
NEARLY = {"compile_inductor"}


def run_python(words, folder, python=None):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MONITORCH")}
    environment.update(PYTHONPATH=str(paths.PYTHON_PATH))
    run = subprocess.run(
        [python or warm.python(), *map(str, words)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    return run


def run_child(folder, models, *words):
    result = folder / "result.json"
    run_python([FOLDER / "transform_child.py", models, result, *words], folder)
    return json.loads(result.read_text())


def show(trace):
    run = viewer.run("show", "--json", trace)
    assert run.returncode == 0 or "no events" in run.stderr, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def notes(trace):
    return [item["text"] for item in show(trace) if item["record"] == "note"]


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return run_child(tmp_path_factory.mktemp("plain"), MODELS)["results"]


@pytest.fixture
def models(tmp_path):
    text = compiler.instrument(MODELS.read_bytes(), str(MODELS), all=True).text
    path = tmp_path / "transform_models.py"
    path.write_bytes(text)
    return path


def is_near(one, other):
    if isinstance(one, list):
        return len(one) == len(other) and all(map(is_near, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(is_near(one[k], other[k]) for k in one)
    if isinstance(one, float):
        return math.isclose(one, other, rel_tol=1e-5, abs_tol=1e-6)
    return one == other


def compare(results, expected):
    assert results.keys() == expected.keys()
    differ = [name for name in expected if results[name] != expected[name]]
    assert set(differ) <= NEARLY, differ
    for name in differ:
        assert is_near(results[name], expected[name]), name


def test_off(plain, models, tmp_path):
    compare(run_child(tmp_path, models)["results"], plain)


@pytest.mark.parametrize("options", [(), ("compile=skip",)], ids=["break", "skip"])
def test_recorded(options, plain, models, tmp_path):
    trace = tmp_path / "run.mtrace"
    told = run_child(tmp_path, models, trace, *options)
    compare(told["results"], plain)
    assert told["lost"] == 0 and told["stopped"] is None
    assert told["events"] > 1000
    texts = notes(trace)
    if options:
        assert texts and all("left out" in text for text in texts)
    else:
        assert any("breaks its graph" in text for text in texts)
    assert any(text.startswith(f"{models}:") and ": Net.forward: " in text for text in texts)


COMPILED = """
import sys, warnings
import torch
import transform_models as models
import monitorch

trace, how, *options = sys.argv[1:]
graphs = 0

def count(graph, inputs):
    global graphs
    graphs += 1
    return graph.forward

torch.manual_seed(0)
model = models.Net().eval()
call = model if how == "plain" else torch.compile(model, backend=count, fullgraph=how == "whole")
x = torch.linspace(-2, 2, 24).view(3, 8)
expected = model(x)["out"]
assert torch.equal(call(x)["out"], expected)
assert graphs == (how != "plain")
with monitorch.record(trace, **dict(word.split("=") for word in options)):
    assert torch.equal(call(x)["out"], expected)
compiled = graphs
# To and fro: what was compiled for each is found again.
for _ in range(12):
    assert torch.equal(call(x)["out"], expected)
    with monitorch.record(trace, **dict(word.split("=") for word in options)):
        assert torch.equal(call(x)["out"], expected)
assert graphs == compiled
print(compiled)
"""

WHAT = ("record", "line", "name", "path", "function", "module", "call", "parent", "change")
WHAT += ("hash", "shape", "mean", "value", "depth", "parent_line")


def run_compiled(folder, models, how, *options):
    trace = folder / f"{how}.mtrace"
    script = folder / "compiled.py"
    script.write_text(COMPILED)
    run = run_python([script, trace, how, *options], folder)
    items = [item for item in show(trace) if item["record"] in ("call", "event")]
    told = [{key: item.get(key) for key in WHAT} for item in items]
    return int(run.stdout), told, notes(trace), run.stderr


@pytest.fixture
def eager(models, tmp_path):
    return run_compiled(tmp_path, models, "plain")[1]


def test_breaks_record_as_eager_code_does(eager, models, tmp_path):
    graphs, told, texts, err = run_compiled(tmp_path, models, "broken")
    assert graphs > 4
    assert told == eager and len(eager) > 20
    assert len(texts) == 2 and all("breaks its graph" in text for text in texts)
    # One warning, which says where and what to do.
    assert err.count("UserWarning: monitorch: ") == 1
    assert "Net.forward (transform_models.py:31)" in err and 'compile="skip"' in err


def test_skipping_leaves_the_graph_whole(eager, models, tmp_path):
    graphs, told, texts, err = run_compiled(tmp_path, models, "skipped", "compile=skip")
    assert graphs == 2  # one without recording, one with
    assert told == []
    assert [text.split(": ")[1] for text in texts] == ["Net.forward", "Block.forward"]
    assert all("left out" in text for text in texts)
    warnings = [line for line in err.splitlines() if "Warning" in line]
    assert warnings and all("nothing recorded" in line for line in warnings)
    assert all("torch.compile" in line for line in warnings[1:]) and "Traceback" not in err


def test_whole_graphs_are_never_broken(models, tmp_path):
    graphs, told, texts, err = run_compiled(tmp_path, models, "whole")
    assert graphs == 2
    assert told == []
    assert len(texts) == 2 and all("left out" in text for text in texts)
    assert err.count("UserWarning: monitorch: ") == 1 and "fullgraph" in err


def test_unknown_values_are_told_as_such(models, tmp_path):
    """Under transforms: shapes and dtypes, and why there is no more."""
    script = tmp_path / "unknown.py"
    script.write_text(
        "import torch, monitorch, transform_models as models\n"
        "x, y = torch.randn(4, 3), torch.randn(2, 8)\n"
        "block = models.Block()\n"
        "for name, run in {\n"
        "    'vmap': lambda: torch.func.vmap(models.pairwise)(x, x),\n"
        "    'grad': lambda: torch.vmap(torch.func.grad(models.with_cubed))(x),\n"
        "    'export': lambda: torch.export.export(block, (y,), strict=False),\n"
        "    'fx': lambda: torch.fx.symbolic_trace(block),\n"
        "}.items():\n"
        "    with monitorch.record(name):\n"
        "        run()\n"
    )
    run_python([script], tmp_path)
    seen = {}
    for name in ("vmap", "grad", "export", "fx"):
        told = [item for item in show(tmp_path / name) if item["record"] == "event"]
        seen[name] = {item["name"]: item for item in told}
        assert told and not any("mean" in item or "hash" in item for item in told)
    vmap, grad, export, fx = seen.values()
    assert vmap["squared"]["shape"] == [3] and vmap["squared"]["note"] == "batched"
    assert grad["z"]["dtype"] == "float32" and grad["z"]["shape"] == [3] and grad["z"]["note"]
    assert export["hidden"]["shape"] == [2, 16] and export["hidden"]["note"] == "fake"
    assert fx["hidden"]["type"] == "torch.fx.proxy.Proxy"


def test_warnings_made_errors_stop_nothing(models, tmp_path):
    script = tmp_path / "strict.py"
    script.write_text(
        "import torch, transform_models, monitorch, warnings\n"
        "call = torch.compile(transform_models.pairwise, backend='eager')\n"
        "x = torch.ones(2, 3)\n"
        "call(x, x)\n"
        "warnings.simplefilter('error', UserWarning)\n"
        "with monitorch.record('run.mtrace') as recording:\n"
        "    call(x, x)\n"
        "assert recording.summary.events == 5, recording.summary\n"
    )
    run_python([script], tmp_path)


def test_a_dynamo_that_cannot_substitute(models, tmp_path):
    """As before torch 2.5: graphs break, and what was compiled so is forgotten at the end."""
    script = tmp_path / "old.py"
    script.write_text(
        "import torch, monitorch, transform_models\n"
        "import torch._dynamo\n"
        "del torch._dynamo.decorators.substitute_in_graph\n"
        "call = torch.compile(transform_models.pairwise, backend='eager')\n"
        "x = torch.ones(2, 3)\n"
        "for _ in range(3):\n"
        "    call(x, x)\n"
        "    with monitorch.record('run.mtrace') as recording:\n"
        "        call(x, x)\n"
        "    assert recording.summary.events == 5, recording.summary\n"
    )
    run_python([script], tmp_path, python=sys.executable)  # which imports Dynamo after monitorch


def test_dynamo_loaded_while_recording(models, tmp_path):
    """torch.compile is first used, and its tracer imported, after recording has begun."""
    script = tmp_path / "late.py"
    script.write_text(
        "import sys, torch, monitorch, transform_models\n"
        "assert 'torch._dynamo' not in sys.modules\n"
        "finders = list(sys.meta_path)\n"
        "x = torch.ones(2, 3)\n"
        "with monitorch.record('run.mtrace') as recording:\n"
        "    call = torch.compile(transform_models.pairwise, backend='eager')\n"
        "    call(x, x)\n"
        "assert recording.summary.events == 5, recording.summary\n"
        "call(x, x)\n"
        "assert sys.meta_path == finders\n"
        "module = sys.modules['torch._dynamo']\n"
        "assert type(module.__loader__).__module__ == '_frozen_importlib_external'\n"
        "assert module.__spec__.loader is module.__loader__\n"
    )
    run_python([script], tmp_path, python=sys.executable)
