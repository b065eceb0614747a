"""`monitorch graph`: formats, options, messages and exit codes, on traces made by the tests."""

import fcntl
import os
import pathlib
import pty
import re
import resource
import signal
import struct
import subprocess
import termios

import pytest

from tests.support import dot, png, svg, viewer
from tests.trace import scenarios
from tests.trace.made import Trace, scalar, tensor

FORMATS = "png svg pdf dot".split()


def graph(*words, **options):
    return viewer.run("graph", *words, encoding=None, **options)


def told(run):
    return run.stderr.decode()


def numbered(count, lines=1):
    """A function's events, `count` times one after the other, at so many sites."""
    trace = Trace()
    names = [("assign", 1 + i, 1, f"a{i}") for i in range(lines)]
    trace.module("m.py", [("<module>", 1), ("f", 1)], names)
    call = trace.call(1)
    trace.repeat(count)
    for i in range(lines):
        value = tensor((2,), min=1, max=2, mean=1.5, std=0.5, sample=struct.pack("<2f", 1, 2))
        trace.event(i, call, value)
    trace.again()
    return trace


@pytest.fixture(scope="module")
def wide(folder):
    """3,000 events at as many lines: nothing to fold."""
    return numbered(1, 3000).write(folder / "wide.mtrace")


def draw(tmp_path, *words, suffix="svg"):
    """The bytes of a picture that has to be made without a word."""
    path = tmp_path / f"out.{suffix}"
    run = graph(*words, "-o", path)
    assert (run.stdout, told(run), run.returncode) == (b"", "", 0)
    return path.read_bytes()


def nodes(data):
    return svg.read(data).find("node")


# ---- formats ----


def test_formats(nested, tmp_path):
    picture = svg.read(draw(tmp_path, nested))
    names = " ".join(text.value for text in picture.all_texts())
    assert "scores" in names and "weights" in names and picture.width > 100
    pixels = png.read(draw(tmp_path, nested, suffix="png"))
    assert abs(pixels.shape[1] - picture.width * 96 / 72) < 2
    assert abs(pixels.shape[0] - picture.height * 96 / 72) < 2
    assert len({tuple(pixel) for pixel in pixels[::7, ::7].reshape(-1, 3).tolist()}) > 4
    document = draw(tmp_path, nested, suffix="pdf")
    assert document.startswith(b"%PDF-1.") and document.endswith(b"%%EOF\n")
    assert len(re.findall(rb"/Type /Page\b(?!s)", document)) == 1
    described = dot.read(draw(tmp_path, nested, suffix="dot").decode())
    assert len(described.nodes) == len(picture.find("node"))


@pytest.mark.parametrize("suffix", FORMATS)
def test_standard_output(nested, suffix, tmp_path):
    whole = draw(tmp_path, nested, suffix=suffix)
    run = graph(nested, "-o", "-", "--format", suffix)
    assert (told(run), run.returncode) == ("", 0)
    if suffix != "pdf":  # which tells when it was made
        assert run.stdout == whole
    else:
        assert abs(len(run.stdout) - len(whole)) < 100


def test_suffix_and_format(nested, tmp_path):
    assert draw(tmp_path, nested, suffix="PNG") == draw(tmp_path, nested, suffix="png")
    other = draw(tmp_path, nested, "--format=SVG", suffix="txt")
    assert other == draw(tmp_path, nested, suffix="svg")


def test_missing_folders_are_made(nested, tmp_path):
    path = tmp_path / "a" / "b" / "flow.svg"
    assert graph(nested, "-o", path).returncode == 0
    assert svg.read(path.read_bytes()).find("node")


# ---- options ----


def test_resolution(nested, tmp_path):
    once = draw(tmp_path, nested, suffix="png")
    twice = draw(tmp_path, nested, "--dpi", 192, suffix="png")
    small, large = png.read(once).shape, png.read(twice).shape
    assert all(abs(2 * a - b) <= 2 for a, b in zip(small[:2], large[:2]))
    assert round(png.dots_an_inch(once)) == 96 and round(png.dots_an_inch(twice)) == 192


