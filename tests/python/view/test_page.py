"""monitorch.page(): the page of a recording, in a notebook and as a file."""

import monitorch
import pytest

from tests.support import html_page, viewer

SOURCE = "def work(x):\n    y = x * 2\n    return y\n"


@pytest.fixture
def trace(tmp_path):
    from monitorch import _instrument

    names = {"__name__": "model"}
    text = _instrument.instrument(SOURCE.encode(), "model.py", all=True).text
    exec(compile(text, "model.py", "exec"), names)
    path = tmp_path / "run.mtrace"
    with monitorch.record(str(path)) as recording:
        recording.is_quiet = True
        names["work"](2.0)
    return path


def test_the_page_of_the_last_recording(trace, tmp_path):
    page = monitorch.page()
    assert page.trace == str(trace) and page.title == "ok: no NaN or Inf in 3 events"
    saved = page.save(str(tmp_path / "a.html"))
    assert html_page.Page(trace.parent / "a.html").data["values"] == 3
    assert saved == str(tmp_path / "a.html")
    assert viewer.run("page", trace, "-o", tmp_path / "b.html").returncode == 0
    assert html_page.Page(tmp_path / "b.html").data["texts"] == html_page.Page(tmp_path / "a.html").data["texts"]


def test_a_notebook_shows_it_in_a_frame(trace):
    page = monitorch.page(trace, height=300)
    shown = page._repr_html_()
    assert shown.startswith("<iframe srcdoc=\"") and "height: 300px" in shown
    assert 'sandbox="allow-scripts"' in shown and "<script" not in shown
    assert "title='ok: no NaN or Inf in 3 events'" in repr(page)


def test_a_file_is_written(trace, tmp_path):
    page = monitorch.page(trace, str(tmp_path / "out.html"))
    assert (tmp_path / "out.html").read_bytes() == page.html


def test_the_traces_of_ranks_are_one_page(trace, tmp_path):
    folder = tmp_path / "job"
    folder.mkdir()
    for rank in range(2):
        (folder / f"job.rank{rank}.mtrace").write_bytes(trace.read_bytes())
    for word in (folder / "job.mtrace", folder):
        page = monitorch.page(word)
        assert page.html.count(b'class="part"') == 2 and page.title == "ok: no NaN or Inf in 3 events"


def test_mistakes(trace, tmp_path):
    with pytest.raises(OSError, match="none.mtrace"):
        monitorch.page(tmp_path / "none.mtrace")
    with pytest.raises(ValueError, match="max-size"):
        monitorch.page(trace, max_size=100)
