"""%load_ext monitorch, in a real kernel: what %%monitorch and %monitorch do, complete and explain."""

import re
import sys

import pytest

from tests.support import paths, recording
from tests.support.notebook import png_in

pytest.importorskip("ipykernel")
pytest.importorskip("numpy")

pytestmark = pytest.mark.skipif(
    not list(paths.PACKAGE.glob("_view*.so")), reason="what draws is not built (make)"
)


@pytest.fixture
def notebook(kernel):
    kernel.run("%load_ext monitorch\nimport numpy as np\n%monitorch reset")
    return kernel


def is_picture(output):
    kind, content = output
    return kind == "display_data" and bool(png_in(content["data"]))


def drawn(notebook, name):
    return notebook.value(f"open({name!r}).read()")


def printed(outputs):
    return "".join(content["text"] for kind, content in outputs if kind == "stream")


# %%monitorch


def test_a_cell_is_drawn_below_itself(notebook):
    (output,) = notebook.run("%%monitorch\na = np.ones((2, 3))\nb = a * 2")
    assert is_picture(output)
    assert notebook.value("b.sum()") == "np.float64(12.0)"


def test_its_last_value_is_shown_too(notebook):
    outputs = notebook.run("%%monitorch\na = np.ones(3)\na.sum()")
    assert [kind for kind, _ in outputs] == ["execute_result", "display_data"]
    assert outputs[0][1]["data"]["text/plain"] == "np.float64(3.0)"
    outputs = notebook.run("%%monitorch\na = np.ones(3)\na.sum();")
    assert [kind for kind, _ in outputs] == ["display_data"]


def test_settings_and_a_file(notebook):
    notebook.run("%%monitorch flow.dot show=False max_nodes=1\na = np.ones(3)\nb = a * 2")
    text = drawn(notebook, "monitorch_outputs/flow.dot")
    assert "<b>b</b>" in text and "<b>a</b>" not in text


def test_functions_of_other_cells_are_followed(notebook):
    notebook.run("def double(x):\n    y = x * 2\n    return y")
    notebook.run("%%monitorch flow.dot show=False\nc = double(np.ones(3))")
    assert "<b>y</b>" in drawn(notebook, "monitorch_outputs/flow.dot")


def test_lines_are_those_that_one_sees(notebook):
    notebook.run("%monitorch lines 3 3")
    cell = "%%monitorch flow.dot show=False\na = np.ones(3)\nb = a * 2\nc = b + 1"
    notebook.run(cell)
    text = drawn(notebook, "monitorch_outputs/flow.dot")
    assert "<b>b</b>" in text and "<b>c</b>" not in text
    notebook.run("%monitorch lines")
    notebook.run(cell)
    assert "<b>c</b>" in drawn(notebook, "monitorch_outputs/flow.dot")


def test_an_exception_is_the_cells_own_and_the_picture_is_there(notebook):
    outputs = []
    reply = notebook.client.execute_interactive(
        "%%monitorch\na = np.ones(3)\n1 / 0",
        output_hook=lambda message: outputs.append((message["msg_type"], message["content"])),
        timeout=60,
    )
    assert reply["content"]["status"] == "error" and reply["content"]["ename"] == "ZeroDivisionError"
    assert any(is_picture(output) for output in outputs if output[0] == "display_data")
    assert notebook.run("a.sum()")[0][0] == "execute_result"
    trace = re.sub(r"\x1b\[[\d;]*m", "", "\n".join(dict(outputs)["error"]["traceback"]))
    assert re.search(r"-> 3 1 ?/ ?0", trace), trace


def test_other_magics_in_the_cell(notebook):
    outputs = notebook.run("%%monitorch\na = np.ones(3)\n%time b = a * 2\n!echo said")
    assert "said" in printed(outputs) and any(map(is_picture, outputs))


# %monitorch


def test_on_and_off_in_cells_of_their_own(notebook):
    assert notebook.run("%monitorch on theme=dark") == []
    notebook.run("a = np.ones(3)")
    notebook.run("%monitorch flush")
    notebook.run("b = a * 2")
    outputs = notebook.run("%monitorch off flow.dot")
    assert is_picture(outputs[0])
    assert "<b>b</b>" in drawn(notebook, "monitorch_outputs/flow.dot")


def test_lines_of_the_cell_that_it_stands_in(notebook):
    notebook.run(
        "%monitorch lines 3 3\n%monitorch on show=False\na = np.ones(3)\nb = a * 2\n"
        "%monitorch off flow.dot"
    )
    text = drawn(notebook, "monitorch_outputs/flow.dot")
    assert "<b>a</b>" in text and "<b>b</b>" not in text


