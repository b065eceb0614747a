"""python -m monitorch run --spy NAMES: a whole program's tensors, with nothing written by hand."""

from __future__ import annotations

import os
import pathlib
import textwrap

import pytest

torch = pytest.importorskip("torch")

from tests.python.spy.signatures import names_in  # noqa: E402
from tests.python.spy.watched import ATTENTIONS, MODEL  # noqa: E402
from tests.support import compiler, recording, warm  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(compiler.EXTENSION is None, reason="not built (make)"),
]

TRAIN = """\
import torch
from model import Model

torch.manual_seed(0)
model = Model()
for step in range(2):
    loss = model(torch.randn(3, 4)).sum()
print("done")
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "train.py").write_text(TRAIN)
    return tmp_path


def start(folder, *words, **variables):
    environment = {**recording.environment("off"), "PYTHONDONTWRITEBYTECODE": "1", **variables}
    words = ["-m", "monitorch", "run", *words]
    return recording.run_python(*words, python=warm.python(), folder=folder, env=environment)


def good(folder, *words, **variables):
    done = start(folder, *words, **variables)
    assert done.returncode == 0, done.stderr
    return done


def program(folder, source, name="train.py"):
    (folder / name).write_text(textwrap.dedent(source))


Q_FILES = sorted(f"{path}.q.call{n}.pt" for path in ATTENTIONS for n in range(2))


def test_into_spy_and_beside_a_trace(folder):
    done = good(folder, "--spy", "q", "train.py")
    assert done.stdout == "done\n"
    assert names_in(folder / "spy") == Q_FILES
    assert "6 values of q saved in spy\n" in done.stderr
    assert len(recording.read(folder / "run.mtrace").events) > 50
    assert (folder / "train.py").read_text() == TRAIN
    assert names_in(folder) == ["model.py", "run.mtrace", "spy", "train.py"]


def test_what_is_saved_is_what_the_program_made(folder):
    words = ["--spy", "q", "--spy", "loss,h", "--spy-to", "a/b"]
    good(folder, "-q", "--no-record", *words, "train.py")
    torch.manual_seed(0)
    names = {}
    exec(compile(MODEL, "model", "exec"), names)
    model = names["Model"]()
    x = torch.randn(3, 4)
    saved = pathlib.Path(folder, "a/b")

    def load(name):
        return torch.load(saved / f"{name}.pt", weights_only=True)

    assert torch.equal(load("encoder.0.q.call0"), model.encoder[0].proj(x))
    assert torch.equal(load("root.h.call0"), model.encoder(x))
    assert torch.equal(load("manual.loss.call0"), model(x).sum())
    assert len(names_in(saved)) == 6 + 2 + 2


def test_no_trace_and_no_word(folder):
    done = good(folder, "--no-record", "-q", "--spy", "attn*", "--spy-to", "out", "train.py")
    assert done.stderr == ""
    assert names_in(folder) == ["model.py", "out", "train.py"]
    assert len(names_in(folder / "out")) == 12


def test_only_what_is_selected(folder):
    good(folder, "--no-record", "--spy", "*", "--function", "scores", "train.py")
    found = {name.split(".call")[0] for name in names_in(folder / "spy")}
    names = ["q", "k", "attn_s", "return"]
    assert found == {f"{path}.{name}" for path in ATTENTIONS for name in names}


def test_nothing_to_save(folder):
    done = good(folder, "--no-record", "--spy", "nobody", "train.py")
    assert "nothing was saved in spy: no recorded line assigned a tensor to nobody" in done.stderr
    assert names_in(folder / "spy") == []


def test_a_folder_that_the_program_leaves(folder):
    (folder / "elsewhere").mkdir()
    program(folder, "import os\nos.chdir('elsewhere')\n" + TRAIN)
    good(folder, "--no-record", "--spy", "q", "train.py", PYTHONPATH=os.pathsep.join(
        [recording.environment("off")["PYTHONPATH"], str(folder)]
    ))
    assert names_in(folder / "spy") == Q_FILES and names_in(folder / "elsewhere") == []


def test_calls_by_hand_and_contexts_of_the_program(folder):
    program(
        folder,
        """
        import torch
        from model import Model
        from monitorch.spy import DebugContext, TensorSaver, spy_save

        model = Model()
        x = torch.ones(3, 4)
        model(x)
        spy_save("mine", x, model.head)
        spy_save("free", x)
        own = TensorSaver("own", names="k")
        with DebugContext(own, "inside"):
            model(x)
        model(x)
        """,
    )
    good(folder, "--no-record", "--spy", "q", "train.py")
    saved = names_in(folder / "spy")
    assert sorted([*Q_FILES, "head.mine.call0.pt", "manual.free.call0.pt"]) == saved
    assert names_in(folder / "own") == [f"inside.{path}.k.call0.pt" for path in ATTENTIONS]


def test_a_spy_save_before_any_recorded_line(folder):
    program(
        folder,
        """
        import torch
        from torch import nn
        from monitorch.spy import spy_save

        spy_save("weight", torch.ones(2), nn.Linear(2, 2))
        """,
    )
    good(folder, "--no-record", "--spy", "q", "train.py")
    assert names_in(folder / "spy") == ["root.weight.call0.pt"]


CONSTRUCTORS = """\
    import torch
    from torch import nn

    class Inner(nn.Module):
        def __init__(self):
            self.scale()
            super().__init__()
            self.fc = nn.Linear(4, 4)
            self.init()

        def scale(self):
            early = torch.ones(1)

        def init(self):
            w = torch.ones(4)

        def forward(self, x):
            h = self.fc(x)
            return h

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([Inner(), Inner()])
            self.reset()
            self.layers[1](torch.ones(4))

        def reset(self):
            w = torch.zeros(3)
            for layer in self.layers:
                layer.init()

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            h = x + 1
            return h

    class Teacher(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = Outer()

        def forward(self, x):
            h = self.net(x)
            return h

    model, teacher = Outer(), Teacher()
    print(model(torch.ones(2, 4)).shape, teacher(torch.ones(2, 4)).shape)
"""


def test_paths_do_not_depend_on_what_a_constructor_called(folder):
    program(folder, CONSTRUCTORS)
    good(folder, "--no-record", "--spy", "h,w,early", "train.py")
    saved = names_in(folder / "spy")
    models = ["layers.0", "layers.1", "root"]
    models += ["Teacher.net.layers.0", "Teacher.net.layers.1", "Teacher.net", "Teacher"]
    forwards = {f"{path}.h.call0.pt" for path in models}
    assert forwards <= set(saved)
    # Before it is known what will hold it, a module goes by its class, or its place in one.
    made = {name.rpartition(".call")[0] for name in saved if name not in forwards}
    assert made == {
        "Inner.early", "Inner.w", "Outer.w", "Outer.layers.0.w", "Outer.layers.1.w",
        "Outer.layers.1.h",
    }  # fmt: skip


def test_threads(folder):
    program(
        folder,
        """
        import threading, torch
        from model import Model

        model = Model()
        thread = threading.Thread(target=lambda: model(torch.ones(3, 4)))
        thread.start()
        thread.join()
        """,
    )
    good(folder, "--no-record", "--spy", "q", "train.py")
    assert names_in(folder / "spy") == [f"{path}.q.call0.pt" for path in ATTENTIONS]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_have_folders_of_their_own(folder, method):
    program(
        folder,
        f"""
        import multiprocessing, os, torch
        from model import Model

        def work(number):
            q = torch.full((2,), float(number))

        if __name__ == "__main__":
            work(1)
            context = multiprocessing.get_context({method!r})
            process = context.Process(target=work, args=(2,))
            process.start()
            process.join()
            assert process.exitcode == 0
            print(process.pid)
        """,
    )
    done = good(folder, "--no-record", "--spy", "q", "train.py")
    child = f"process-{done.stdout.strip()}"
    assert names_in(folder / "spy") == ["manual.q.call0.pt", child]
    assert names_in(folder / "spy" / child) == ["manual.q.call0.pt"]
    found = [
        torch.load(folder / "spy" / name, weights_only=True).tolist()
        for name in ("manual.q.call0.pt", f"{child}/manual.q.call0.pt")
    ]
    assert found == [[1, 1], [2, 2]] and "1 value of q saved" in done.stderr


def test_a_fork_that_saves_nothing_leaves_no_folder(folder):
    program(folder, "import os\nif os.fork() == 0:\n    os._exit(0)\nos.wait()\n" + TRAIN)
    good(folder, "--no-record", "--spy", "q", "train.py")
    assert names_in(folder / "spy") == Q_FILES


def test_ranks_have_folders_of_their_own(folder):
    good(folder, "--no-record", "--spy", "q", "train.py", RANK="1", WORLD_SIZE="2")
    assert names_in(folder / "spy") == ["rank1"]
    assert names_in(folder / "spy" / "rank1") == Q_FILES


@pytest.mark.slow
def test_torchrun(folder):
    good(folder, "--no-record", "--spy", "q", "-m", "torch.distributed.run",
         "--nproc-per-node", "2", "train.py")  # fmt: skip
    assert names_in(folder / "spy") == ["rank0", "rank1"]
    assert names_in(folder / "spy" / "rank0") == Q_FILES


def test_a_second_run_replaces_the_first(folder):
    for _ in range(2):
        good(folder, "--no-record", "--spy", "q", "train.py")
    assert names_in(folder / "spy") == Q_FILES


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--spy", "q,,k"], "--spy: names must be globs such as 'q,attn*'"),
        (["--spy"], "--spy: expected an argument after it"),
        (["--spy", ""], "--spy: expected an argument, got nothing"),
        (["--spy-to", "here"], "--spy-to here: --spy says which tensors"),
    ],
)
def test_wrong_usage(folder, words, text):
    done = start(folder, *words, *(["train.py"] if len(words) > 1 else []))
    assert done.returncode == 2 and text in done.stderr and done.stdout == ""


def test_a_folder_that_cannot_be_made(folder):
    done = start(folder, "--spy", "q", "--spy-to", "train.py/spy", "train.py")
    assert done.returncode == 3 and "train.py/spy: Not a directory" in done.stderr
