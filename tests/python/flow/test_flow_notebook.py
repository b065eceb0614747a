"""Flow pictures in a notebook: cells are followed like a script, and results display themselves."""

import os

import pytest

from tests.support import paths
from tests.support.notebook import png_in

pytest.importorskip("ipykernel")
pytest.importorskip("numpy")

pytestmark = pytest.mark.skipif(
    not (list(paths.PACKAGE.glob("_view*.so")) and list(paths.PACKAGE.glob("_follow/follow.py"))),
    reason="what draws and what follows is not built (make)",
)


@pytest.fixture
def notebook(kernel):
    kernel.run("import monitorch, os\nimport numpy as np\nmonitorch.reset()")
    return kernel


def picture(output):
    """The PNG in an output, and its size on the screen."""
    kind, content = output
    assert kind in ("display_data", "execute_result")
    data = png_in(content["data"])
    width, height = (int.from_bytes(data[at : at + 4], "big") for at in (16, 20))
    shown = content["metadata"]["image/png"]
    assert shown == {"width": width // 2, "height": height // 2}  # sharp on all screens
    return data


def test_cells_are_drawn_and_shown(notebook):
    assert [kind for kind, _ in notebook.run("monitorch.on()\na = np.ones((2, 3))")] == []
    assert notebook.run("b = a * 2\ndef double(x):\n    y = x * 2\n    return y") == []
    assert notebook.run("c = double(b)") == []
    (output,) = notebook.run("monitorch.off(); print(end='')")
    picture(output)
    assert notebook.value("monitorch.off() is None") == "True"


def test_what_was_drawn_of_cells(notebook):
    notebook.run("monitorch.on(show=False)\na = np.ones((2, 3))")
    notebook.run("def double(x):\n    y = x * 2\n    return y\nc = double(a)")
    number = notebook.number
    notebook.run("monitorch.off(filename='cells.dot')")
    text = notebook.value("open('monitorch_outputs/cells.dot').read()")
    for name in ("a", "y", "c"):
        assert f"<b>{name}</b>" in text, text
    assert f"label=<In [{number}]" in text


def test_the_result_of_a_cell_is_not_shown_twice(notebook):
    notebook.run("monitorch.on()\na = np.ones(3)")
    outputs = notebook.run("result = monitorch.off()\nresult")
    assert [kind for kind, _ in outputs] == ["display_data"]
    picture(outputs[0])
    (again,) = notebook.run("result")
    assert again[0] == "execute_result" and picture(again) == picture(outputs[0])
    assert again[1]["data"]["text/plain"] == (
        "RenderOutput(saved_path=None, displayed=True, node_count=1)"
    )
    assert '<img src="data:image/png;base64,' in again[1]["data"]["text/html"]
    outputs = notebook.run("from IPython.display import display\ndisplay(result)")
    assert [kind for kind, _ in outputs] == ["display_data"] and picture(outputs[0])


def test_what_is_saved_is_told(notebook):
    notebook.run("monitorch.on()\na = np.ones(3)")
    outputs = notebook.run("monitorch.off(filename='a.svg')")
    assert [kind for kind, _ in outputs] == ["display_data", "display_data"]
    picture(outputs[0])
    assert outputs[1][1]["data"] == {
        "text/plain": "RenderOutput(saved_path='monitorch_outputs/a.svg', displayed=True, node_count=1)"
    }


def test_what_is_not_to_be_shown_is_not(notebook):
    notebook.run("monitorch.on(show=False)\na = np.ones(3)")
    outputs = notebook.run("result = monitorch.flush(clear=False)\nresult")
    assert [list(content["data"]) for _, content in outputs] == [["text/plain"]]
    assert picture(notebook.run("result")[0])
    outputs = notebook.run("display(result)")
    assert picture(outputs[0])
    assert picture(notebook.run("monitorch.off(show=True); None")[0])


def test_it_can_be_asked_for_its_picture_in_the_cell_that_drew_it(notebook):
    notebook.run("monitorch.on(show=False)\na = np.ones(3)")
    source = "result = monitorch.off()\nprint(result._repr_png_()[0][:4], result._repr_html_()[:4])"
    assert notebook.run(source)[0][1]["text"] == "b'\\x89PNG' <img\n"
    notebook.run("monitorch.on(show=False)\na = np.ones(3)")
    assert picture(notebook.run("result = monitorch.off()\ndisplay(result)")[0])


def test_an_exception_in_a_cell(notebook):
    notebook.run("monitorch.on()\na = np.ones(3)")
    notebook.run("try:\n    b = a * 2\n    1 / 0\nexcept ZeroDivisionError:\n    pass")
    (output,) = notebook.run("monitorch.off(show=True); None")
    assert picture(output)


def test_lines_of_a_cell(notebook):
    source = (
        "monitorch.lines(4, 4)\nmonitorch.on(show=False)\na = np.ones(3)\nb = a * 2\nc = b + 1\n"
    )
    notebook.run(source + "monitorch.off(filename='lines.dot')")
    assert notebook.run("print(monitorch.lines())")[0][1]["text"] == "None\n"
    text = notebook.value("open('monitorch_outputs/lines.dot').read()")
    assert "<b>b</b>" in text and "<b>c</b>" not in text, text


def test_files_of_cells_are_not_what_counts(notebook):
    """Cells are known by what IPython calls them, wherever its temporary folder is."""
    name = notebook.value("(lambda: 0).__code__.co_filename")
    assert "ipykernel_" in name and not os.path.exists(name.strip("'"))
