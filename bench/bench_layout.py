"""How fast and how well graphs are laid out, beside graphviz dot with the same sizes and gaps.

Claims, on residual networks without columns: at least as fast as dot at 52 boxes, at least 20
times faster at 5,200, growing no faster than n log n up to 10,400; at most 1.1 times dot's
crossings and 1.2 times its area. dot's time is told with and without what starting it and reading
its input cost; the claims are held against the smaller one. Random graphs stand below, for
crossings alone: a residual network has none to save. Exit code 1 where a claim does not hold.
Without dot (graphviz) there is nothing to measure beside.
"""

import math
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

from claims import Claims

ROOT = pathlib.Path(__file__).resolve().parents[1]
SIZES = (52, 1300, 5200, 10400)
ROUNDS = {52: 15, 1300: 3, 5200: 1, 10400: 1}
OUR_ROUNDS = 5  # of ours for each of dot's, which takes a thousand times as long
WIDTH, HEIGHT = 120, 40
BOX_GAP, LAYER_GAP = 24, 32  # LAYOUT_OPTIONS_DEFAULT
PIECES = 8  # that a curve is cut into where crossings are counted
POINTS = 72  # of dot in an inch
# A run of the smallest graphs takes microseconds.
REPEATS = {52: 200, 1300: 20, 5200: 5, 10400: 5}
# n log n would be the claim itself; memory and other processes disturb.
GROWTH_TOLERANCE = 1.5


# Graphs: (number of boxes, edges)


def residual_network(count):
    """Stages of blocks conv-bn-relu-conv-bn-add-relu; each stage begins with a projection."""
    edges = []
    made = 0

    def add(*sources):
        nonlocal made
        edges.extend((source, made) for source in sources)
        made += 1
        return made - 1

    x = add()
    x = add(add(x))
    block = 0
    while made < count:
        y = x
        for _ in range(5):
            y = add(y)
        skip = add(add(x)) if block % 4 == 3 else x
        x = add(add(y, skip))
        block += 1
    return count, [(a, b) for a, b in edges if a < count and b < count]


def random_graph(count, seed):
    chance = random.Random(seed)
    edges = []
    for _ in range(count * 3 // 2):
        a, b = sorted(chance.sample(range(count), 2))
        edges.append((a, min(b, a + 12)))
    return count, sorted({(a, b) for a, b in edges if a != b})


# The two layouts: (seconds, width, height, curves), a curve being its edge and its points


def build(folder):
    program = folder / "layout_only"
    sources = sorted((ROOT / "runtime" / "view" / "layout").glob("*.c"))
    sources += [
        ROOT / "runtime" / "base" / f"{name}.c" for name in ("arena", "memory", "error", "utf8")
    ]
    words = [os.environ.get("CC", "gcc"), "-std=c11", "-D_GNU_SOURCE", "-O2", f"-I{ROOT}"]
    words += [str(source) for source in [ROOT / "bench" / "layout_only.c", *sources]]
    subprocess.run([*words, "-lm", "-o", str(program)], check=True)
    return program


def lay_out(program, graph, repeats):
    count, edges = graph
    lines = [f"{count} 0 {len(edges)} 0 {repeats}"]
    lines += [f"{WIDTH} {HEIGHT} -1"] * count
    lines += [f"{a} {b}" for a, b in edges]
    text = "\n".join(lines)
    found = subprocess.run([str(program)], input=text, text=True, check=True, capture_output=True)
    curves = []
    for line in found.stdout.splitlines():
        kind, *words = line.split()
        if kind == "seconds":
            seconds = float(words[0])
        elif kind == "page":
            width, height = map(float, words)
        elif kind == "edge":
            numbers = [float(word) for word in words[1:]]
            curves.append((edges[len(curves)], list(zip(numbers[::2], numbers[1::2]))))
    return seconds, width, height, curves


def run_dot(text, *options):
    started = time.perf_counter()
    found = subprocess.run(
        ["dot", *options], input=text, text=True, check=True, capture_output=True
    )
    return time.perf_counter() - started, found.stdout


def dot_text(graph):
    count, edges = graph
    sizes = f"width={WIDTH / POINTS} height={HEIGHT / POINTS} fixedsize=true shape=box label=x"
    lines = [
        f"digraph {{ nodesep={BOX_GAP / POINTS} ranksep={LAYER_GAP / POINTS}",
        f"node [{sizes}]",
    ]
    lines += [f"n{i}" for i in range(count)]
    lines += [f"n{a} -> n{b}" for a, b in edges]
    return "\n".join([*lines, "}"])


def lay_out_with_dot(graph):
    seconds, plain = run_dot(dot_text(graph), "-Tplain")
    curves = []
    for line in plain.splitlines():
        kind, *words = line.split()
        if kind == "graph":
            width, height = (float(word) * POINTS for word in words[1:3])
        elif kind == "edge":
            ends = int(words[0][1:]), int(words[1][1:])
            numbers = [float(word) * POINTS for word in words[3 : 3 + 2 * int(words[2])]]
            curves.append((ends, list(zip(numbers[::2], numbers[1::2]))))
    return seconds, width, height, curves


def time_dot_start():
    """What dot takes to start and to lay out one box."""
    return run_dot("digraph { a }", "-Tplain")[0]


# Crossings


def curve_pieces(points):
    """The curves of a route as short straight pieces."""
    pieces = []
    for i in range(0, len(points) - 3, 3):
        a, b, c, d = points[i : i + 4]
        before = a
        for step in range(1, PIECES + 1):
            t = step / PIECES
            u = 1 - t
            w = u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t
            at = tuple(w[0] * a[k] + w[1] * b[k] + w[2] * c[k] + w[3] * d[k] for k in (0, 1))
            pieces.append((before, at))
            before = at
    return pieces


def side(a, b, p):
    return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])


