"""The first system's Quick Start, word for word, as `python quick.py`."""

import re

import pytest

from tests.support import dot, paths, png, recording

pytest.importorskip("torch")

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(
        not (list(paths.PACKAGE.glob("_view*.so")) and list(paths.PACKAGE.glob("_follow/follow.py"))),
        reason="what draws and what follows is not built (make)",
    ),
]

NOTEBOOK = """\
import torch
import monitorch

monitorch.on(show=True, save=False)

x = torch.randn(8, 8)
w = torch.randn(8, 8)
y = x @ w
z = torch.relu(y)

monitorch.off()
"""

LINES = """\
import torch
import monitorch

monitorch.lines(10, 40)  # only monitor these lines in this file
monitorch.on(show=False, save=True, save_dir="monitorch_outputs")

a = torch.randn(16, 16)
b = a.softmax(dim=-1)
c = b[:, :8]

monitorch.off(filename="block.png")
"""

ARGUMENTS = """\
import torch
import monitorch

def block(x, scale: float, bias):
    y = x * scale
    return y + bias

monitorch.args(scale=0.5, bias=torch.ones(8, 8))
monitorch.on(show=False, save=True)
out = monitorch.run(block, x=torch.randn(8, 8))
monitorch.off(filename="inferred.png")
"""


def run(folder, source):
    """What `python quick.py` says, and the pictures that it saves."""
    (folder / "quick.py").write_text(source)
    (folder / "temporary").mkdir()
    environment = recording.environment("off")
    environment["TMPDIR"] = str(folder / "temporary")
    done = recording.run_file(folder, "quick.py", env=environment)
    assert done.returncode == 0 and done.stdout == "", done.stderr
    saved = sorted((folder / "monitorch_outputs").glob("*"))
    assert all(path.read_bytes().startswith(png.SIGNATURE) for path in saved if path.suffix == ".png")
    return done.stderr, saved


def arrows(path):
    graph = dot.read(path.read_text())
    names = {
        node: re.search("<b>(.*?)</b>", attributes["label"])[1]
        for node, (_, attributes) in graph.nodes.items()
    }
    return {f"{names[source]} {names[target]}" for source, target, _ in graph.edges}


def test_notebook_style(tmp_path):
    """There is nothing to show it in: a line says where it is."""
    said, saved = run(tmp_path, NOTEBOOK)
    told = re.fullmatch(r"monitorch: the picture is in (.*\.png)\n", said)
    assert told and saved == []
    with open(told[1], "rb") as file:
        assert file.read(8) == png.SIGNATURE


def test_script_style(tmp_path):
    """Below six lines of another text, the lines are those that are meant."""
    said, saved = run(tmp_path, "#\n" * 6 + LINES)
    assert said == "" and [path.name for path in saved] == ["block.png"]


def test_script_style_alone(tmp_path):
    """As it stands it is over before line 10."""
    said, saved = run(tmp_path, LINES)
    assert saved == []
    assert "lines 10-40 of quick.py assigned no tensor" in said


def test_inferred_arguments(tmp_path):
    said, saved = run(tmp_path, ARGUMENTS)
    assert said == "" and [path.name for path in saved] == ["inferred.png"]


def test_all_three_in_one_file(tmp_path):
    said, saved = run(tmp_path, "\n".join((NOTEBOOK, LINES, ARGUMENTS)))
    assert "the picture is in" in said
    assert [path.name for path in saved] == ["block.png", "inferred.png"]


def test_arrows(tmp_path):
    source = "\n".join((NOTEBOOK, LINES, ARGUMENTS))
    source = source.replace("off()", "off(filename='flow.dot')").replace(".png", ".dot")
    _, saved = run(tmp_path, source)
    assert {path.stem: arrows(path) for path in saved} == {
        "flow": {"x y", "w y", "y z"},
        "block": {"a b", "b c"},
        "inferred": {"x y", "y return", "bias return", "return out"},
    }