def test_a_trace_is_recorded_and_asked(notebook):
    notebook.run(
        "import pathlib, sys\n"
        "pathlib.Path('shares.py').write_text("
        "'def share(x):\\n    y = x / x.sum()\\n    return y\\n')\n"
        "sys.path.insert(0, '.')\n"
        "!monitorch-instrument --all shares.py -o shares_traced.py --quiet\n"
        "from shares_traced import share\n"
        "np.seterr(all='ignore');"
    )
    assert notebook.run("%monitorch record run.mtrace,sample=0") == []
    notebook.run("share(np.zeros(3));")
    assert "events in run.mtrace" in printed(notebook.run("%monitorch stop"))
    text = printed(notebook.run("%monitorch why run.mtrace"))
    assert text.startswith("shares.py:2: NaN made here: y"), text
    assert "nothing is being recorded" in printed(notebook.run("%monitorch stop"))


@pytest.mark.parametrize(
    "source, told",
    [
        ("%monitorch paint", "expected one of lines, on"),
        ("%monitorch lines 10", "expected two numbers"),
        ("%monitorch lines 40 10", "in their order"),
        ("%monitorch on colour=red", "colour"),
        ("%monitorch on theme=red", "theme"),
        ("%monitorch off flow.txt", ".png, .svg"),
        ("%monitorch record", "expected a trace"),
        ("%monitorch record none/run.mtrace", "No such file"),
        ("%%monitorch --record\na = 1", "expected a trace, such as run.mtrace"),
        ("%%monitorch --record run.mtrace lats=3\na = 1", "did you mean 'last'?"),
        ("%%monitorch --record run.mtrace flow.svg\na = 1", "%monitorch graph run.mtrace -o flow.svg"),
        ("%%monitorch --include\na = 1", "expected a module"),
        ("%monitorch 'open", "quotation"),
        ("%%monitorch nothing\na = 1", "expected settings"),
    ],
)
def test_slips_are_told_in_a_line(notebook, source, told):
    outputs = []
    reply = notebook.client.execute_interactive(
        source,
        output_hook=lambda message: outputs.append((message["msg_type"], message["content"])),
        timeout=60,
    )
    assert reply["content"]["status"] == "error"
    text = printed([o for o in outputs if o[0] == "stream"])
    assert "UsageError" in text and told in text and "Traceback" not in text, text


# Completion and help


def complete(notebook, line):
    reply = notebook.client.complete(line, reply=True, timeout=60)["content"]
    return [line[: reply["cursor_start"]] + match for match in reply["matches"]]


def test_completion(notebook):
    assert "%monitorch" in complete(notebook, "%monito")
    assert "%%monitorch" in complete(notebook, "%%monito")
    assert "%monitorch lines" in complete(notebook, "%monitorch li")
    assert "%monitorch why" in complete(notebook, "%monitorch ")
    assert "%monitorch on theme=" in complete(notebook, "%monitorch on th")
    assert "%%monitorch fold=" in complete(notebook, "%%monitorch fo")
    assert "%%monitorch theme=dark" in complete(notebook, "%%monitorch theme=d")


def test_help(notebook):
    for question in ("%monitorch", "%%monitorch"):
        reply = notebook.client.inspect(question, reply=True, timeout=60)["content"]
        assert reply["found"] and "%monitorch lines 10 40" in reply["data"]["text/plain"]
    assert "%%monitorch flow.svg" in printed(notebook.run("%monitorch"))


def test_unloading(notebook):
    notebook.run("%unload_ext monitorch")
    there = "'monitorch' in get_ipython().magics_manager.magics[{!r}]"
    assert notebook.value(there.format("line")) == notebook.value(there.format("cell")) == "False"


# As a whole


