"""`monitorch page`: the file, its data, its size, its options; and the page in a real browser."""

import json
import re
import textwrap

import pytest

from tests.support import browser, compiler, recording, viewer, warm
from tests.support.html_page import Page
from tests.trace.made import Trace, scalar, tensor

pytestmark = pytest.mark.skipif(compiler.EXTENSION is None, reason="not built (make)")
HOSTILE = "</script><img src=x onerror=\"document.title='run'\"><!--&\u202e\x1b[31m\u2028"

PROGRAM = """
import numpy as np

def scale(x, by):
    y = x * by
    if by > 100:
        y = -y
    return y

def work(x):
    for turn in range(3):
        x = scale(x, turn)
    return np.log(x - 1)

with np.errstate(all="ignore"):
    first = work(np.ones(4))
    second = first + 1

def unused():
    return 1
"""


def record(folder, source, name="run.mtrace"):
    folder.mkdir(exist_ok=True)
    run = recording.run_program(textwrap.dedent(source), folder, [])
    assert run.returncode == 0, run.stderr
    return (folder / "run.mtrace").rename(folder / name)


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    return record(tmp_path_factory.mktemp("page"), PROGRAM, "nan.mtrace")


def write(trace, folder, *words, name="out.html"):
    run = viewer.run("page", trace, "-o", folder / name, *words)
    assert run.returncode == 0, run.stderr
    return folder / name


# ---- the file ----


def test_the_verdict_comes_first(trace, tmp_path):
    page = Page(write(trace, tmp_path))
    [headline] = page.shown("h1")
    answer = viewer.run("why", trace).stdout.splitlines()
    assert headline == answer[0] == page.data["title"] and page.data["state"] == "bad"
    cause = page.rows("chain")[0]
    assert cause["line"] == 13 and "np.log" in cause["code"]
    assert page.text.index("<h1>") < page.text.index("<svg") < page.text.index('id="source"')


def test_a_trace_without_nan(tmp_path):
    page = Page(write(record(tmp_path / "p", "import numpy as np\nx = np.ones(2)\n"), tmp_path))
    assert page.shown("h1") == ["ok: no NaN or Inf in 1 event"]
    assert page.data["state"] == "fine" and page.data["lists"] == []


MASKED = """
import numpy as np

def attend(scores, mask):
    scores = np.where(mask, scores, -np.inf)
    return np.exp(scores).sum()

for turn in range(4):
    total = attend(np.arange(4.0), np.arange(4) > turn)
"""


def test_a_mask_is_no_cause(tmp_path):
    """Infinities that lines write by name: the page is that of the run."""
    page = Page(write(record(tmp_path / "p", MASKED), tmp_path))
    assert page.data["state"] == "fine" and page.data["lists"] == []
    assert {module["nan"] for module in page.data["modules"]} == {0}
    [masked] = [one for one in page.data["series"] if one.get("nonfinite") and "strip" in one]
    assert masked["nonfinite"] == 4 and masked["nan"] == 0
    assert {part & 5 for part in masked["strip"][2::3]} == {1}
    assert "Inf made here" not in page.text[: page.text.index('id="source"')]


def test_a_nan_in_a_strip(trace, tmp_path):
    data = Page(write(trace, tmp_path)).data
    assert sum(module["nan"] for module in data["modules"]) > 0


def test_events_are_those_of_show(trace, tmp_path):
    page = Page(write(trace, tmp_path))
    lines = viewer.run("show", trace, "--json").stdout.splitlines()
    wanted = [json.loads(line) for line in lines]
    wanted = [one for one in wanted if one["record"] == "event" and one["value_kind"] != "nothing"]
    found = page.events()
    assert len(found) == len(wanted) == page.data["values"]
    for mine, theirs in zip(found, wanted, strict=True):
        assert mine["seq"] == theirs["seq"] and mine["call"] == theirs["call"]
        assert mine["place"] == (theirs["file"], theirs["line"])
        assert mine["name"] == theirs["name"] + theirs.get("path", "")
        assert mine["turn"] == theirs["iteration"]
        if "figures" in mine:
            for key, value in zip(("min", "max", "mean"), mine["figures"], strict=False):
                assert value == pytest.approx(theirs[key], rel=1e-3)


