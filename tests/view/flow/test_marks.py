"""What differs between two runs, seen on the picture of the second: colours, words, folding."""

import re
import textwrap

import pytest

from tests.support import dot, paths, png, recording, svg, viewer
from tests.view.diff.test_diff_picture import diff, pair

EQUAL, INHERITED, ONLY, OWN = "= equal", "≠ inherited", "+ only in B", "≠ differs here"
MARKS = (EQUAL, INHERITED, ONLY, OWN)

PROGRAM = """
import numpy as np

def scale(x, by):
    small = x * 0.5
    return small * by

x = np.arange(12.0).reshape(3, 4)
w = np.ones((4, 4))
y = scale(x, 2)
z = y @ w
still = w + 1
"""
LOOP = """
import numpy as np

total = np.zeros(3)
for turn in range(9):
    step = np.full(3, turn / 2)
    total = total + step
"""


@pytest.fixture(scope="module")
def scaled(tmp_path_factory):
    """`scale` gives another result in B."""
    folder = tmp_path_factory.mktemp("scaled")
    return pair(folder, PROGRAM, PROGRAM.replace("small * by", "small * by + 1"))


@pytest.fixture(scope="module")
def looped(tmp_path_factory):
    """In the fifth turn alone another value is made in B."""
    folder = tmp_path_factory.mktemp("looped")
    other = LOOP.replace("turn / 2)", "turn / 2 if turn != 4 else 7)")
    return pair(folder, LOOP, other)


def draw(folder, traces, *words, suffix="svg"):
    path = folder / f"out.{suffix}"
    run = diff(*traces, "-o", path, *words)
    assert run.returncode == 1 and run.stderr == ""
    return path.read_bytes()


def marks(picture):
    """The mark of each box, by the box's title."""
    found = {}
    for node in picture.find("node"):
        texts = [text.value for text in node.all_texts()]
        told = [mark for mark in MARKS if mark in texts]
        assert len(told) == 1, texts
        found[re.split(r"  [=≠+]", node.title)[0]] = told[0]
    return found


def test_each_box_has_its_mark(scaled, tmp_path):
    picture = svg.read(draw(tmp_path, scaled))
    assert marks(picture) == {
        "x  line 8": EQUAL,
        "w  line 9": EQUAL,
        "x  line 4": EQUAL,
        "small  line 5": EQUAL,
        "return  line 6": OWN,
        "y  line 10": INHERITED,
        "z  line 11": INHERITED,
        "still  line 12": EQUAL,
    }
    assert svg.faults(picture) == []


def test_what_differs_is_told_in_the_box(scaled, tmp_path):
    picture = svg.read(draw(tmp_path, scaled))
    own = next(n for n in picture.find("node") if n.title.startswith("return"))
    assert re.fullmatch(r"return  line 6  ≠ differs here: values at \[.*", own.title)
    told = " ".join(text.value for text in own.all_texts())
    assert own.title.split(": ", 1)[1] in told


def test_equal_boxes_are_small(scaled, tmp_path):
    picture = svg.read(draw(tmp_path, scaled))
    texts = {n.title.split()[0]: [t.value for t in n.all_texts()] for n in picture.find("node")}
    assert "mean" not in texts["still"] and "mean" in texts["return"] and "mean" in texts["z"]


def test_the_head_tells_the_verdict(scaled, tmp_path):
    head = svg.read(draw(tmp_path, scaled)).find("head")[0]
    texts = [text.value for text in head.texts]
    assert re.search(r"program\.py:6: first divergence: return: values at ", " ".join(texts[:3]))
    counts = re.compile(r"\d+ events in both: .*1 own difference, 2 inherited")
    assert any(counts.fullmatch(text) for text in texts)
    for name, trace in zip("AB", scaled):
        assert any(t.startswith(f"{name}: ") and trace.name in t for t in texts)


def test_the_legend_has_what_occurs(scaled, tmp_path):
    legend = [t.value for t in svg.read(draw(tmp_path, scaled)).find("legend")[0].texts]
    assert [t for t in legend if t[0] in "=≠+!→"] == [
        "≠ differs here: its inputs are equal",
        "≠ inherited: its inputs differ",
        "= equal in both traces",
    ]
    assert "passes the difference on" in legend
    same = diff(scaled[0], scaled[0], "-o", tmp_path / "same.svg")
    assert same.returncode == 0
    picture = svg.read((tmp_path / "same.svg").read_bytes())
    legend = [t.value for t in picture.find("legend")[0].texts]
    assert [t for t in legend if t[0] in "=≠+!→"] == ["= equal in both traces"]
    assert "passes the difference on" not in legend


