"""SVG stays valid XML, and texts stay in their boxes, whatever bytes names are made of."""

import os
import subprocess
import xml.etree.ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import paths

PROGRAM = paths.unit_program("test_svg_text")
SVG = "{http://www.w3.org/2000/svg}"
# What XML, terminals and people stumble over.
HOSTILE = [
    b"<script>alert(1)</script>",
    b'"/><g onload="x">',
    b"]]>",
    b"<!--",
    b"&amp;&#0;&lol;",
    b"<?xml?>",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\xef\xbf\xbf",
    b"\xef\xb7\x90",
    b"\x1b]0;title\x07",
    b"\r\n\t\x0b\x0c\x7f\xc2\x85",
    "\u202egpj.exe\u2066".encode(),
    "\u2028\u2029\ufeff".encode(),
    "e\u0301".encode() + "\u0301".encode() * 50,
    "שכבה = x".encode(),
    "注意力".encode(),
    b"x" * 5000,
    b" leading and  double blanks ",
    b"",
]


def draw(names):
    # NUL separates the names.
    data = b"\0".join(name.replace(b"\0", b"") for name in names) + b"\0"
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=1"}
    environment.pop("LD_PRELOAD", None)
    done = subprocess.run(
        [str(PROGRAM), "-"], input=data, env=environment, capture_output=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def check(svg):
    text = svg.decode("utf-8")
    root = xml.etree.ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    kinds = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert kinds <= {"svg", "title", "g", "rect", "path", "text"}
    allowed = [
        "x y width height rx fill fill-opacity stroke stroke-width stroke-opacity",
        "stroke-dasharray d class font-size font-family font-weight direction unicode-bidi",
        "text-anchor textLength lengthAdjust viewBox role",
        "{http://www.w3.org/XML/1998/namespace}space",
    ]
    allowed = set(" ".join(allowed).split())
    for element in root.iter():
        assert set(element.attrib) <= allowed
    # Nothing that changes the direction of what follows, nothing that a terminal obeys.
    assert not any(ord(c) < 32 and c != "\n" or c in "\x7f\u202e\u2066\u2028" for c in text)
    for node in root.iter(f"{SVG}g"):
        if node.get("class") == "node":
            check_node(node)
    return root


def check_node(node):
    card = node.find(f"{SVG}rect")
    left = float(card.get("x"))
    right = left + float(card.get("width"))
    for text in node.iter(f"{SVG}text"):
        x = float(text.get("x"))
        assert x >= left - 0.02
        assert x + float(text.get("textLength", 0)) <= right + 0.02


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names(name):
    check(draw([b"x", name]))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.one_of(st.binary(max_size=60), st.sampled_from(HOSTILE)), min_size=1, max_size=6)
)
def test_any_bytes(names):
    check(draw(names))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(max_size=40).map(str.encode), min_size=1, max_size=6))
def test_any_text(names):
    check(draw(names))


def texts_of(names):
    return [text.text for text in check(draw(names)).iter(f"{SVG}text")]


def test_texts_are_kept():
    assert "naïve & <b>" in texts_of(["naïve & <b>".encode()])
    assert "注意力权重" in texts_of(["注意力权重".encode()])


def test_direction():
    root = check(draw(["שכבה".encode(), b"layer"]))
    named = {}
    for text in root.iter(f"{SVG}text"):
        if text.get("font-weight") == "bold" and text.get("font-size") == "10":
            named[text.text] = text
    assert named["שכבה"].get("direction") == "rtl"
    assert named["שכבה"].get("text-anchor") == "end"
    assert named["layer"].get("direction") is None


def test_equal_input_equal_bytes():
    assert draw(HOSTILE) == draw(HOSTILE)
