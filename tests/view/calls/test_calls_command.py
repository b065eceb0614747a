"""`monitorch calls`: the tree, its pictures, messages and exit codes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess

import pytest

from tests.support import dot, png, svg, viewer
from tests.trace.made import Trace, tensor

PATHS = """\
embed
encoder.layers.0.attn.q
encoder.layers.0.mlp
encoder.layers.0
encoder.layers.1.attn.q
encoder.layers.1.mlp
encoder.layers.1
head\t[2, 8] -> [2, 4]
head
root
"""


def calls(*words, **options):
    return viewer.run("calls", *words, encoding=None, **options)


def told(run):
    return run.stderr.decode()


@pytest.fixture
def paths(tmp_path):
    path = tmp_path / "call_trace.txt"
    path.write_text(PATHS)
    return path


def printed(*words):
    run = calls(*words)
    assert (told(run), run.returncode) == ("", 0)
    return run.stdout.decode()


def draw(tmp_path, *words, suffix="svg"):
    path = tmp_path / f"out.{suffix}"
    assert printed(*words, "-o", path) == ""
    return path.read_bytes()


# ---- what is printed ----

TREE = """\
root
├── embed
├── encoder
│   └── layers x 2
│       ├── attn
│       │   └── q  2 calls
│       └── mlp  2 calls
└── head  2 calls  [2, 8] -> [2, 4]
"""


def test_tree(paths):
    assert printed(paths) == TREE


def test_tree_without_leaves(paths):
    wanted = "root\n├── embed\n├── encoder\n│   └── layers x 2\n│       └── attn\n└── head"
    assert printed(paths, "--prune-leaves", "--no-shapes") == wanted + "  2 calls\n"


def test_tree_without_repetition(paths):
    text = printed(paths, "--no-show-repetition", "--no-shapes")
    assert " x " not in text and "calls" not in text and "layers\n" in text


def test_tree_of_one_top_has_no_root(tmp_path):
    (tmp_path / "t.txt").write_text("net.a\nnet.b")
    assert printed(tmp_path / "t.txt") == "net\n├── a\n└── b\n"


def test_colour(paths):
    painted = printed(paths, "--color=always")
    assert "\033[" in painted and re.sub("\033\\[[0-9;]*m", "", painted) == TREE


def test_names_that_a_terminal_would_obey(tmp_path):
    (tmp_path / "t.txt").write_bytes(b"a.\x1b[31m\xff.b\n")
    text = printed(tmp_path / "t.txt", "--no-prune-leaves")
    assert "\x1b" not in text and len(text.splitlines()) == 3


# ---- pictures and files ----


def labels(data):
    return sorted(a["label"] for _, a in dot.read(data.decode()).nodes.values())


def test_pictures_without_leaves(paths, tmp_path):
    wanted = ["attn", "embed", "encoder", "head\\n[2, 8] -> [2, 4]", "layers x 2", "root"]
    assert labels(draw(tmp_path, paths, "--prune-leaves", suffix="dot")) == wanted
    assert len(svg.read(draw(tmp_path, paths, "--prune-leaves")).find("node")) == len(wanted)


def test_pictures_have_leaves_by_default(paths, tmp_path):
    assert labels(draw(tmp_path, paths, suffix="dot")) == labels(
        draw(tmp_path, paths, "--no-prune-leaves", suffix="dot")
    )
    assert {"q", "mlp"} <= {text.value for text in svg.read(draw(tmp_path, paths)).all_texts()}


def test_formats(paths, tmp_path):
    picture = svg.read(draw(tmp_path, paths, "--no-prune-leaves"))
    texts = {text.value for text in picture.all_texts()}
    assert {"encoder", "layers", "× 2", "q", "mlp", "call_trace.txt", "10 calls"} <= texts
    pixels = png.read(draw(tmp_path, paths, "--no-prune-leaves", suffix="png"))
    assert abs(pixels.shape[1] - picture.width * 150 / 72) < 2
    assert len({tuple(pixel) for pixel in pixels[::7, ::7].reshape(-1, 3).tolist()}) > 4
    assert draw(tmp_path, paths, suffix="pdf").startswith(b"%PDF-1.")


def test_json(paths, tmp_path):
    tree = json.loads(draw(tmp_path, paths, suffix="json"))
    assert (tree["name"], tree["count"]) == ("root", 10)
    encoder = tree["children"][1]
    layers = encoder["children"][0]
    assert list(layers) == ["name", "count", "indices", "children"]
    assert (layers["name"], layers["count"], layers["indices"]) == ("layers", 6, [0, 1])
    printed(paths, "--save-json", tmp_path / "saved.json")
    assert json.loads((tmp_path / "saved.json").read_text()) == tree


def test_squash_name(tmp_path):
    (tmp_path / "t.txt").write_text("a.norm.x\nb.norm.x\nb.out.x\n")
    squashed = draw(tmp_path, tmp_path / "t.txt", "--squash-name", "--prune-leaves", suffix="dot")
    assert labels(squashed) == ["a", "b", "norm", "out", "root"]
    assert len(dot.read(squashed.decode()).edges) == 5


@pytest.mark.parametrize("suffix", ["png", "svg", "dot", "json"])
def test_standard_output(paths, tmp_path, suffix):
    whole = draw(tmp_path, paths, suffix=suffix)
    assert calls(paths, "-o", "-", "--format", suffix).stdout == whole


def test_sizes(paths, tmp_path):
    words = (paths, "--figwidth", 8, "--figheight", 5, "--dpi", 100)
    assert png.read(draw(tmp_path, *words, suffix="png")).shape[:2] == (500, 800)
    described = dot.read(draw(tmp_path, *words, suffix="dot").decode()).attributes
    assert (described["size"], described["ratio"], described["dpi"]) == ("8,5!", "fill", "100")
    alone = png.read(draw(tmp_path, paths, "--figwidth", 6, "--dpi", 100, suffix="png"))
    assert alone.shape[1] == 600


def test_theme_and_title(paths, tmp_path):
    words = (paths, "--theme", "dark", "--title", "a <net>")
    assert png.read(draw(tmp_path, *words, suffix="png"))[0, 0].max() < 60
    texts = {text.value for text in svg.read(draw(tmp_path, *words)).all_texts()}
    assert "a <net>" in texts


def test_verbose(paths, tmp_path):
    run = calls(paths, "-o", tmp_path / "out.svg", "--verbose", "--prune-leaves")
    assert run.returncode == 0
    assert "10 calls of 8 modules" in told(run) and "6 nodes" in told(run)


@pytest.mark.skipif(not shutil.which("dot"), reason="there is no graphviz")
@pytest.mark.parametrize(
    "words", [[], ["--no-prune-leaves"], ["--squash-name", "--figwidth", "8", "--figheight", "5"]]
)
def test_graphviz_draws_the_dot_text(tmp_path, words):
    (tmp_path / "t.txt").write_text(PATHS + 'a"b.\\c.<d>.x\nnode.graph.é\tb"\\ -> c\n')
    text = draw(tmp_path, tmp_path / "t.txt", *words, suffix="dot")
    done = subprocess.run(["dot", "-Tsvg"], input=text, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    read = dot.read(text.decode())
    assert done.stdout.count(b'class="node"') == len(read.nodes) > 4
    assert done.stdout.count(b'class="edge"') == len(read.edges) > 3
    assert b"layers x 2" in done.stdout and b"&lt;d&gt;" in done.stdout


# ---- traces ----


def recorded(kill=False, **options):
    """net (root) calls layers.0 and layers.1; layers.0 calls a helper of its own."""
    trace = Trace(**options)
    functions = [("<module>", 1), ("Net.forward", 2), ("Block.forward", 9), ("Block.help", 20)]
    sites = [("enter", 2, 1, "x"), ("enter", 9, 2, "x"), ("return", 12, 2, ""), ("enter", 20, 3)]
    sites.append(("return", 5, 1, ""))
    trace.module("m.py", functions, sites)
    root = trace.call(1, path="", **{"class": "m.Net"})
    trace.event(0, root, tensor((2, 8), min=0, max=1, mean=0.5, std=0))
    for number in range(2):
        block = trace.call(2, root, path=f"layers.{number}", **{"class": "m.Block"})
        trace.event(1, block, tensor((2, 8), min=0, max=1, mean=0.5, std=0))
        trace.ended(trace.call(3, block, path=f"layers.{number}", **{"class": "m.Block"}))
        base = trace.call(2, block, path=f"layers.{number}", **{"class": "m.Block"})
        trace.ended(base)
        trace.event(2, block, tensor((2, 4), min=0, max=1, mean=0.5, std=0))
        trace.ended(block)
    if kill:
        trace.kill()
    return trace


def test_trace(tmp_path):
    """A module's other methods and its base class's forward are no calls of their own."""
    path = recorded().write(tmp_path / "run.mtrace")
    assert printed(path) == "root  [2, 8]\n└── layers x 2  [2, 8] -> [2, 4]\n"
    assert json.loads(draw(tmp_path, path, suffix="json"))["count"] == 3


def test_trace_without_modules(tmp_path):
    trace = Trace()
    trace.module("m.py", [("<module>", 1), ("f", 2)], [("assign", 3, 1, "x")])
    trace.event(0, trace.call(1), tensor((2,), min=0, max=1, mean=0.5, std=0))
    run = calls(trace.write(tmp_path / "run.mtrace"))
    assert (run.returncode, run.stdout) == (1, b"") and "of an nn.Module" in told(run)


def test_trace_that_was_not_finished(tmp_path):
    path = recorded(kill=True).write(tmp_path / "run.mtrace")
    run = calls(path)
    assert (run.returncode, run.stdout.count(b"\n")) == (0, 2)
    assert "the recording is unfinished" in told(run) and "were shown" in told(run)
    assert told(calls(path, "-q")) == ""


def test_trace_that_lost_events(tmp_path):
    trace = recorded(size_limit=1 << 18)
    trace.repeat(20000)
    trace.event(0, 1, tensor((2, 8), min=0, max=1, mean=0.5, std=0))
    trace.again()
    run = calls(trace.write(tmp_path / "run.mtrace"))
    assert run.returncode == 0 and "remark: the last " in told(run)


def test_cut_trace(tmp_path):
    path = recorded().write(tmp_path / "run.mtrace")
    data = path.read_bytes()
    path.write_bytes(data[: len(data) - 900])
    run = calls(path)
    assert run.returncode == 3 and str(path) in told(run)


# ---- messages ----


@pytest.mark.parametrize("text", [b"", b"\n \n"])
def test_empty_list(tmp_path, text):
    (tmp_path / "t.txt").write_bytes(text)
    run = calls(tmp_path / "t.txt", "-o", tmp_path / "out.png")
    assert run.returncode == 1 and "has no paths" in told(run)
    assert os.listdir(tmp_path) == ["t.txt"]


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n\0\0", b"PK\x03\x04\0\0\0"])
def test_other_files(tmp_path, data):
    (tmp_path / "t").write_bytes(data)
    run = calls(tmp_path / "t")
    assert run.returncode == 3 and "neither a trace nor a list of module paths" in told(run)


def test_missing_file(tmp_path):
    run = calls(tmp_path / "none.txt")
    assert run.returncode == 3 and "none.txt" in told(run)


@pytest.mark.parametrize(
    "words, message",
    [
        ([], "no trace"),
        (["t", "u"], "expected one trace"),
        (["t", "-o", "out.gif"], "must end in"),
        (["t", "-o", "-"], "expected --format too"),
        (["t", "--format", "svg"], "add -o FILE"),
        (["t", "-o", "a.svg", "--dpi", "100"], "--dpi is for png and dot"),
        (["t", "--squash-name"], "--squash-name is for a picture"),
        (["t", "-o", "a.json", "--figwidth", "3"], "are for a picture or dot"),
        (["t", "-o", "a.dot", "--title", "x"], "are for png, svg and pdf"),
        (["t", "-o", "a.png", "--dpi", "5"], "10 to 2400"),
        (["t", "-o", "a.png", "--figwidth", "0"], "0.1 to 1000"),
        (["t", "--save-json", "-"], "expected a file"),
        (["t", "--theme", "blue", "-o", "a.svg"], "light or dark"),
        (["t", "--leaves"], "--leaves"),
    ],
)
def test_wrong_usage(words, message):
    run = calls(*words)
    assert run.returncode == 2 and message in told(run), told(run)


def test_full_disk(paths):
    run = calls(paths, "-o", "/dev/full", "--format", "svg")
    assert run.returncode == 3 and "/dev/full" in told(run)