def test_a_trace_alone_has_no_marks(scaled, tmp_path):
    path = tmp_path / "plain.svg"
    viewer.run("graph", scaled[1], "-o", path, check=True)
    texts = " ".join(text.value for text in svg.read(path.read_bytes()).all_texts())
    assert not any(mark in texts for mark in MARKS) and "difference" not in texts


def test_the_turn_that_differs_stands_alone(looped, tmp_path):
    picture = svg.read(draw(tmp_path, looped))
    boxes = [[text.value for text in node.all_texts()] for node in picture.find("node")]
    steps = [box for box in boxes if box[0] == "step"]
    totals = [box for box in boxes if box[0] == "total"]
    assert sum(OWN in box for box in steps) == 1 and len(steps) > 1
    assert not any(OWN in box for box in totals)
    assert sum(INHERITED in box for box in totals) >= 1
    own = next(box for box in steps if OWN in box)
    assert not any(text.startswith("×") for text in own)
    assert svg.faults(picture) == []


LOUD = {"light": (0xC8, 0x10, 0x2E), "dark": (0xFF, 0x5C, 0x6C)}
AMBER = {"light": (0xA8, 0x5D, 0x00), "dark": (0xF2, 0xB0, 0x4A)}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours(scaled, tmp_path, theme):
    pixels = png.read(draw(tmp_path, scaled, "--theme", theme, suffix="png")).reshape(-1, 3)
    for color in (LOUD[theme], AMBER[theme]):
        assert (abs(pixels.astype(int) - color).max(axis=1) <= 2).sum() > 300
    loud = (abs(pixels.astype(int) - LOUD[theme]).max(axis=1) <= 2).sum()
    path = tmp_path / "same.png"
    assert diff(scaled[0], scaled[0], "-o", path, "--theme", theme).returncode == 0
    quiet = png.read(path.read_bytes()).reshape(-1, 3)
    assert (abs(quiet.astype(int) - LOUD[theme]).max(axis=1) <= 2).sum() < loud / 20


def test_dot_and_pdf(scaled, tmp_path):
    text = draw(tmp_path, scaled, suffix="dot").decode()
    graph = dot.read(text)
    assert len(graph.nodes) == 8
    assert text.count("<b>≠ differs here</b>") == 1 and text.count("<b>= equal</b>") == 5
    assert re.search(r"<br/><b>\S*program\.py:6: first divergence: return: ", text)
    document = draw(tmp_path, scaled, suffix="pdf")
    assert document.startswith(b"%PDF-1.") and document.endswith(b"%%EOF\n")


def test_another_way(tmp_path):
    """Values that only B reached are marked, and the first of them names the reason."""
    source = """
    import numpy as np
    x = np.arange(4.0)
    limit = 100.0
    if x.sum() > limit:
        x = x / 2
    y = x + 1
    """
    traces = pair(tmp_path, source, source.replace("100.0", "5.0"))
    picture = svg.read(draw(tmp_path, traces))
    found = {node.title: node for node in picture.find("node")}
    only = [title for title in found if ONLY in title]
    assert len(only) == 1 and only[0].startswith("x  line 6")
    assert any(text.value == ONLY for text in found[only[0]].all_texts())


@pytest.mark.torch
def test_a_nan_and_those_that_pass_it_on(tmp_path):
    source = """
    import torch
    p = torch.tensor([0.0, 1.0])
    half = p / 2
    logs = torch.log(half)
    more = logs * 2
    other = p + 1
    """
    run = recording.run_program(textwrap.dedent(source), tmp_path, [], sources="yes")
    assert run.returncode == 0, run.stderr
    path = tmp_path / "why.svg"
    viewer.run("why", tmp_path / "run.mtrace", "more", "-o", path)
    picture = svg.read(path.read_bytes())
    told = {n.title.split()[0]: [t.value for t in n.all_texts()] for n in picture.find("node")}
    assert set(told) == {"p", "half", "logs", "more"}
    assert "! NaN or Inf made here" in told["logs"] and "→ passed on" in told["more"]
    assert not any(text[0] in "!→=≠" for text in told["half"] + told["p"])
    legend = [t.value for t in picture.find("legend")[0].texts]
    assert "passes NaN or an infinity on" in legend
    assert svg.faults(picture) == []


def test_the_kept_picture_of_a_bug_shows_its_line():
    """samples/pictures/diff_gru_pooling.svg: a mask that is off by one."""
    picture = svg.read((paths.ROOT / "samples" / "pictures" / "diff_gru_pooling.svg").read_bytes())
    found = marks(picture)
    assert [title for title, mark in found.items() if mark == OWN] == ["is_word  line 18"]