def test_edges_are_those_of_sql(trace, tmp_path):
    page = Page(write(trace, tmp_path))
    events = page.events()
    mine = {(events[a]["seq"], events[b]["seq"]) for a, b in page.edges()}
    rows = viewer.run("sql", trace, "select source, target from edges", "--json").stdout
    theirs = {(row["source"], row["target"]) for row in map(json.loads, rows.splitlines())}
    assert mine and mine <= theirs


def test_equal_traces_give_equal_pages(trace, tmp_path):
    assert write(trace, tmp_path).read_bytes() == write(trace, tmp_path).read_bytes()


def test_data_alone(trace, tmp_path):
    data = json.loads(write(trace, tmp_path, name="out.json").read_text())
    page = Page(write(trace, tmp_path))
    page.data["command"] = data["command"] = ""
    assert data == page.data


def test_sources_and_sites(trace, tmp_path):
    data = Page(write(trace, tmp_path)).data
    [file] = data["files"]
    assert file["source"] == PROGRAM
    names = [function["name"] for function in file["functions"]]
    assert names == ["<module>", "scale", "work", "unused"]
    counts = {}
    for line, _, kind, _, count in file["sites"]:
        counts[line, kind] = counts.get((line, kind), 0) + count
    assert counts[5, "assign"] == 3 and counts[7, "assign"] == 0


def test_a_series_is_of_all_visits(tmp_path):
    lines = "import numpy as np\nfor i in range(3000):\n    x = np.full(2, float(i))\n"
    trace = record(tmp_path / "p", lines)
    page = Page(write(trace, tmp_path, "--max-size", "200k"))
    assert (tmp_path / "out.html").stat().st_size <= 200_000
    data = page.data
    assert data["values"] == 6000 and data["events"]["count"] < 6000
    [series] = [one for one in data["series"] if data["texts"][one["name"]] == "x"]
    assert series["count"] == 3000 and series["forms"][0][1] == 3000
    strip = series["strip"]
    assert strip[0] == 0 and max(strip) == pytest.approx(2999, rel=1e-2)
    kept = [event["seq"] for event in page.events()]
    assert kept[0] == 0 and kept[-1] == 5999


def test_too_small(trace, tmp_path):
    run = viewer.run("page", trace, "-o", tmp_path / "out.html", "--max-size", "1k")
    assert run.returncode == 2 and "--max-size" in run.stderr and not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["-o", "out.txt"], "must end in .html or .json"),
        ([], "no output, expected -o FILE"),
        (["-o", "out.html", "--max-size", "big"], "expected a size"),
        (["-o", "out.html", "b", "c"], "expected one trace, or two"),
    ],
)
def test_wrong_usage(trace, tmp_path, words, expected):
    run = viewer.run("page", trace, *words, cwd=tmp_path)
    assert run.returncode == 2 and expected in run.stderr
    assert list(tmp_path.iterdir()) == []


def test_two_traces_are_the_page_of_diff(trace, tmp_path):
    other = record(tmp_path / "p", PROGRAM.replace("x * by", "x * (by + 5)"))
    run = viewer.run("page", trace, other, "-o", tmp_path / "a.html")
    assert run.returncode == 1 and "first divergence: y" in run.stdout
    assert viewer.run("diff", trace, other, "-o", tmp_path / "b.html").returncode == 1
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


# ---- the elements of a value ----

ELEMENTS = """
import numpy as np
whole = np.arange(30000.0)
part = whole[:12].reshape(3, 4).copy()
part[1, 2] = np.nan
flags = np.array([True, False])
"""


def elements(page, name):
    """The last table of that name, and A's beside it."""
    events = [place for place, event in enumerate(page.events()) if event["name"] == name]
    tables = {one["event"]: one for one in page.data["tables"]}
    others = {one["event"]: one for one in page.data["others"]}
    return tables[events[-1]], others.get(events[-1])