def do_cross(one, other):
    (a, b), (c, d) = one, other
    return side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0


def count_crossings(curves):
    """Pairs of edges that cross, those with a common end left out."""
    cell = 40.0
    cells = {}
    for number, (_, points) in enumerate(curves):
        for piece in curve_pieces(points):
            (x1, y1), (x2, y2) = piece
            for column in range(int(min(x1, x2) // cell), int(max(x1, x2) // cell) + 1):
                for row in range(int(min(y1, y2) // cell), int(max(y1, y2) // cell) + 1):
                    cells.setdefault((column, row), []).append((number, piece))
    found = set()
    for held in cells.values():
        for i, (one, piece) in enumerate(held):
            for other, other_piece in held[:i]:
                pair = (one, other) if one < other else (other, one)
                if one == other or pair in found or set(curves[one][0]) & set(curves[other][0]):
                    continue
                if do_cross(piece, other_piece):
                    found.add(pair)
    return len(found)


# Measuring


def measure(program, count):
    graph = residual_network(count)
    ours, dots, starts = [], [], []
    for _ in range(ROUNDS[count]):
        ours += [lay_out(program, graph, REPEATS[count]) for _ in range(OUR_ROUNDS)]
        dots.append(lay_out_with_dot(graph))
        starts.append(time_dot_start())
    seconds = min(one[0] for one in ours)
    dot_seconds = min(one[0] for one in dots)
    dot_alone = max(dot_seconds - min(starts), 1e-4)
    area, dot_area = (one[1] * one[2] for one in (ours[0], dots[0]))
    crossings, dot_crossings = (count_crossings(one[3]) for one in (ours[0], dots[0]))
    print(
        f"{count:>6} boxes: {seconds * 1e3:>8.3f} ms; dot {dot_seconds * 1e3:>8.0f} ms, without "
        f"its start {dot_alone * 1e3:>8.1f} ms ({dot_alone / seconds:>6.0f} times); "
        f"area {area / dot_area:.2f} of dot's; crossings {crossings}, dot's {dot_crossings}"
    )
    return seconds, dot_alone, area / dot_area, crossings, dot_crossings


def measure_random(program):
    ours = dots = 0
    for seed in range(40):
        graph = random_graph(20 + seed, seed)
        ours += count_crossings(lay_out(program, graph, 1)[3])
        dots += count_crossings(lay_out_with_dot(graph)[3])
    print(f"40 random graphs of 20 to 59 boxes: {ours} crossings, dot's {dots} ({ours / dots:.2f})")
    return ours, dots


def main():
    claims = Claims("How fast and how well graphs are laid out")
    if shutil.which("dot") is None:
        claims.not_measured("layouts of residual networks", "dot (graphviz) is not installed")
        return claims.finish()
    with tempfile.TemporaryDirectory() as folder:
        program = build(pathlib.Path(folder))
        found = {count: measure(program, count) for count in SIZES}
        crossings = [f[3:] for f in found.values()] + [measure_random(program)]
    first, last = found[SIZES[1]][0], found[SIZES[-1]][0]
    wanted = SIZES[-1] * math.log(SIZES[-1]) / (SIZES[1] * math.log(SIZES[1]))
    dot = "graphviz dot without its start, with the same sizes and gaps"
    for count, factor in ((52, 1), (5200, 20)):
        faster = found[count][1] / found[count][0]
        claims.at_least(factor, f"layout of {count:,} boxes", faster, peer=dot, unit="times faster")
    growth = last / first / wanted
    what = f"growth of the time from {SIZES[1]:,} to {SIZES[-1]:,} boxes"
    claims.at_most(GROWTH_TOLERANCE, what, growth, peer="n log n")
    worst = max(ours / max(dots, 1) for ours, dots in crossings)
    claims.at_most(1.1, "crossings, in the worst of the graphs", worst, peer="dot's")
    area = max(f[2] for f in found.values())
    claims.at_most(1.2, "area, in the worst of the graphs", area, peer="dot's")
    return claims.finish()


if __name__ == "__main__":
    sys.exit(main())
