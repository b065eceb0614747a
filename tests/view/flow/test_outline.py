"""`monitorch graph` of more than a screen: one step, deep calls as one box each; ways through calls
that a filter leaves out."""

import html
import pathlib
import re

import pytest

from tests.support import compiler, dot, png, recording, svg, viewer, warm

pytestmark = pytest.mark.skipif(compiler.EXTENSION is None, reason="not built (make)")
PROGRAM = pathlib.Path(__file__).parent / "gpt_training.py"

#: In pixels: one and a half screens of 1,280 x 800.
WIDTH, HEIGHT = 1280, 1200


def graph(trace, path, *words):
    return viewer.run("graph", trace, "-o", path, *words)


# ---- a training ----


def record(folder, *words):
    pytest.importorskip("torch")
    trace = folder / "run.mtrace"
    done = recording.run_python(
        "-m", "monitorch", "run", "-q", "-o", trace, PROGRAM, *words,
        python=warm.python(), folder=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return trace


@pytest.fixture(scope="module")
def training(tmp_path_factory):
    return record(tmp_path_factory.mktemp("training"), "20")


def texts(path):
    return " ".join(text.value for text in svg.read(path.read_bytes()).all_texts())


@pytest.mark.torch
def test_a_training_fits_on_a_screen_and_a_half(training, tmp_path):
    path = tmp_path / "a.png"
    done = graph(training, path)
    assert done.returncode == 0
    assert "this is step 1 of 40" in done.stderr and "--step N" in done.stderr
    height, width = png.read(path.read_bytes()).shape[:2]
    assert width <= WIDTH and height <= HEIGHT


@pytest.mark.torch
def test_what_is_drawn_of_it(training, tmp_path):
    path = tmp_path / "a.svg"
    assert graph(training, path, "-q").stderr == ""
    told = texts(path)
    assert "step 1 of 40: a call of GPT" in told and "--step N" in told
    assert "5 calls are one box each" in told
    # The model's own lines, and its blocks as one box with its shapes, its paths and how many.
    for word in ("tok_emb", "loss", "LayerNorm", "Block", "× 4", "h.0 … h.3, 27 values inside"):
        assert word in told, word
    assert re.search(r"float32 \[4, 16, 32\] → +float32 \[4, 16, 32\]", told)
    for word in ("c_attn", "__init__", "get_lr", "estimate_loss"):
        assert word not in told, word


@pytest.mark.torch
@pytest.mark.parametrize("step", [1, 2, 39, 40])
def test_a_step_is_a_turn_of_the_loop(training, tmp_path, step):
    path = tmp_path / "a.svg"
    assert graph(training, path, "--step", step).returncode == 0
    told = texts(path)
    assert f"step {step} of 40: a turn of the loop that calls GPT" in told
    assert "get_batch(…)" in told and "loss = loss / 2" in told


@pytest.mark.torch
def test_steps_and_depths_that_are_given(training, tmp_path):
    described = {}
    for depth in ("0", "1", "2", "all"):
        path = tmp_path / "a.dot"
        done = graph(training, path, "--step=3", "--depth", depth)
        assert (done.returncode, done.stderr) == (0, "")
        described[depth] = dot.read(path.read_text())
    counts = [len(graph.nodes) for graph in described.values()]
    assert counts == sorted(counts) and counts[0] < 12 < counts[1] < 40 < counts[3]
    done = graph(training, tmp_path / "b.svg", "--step=41")
    assert done.returncode == 2 and "--step 41: the trace has 40 steps" in done.stderr
    for words in (["--step=0"], ["--step=x"], ["--depth=-1"], ["--depth=x"]):
        assert graph(training, tmp_path / "b.svg", *words).returncode == 2
    assert not (tmp_path / "b.svg").exists()


@pytest.mark.torch
def test_explicit_options_draw_as_before(training, tmp_path):
    path = tmp_path / "a.svg"
    for words in (["--function=*Attention.forward"], ["--fold=all"], ["--max-nodes=0"]):
        done = graph(training, path, *words)
        assert (done.returncode, done.stderr) == (0, ""), words
        assert "step 1" not in texts(path)
    assert len(svg.read(path.read_bytes()).find("node")) > 300


@pytest.mark.torch
def test_the_first_step_with_a_nan_is_drawn(tmp_path):
    trace = record(tmp_path, "4", "2")
    path = tmp_path / "a.svg"
    assert "this is step 5 of 8" in graph(trace, path).stderr
    assert "NaN" in texts(path)
    described = dot.read(viewer.run("graph", trace, "-o", "-", "--format=dot", "--step=5", "--depth=1").stdout)
    labels = [attributes["label"] for _, attributes in described.nodes.values()]
    assert any("<b>Block</b>" in label and "NaN" in label for label in labels)


# ---- ways through calls that are left out ----


def name_of(attributes):
    return html.unescape(re.search(r"<b>(.*?)</b>", attributes["label"]).group(1))


def edges(tmp_path, source, *words):
    """{(name, name)} of a picture of what is left of the program."""
    trace = tmp_path / "run.mtrace"
    recording.trace_of(source, trace)
    done = viewer.run("graph", trace, "-o", "-", "--format=dot", *words)
    assert done.returncode == 0, done.stderr
    found = dot.read(done.stdout)
    names = {key: name_of(attributes) for key, (_, attributes) in found.nodes.items()}
    return {(names[source], names[target]) for source, target, _ in found.edges}


PRELUDE = """
    import numpy as np
    def g(z):
        w = z * 2
        return w
    def h(z):
        v = g(z) + 1
        return v
    class A:
        def act(self, z):
            return z - 1
"""
WAYS = {
    "one": ("b = g(a)\n", {("a", "g(…)"), ("g(…)", "b")}),
    "deep": ("b = h(a)\n", {("a", "h(…)"), ("h(…)", "b")}),
    "nested": ("b = h(g(a))\n", {("a", "g(…)"), ("g(…)", "h(…)"), ("h(…)", "b")}),
    "method": ("b = A().act(a)\n", {("a", "A.act(…)"), ("A.act(…)", "b")}),
    "in an expression": ("b = g(a) + x\n", {("a", "g(…)"), ("g(…)", "b"), ("x", "b")}),
    "twice": ("b = g(a)\n        c = g(b)\n", {("a", "g(…)"), ("g(…)", "b"), ("b", "g(…)"), ("g(…)", "c")}),
    "in a loop": ("for i in range(3):\n            a = g(a)\n", {("a", "g(…)"), ("g(…)", "a")}),
    "nothing comes out": ("g(a)\n        b = x\n", {("x", "b")}),
    "nothing goes in": ("b = g(np.ones(3))\n", {("return", "b"), ("x", "a")}),
}


@pytest.mark.parametrize("name", WAYS)
def test_a_way_leads_through_a_function_that_is_left_out(tmp_path, name):
    body, wanted = WAYS[name]
    source = PRELUDE + f"    def f(x):\n        a = x + 1\n        {body}\n    f(np.ones(3))\n"
    found = edges(tmp_path, source, "--function=f")
    assert wanted <= found
    assert not {edge for edge in found if "w" in edge or "z" in edge or "v" in edge}
    if name.startswith("nothing"):
        assert not any("g(…)" in edge for edge in found)


# ---- what makes a picture small ----

LOOP = """import torch

def cell(x, h):
    h = torch.tanh(x + h)
    return h

def run(xs):
    h = torch.zeros(3)
    outs = []
    for x in xs:
        h = cell(x, h)
        outs.append(h)
    y = torch.stack(outs)
    return y

y = run(torch.ones(50, 3))
z = y
"""


@pytest.fixture(scope="module")
def loop(tmp_path_factory):
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("loop")
    (folder / "loop.py").write_text(LOOP)
    return record_program(folder, "loop.py")


def record_program(folder, name):
    trace = folder / "run.mtrace"
    done = recording.run_python(
        "-m", "monitorch", "run", "-q", "-o", trace, name, python=warm.python(), folder=folder
    )
    assert done.returncode == 0, done.stderr
    return trace


@pytest.mark.torch
def test_a_list_that_a_loop_fills_is_one_box(loop, tmp_path):
    path = tmp_path / "a.svg"
    assert graph(loop, path, "-q").returncode == 0
    shown = texts(path)
    assert "outs[0] … outs[49]" in shown and "outs[1]" not in shown
    assert "× 50" in shown


@pytest.mark.torch
def test_tables(loop, tmp_path):
    sizes = {}
    for tables in ("none", "ends", "all"):
        path = tmp_path / f"{tables}.svg"
        done = graph(loop, path, "-q", "--tables", tables, "--step", "all", "--depth", "all")
        assert done.returncode == 0, done.stderr
        sizes[tables] = path.stat().st_size
    assert sizes["none"] < sizes["ends"] < sizes["all"]
    done = graph(loop, tmp_path / "x.svg", "--tables", "some")
    assert done.returncode == 2 and "none, ends or all" in done.stderr


@pytest.mark.torch
def test_the_beginning_and_the_end_are_kept(loop, tmp_path):
    path = tmp_path / "a.svg"
    done = graph(loop, path, "--max-nodes", "4", "--fold", "none")
    assert done.returncode == 0, done.stderr
    shown = texts(path)
    assert "in the middle are not shown (--max-nodes 0 shows them)" in shown
    names = re.findall(r'<g class="node[^"]*"><title>(\S+)', path.read_text())
    assert len(names) == 4 and names[-1] == "z", names


NAN = """import torch

def work(x):
    a = x * 2
    b = torch.log(a - 3)
    c = b + 1
    return c

y = work(torch.ones(3))
"""


@pytest.mark.torch
def test_the_first_nan_is_marked(tmp_path):
    (tmp_path / "nan.py").write_text(NAN)
    trace = record_program(tmp_path, "nan.py")
    path = tmp_path / "a.svg"
    assert graph(trace, path, "-q").returncode == 0
    titles = html.unescape(path.read_text())
    assert re.search(r"<title>b  line 5  ! first NaN", titles)
    assert re.search(r"<title>c  line 6  → passed on", titles)
    assert not re.search(r"<title>a  line 4  [!→]", titles)
    assert "! first NaN: no recorded input has one" in texts(path)


@pytest.mark.torch
def test_the_value_of_a_loss_is_in_its_box(training, tmp_path):
    """Where no table shows it: the only element is behind the shape."""
    path = tmp_path / "a.svg"
    assert graph(training, path, "-q", "--tables", "none", "--step", 2).returncode == 0
    assert re.search(r"float32 \[\] +grad += [24]\.\d", texts(path))


# ---- a training with gradients ----

TRAINER = """
import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(4, 8)
        self.down = nn.Linear(8, 1)

    def forward(self, x):
        hidden = F.relu(self.up(x))
        return self.down(hidden)


def main(steps, micros, broken):
    torch.manual_seed(0)
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = 0.25
        for micro in range(micros):
            x = torch.rand(6, 4)
            if step == broken:
                x = x * 1e30
            loss = net(x).square().mean()
            loss.backward()
        norm = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    import sys

    main(*map(int, sys.argv[1:]))
"""


def train(folder, *words):
    pytest.importorskip("torch")
    (folder / "trainer.py").write_text(TRAINER)
    trace = folder / "run.mtrace"
    done = recording.run_python(
        "-m", "monitorch", "run", "-q", "--backward", "-o", trace, folder / "trainer.py", *words,
        python=warm.python(), folder=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return trace


def arrows(trace, folder, *words):
    """The arrows of a step: pairs of names."""
    path = folder / "a.svg"
    assert graph(trace, path, "-q", *words).returncode == 0
    titles = re.findall(r'class="edge[^"]*"[^>]*><title>([^<]*)</title>', path.read_text())
    return [tuple(html.unescape(title).split(" × ")[0].split(" → ")) for title in titles]


@pytest.mark.torch
def test_the_backward_and_the_optimizer_are_boxes(tmp_path):
    trace = train(tmp_path, 4, 1, -1)
    found = arrows(trace, tmp_path, "--step", 3)
    for edge in (
        ("loss", "backward"),
        ("backward", "clip_grad_norm_"),
        ("clip_grad_norm_", "SGD.step"),
        ("clip_grad_norm_", "norm"),
    ):
        assert edge in found, (edge, found)
    told = texts(tmp_path / "a.svg")
    assert "4 parameters changed, learning rate 0.25" in told
    assert "4 of parameters" in told and "gradient  " in told
    assert "group['params']" not in told  # items that nothing is made of
    height, width = (float(re.search(rf'{side}="([\d.]+)pt"', (tmp_path / "a.svg").read_text())[1]) / 0.75
                     for side in ("height", "width"))  # fmt: skip
    assert width <= WIDTH and height <= HEIGHT


@pytest.mark.torch
def test_gradients_of_several_backwards_add_up(tmp_path):
    found = arrows(train(tmp_path, 2, 2, -1), tmp_path, "--step", 2)
    assert found.count(("backward", "backward")) == 1
    assert "2 of 2: a turn" in texts(tmp_path / "a.svg")


@pytest.mark.torch
def test_a_backward_that_makes_a_nan_is_marked(tmp_path):
    trace = train(tmp_path, 4, 1, 2)
    path = tmp_path / "a.svg"
    assert graph(trace, path, "-q").returncode == 0
    told = texts(path)
    assert "step 3 of 4" in told  # the first that is not finite
    assert "with NaN or Inf" in told


@pytest.mark.torch
def test_without_gradients_there_are_no_such_boxes(training, tmp_path):
    path = tmp_path / "a.svg"
    assert graph(training, path, "-q", "--step", 2).returncode == 0
    assert "backward" not in texts(path) and "gradient" not in texts(path)


@pytest.mark.torch
def test_a_filter_draws_what_it_chooses_alone(tmp_path):
    trace = train(tmp_path, 2, 1, -1)
    path = tmp_path / "a.svg"
    assert graph(trace, path, "-q", "--function", "Net.*").returncode == 0
    assert "SGD.step" not in texts(path)


# ---- six models and a training ----


@pytest.mark.torch
@pytest.mark.parametrize("name", ["llama", "resnet", "unet", "lstm", "moe", "gan", "nanogpt"])
def test_any_model_fits_on_a_screen_and_a_half(tmp_path, name):
    pytest.importorskip("torch")
    words = ["--backward"] if name in ("gan", "nanogpt") else []
    program = [PROGRAM, 3] if name == "nanogpt" else [PROGRAM.with_name("models.py"), name]
    done = recording.run_python(
        "-m", "monitorch", "run", "-q", *words, "-o", tmp_path / "run.mtrace", *map(str, program),
        python=warm.python(), folder=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    path = tmp_path / "a.svg"
    assert graph(tmp_path / "run.mtrace", path, "-q").returncode == 0
    text = path.read_text()
    width, height = (float(re.search(rf'{side}="([\d.]+)pt"', text)[1]) / 0.75 for side in ("width", "height"))
    assert width <= WIDTH + 0.1 and height <= HEIGHT + 0.1
    assert text.count('class="node"') >= 6
    assert ("backward" in texts(path)) == bool(words)