def test_a_notebook_of_nbclient(tmp_path):
    """The file that a person would keep, run from its first cell to its last."""
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    cells = [
        "%load_ext monitorch",
        "import numpy as np\nx = np.arange(12.0).reshape(3, 4)",
        "%monitorch lines 1 4",
        "%%monitorch\ny = x / x.sum()\nz = np.log(y + 1)",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    book.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
    environment = recording.environment("off")
    environment.update(IPYTHONDIR=str(tmp_path), JUPYTER_RUNTIME_DIR=str(tmp_path))
    client = nbclient.NotebookClient(book, timeout=120, resources={"metadata": {"path": tmp_path}})
    manager = client.create_kernel_manager()
    manager.kernel_spec.argv[0] = sys.executable
    client.execute(env=environment)
    outputs = book.cells[-1].outputs
    assert [output.output_type for output in outputs] == ["display_data"]
    assert png_in(outputs[0].data)


def fail(notebook, source):
    """The traceback of a cell that raises, without colours."""
    with pytest.raises(AssertionError) as caught:
        notebook.run(source)
    return re.sub(r"\x1b\[[0-9;]*m", "", str(caught.value))


def test_the_cell_is_named_as_its_user_sees_it(notebook):
    """In the picture, and in what an exception says."""
    for _ in range(2):  # the same text once more is another cell
        notebook.run("%%monitorch flow.dot show=False\na = np.ones(3)\nb = a * 2")
        text = drawn(notebook, "monitorch_outputs/flow.dot")
        assert re.findall(r"In \[\d+\]", text) == [f"In [{notebook.number - 1}]"]
    text = fail(notebook, "%%monitorch show=False\na = np.ones(3)\na.no_such_name")
    number = notebook.number
    assert f"Cell In[{number}], line 3" in text and f"In[{number + 1}]" not in text
    assert "_notebook/magics.py" not in text




# %%monitorch --record


def test_a_cell_is_recorded_without_a_file(notebook):
    outputs = notebook.run(
        "%%monitorch --record run.mtrace last=1000 hash=no\na = np.zeros(2)\nnp.seterr(all='ignore')\nb = a / a;"
    )
    number = notebook.number
    text = printed(outputs)
    assert "events in run.mtrace" in text and text.rstrip().endswith("1 with NaN: %monitorch why run.mtrace"), text
    assert not any(map(is_picture, outputs))
    text = printed(notebook.run("%monitorch why run.mtrace"))
    assert text.startswith(f"In [{number}]:4: NaN made here: b"), text
    assert "b = a / a" in text


def test_functions_of_cells_and_installed_ones_are_in_that_trace(notebook):
    notebook.run("def double(x):\n    y = x * 2\n    return y")
    notebook.run(
        "%%monitorch --include numpy.lib._polynomial_impl --record=run.mtrace\nz = np.polyval([1.0, 2.0], double(np.ones(2)))"
    )
    text = printed(notebook.run("%monitorch show run.mtrace"))
    assert "double  In [" in text and "polyval" in text and " z = " in text


def test_recording_goes_on_over_cells(notebook):
    assert notebook.run("%monitorch record run.mtrace --include colorsys") == []
    notebook.run("def halve(x):\n    half = x / 2\n    return half\nq = halve(np.ones(2))")
    notebook.run("import colorsys\ngrey = colorsys.rgb_to_hsv(1, 1, 1)")
    text = printed(notebook.run("%monitorch stop"))
    assert "events in run.mtrace" in text
    text = printed(notebook.run("%monitorch show run.mtrace"))
    assert "half = numpy float64" in text and "rgb_to_hsv  " in text, text


def test_an_exception_ends_the_recording_of_a_cell(notebook):
    outputs = []
    notebook.client.execute_interactive(
        "%%monitorch --record run.mtrace\na = np.ones(3)\nraise KeyError(3)",
        output_hook=lambda message: outputs.append((message["msg_type"], message["content"])),
        timeout=60,
    )
    assert "events in run.mtrace" in printed([o for o in outputs if o[0] == "stream"])
    (error,) = [content for kind, content in outputs if kind == "error"]
    assert error["ename"] == "KeyError" and "_notebook/magics.py" not in "\n".join(error["traceback"])


def test_a_notebook_that_records_a_cell_runs_in_nbclient(tmp_path, monkeypatch):
    """As `jupyter execute` runs it."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    for name, value in recording.environment("off").items():
        monkeypatch.setenv(name, value)
    cells = [
        "%load_ext monitorch\nimport numpy as np\nnp.seterr(all='ignore');",
        "def share(x):\n    total = x.sum()\n    return x / total",
        "%%monitorch --record run.mtrace\nrow = np.zeros(3)\nparts = share(row)",
        "%monitorch why run.mtrace",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "", "language": "python"}
    client = nbclient.NotebookClient(
        notebook, timeout=60, resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    recorded, why = ["".join(o["text"] for o in cell.outputs) for cell in notebook.cells[2:]]
    assert "events in run.mtrace" in recorded
    assert why.startswith("In [2]:3: NaN made here: return: 0/0"), why
    assert (tmp_path / "run.mtrace").exists()