def test_theme(nested, tmp_path):
    light = png.read(draw(tmp_path, nested, suffix="png"))
    dark = png.read(draw(tmp_path, nested, "--theme=dark", suffix="png"))
    assert light.shape == dark.shape
    assert light[0, 0].min() > 230 and dark[0, 0].max() < 60


def test_title(nested, tmp_path):
    texts = svg.read(draw(tmp_path, nested, "--title", "What <it> does & why")).all_texts()
    assert "What <it> does & why" in [text.value for text in texts]
    assert b"/Title (What it does)" in draw(tmp_path, nested, "--title=What it does", suffix="pdf")
    wide = "A \u4e2d".encode("utf-16-be").hex().upper().encode()
    assert b"/Title <FEFF" + wide + b">" in draw(tmp_path, nested, "--title=A \u4e2d", suffix="pdf")


def test_proportion(wide, tmp_path):
    shapes = []
    for proportion in (0.3, 0.75, 1.5, 4):
        picture = svg.read(draw(tmp_path, wide, "--lines=1-60", f"--proportion={proportion}"))
        shapes.append(picture.height / picture.width)
    assert shapes == sorted(shapes)
    assert shapes[0] < 1 and shapes[-1] > 2


@pytest.mark.parametrize(
    "size,width,height",
    [
        ("A4", 595.3, 841.9),
        ("a4-landscape", 841.9, 595.3),
        ("Letter", 612, 792),
        ("Letter-landscape", 792, 612),
        ("200x100", 566.9, 283.5),
    ],
)
def test_pages(wide, size, width, height, tmp_path):
    document = draw(tmp_path, wide, "--lines=1-500", "--pages", size, suffix="pdf")
    boxes = re.findall(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", document)
    assert len(boxes) > 1
    for box in boxes:
        assert float(box[0]) == pytest.approx(width, abs=0.1)
        assert float(box[1]) == pytest.approx(height, abs=0.1)


def test_folding(folder, tmp_path):
    path = numbered(40).write(folder / "forty.mtrace")
    assert len(nodes(draw(tmp_path, path, "--fold=none"))) == 40
    assert len(nodes(draw(tmp_path, path, "--fold", "all"))) == 1
    assert len(nodes(draw(tmp_path, path))) < 40


def test_the_newest(folder, tmp_path):
    path = numbered(40).write(folder / "forty.mtrace")
    for count in (1, 7, 40, 1000):
        drawn = nodes(draw(tmp_path, path, "--fold=none", f"--max-nodes={count}"))
        assert len(drawn) == min(count, 40)
    picture = svg.read(draw(tmp_path, path, "--fold=none", "--max-nodes=7"))
    assert any("33" in text.value for text in picture.all_texts())


def test_too_many_nodes(wide, tmp_path):
    path = tmp_path / "out.svg"
    run = graph(wide, "-o", path)
    assert run.returncode == 2 and not path.exists()
    for word in ("3000", "2000", "--max-nodes", "--fold all", "--function", "--line"):
        assert word in told(run)
    assert len(nodes(draw(tmp_path, wide, "--max-nodes=0"))) == 3000
    assert len(nodes(draw(tmp_path, wide, "--max-nodes=5"))) == 5
    assert len(nodes(draw(tmp_path, wide, "--lines=11-20"))) == 10


FILTERS = {
    "--function=Attention.*": {"scores", "weights"},
    "--lines=7": {"scores"},
    "--line=-7": {"scores", "q"},
    "--name=[qw]*": {"q", "weights"},
    "--module=layers.*": {"scores", "weights"},
    "--file=mod*": {"scores", "weights"},
    "--thread=0": {"scores", "weights"},
    "--thread=Main*": {"scores", "weights"},
    "--call=1+": {"scores", "weights"},
    "--call=3": {"scores", "weights"},
}


@pytest.mark.parametrize("word", FILTERS)
def test_filter(nested, word, tmp_path):
    texts = {t.value for node in nodes(draw(tmp_path, nested, word)) for t in node.all_texts()}
    assert FILTERS[word] <= texts
    everything = {"q", "scores", "weights"}
    if word in ("--lines=7", "--line=-7", "--name=[qw]*"):
        assert not texts & (everything - FILTERS[word])


def test_scalars(folder, tmp_path):
    trace = Trace()
    trace.module("m.py", [("<module>", 1), ("f", 1)], [("assign", 1, 1, "a")])
    trace.event(0, trace.call(1), scalar(12345))
    path = trace.write(folder / "scalars.mtrace")
    run = graph(path, "-o", tmp_path / "out.svg")
    assert run.returncode == 1 and "--scalars" in told(run) and not os.listdir(tmp_path)
    picture = svg.read(draw(tmp_path, path, "--scalars"))
    assert any("12345" in text.value for text in picture.all_texts())


@pytest.mark.parametrize("suffix", ["svg", "png", "dot"])
def test_equal_traces_give_equal_bytes(nested, suffix, tmp_path):
    words = [nested, "--title=x"]
    assert draw(tmp_path, *words, suffix=suffix) == draw(tmp_path, *words, suffix=suffix)


# ---- messages ----

WRONG = [
    ([], "no trace, expected TRACE"),
    (["T"], "no output, expected -o FILE"),
    (["T", "-o"], "--output: expected FILE after it"),
    (["T", "-o", "flow"], "flow: the name must end in .png, .svg, .pdf or .dot"),
    (["T", "-o", "flow.jpg"], "flow.jpg: the name must end in"),
    (["T", "-o", ".svg"], ".svg: the name must end in"),
    (["T", "-o", "a.svg/b"], "a.svg/b: the name must end in"),
    (["T", "-o", "-"], "-o -: expected --format too"),
    (["T", "-o", "x.svg", "--format=gif"], "--format gif: expected png, svg, pdf or dot"),
    (["T", "U", "-o", "x.svg"], "U: expected one trace"),
    (["T", "-o", "x.svg", "--lines=5-2"], "--line 5-2: expected N, N-M"),
    (["T", "-o", "x.svg", "--lines=0"], "--line 0: expected"),
    (["T", "-o", "x.svg", "--line=x"], "--line x: expected"),
    (["T", "-o", "x.svg", "--fold=some"], "--fold some: expected auto, all or none"),
    (["T", "-o", "x.svg", "--theme=red"], "--theme red: expected light or dark"),
    (["T", "-o", "x.svg", "--max-nodes=-1"], "--max-nodes -1: expected a number of nodes"),
    (["T", "-o", "x.svg", "--max-nodes=9x"], "--max-nodes 9x: expected"),
    (["T", "-o", "x.svg", "--max-nodes=99999999999999999999"], "expected a number of nodes"),
    (["T", "-o", "x.svg", "--proportion=-1"], "--proportion -1: expected"),
    (["T", "-o", "x.svg", "--proportion=nan"], "--proportion nan: expected"),
    (["T", "-o", "x.svg", "--call=0"], "--call 0: expected"),
    (["T", "-o", "x.png", "--dpi=0"], "--dpi 0: expected dots for each inch"),
    (["T", "-o", "x.png", "--dpi=1e9"], "--dpi 1e9: expected"),
    (["T", "-o", "x.svg", "--dpi=96"], "--dpi is for png"),
    (["T", "-o", "x.pdf", "--pages=A9"], "--pages A9: expected A3, A4"),
    (["T", "-o", "x.pdf", "--pages=A4-"], "--pages A4-: expected"),
    (["T", "-o", "x.pdf", "--pages=10x10"], "--pages 10x10: expected"),
    (["T", "-o", "x.pdf", "--pages=100x"], "--pages 100x: expected"),
    (["T", "-o", "x.svg", "--pages=A4"], "--pages is for pdf"),
    (["T", "-o", "x.dot", "--theme=dark"], "are not for dot"),
    (["T", "-o", "x.svg", "--max-node=3"], "no option --max-node; did you mean --max-nodes?"),
]


@pytest.mark.parametrize("words,message", WRONG, ids=[" ".join(words) for words, _ in WRONG])
def test_wrong_words(words, message, nested, tmp_path):
    words = [nested if word == "T" else word for word in words]
    run = graph(*words, cwd=tmp_path)
    assert run.returncode == 2 and run.stdout == b""
    assert message in told(run)
    assert told(run).endswith("`monitorch graph --help` lists the options\n")
    assert os.listdir(tmp_path) == []


def test_help():
    run = graph("--help")
    assert (told(run), run.returncode) == ("", 0)
    text = run.stdout.decode()
    tables = (pathlib.Path("runtime/command", name) for name in ("shared/filter_options.def", "graph/options.def"))
    definitions = "".join(table.read_text() for table in tables)
    options = re.findall(r'(?:OPTION|SWITCH|WORD)\(\w+, \S+ "([\w-]+)"', definitions)
    assert len(options) > 15
    for option in options:
        assert f"--{option}" in text or option == "line"
    assert all(len(line) <= 92 for line in text.splitlines())
    again = viewer.run("help", "graph")
    assert again.stdout == text
    summary = viewer.run("--help").stdout
    assert re.search(r"^  graph  ", summary, re.MULTILINE)
    version = viewer.run("--version", encoding=None).stdout
    assert graph("--version").stdout == version


def test_no_trace(tmp_path):
    output = tmp_path / "out.svg"
    run = graph(tmp_path / "none.mtrace", "-o", output)
    assert run.returncode == 3 and "none.mtrace" in told(run)
    (tmp_path / "text.mtrace").write_text("no trace")
    run = graph(tmp_path / "text.mtrace", "-o", output)
    assert run.returncode == 3 and "text.mtrace" in told(run)
    run = graph(tmp_path, "-o", output)
    assert run.returncode == 3 and "directory" in told(run)
    assert not output.exists()


def test_no_events(nested, folder, tmp_path):
    path = Trace().write(folder / "none.mtrace")
    run = graph(path, "-o", tmp_path / "out.svg")
    assert (told(run), run.returncode) == (f"{path}: has no events\n", 1)
    run = graph(nested, "--name=nobody", "-o", tmp_path / "out.svg")
    assert told(run).startswith(f"{nested}: no event matches\n{nested}: --name nobody matches nothing; ")
    assert run.returncode == 1
    assert os.listdir(tmp_path) == []


def test_unwritable(nested, tmp_path):
    (tmp_path / "file").write_text("kept")
    before = nested.read_bytes()
    for place in (tmp_path / "file" / "out.svg", "/proc/nowhere/out.svg"):
        run = graph(nested, "-o", place)
        assert run.returncode == 3 and str(place) in told(run)
    (tmp_path / "folder.svg").mkdir()
    run = graph(nested, "-o", tmp_path / "folder.svg")
    assert run.returncode == 3 and "is a directory" in told(run)
    assert (tmp_path / "file").read_text() == "kept" and nested.read_bytes() == before
    if os.path.exists("/dev/full"):
        with open("/dev/full", "wb") as full:
            run = subprocess.run(
                [viewer.PATH, "graph", nested, "-o", "-", "--format=svg"],
                stdout=full,
                stderr=subprocess.PIPE,
            )
        assert run.returncode == 3 and b"standard output cannot" in run.stderr


def test_an_unfinished_trace(folder, tmp_path):
    trace = numbered(100)
    trace.kill()
    path = trace.write(folder / "killed.mtrace")
    run = graph(path, "-o", tmp_path / "out.svg")
    assert run.returncode == 0
    assert told(run).startswith(f"{path}: remark: the recording is unfinished")
    run = graph(path, "-q", "-o", tmp_path / "out.svg")
    assert (told(run), run.returncode) == ("", 0)


def test_a_cut_trace(folder, tmp_path):
    whole = numbered(5000).write(folder / "whole.mtrace").read_bytes()
    cut = folder / "cut.mtrace"
    cut.write_bytes(whole[: len(whole) // 2])
    run = graph(cut, "--fold=all", "-o", tmp_path / "out.svg")
    assert run.returncode == 3
    assert told(run).startswith(f"{cut}: offset ")
    assert len(nodes((tmp_path / "out.svg").read_bytes())) == 1


def test_hostile_texts(tmp_path, folder):
    path = scenarios.hostile().write(folder / "hostile.mtrace")
    for suffix in FORMATS:
        output = tmp_path / f"out.{suffix}"
        run = graph(path, "--scalars", "--title", "<&\x1b[2J\u202e>", "-o", output)
        assert run.returncode == 0, told(run)
        data = output.read_bytes()
        if suffix == "svg":
            svg.read(data)
        if suffix in ("svg", "dot"):
            text = data.decode()
            assert not any(ord(c) < 32 and c != "\n" or c in "\x7f\x85\u202e" for c in text)


# ---- the machine ----


def without_fonts(folder):
    """A machine that has no font at all."""
    (folder / "fonts.conf").write_text("<fontconfig/>")
    return {"FONTCONFIG_FILE": str(folder / "fonts.conf"), "FONTCONFIG_PATH": "/nowhere"}


def test_no_fonts(nested, tmp_path):
    usual = png.read(draw(tmp_path, nested, suffix="png"))
    environment = without_fonts(tmp_path)
    for suffix in ("png", "pdf"):
        output = tmp_path / f"plain.{suffix}"
        run = graph(nested, "-o", output, env=environment)
        assert (told(run), run.returncode) == ("", 0)
    plain = png.read((tmp_path / "plain.png").read_bytes())
    assert plain.shape == usual.shape

    def ink(pixels):
        return (pixels.min(axis=2) < 120).mean()

    assert 0.2 * ink(usual) < ink(plain) < 2 * ink(usual)


def test_no_libraries(nested, tmp_path):
    """Text needs neither cairo nor pango, and what needs them says so."""
    (tmp_path / "libpangocairo-1.0.so.0").write_text("no library")
    environment = {"LD_LIBRARY_PATH": str(tmp_path)}
    for suffix in FORMATS:
        output = tmp_path / f"out.{suffix}"
        run = graph(nested, "-o", output, env=environment)
        if suffix in ("svg", "dot"):
            assert (told(run), run.returncode) == ("", 0)
        else:
            assert run.returncode == 3 and "cairo and pango" in told(run)
            assert not output.exists()


def test_too_large_for_pixels(wide, tmp_path):
    path = tmp_path / "out.png"
    run = graph(wide, "--max-nodes=0", "--dpi=1200", "-o", path)
    assert run.returncode == 2 and not path.exists()
    assert "--dpi" in told(run) and "--max-nodes" in told(run) and ".svg" in told(run)


def test_a_closed_pipe(wide):
    process = subprocess.Popen(
        [viewer.PATH, "graph", wide, "--max-nodes=0", "-o", "-", "--format=svg"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout.read(10)
    process.stdout.close()
    assert process.wait(60) == -signal.SIGPIPE
    assert process.stderr.read() == b""


@pytest.fixture(scope="module")
def huge(folder):
    return numbered(100_000).write(folder / "huge.mtrace")


def on_terminal(words, kill_at=None):
    """What a person at a terminal reads on standard error, and the exit code."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = subprocess.Popen(
        [viewer.PATH, "graph", *map(str, words)], stdout=subprocess.DEVNULL, stderr=theirs
    )
    os.close(theirs)
    text = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:
            break
        text += part
        if kill_at is not None and kill_at in text:
            process.send_signal(signal.SIGINT)
            kill_at = None
    os.close(ours)
    return text.decode(), process.wait(300)


def test_a_large_trace_is_no_silence(huge, tmp_path):
    started = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    run = graph(huge, "--fold=none", "-o", tmp_path / "out.svg")
    assert run.returncode == 2 and "--max-nodes" in told(run)
    assert "100000" in told(run)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - started < 30
    words = [huge, "--fold=none", "--max-nodes=20000", "-o", tmp_path / "out.svg"]
    text, code = on_terminal(words)
    assert code == 0
    assert "laying out 20000 nodes" in text
    assert text.rstrip().endswith("out.svg: 20000 nodes of 100000 events")


def test_ended_by_control_c(huge, tmp_path):
    words = [huge, "--fold=none", "--max-nodes=0", "-o", tmp_path / "out.svg"]
    text, code = on_terminal(words, kill_at=b"laying out")
    assert code == -signal.SIGINT
    assert os.listdir(tmp_path) == []


def test_pixels_are_not_for_a_terminal(nested):
    ours, theirs = pty.openpty()
    run = subprocess.run(
        [viewer.PATH, "graph", nested, "-o", "-", "--format=png"], stdout=theirs, stderr=subprocess.PIPE
    )
    os.close(theirs)
    os.close(ours)
    assert run.returncode == 2 and b"a terminal cannot show" in run.stderr
