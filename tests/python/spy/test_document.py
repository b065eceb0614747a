"""The two examples of torchspy's document, word for word apart from the import."""

from __future__ import annotations

import asyncio
import pathlib
import textwrap

import pytest

from tests.support import paths, recording, threads

torch = pytest.importorskip("torch")
pytest.importorskip("monitorch.spy", reason="the package is not built (make)")

from monitorch.spy import get_debug_context  # noqa: E402

nn = torch.nn
pytestmark = pytest.mark.torch

MODULE = '''
from monitorch.spy import TensorSaver, DebugContext
from monitorch.spy.saver import spy_save

# In your module's forward():
class MyModule(nn.Module):
    def forward(self, x):
        q = self.proj_q(x)
        spy_save("q", q, self)  # Only saves when inside DebugContext
        return q
'''

SAVING = '''
# Setup and run
saver = TensorSaver("./debug_tensors")
saver.register_modules(model, target_classes=(MyModule,))

with DebugContext(saver, prefix="step0"):
    output = model(inputs)
# Saves as: step0.{module_path}.q.call0.pt
'''

TRACING = '''
from monitorch.spy import CallTracer

tracer = CallTracer("./traces")
tracer.register_hooks(model, target_classes=(nn.Linear,))

output = model(inputs)  # Hooks record call order automatically

tracer.save_trace("forward.txt")
# Output:
# encoder.layer.0.linear1
# encoder.layer.0.linear2
# ...
'''


def run(text, names):
    exec(compile(text, "<document>", "exec"), names)


