"""plot: lines over steps. What stands in the picture is read from its SVG."""

import math
import re
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

view = pytest.importorskip("monitorch._view", reason="the package is not built (make)")
pytest.importorskip("monitorch.monitor", reason="the package is not built (make)")

from monitorch.monitor import StorageManager  # noqa: E402
from monitorch.monitor.backends import plot  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"


def draw(metrics, pattern="*", **options):
    patterns = (pattern,) if isinstance(pattern, str) else pattern
    data, count = view.chart(metrics, patterns, "svg", **options)
    return Chart(data) if count else None


class Chart:
    def __init__(self, data):
        self.root = ElementTree.fromstring(data)
        self.texts = ["".join(text.itertext()) for text in self.root.iter(SVG + "text")]
        self.lines = {
            group.findtext(SVG + "title", ""): group
            for group in self.root.iter(SVG + "g")
            if group.get("class") == "line"
        }

    def runs(self, name):
        """The points of each part of a line that is in one piece."""
        return [
            [tuple(map(float, pair)) for pair in zip(*[iter(part.get("points").split())] * 2)]
            for part in self.lines[name].iter(SVG + "polyline")
        ]

    def dots(self, name):
        return [
            (float(dot.get("x")) + float(dot.get("width")) / 2,
             float(dot.get("y")) + float(dot.get("height")) / 2)
            for dot in self.lines[name].iter(SVG + "rect")
        ]  # fmt: skip

    def colors(self):
        return {part.get("stroke") for part in self.root.iter(SVG + "polyline")}

    def gap_marks(self):
        return [
            mark
            for group in self.root.iter(SVG + "g")
            if group.get("class") == "gaps"
            for mark in group.iter(SVG + "rect")
        ]


def series(**columns):
    steps = max(map(len, columns.values()))
    return {
        10 * i: {name: values[i] for name, values in columns.items() if i < len(values)}
        for i in range(steps)
    }


def test_points_stand_where_their_values_are():
    """Twice as far along, twice as high."""
    chart = draw({0: {"a": 0.0}, 10: {"a": 1.0}, 40: {"a": 3.0}})
    ((a, b, c),) = chart.runs("a")
    assert (c[0] - a[0]) == pytest.approx(4 * (b[0] - a[0]), rel=1e-2)
    assert (a[1] - c[1]) == pytest.approx(3 * (a[1] - b[1]), rel=1e-2)
    assert a[1] > b[1] > c[1]


def test_globs_choose():
    metrics = series(**{"activation/0/rms": [1, 2], "activation/0/std": [1, 2], "loss": [3, 4]})
    assert set(draw(metrics, "activation/*/rms").lines) == {"activation/0/rms"}
    assert set(draw(metrics, ("loss", "*/std")).lines) == {"loss", "activation/0/std"}
    assert set(draw(metrics).lines) == set(metrics[0])
    assert draw(metrics, "nothing") is None
    assert draw({}) is None


def test_steps_that_come_in_another_order():
    ((a, b, c),) = draw({20: {"a": 2.0}, 0: {"a": 0.0}, 10: {"a": 1.0}}).runs("a")
    assert a[0] < b[0] < c[0] and a[1] > b[1] > c[1]


def test_a_step_without_the_key_is_no_gap():
    chart = draw({0: {"a": 1.0, "b": 2.0}, 10: {"b": 2.5}, 20: {"a": 3.0, "b": 1.0}})
    assert [len(run) for run in chart.runs("a")] == [2]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 10**400])
def test_gaps(bad):
    chart = draw(series(a=[1.0, 2.0, bad, 2.0, 1.0, bad], b=[1.0] * 6), "[ab]")
    assert [len(run) for run in chart.runs("a")] == [2, 2]
    assert len(chart.gap_marks()) == 2
    assert any(
        text.startswith("NaN or infinite: 2 values, the first at step 20 in a")
        for text in chart.texts
    )
    assert not draw(series(b=[1.0] * 6)).gap_marks()


def test_a_value_between_gaps_is_a_dot():
    chart = draw(series(a=[math.nan, 5.0, math.nan, 1.0, 2.0]))
    assert [len(run) for run in chart.runs("a")] == [2]
    assert len(chart.dots("a")) >= 1


def test_one_step():
    chart = draw({20: {"a": 1.0, "b": 2.0}})
    assert chart.runs("a") == [] and len(chart.dots("a")) >= 1
    assert "20" in chart.texts


