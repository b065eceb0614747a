"""The pictures of samples/pictures are what the samples draw, and are well drawn.

`make pictures` draws them again after a change that was meant.
"""

import pathlib
import re

import pytest

from tests.support import paths, png, svg
from tests.view.picture import thumbnails

PICTURES = paths.ROOT / "samples" / "pictures"
NAMES = sorted(path.stem for path in PICTURES.glob("*.svg"))
QUICK = [name for name in NAMES if name.startswith("quick_")]
# Their numbers come from tanh, exp and long sums: the last digit is the processor's.
INEXACT = {"lstm_steps", "transformer_block", "diff_gru_pooling"}
PAGE = (paths.ROOT / "docs" / "reference" / "pictures.md").read_text()

pytestmark = [
    pytest.mark.torch,
    pytest.mark.usefixtures("compiler_module"),
    pytest.mark.skipif(
        not list(paths.PACKAGE.glob("_view*.so")), reason="what draws for Python is not built"
    ),
]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    thumbnails.draw(folder, [])
    return folder


@pytest.fixture(scope="module")
def painted(tmp_path_factory):
    return thumbnails.make(tmp_path_factory.mktemp("painted"))


def test_all_are_kept():
    assert len(NAMES) >= 9 and len(QUICK) == 3


@pytest.mark.parametrize("name", QUICK)
def test_quick_start_draws_the_same_bytes(drawn, name):
    assert (drawn / f"{name}.svg").read_bytes() == (PICTURES / f"{name}.svg").read_bytes()


@pytest.mark.parametrize("capability", ["default", "avx2"])
def test_quick_start_on_other_processors(tmp_path, capability):
    thumbnails.draw(tmp_path, QUICK, ATEN_CPU_CAPABILITY=capability)
    for name in QUICK:
        made = (tmp_path / f"{name}.svg").read_bytes()
        assert made == (PICTURES / f"{name}.svg").read_bytes(), name


@pytest.mark.parametrize("name", NAMES)
def test_picture_has_the_same_structure(drawn, name):
    made, kept = (
        svg.describe(svg.read((folder / f"{name}.svg").read_bytes()), name not in INEXACT)
        for folder in (drawn, PICTURES)
    )
    assert made == kept


@pytest.mark.parametrize("name", NAMES)
def test_picture_is_well_drawn(name):
    picture = svg.read((PICTURES / f"{name}.svg").read_bytes())
    assert svg.faults(picture) == []
    assert len(picture.find("node")) >= 3


def test_bad_drawing_would_be_seen():
    """What the test before looks for, made to happen."""
    data = (PICTURES / "quick_notebook.svg").read_bytes()

    def spoil(change):
        picture = svg.read(data)
        change(picture.find("node"))
        return " ".join(svg.faults(picture))

    def widen(nodes):
        nodes[0].texts[0].width = 4000

    def move(nodes):
        nodes[1].rectangles = nodes[0].rectangles

    def repeat(nodes):
        nodes[0].texts.append(nodes[0].texts[0])

    assert "leaves the page" in spoil(widen) and "leaves its box" in spoil(widen)
    assert f"overlaps '{svg.read(data).find('node')[1].title}'" in spoil(move)
    assert "overlaps Text" in spoil(repeat)


@pytest.mark.parametrize("name", thumbnails.NAMES)
def test_painted_picture_is_alike(painted, name):
    kept = png.read((thumbnails.GOLDEN / name).read_bytes())
    assert thumbnails.is_alike(painted[name], kept)


def test_painted_picture_is_alike_without_fonts(painted, tmp_path):
    """There are boxes for letters then, in the same places."""
    (tmp_path / "fonts.conf").write_text("<fontconfig/>")
    made = thumbnails.make(tmp_path / "made", FONTCONFIG_FILE=str(tmp_path / "fonts.conf"))
    for name in thumbnails.NAMES:
        assert thumbnails.is_alike(made[name], painted[name])
        assert (made[name] != painted[name]).any()


@pytest.mark.parametrize("name", thumbnails.NAMES)
def test_painted_picture_without_a_part_is_not_alike(painted, name):
    spoilt = painted[name].copy()
    spoilt[len(spoilt) * 3 // 5 : len(spoilt) * 9 // 10] = spoilt[0, 0]
    assert not thumbnails.is_alike(spoilt, painted[name])


@pytest.mark.parametrize("name", QUICK)
def test_quick_start_is_the_documented_one(name):
    text = (paths.ROOT / "samples" / f"{name}.py").read_text()
    block = re.sub(r"\A(#.*\n)+\n", "", text)
    assert f"```python\n{block}```" in PAGE


def test_every_sample_is_listed():
    listed = (paths.ROOT / "samples" / "README.md").read_text()
    for path in pathlib.Path(paths.ROOT / "samples").glob("*.py"):
        assert f"]({path.name})" in listed
