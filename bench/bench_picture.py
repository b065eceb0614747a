"""How long a picture of twelve tensors takes, beside a matplotlib figure of the same twelve.

The figure is what a person would write who draws such a graph with matplotlib: an axes with a
table for each tensor, its cells coloured by value, a title and two lines of text, and arrows between the axes.
Both start from values that were recorded already, run in this process with all modules loaded, and
give a PNG of as many pixels.

Claim: at least 30 times faster. The two take turns, and the best time of each counts, since all
that disturbs only adds to it. Exit code 1 where the claim does not hold.
"""

import io
import pathlib
import sys
import tempfile
import time

try:
    import matplotlib
    import numpy
except ImportError:
    print("matplotlib or numpy is not installed: there is no peer")
    sys.exit(0)

matplotlib.use("Agg")
import monitorch
from claims import Claims, best
from matplotlib import pyplot
from matplotlib.patches import ConnectionPatch
from monitorch import _instrument, _view

CLAIM = 30
DPI = 96
ROUNDS = 5
OURS_IN_A_ROUND = 10
COLUMNS, ROWS = 3, 4
SOURCE = """\
def attention(x, wq, wk, wv):
    q = x @ wq
    k = x @ wk
    v = x @ wv
    scores = q @ k.T
    scaled = scores / 2.5
    exponents = numpy.exp(scaled - scaled.max())
    weights = exponents / exponents.sum(axis=1, keepdims=True)
    out = weights @ v
"""
READ = {
    "q": ["x", "wq"],
    "k": ["x", "wk"],
    "v": ["x", "wv"],
    "scores": ["q", "k"],
    "scaled": ["scores"],
    "exponents": ["scaled"],
    "weights": ["exponents"],
    "out": ["weights", "v"],
}


def record(path):
    """The trace; gives the twelve values by name, in order."""
    text = _instrument.instrument(SOURCE.encode(), "attention.py", all=True).text
    random = numpy.random.default_rng(0)
    values = {
        name: random.standard_normal((8, 8)).astype("float32") for name in ("x", "wq", "wk", "wv")
    }
    names = {"numpy": numpy, "__name__": "attention"}
    exec(compile(text, "attention.py", "exec"), names)
    with monitorch.record(str(path), sample=(32, 8, 6)):
        names["attention"](**values)
    local = {**values, "numpy": numpy}
    for line in SOURCE.splitlines()[1:]:
        exec(line.strip(), local)
    return {name: local[name] for name in [*values, *READ]}


def draw_figure(values, width, height):
    figure, grid = pyplot.subplots(ROWS, COLUMNS, figsize=(width / DPI, height / DPI))
    places = dict(zip(values, grid.flat))
    lines = {
        line.split("=")[0].strip(): (number, line.strip())
        for number, line in enumerate(SOURCE.splitlines()[1:], 2)
    }
    for name, axes in places.items():
        value = values[name]
        axes.axis("off")
        axes.set_title(name, fontsize=10, fontweight="bold", loc="left")
        line = lines.get(name, (1, "argument"))
        axes.set_title(f"attention.py:{line[0]}", fontsize=7, loc="right")
        largest = float(numpy.abs(value).max()) or 1.0
        colours = pyplot.cm.coolwarm(0.5 + value / (2 * largest))
        table = axes.table(
            cellText=[[f"{item:.3g}" for item in row] for row in value],
            cellColours=colours,
            bbox=(0, 0.12, 1, 0.78),
        )
        table.auto_set_font_size(False)
        table.set_fontsize(7)
        texts = {
            0.92: f"{value.dtype} {list(value.shape)}  {line[1]}",
            0.02: f"min {value.min():.4g}  max {value.max():.4g}  mean {value.mean():.4g}",
        }
        for at, text in texts.items():
            axes.text(0, at, text, fontsize=7, transform=axes.transAxes)
    for target, sources in READ.items():
        for source in sources:
            figure.add_artist(
                ConnectionPatch(
                    (0.5, 0),
                    (0.5, 1),
                    coordsA="axes fraction",
                    coordsB="axes fraction",
                    axesA=places[source],
                    axesB=places[target],
                    arrowstyle="->",
                    alpha=0.6,
                )
            )
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=DPI)
    pyplot.close(figure)
    return file.getvalue()


def draw_ours(trace):
    rendered = _view.render(str(trace), "png", dpi=DPI, max_nodes=12)
    return rendered["nodes"], rendered["data"]


def seconds(function, *arguments, turns=1):
    started = time.perf_counter()
    for _ in range(turns):
        function(*arguments)
    return (time.perf_counter() - started) / turns


def size(png):
    return int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")


def main():
    with tempfile.TemporaryDirectory() as name:
        trace = pathlib.Path(name, "run.mtrace")
        values = record(trace)
        nodes, ours = draw_ours(trace)
        shape = size(ours)
        figure = draw_figure(values, *shape)
        assert nodes == len(values) == 12, (nodes, len(values))
        if len(sys.argv) > 1:
            pathlib.Path(sys.argv[1], "ours.png").write_bytes(ours)
            pathlib.Path(sys.argv[1], "figure.png").write_bytes(figure)
        our_times, figure_times = [], []
        for _ in range(ROUNDS):
            figure_times.append(seconds(draw_figure, values, *shape))
            our_times.append(min(seconds(draw_ours, trace) for _ in range(OURS_IN_A_ROUND)))
    print("12 tensors of 8 x 8, to a PNG:")
    print(f"  monitorch  {min(our_times) * 1000:7.1f} ms  {'%d x %d' % size(ours)} pixels")
    print(f"  matplotlib {min(figure_times) * 1000:7.1f} ms  {'%d x %d' % size(figure)} pixels")
    claims = Claims("The time of a picture of twelve tensors")
    faster = best(figure_times, our_times)
    peer = "a matplotlib figure of the same"
    claims.at_least(CLAIM, "a PNG of twelve tensors", faster, peer=peer, unit="times faster")
    return claims.finish()


if __name__ == "__main__":
    sys.exit(main())