@pytest.mark.parametrize("value", [0.0, 1.0, -7.5, 1e-300, 1e300, 123456789.0])
def test_constant(value):
    """In the middle, and with its own value among the ticks."""
    chart = draw({step: {"a": value} for step in range(5)})
    (points,) = chart.runs("a")
    assert len({y for _, y in points}) == 1
    assert 100 < points[0][1] < 260


def test_nothing_to_draw_is_said():
    chart = draw({0: {"a": math.nan}, 1: {"a": math.inf}})
    assert "no value can be drawn" in chart.texts and chart.runs("a") == []


# ---- axes ----


def numbers(chart):
    """The ticks' numbers, as numbers; k and M and powers of ten are read."""
    superscript = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−", "0123456789--")
    found = []
    for text in chart.texts:
        match = re.fullmatch(r"([−\d.]+)?(·)?(?:10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?([kM]?)", text)
        if match and text:
            times = float((match[1] or "1").translate(superscript))
            power = int(match[3].translate(superscript)) if match[3] else 0
            found.append(times * 10.0**power * {"": 1, "k": 1e3, "M": 1e6}[match[4]])
    return found


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([0, 1], {0, 0.2, 0.4, 0.6, 0.8, 1.0}),
        ([0, 7e-6], {0, 2e-6, 4e-6, 6e-6}),
        ([-3, 3], {-2, 0, 2}),
        ([0, 45_000], {0, 10_000, 20_000, 30_000, 40_000}),
        ([0, 8_000_000], {0, 2e6, 4e6, 6e6, 8e6}),
        ([123_450_000, 123_460_000], {123_450_000, 123_452_000, 123_454_000}),
        ([1.0, 1.00001], {1.0, 1.000002, 1.000004}),
        ([0, 3e12], {0, 1e12, 2e12, 3e12}),
    ],
)
def test_ticks_are_round_numbers(values, ticks):
    chart = draw({step * 7919: {"a": value} for step, value in enumerate(values)}, scale="linear")
    told = numbers(chart)
    for tick in ticks:
        assert any(math.isclose(tick, number, rel_tol=1e-9) for number in told), (tick, chart.texts)
    left = [text for text in chart.texts if re.match(r"[−\d]", text)]
    assert len(left) == len(set(left)) or left.count("0") == 2


def test_log_scale_where_it_tells_more():
    assert "logarithmic" in " ".join(draw(series(a=[1, 1, 1], b=[1e-4] * 3)).texts)
    assert "logarithmic" in " ".join(draw(series(a=[10.0**-i for i in range(9)])).texts)
    for values in ([1, 2, 3], [0, 1, 1000], [-1, 1, 1000]):
        assert "logarithmic" not in " ".join(draw(series(a=values)).texts)


def test_log_scale_that_is_asked_for():
    chart = draw(series(a=[1.0, 10.0, 100.0, 0.0, 100.0, 1000.0, -5.0]), scale="log")
    one, two = chart.runs("a")
    assert one[0][1] - one[1][1] == pytest.approx(one[1][1] - one[2][1], abs=0.03)
    assert any("2 values not above 0 left out" in text for text in chart.texts)
    assert "logarithmic" not in " ".join(draw(series(a=[1.0, 1e6] * 9), scale="linear").texts)
    assert {1, 10, 100, 1000} <= set(numbers(chart))


def test_log_scale_of_what_is_never_above_zero():
    chart = draw(series(a=[-1.0, -2.0, 0.0]), scale="log")
    assert chart.runs("a") == [] and "no value can be drawn" in " ".join(chart.texts)


# ---- many ----


def test_many_steps_are_drawn_with_few_points():
    """And each peak is there."""
    values = [math.sin(step / 50) for step in range(100_000)]
    values[54_321] = 40.0
    values[67_890] = -40.0
    chart = draw({step: {"a": value} for step, value in enumerate(values)}, scale="linear")
    (points,) = chart.runs("a")
    assert len(points) < 8_000
    heights = sorted(y for _, y in points)
    assert heights[1] - heights[0] > 100 and heights[-1] - heights[-2] > 100
    assert [x for x, _ in points] == sorted(x for x, _ in points)


@pytest.mark.parametrize("count", [1, 2, 7, 8, 40, 300])
def test_lines_have_colors_of_their_own(count):
    chart = draw({step: {f"m/{i}/rms": i + step for i in range(count)} for step in range(3)})
    assert len(chart.lines) == count
    assert len(chart.colors()) >= min(count, 40)
    if count == 1:
        assert chart.texts[0] == "m/0/rms"
    else:
        assert f"{count} lines" in " ".join(chart.texts)