def test_the_elements_of_a_value(tmp_path):
    page = Page(write(record(tmp_path / "p", ELEMENTS), tmp_path))
    part, _ = elements(page, "part")
    assert part["indices"] == [[0, 1, 2], [0, 1, 2, 3]]
    assert part["values"] == [0, 1, 2, 3, 4, 5, "NaN", 7, 8, 9, 10, 11]
    whole, _ = elements(page, "whole")
    [indices] = whole["indices"]
    assert indices[0] == 0 and indices[-1] == 29999
    assert whole["values"] == pytest.approx(indices, rel=1e-3) and "bins" not in whole
    assert elements(page, "flags")[0]["values"] == [1, 0]
    assert page.data["others"] == []


def record_values(folder, source):
    folder.mkdir()
    (folder / "prog.py").write_text(source)
    done = recording.run_python(
        "-m", "monitorch", "run", "-q", "--record", "values=whole", "-o", folder / "run.mtrace", folder / "prog.py",
        python=warm.python(), folder=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder / "run.mtrace"


def test_whole_values_are_a_histogram_on_both_sides(tmp_path):
    a = record_values(tmp_path / "a", ELEMENTS)
    b = record_values(tmp_path / "b", ELEMENTS.replace("np.arange(30000.0)", "np.arange(30000.0) ** 2"))
    assert viewer.run("page", a, b, "-o", tmp_path / "out.html").returncode == 1
    page = Page(tmp_path / "out.html")
    mine, theirs = elements(page, "whole")
    assert len(mine["bins"]) == len(theirs["bins"]) == 40
    assert sum(mine["bins"]) == sum(theirs["bins"]) == 30000
    assert mine["bins"][0] > 4000 and set(theirs["bins"]) == {750}
    assert theirs["form"].endswith("float64 [30000]") and theirs["figures"][:2] == [0, 29999]
    assert theirs["values"][-1] == 29999 and mine["values"][-1] == pytest.approx(29999**2, rel=1e-3)


def test_a_large_trace_has_tables_of_some(tmp_path):
    source = "import numpy as np\nfor i in range(3000):\n    x = np.full(2, float(i))\ny = np.log(x * 0 - 1)\n"
    page = Page(write(record(tmp_path / "p", source), tmp_path))
    events, tables = page.events(), page.data["tables"]
    assert 2 <= len(tables) <= 1000
    names = [events[one["event"]]["name"] for one in tables]
    assert names[0] == "x" and names[-1] == "y" and tables[-1]["values"] == ["NaN", "NaN"]


def test_a_source_larger_than_the_usual_page(tmp_path):
    made = Trace()
    site = made.module(
        "large.py", [("<module>", 1)], [("assign", 1, 0, "x")], source="x = 1  # " + "long " * 2_000_000
    )
    call = made.call(0)
    made.event(site, call, tensor((2,), min=1, max=1, mean=1, std=0))
    made.ended(call)
    trace = made.write(tmp_path / "large.mtrace")
    path = write(trace, tmp_path, name="out.json")
    assert path.stat().st_size > 8 << 20
    assert json.loads(path.read_text())["events"]["count"] == 1
    run = viewer.run("page", trace, "-o", path, "--max-size", "900K")
    assert run.returncode == 2 and "for its sources and lines alone" in run.stderr


def test_a_picture_of_too_many_boxes_is_left_out(tmp_path):
    lines = [f"x{i} = np.ones(2) + {i}" for i in range(1100)]
    source = "import numpy as np\n" + "\n".join(lines) + "\ny = x0 + x1\n"
    text = write(record(tmp_path / "many", source), tmp_path).read_text()
    assert "too many boxes for a page" in text and "<svg" not in text


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    """The name that the traces of three ranks were given; the second one has the NaN."""
    folder = tmp_path_factory.mktemp("ranks")
    for rank, start in enumerate((3, 1, 2)):
        source = PROGRAM.replace("np.ones(4)", f"np.full(4, {start}.0)").replace("x - 1", "x")
        source = source.replace("range(3)", "range(1, 3)" if rank != 1 else "range(3)")
        record(folder / str(rank), source).rename(folder / f"job.rank{rank}.mtrace")
    return folder / "job.mtrace"


def test_ranks_are_parts_of_one_page(ranks, tmp_path):
    page = Page(write(ranks, tmp_path))
    assert [part["state"] for part in page.parts] == ["fine", "bad", "fine"]
    assert [part["traces"][0][-12:] for part in page.parts] == [f"rank{i}.mtrace" for i in range(3)]
    assert page.shown("title")[0] == page.parts[1]["title"]
    lines = write(ranks, tmp_path, name="out.json").read_text().splitlines()
    assert [json.loads(line)["title"] for line in lines] == [p["title"] for p in page.parts]
    assert write(ranks, tmp_path, "--max-size", "300k").stat().st_size <= 300_000


def test_an_empty_folder(tmp_path):
    run = viewer.run("page", tmp_path, "-o", tmp_path / "out.html")
    assert run.returncode == 3 and "no traces" in run.stderr and not list(tmp_path.iterdir())


def test_a_cut_trace(trace, tmp_path):
    cut = tmp_path / "cut.mtrace"
    cut.write_bytes(trace.read_bytes()[:-200])
    run = viewer.run("page", cut, "-o", tmp_path / "out.html")
    assert run.returncode in (0, 3) and Page(tmp_path / "out.html").data["events"]["count"] > 0


# ---- in a browser ----


@pytest.fixture(scope="module")
def window():
    if browser.PROGRAM is None:
        pytest.skip("no chromium")
    opened = browser.Browser()
    yield opened
    opened.close()


def test_in_a_browser(window, trace, tmp_path):
    path = write(trace, tmp_path)
    window.errors.clear()
    window.open(path)
    assert window.do("document.documentElement.dataset.ready") == "yes"
    # Chips with shapes, beside their lines.
    assert "float64 [4]" in window.do("document.querySelector('[data-line=\"5\"] .chip').textContent")
    assert window.do("document.querySelector('[data-line=\"7\"]').classList.contains('unreached')")
    # The next NaN; its line, its inputs, its address.
    window.press("n")
    shown = window.do("document.getElementById('details').textContent")
    assert "4 NaN" in shown and "Made from" in shown and "x" in shown
    assert window.do("location.hash").startswith("#program.py:13:")
    assert window.do("document.querySelectorAll('#arrows path').length") > 0
    # The call slider.
    assert "call 1 of 3" in window.do("document.querySelector('[data-line=\"4\"] + .call').textContent")
    window.do(
        "(() => { const s = document.querySelector('[data-line=\"4\"] + .call input'); s.value = 2;"
        " s.dispatchEvent(new Event('input')); })()"
    )
    assert "call 3 of 3" in window.do("document.querySelector('[data-line=\"4\"] + .call').textContent")
    # Folding: a function that nothing called is folded at first.
    hidden = "document.querySelector('[data-line=\"20\"]').classList.contains('hidden')"
    assert window.do(hidden)
    window.do("document.querySelector('[data-line=\"19\"] .fold').click()")
    assert not window.do(hidden)
    # Search.
    window.press("/")
    window.write("second")
    assert "second  program.py:17" in window.do("document.getElementById('results').textContent")
    window.press("Escape")
    theme = window.do("document.documentElement.dataset.theme")
    window.press("t")
    assert window.do("document.documentElement.dataset.theme") != theme
    assert window.errors == []


def test_boxes_of_the_picture_are_buttons(window, trace, tmp_path):
    path = write(trace, tmp_path)
    window.errors.clear()
    window.open(path)
    shown = "[...document.querySelectorAll('.picture')].find((one) => one.offsetParent)"
    box = f"{shown}.querySelector('.node[role=button]')"
    window.do(f"{box}.focus()")
    name = window.do(f"{box}.querySelector('title').textContent").split("  ")[0]
    assert window.do(f"{box}.ownerSVGElement.getAttribute('role')") == "group"
    window.press("Enter")
    assert name in window.do("document.getElementById('details').textContent")
    assert window.errors == []


def test_print_is_light(window, trace, tmp_path):
    window.open(write(trace, tmp_path), dark=True)
    theme = "document.documentElement.dataset.theme"
    before = window.do(theme)
    window.do("dispatchEvent(new Event('beforeprint'))")
    assert window.do(theme) == "light"
    window.do("dispatchEvent(new Event('afterprint'))")
    assert window.do(theme) == before


def test_the_rank_is_chosen(window, ranks, tmp_path):
    path = write(ranks, tmp_path)
    window.errors.clear()
    window.open(path)
    title = "document.querySelector('.part:not([hidden]) h1').textContent"
    pressed = "document.querySelector('#ranks [aria-pressed=true]').textContent"
    # At first the one that made the NaN.
    assert "NaN or Inf" not in window.do(title) and "made here" in window.do(title)
    assert window.do(pressed).startswith("rank1")
    # The same value of another rank, and a link to it.
    window.press("n")
    line = window.do("location.hash").split(":")[1]
    window.press(".")
    assert window.do(pressed).startswith("rank2") and "ok:" in window.do(title)
    assert window.do("location.hash").endswith("@2")
    assert window.do("document.querySelector('.ln.at').dataset.line") == line
    window.open(path, fragment="#program.py:5:0:0:y@0")
    assert window.do(pressed).startswith("rank0")
    assert "program.py:5" in window.do("document.getElementById('details').textContent")
    assert window.errors == []


def test_a_link_chooses_a_visit(window, trace, tmp_path):
    path = write(trace, tmp_path)
    window.errors.clear()
    calls = sorted({e["call"] for e in Page(path).events() if e["place"][1] == 5})
    window.open(path, fragment=f"#program.py:5:{calls[1]}:0:y")
    chosen = "document.querySelector('.chip.chosen').closest('.ln').dataset.line"
    assert window.do(chosen) == "5"
    assert f"#{calls[1]}" in window.do("document.getElementById('details').textContent")
    assert window.errors == []


NESTED = """
import numpy as np

def inner(x, k):
    return x + k

def work():
    total = np.zeros(2)
    for step in range(3):
        if step == 1:
            total = total * np.nan
        for k in range(2):
            y = inner(total, k)
            total = y + 1
        done = total
    return done

work()

def grow(x):
    while x.sum() < 6:
        x = x + 1
    return x

grow(np.zeros(2))
"""


def test_each_loop_has_its_own_turns(window, tmp_path):
    path = write(record(tmp_path / "nested", NESTED), tmp_path)
    window.errors.clear()
    window.open(path)

    def chips(line):
        return window.do(f"document.querySelector('[data-line=\"{line}\"] .chips').textContent")

    def bar(line):
        return window.do(f"document.querySelector('[data-line=\"{line}\"] + .call').textContent")

    assert bar(9).startswith("turn 1 of 3") and bar(12).startswith("turn 1 of 2 (6 in the call)")
    assert bar(21).startswith("turn 1 of 3")
    assert "in other turns" in chips(11)
    # The NaN was made in the second turn: all lines are shown as they were then.
    window.press("n")
    file, line, call = window.do("location.hash").split(":")[:3]
    assert (file, line) == ("#program.py", "11")
    assert bar(9).startswith("turn 2 of 3") and "step1" in chips(9) and "2 NaN" in chips(15)
    # A turn of the inner loop is one of that outer turn, and chooses the call that was made in it.
    slide = (
        "(() => {{ const s = document.querySelector('[data-line=\"{}\"] + .call input'); s.value = {};"
        " s.dispatchEvent(new Event('input')); }})()"
    )
    window.do(slide.format(12, 1))
    assert "k1" in chips(12) and bar(12).startswith("turn 2 of 2") and bar(4).startswith("call 4 of 6")
    # A call chooses the turns of both loops that made it.
    window.do(slide.format(4, 4))
    assert bar(9).startswith("turn 3 of 3") and bar(12).startswith("turn 1 of 2") and "k0" in chips(12)
    # The chosen value follows the turn, and its link leads back to it.
    window.open(path, fragment=f"#program.py:14:{call}:3:total")
    assert bar(9).startswith("turn 2 of 3") and bar(12).startswith("turn 2 of 2")
    window.do(slide.format(9, 2))
    assert window.do("location.hash") == f"#program.py:14:{call}:5:total"
    assert window.errors == []


def test_a_value_shows_its_elements(window, tmp_path):
    other = record(tmp_path / "a", ELEMENTS)
    trace = record(tmp_path / "b", ELEMENTS.replace("np.nan", "np.inf"))
    assert viewer.run("page", other, trace, "-o", tmp_path / "out.html").returncode == 1
    window.open(tmp_path / "out.html", fragment="#program.py:5:1:0:part")
    assert window.do("document.querySelectorAll('#details .cells').length") == 2
    assert window.do("document.querySelector('#details .cells td.odd').textContent") == "Inf"
    assert "A has NaN" in window.do("document.querySelector('#details .cells td.differs').title")
    shown = window.do("document.getElementById('details').textContent")
    assert "largest difference of the table at [1, 2]: A NaN, B Inf" in shown
    assert "histogram of the elements in the table" in shown and "--record values=part" in shown
    window.do("[...document.querySelectorAll('#details button')].find(b => b.textContent === 'Copy link').click()")
    window.do("new Promise(done => setTimeout(done, 50))")
    assert window.errors == []


MANY = """
import torch

items = [torch.ones(2, requires_grad=True) * i for i in range(20)]
net = torch.nn.Linear(2, 1)
step = torch.optim.SGD(net.parameters(), lr=0.1)
for turn in range(3):
    net(torch.ones(2)).sum().backward()
    step.step()
"""


@pytest.mark.torch
def test_many_items_are_folded_and_parameters_have_strips(window, tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "program.py").write_text(MANY)
    done = recording.run_python(
        "-m", "monitorch", "run", "-q", "--backward", "-o", tmp_path / "run.mtrace", tmp_path / "program.py",
        python=warm.python(), folder=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    window.errors.clear()
    window.open(write(tmp_path / "run.mtrace", tmp_path))
    chips = "document.querySelectorAll('[data-line=\"4\"] .chip')"
    assert window.do(f"{chips}.length") == 9
    window.do(f"[...{chips}].pop().click()")
    assert window.do(f"{chips}.length") >= 20
    weight = "[...document.querySelectorAll('.parameters .chip')].find((chip) => chip.textContent.startsWith('weight'))"
    window.do(f"{weight}.click()")
    assert " gradients" in window.do("document.getElementById('details').textContent")
    assert window.errors == []


@pytest.mark.parametrize("width", [400, 1280, 2560])
def test_nothing_is_wider_than_the_window(window, trace, tmp_path, width):
    window.open(write(trace, tmp_path), width=width, dark=width == 1280)
    assert window.do("document.documentElement.scrollWidth") <= width


def test_hostile_names(window, tmp_path):
    trace = Trace()
    site = trace.module(
        f"{HOSTILE}.py", [("<module>", 1), (HOSTILE, 2)], [("assign", 3, 1, HOSTILE)] * 2
    )
    call = trace.call(1, path=HOSTILE, class_name=HOSTILE)
    trace.event(site, call, tensor((2,), min=1, max=1, mean=1, std=0, type=HOSTILE))
    trace.event(site + 1, call, scalar(HOSTILE))
    trace.ended(call)
    path = write(trace.write(tmp_path / "hostile.mtrace"), tmp_path)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", path.read_text())
    window.errors.clear()
    window.open(path)
    window.press("/")
    window.write("img")
    window.press("Enter")
    assert window.do("document.documentElement.dataset.ready") == "yes"
    assert window.do("document.title") != "run"
    assert window.do("document.querySelectorAll('img').length") == 0
    shown = window.do("document.body.innerText")
    assert "<img src=x" in shown and not re.search("[\u202e\x1b\u2028]", shown)
    assert window.errors == []


def test_lines_of_a_source_that_is_not_there(window, tmp_path):
    trace = Trace()
    site = trace.module(
        "lost.py", [("<module>", 1), ("f", 2)], [("assign", 3, 1, "x"), ("assign", 4_000_000_000, 1, "y")]
    )
    call = trace.call(1)
    trace.event(site, call, tensor((2,), min=1, max=1, mean=1, std=0))
    trace.event(site + 1, call, scalar("far"))
    trace.ended(call)
    window.errors.clear()
    window.open(write(trace.write(tmp_path / "lost.mtrace"), tmp_path))
    assert window.do("document.querySelector('[data-line=\"2\"] .src').textContent") == "def f(…):"
    window.do("document.querySelector('[data-line=\"3\"] .chip').click()")
    assert "lost.py:3" in window.do("document.getElementById('details').textContent")
    assert window.errors == []


MODEL = """
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(4, 4)

    def forward(self, x):
        return torch.relu(self.line(x))

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(3))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x

torch.manual_seed(0)
model = Model()
for step in range(4):
    y = model(torch.randn(2, 4))
"""


@pytest.mark.torch
def test_modules_and_steps(window, tmp_path):
    (tmp_path / "model.py").write_text(MODEL)
    done = recording.run_python(
        "-m", "monitorch", "run", "-q", "model.py", python=warm.python(), folder=tmp_path
    )
    assert done.returncode == 0, done.stderr
    window.errors.clear()
    window.open(write(tmp_path / "run.mtrace", tmp_path))
    tree = window.do("document.getElementById('tree').innerText")
    assert re.search(r"blocks\s+▾?\s*0\s+Block\s+×\s4", tree.replace("\n", " ")), tree
    assert "float32 [2, 4] → float32 [2, 4]" in tree
    assert "step 1 of 4" in window.do("document.getElementById('steps').textContent")
    window.do(
        "(() => { const s = document.querySelector('#steps input'); s.value = 2;"
        " s.dispatchEvent(new Event('input')); })()"
    )
    assert "call 3 of 4" in window.do("document.getElementById('files').textContent")
    assert window.errors == []


# ---- of other commands ----


def test_why_writes_a_page(trace, tmp_path):
    path = tmp_path / "out.html"
    run = viewer.run("why", trace, "second", "-o", path)
    assert run.returncode == 1 and run.stderr == ""
    page = Page(path)
    assert page.shown("h1") == [" ".join(run.stdout.splitlines()[0].split())]
    fine = record(tmp_path / "p", "import numpy as np\nx = np.ones(2)\n")
    assert viewer.run("why", fine, "-o", path).returncode == 0
    assert Page(path).data["state"] == "fine"


def test_graph_writes_a_page_with_its_picture(trace, tmp_path):
    path = tmp_path / "out.html"
    assert viewer.run("graph", trace, "-o", path, "--function", "scale").returncode == 0
    page = Page(path)
    assert "scale" in page.text and page.data["events"]["count"] > 0
    titles = re.findall(r'<g class="node"><title>(\w+)', page.text)
    assert titles and set(titles) <= {"x", "y", "by", "return", "scale"}


def test_check_writes_a_page(trace, tmp_path):
    path = tmp_path / "out.html"
    run = viewer.run("check", trace, "-o", path)
    assert run.returncode == 1
    page = Page(path)
    assert page.shown("h1") == [" ".join(run.stdout.splitlines()[0].split())]
    rows = page.rows("checks")
    assert rows[0]["name"] == "return" and rows[0]["line"] == 13 and page.data["state"] == "bad"
    assert viewer.run("check", trace, "-o", tmp_path / "x.svg").returncode == 2
    assert viewer.run("check", trace, trace, "-o", path).returncode == 2