@pytest.fixture
def names(tmp_path, monkeypatch):
    """What the document takes as given, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    made = {"nn": nn, "__name__": "document"}
    run(MODULE, made)
    mine = [made["MyModule"]() for _ in range(2)]
    for module in mine:
        module.proj_q = nn.Linear(4, 4)
    made["model"] = nn.Sequential(mine[0], nn.ReLU(), nn.ModuleDict({"deep": mine[1]})["deep"])
    made["inputs"] = torch.randn(2, 4, generator=torch.Generator().manual_seed(1))
    return made


def saved_names(folder="debug_tensors"):
    return sorted(path.name for path in pathlib.Path(folder).iterdir())


def load(name, folder="debug_tensors"):
    return torch.load(pathlib.Path(folder, name), weights_only=True)


def test_saving(names):
    run(SAVING, names)
    assert saved_names() == ["step0.0.q.call0.pt", "step0.2.q.call0.pt"]
    q = names["model"][0].proj_q(names["inputs"])
    assert torch.equal(load("step0.0.q.call0.pt"), q.detach())
    assert torch.equal(load("step0.2.q.call0.pt"), names["output"].detach())


def test_nothing_is_saved_outside(names):
    run(SAVING, names)
    before = saved_names()
    names["model"](names["inputs"])
    assert saved_names() == before and get_debug_context() is None


def test_saving_as_a_program(tmp_path):
    """Not through exec: a file of its own, with all that the document leaves to the reader."""
    lines = [
        "import torch",
        "from torch import nn",
        MODULE,
        "model = MyModule()",
        "model.proj_q = nn.Linear(3, 3)",
        "inputs = torch.ones(2, 3)",
        SAVING,
        "print(type(output).__name__)",
    ]
    (tmp_path / "program.py").write_text("\n".join(lines))
    done = recording.run_file(tmp_path, "program.py")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Tensor\n", "")
    assert saved_names(tmp_path / "debug_tensors") == ["step0.root.q.call0.pt"]


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear1 = nn.Linear(4, 8)
        self.linear2 = nn.Linear(8, 4)

    def forward(self, x):
        return self.linear2(self.linear1(x).relu())


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.ModuleList(Layer() for _ in range(2))

    def forward(self, x):
        for layer in self.layer:
            x = layer(x)
        return x


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()

    def forward(self, x):
        return self.encoder(x)


TRACED = (
    "encoder.layer.0.linear1\nencoder.layer.0.linear2\n"
    "encoder.layer.1.linear1\nencoder.layer.1.linear2"
)


def test_tracing(names):
    names["model"] = Model()
    run(TRACING, names)
    assert pathlib.Path("traces/forward.txt").read_text() == TRACED


def test_both_at_once(names):
    run(SAVING.replace("    output", "    spy_save('x', inputs)\n    output"), names)
    names["model"] = Model()
    run(TRACING, names)
    assert pathlib.Path("traces/forward.txt").read_text() == TRACED
    assert "step0.manual.x.call0.pt" in saved_names()


def own(names, number):
    """The example with a folder, a prefix and inputs of its own."""
    text = SAVING.replace("./debug_tensors", f"./of_{number}").replace("step0", f"step{number}")
    return text, {**names, "inputs": torch.full((2, 4), float(number))}


def check_own(names, number, times=1):
    folder = f"of_{number}"
    wanted = [f"step{number}.{m}.q.call{i}.pt" for m in (0, 2) for i in range(times)]
    assert saved_names(folder) == sorted(wanted)
    q = names["model"][0].proj_q(torch.full((2, 4), float(number))).detach()
    for i in range(times):
        assert torch.equal(load(f"step{number}.0.q.call{i}.pt", folder), q)


def test_saving_in_threads(names):
    count = 8
    threads.run_for(range(count), lambda n: run(*own(names, n)))
    for n in range(count):
        check_own(names, n)


def test_one_saver_in_threads_with_their_own_contexts(names):
    run(SAVING, names)
    saver, model, DebugContext = names["saver"], names["model"], names["DebugContext"]

    def job(n):
        with DebugContext(saver, prefix=f"t{n}"):
            for _ in range(20):
                model(torch.full((2, 4), float(n)))

    threads.run_for(range(4), job)
    assert len(saved_names()) == 2 + 4 * 2 * 20
    for n in range(4):
        q = model[0].proj_q(torch.full((2, 4), float(n))).detach()
        assert all(torch.equal(load(f"t{n}.0.q.call{i}.pt"), q) for i in range(20))


def test_one_name_in_threads_loses_nothing(names):
    """The same prefix in each: the numbers of the calls are counted together."""
    run(SAVING, names)
    saver, model, DebugContext = names["saver"], names["model"], names["DebugContext"]

    def job(n):
        with DebugContext(saver, prefix="all"):
            for _ in range(25):
                model[0](torch.full((2, 4), float(n)))

    threads.run_for(range(4), job)
    files = [name for name in saved_names() if name.startswith("all.")]
    assert files == sorted(f"all.0.q.call{i}.pt" for i in range(100))
    seen = [load(name)[0, 0].item() for name in files]
    wanted = [model[0].proj_q(torch.full((2, 4), float(n)))[0, 0].item() for n in range(4)]
    assert sorted(seen) == sorted(wanted * 25)


def test_saving_in_tasks(names):
    """asyncio tasks that give way to each other within their contexts."""

    async def job(n):
        text, space = own(names, n)
        run(text.split("with ")[0], space)
        saver, model = space["saver"], space["model"]
        with names["DebugContext"](saver, prefix=f"step{n}"):
            for _ in range(3):
                await asyncio.sleep(0)
                model(space["inputs"])
                assert get_debug_context().saver is saver

    async def all_of_them():
        await asyncio.gather(*(job(n) for n in range(6)))
        assert get_debug_context() is None

    asyncio.run(all_of_them())
    for n in range(6):
        check_own(names, n, times=3)


def test_nested(names):
    run(SAVING.replace("./debug_tensors", "./of_0"), names)
    outer, DebugContext = names["saver"], names["DebugContext"]
    inner = names["TensorSaver"]("./inner")
    inner.register_modules(names["model"])
    x = names["inputs"]
    with DebugContext(outer, prefix="a"):
        names["model"][0](x)
        with DebugContext(inner, prefix="b"):
            names["model"][0](x)
            with DebugContext(outer, prefix="c"):
                names["model"][0](x)
        names["model"][0](x)
    assert saved_names("inner") == ["b.0.q.call0.pt"]
    assert [n for n in saved_names("of_0") if not n.startswith("step0")] == [
        "a.0.q.call0.pt",
        "a.0.q.call1.pt",
        "c.0.q.call0.pt",
    ]


def test_exception_inside(names):
    """It comes out, what was saved before it stays, and the context has ended."""
    names["model"].append(nn.Linear(5, 5))
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        run(SAVING, names)
    assert saved_names() == ["step0.0.q.call0.pt", "step0.2.q.call0.pt"]
    assert get_debug_context() is None
    del names["model"][3]
    with names["DebugContext"](names["saver"], prefix="step1"):
        names["model"](names["inputs"])
    assert len(saved_names()) == 4


def test_exception_inside_nested(names):
    run(SAVING, names)
    saver, DebugContext = names["saver"], names["DebugContext"]
    with DebugContext(saver, prefix="outer") as outer:
        with pytest.raises(KeyError), DebugContext(saver, prefix="inner"):
            raise KeyError("x")
        assert get_debug_context() is outer
    assert get_debug_context() is None


def test_exception_in_a_task_leaves_the_others(names):
    run(SAVING, names)
    saver, DebugContext = names["saver"], names["DebugContext"]

    async def job(n):
        with DebugContext(saver, prefix=f"task{n}"):
            await asyncio.sleep(0)
            if n == 1:
                raise ValueError("one of them")
            names["model"](names["inputs"])

    async def all_of_them():
        return await asyncio.gather(*(job(n) for n in range(3)), return_exceptions=True)

    results = asyncio.run(all_of_them())
    assert [type(r) for r in results] == [type(None), ValueError, type(None)]
    assert [n.split(".")[0] for n in saved_names()] == ["step0"] * 2 + ["task0"] * 2 + ["task2"] * 2


def test_import_brings_no_torch():
    """A program without torch may import it, and asks for spy_save at no cost."""
    program = """
    import sys
    import monitorch.spy
    from monitorch.spy.saver import spy_save
    from monitorch.spy import TensorSaver, DebugContext, CallTracer
    assert spy_save("q", object()) is None
    assert "torch" not in sys.modules and "numpy" not in sys.modules
    """
    environment = dict(recording.environment("off"), PYTHONPATH=str(paths.PYTHON_PATH))
    done = recording.run_python("-c", textwrap.dedent(program), env=environment)
    assert done.returncode == 0, done.stderr