def test_legend_leaves_out_what_names_share():
    names = [f"activation/blocks.{i}.attn/rms" for i in range(3)]
    chart = draw({step: dict.fromkeys(names, 1.0) for step in range(3)})
    assert {"blocks.0.attn", "blocks.1.attn", "blocks.2.attn"} <= set(chart.texts)
    names = ["a", "a/b", "a/b/c"]
    assert set(names) <= set(draw({0: dict.fromkeys(names, 1.0)}).texts)
    names = [f"activation/{'deep.' * 30}{i}.attn/rms" for i in range(3)]
    assert {"0", "1", "2"} <= set(draw({0: dict.fromkeys(names, 1.0)}).texts)


def test_names_of_other_scripts_and_of_enemies():
    names = ["注意/rms", "größe/rms", "שכבה/rms", "<script>&/rms", "\x1b[31m/rms", "\udc80/rms", ""]
    chart = draw({step: dict.fromkeys(names, 1.0 + step) for step in range(3)}, title="<b>&\x00")
    assert len(chart.lines) == 7
    assert {"注意/rms", "größe/rms", "<script>&/rms", "?[31m/rms"} <= set(chart.texts)


# ---- formats, options, errors ----


def storage(**columns):
    made = StorageManager()
    made.load_metrics(series(**(columns or {"a": [1.0, 2.0, 3.0]})))
    return made


@pytest.mark.parametrize(
    ("name", "start"),
    [("p.png", b"\x89PNG"), ("p.svg", b"<?xml"), ("p.pdf", b"%PDF"), ("p", b"\x89PNG")],
)
def test_formats(tmp_path, name, start):
    output = plot(storage(), "*", tmp_path / name)
    path = tmp_path / (name if "." in name else name + ".png")
    assert path.read_bytes().startswith(start)
    assert (output.saved_path, output.displayed, output.node_count) == (str(path), False, 1)


def test_themes_and_sizes(tmp_path):
    light, dark = draw(series(a=[1, 2])), draw(series(a=[1, 2]), theme="dark")
    assert light.colors() != dark.colors()
    assert draw(series(a=[1, 2]), width=300.0, height=200.0).root.get("width") == "300pt"
    for width, height in ((120.0, 120.0), (14400.0, 120.0)):
        metrics = {step: {f"long name {i}": i for i in range(50)} for step in range(3)}
        assert len(draw(metrics, width=width, height=height).lines) == 50


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"scale": "square"}, "scale: expected auto, linear or log, not square"),
        ({"theme": "pink"}, "theme: expected light or dark, not pink"),
        ({"width": 3.0}, "width: expected 120 to 14400 points"),
        ({"height": math.nan}, "height: expected 120"),
        ({"dpi": 0.0}, "dpi: expected 10 to 2400"),
    ],
)
def test_wrong_options(tmp_path, options, words):
    with pytest.raises(ValueError, match=words):
        plot(storage(), "*", tmp_path / "p.png", **options)


def test_wrong_files(tmp_path):
    with pytest.raises(ValueError, match="no format for the suffix '.gif'"):
        plot(storage(), "*", tmp_path / "p.gif")
    with pytest.raises(ValueError, match="expected png, svg or pdf, not dot"):
        plot(storage(), "*", tmp_path / "p.dot")
    with pytest.raises(ValueError, match="needs a filename"):
        plot(storage(), "*")
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError):
        plot(storage(), "*", tmp_path / "file" / "p.png")


def test_nothing_matches(tmp_path):
    with pytest.raises(ValueError, match=r"no metric matches loss\*; the keys are a"):
        plot(storage(), "loss*", tmp_path / "p.png")
    assert not (tmp_path / "p.png").exists()


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.dictionaries(
        st.integers(-(2**60), 2**60),
        st.dictionaries(
            st.text(st.characters(exclude_categories=()), max_size=12),
            st.floats() | st.integers() | st.booleans() | st.none(),
            max_size=4,
        ),
        max_size=8,
    ),
    st.sampled_from(["auto", "linear", "log"]),
    st.sampled_from(["png", "svg"]),
)
def test_any_numbers(metrics, scale, format):
    """Whatever the values are there is a picture, and no number in it is not one."""
    data, count = view.chart(metrics, ("*",), format, scale=scale)
    assert bool(data) == bool(count)
    if data and format == "svg":
        assert b"nan" not in re.sub(rb"<title>.*?</title>|<text.*?</text>", b"", data, flags=re.S)
        ElementTree.fromstring(data)
