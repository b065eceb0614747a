"""The command monitorch-instrument: every option, every bad input, and what is left behind."""

import json
import os
import pty
import re
import resource
import signal
import stat
import subprocess
import time

import pytest

from tests.support import paths

pytestmark = pytest.mark.skipif(
    not paths.COMMAND.exists(), reason="the command is not built (make)"
)

MODEL = """\
import torch


class Attention(torch.nn.Module):
    def forward(self, x):
        y = x + 1
        return y

    def helper(self, x):
        z = x * 2
        return z


def free(x):
    w = x - 1
    return w
"""
BLANK = "x = 1\n"


class Folder:
    """A folder to run the command in."""

    def __init__(self, path):
        self.path = path

    def write(self, name, text):
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def read(self, name):
        return (self.path / name).read_text()

    def names(self):
        """Every file below, hidden ones too."""
        return sorted(
            str(p.relative_to(self.path)) for p in self.path.rglob("*") if p.is_file()
        )

    def run(self, *words, code=0, given=b"", environment=None, **more):
        done = subprocess.run(
            [paths.COMMAND, *map(str, words)],
            cwd=self.path,
            input=given,
            capture_output=True,
            env={**os.environ, **(environment or {})},
            timeout=300,
            **more,
        )
        out, told = done.stdout.decode(), done.stderr.decode()
        assert done.returncode == code, f"{done.returncode}\n{out}{told}"
        return Ran(out, told)


class Ran:
    def __init__(self, out, told):
        self.out = out
        self.told = told


@pytest.fixture
def folder(tmp_path):
    made = Folder(tmp_path)
    made.write("model.py", MODEL)
    return made


def selected_functions(text):
    """The functions of a traced text in which something was inserted, by the listing."""
    done = subprocess.run(
        [paths.COMMAND, "--list", "--json", "-"], input=text.encode(), capture_output=True
    )
    table = json.loads(done.stdout)
    return {table["functions"][site["function"]]["name"] for site in table["sites"]}


# Where the output goes


def test_standard_output(folder):
    ran = folder.run("model.py")
    assert ran.out != MODEL
    assert len(ran.out.splitlines()) == len(MODEL.splitlines())
    assert folder.names() == ["model.py"]


def test_standard_input(folder):
    ran = folder.run("-", given=MODEL.encode())
    assert selected_functions(ran.out) == {"Attention.forward"}
    assert folder.run("-", "-o", "made.py", given=MODEL.encode()).out == ""
    assert folder.read("made.py") == ran.out


@pytest.mark.parametrize("words", [("-o", "made.py"), ("-omade.py",), ("--output=made.py",)])
def test_output(folder, words):
    text = folder.run("model.py").out
    assert folder.run("model.py", *words).out == ""
    assert folder.read("made.py") == text
    assert folder.names() == ["made.py", "model.py"]


def test_output_to_standard_output(folder):
    assert folder.run("model.py", "-o", "-").out == folder.run("model.py").out


def test_output_to_a_device(folder):
    folder.run("model.py", "-o", "/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_output_in_a_new_folder(folder):
    folder.run("model.py", "-o", "a/b/made.py")
    assert folder.names() == ["a/b/made.py", "model.py"]


def test_directory_mirrors_paths(folder):
    folder.write("src/deep/b.py", MODEL)
    folder.run("model.py", "src/deep/b.py", "-d", "out")
    assert folder.names() == ["model.py", "out/model.py", "out/src/deep/b.py", "src/deep/b.py"]


def test_directory_is_never_left(folder):
    folder.write("a/b/other.py", MODEL)
    inside = Folder(folder.path / "a")
    inside.run("../model.py", folder.path / "a/b/other.py", "./b/../../a/b/other.py", "-d", "out")
    made = [name for name in folder.names() if "out/" in name]
    assert all(name.startswith("a/out/") for name in made)
    assert len(made) == 3


def test_recursion_takes_python_files_only(folder):
    for name in ["s/a.py", "s/t/b.py", "s/.hidden/c.py", "s/__pycache__/d.py", "s/a_traced.py"]:
        folder.write(name, MODEL)
    folder.write("s/notes.txt", "no")
    (folder.path / "s/loop").symlink_to(".")
    folder.run("-r", "s", "-d", "s/out")
    folder.run("-r", "s/", "-d", "s/out")
    assert [n for n in folder.names() if "out/" in n] == ["s/out/a.py", "s/out/t/b.py"]


def test_recursion_here(folder):
    folder.write("t/b.py", MODEL)
    assert folder.run("-r", ".", "-d", "out").told.startswith("2 files written; 2 of 6 functions")
    assert "out/t/b.py" in folder.names() and "out/model.py" in folder.names()


def test_in_place(folder):
    folder.write("blank.py", BLANK)
    before = os.stat(folder.path / "blank.py").st_ino
    text = folder.run("model.py").out
    folder.run("--in-place", "model.py", "blank.py")
    assert folder.read("model.py") == text
    assert os.stat(folder.path / "blank.py").st_ino == before
    folder.run("--strip", "--in-place", "model.py")
    assert folder.read("model.py") == MODEL


def test_links_are_followed(folder):
    (folder.path / "link.py").symlink_to("model.py")
    folder.run("--in-place", "link.py")
    assert (folder.path / "link.py").is_symlink()
    assert folder.read("model.py") != MODEL


def test_permission_bits(folder):
    os.chmod(folder.path / "model.py", 0o754)
    folder.run("model.py", "-o", "made.py")
    assert stat.S_IMODE(os.stat(folder.path / "made.py").st_mode) == 0o754
    os.chmod(folder.path / "made.py", 0o640)
    folder.run("model.py", "-o", "made.py")
    assert stat.S_IMODE(os.stat(folder.path / "made.py").st_mode) == 0o640


# What is selected


@pytest.mark.parametrize(
    "words, wanted",
    [
        ((), {"Attention.forward"}),
        (("--forward",), {"Attention.forward"}),
        (("--function", "free"), {"free"}),
        (("--function=*.helper", "--function", "fr??"), {"Attention.helper", "free"}),
        (("--function", "[!A]*", "--forward"), {"free", "Attention.forward"}),
        (("--lines", "6"), {"Attention.forward"}),
        (("--lines", "10-"), {"Attention.helper", "free"}),
        (("--lines=-6", "--lines", "15-16"), {"Attention.forward", "free"}),
    ],
)
def test_selection(folder, words, wanted):
    text = folder.run(*words, "model.py").out
    assert selected_functions(text) == wanted


def test_selection_of_everything(folder):
    text = folder.run("--all", "model.py").out
    assert {"Attention.forward", "Attention.helper", "free"} <= selected_functions(text)


def test_spy(folder):
    text = folder.run("--spy", "y,q", "model.py").out
    assert 'spy_save("y", y, self)' in text
    assert "z, self" not in text


def test_nothing_selected(folder):
    folder.write("blank.py", BLANK)
    ran = folder.run("blank.py")
    assert ran.out == BLANK
    assert "blank.py:1:1: remark: nothing is selected" in ran.told
    assert folder.run("-q", "blank.py").told == ""


@pytest.mark.parametrize(
    "words, warnings",
    [
        (["--function", "Attention.forwrd"],
         ["--function Attention.forwrd selects nothing; did you mean Attention.forward?"]),
        (["--function", "free", "--function", "*.helpr"],
         ["--function *.helpr selects nothing; did you mean Attention.helper?"]),
        (["--function", "zzzzzzzz"], ["--function zzzzzzzz selects nothing"]),
        (["--function", "free", "--spy", "qq,y,free*"],
         ["--spy qq selects nothing", "--spy free* selects nothing"]),
        (["--function", "*", "--spy", "y"], []),
        (["--all"], []),
    ],
)  # fmt: skip
def test_globs_that_select_nothing(folder, words, warnings):
    told = folder.run(*words, "model.py").told
    found = [line for line in told.splitlines() if " selects nothing" in line]
    assert found == [f"model.py:1:1: warning: {text}" for text in warnings]
    assert folder.run("-q", *words, "model.py").told == ""


# Other modes


def test_strip(folder):
    for source in [MODEL, MODEL.replace("\n", "\r\n"), "\ufeff" + MODEL, MODEL.rstrip()]:
        folder.write("model.py", source)
        folder.run("--all", "model.py", "-o", "made.py")
        folder.run("--strip", "made.py", "-o", "back.py")
        assert (folder.path / "back.py").read_bytes() == source.encode()
    assert folder.run("--strip", "model.py").out == folder.read("model.py")


def test_strip_warns_of_edits(folder):
    folder.run("model.py", "-o", "made.py")
    folder.write("made.py", folder.read("made.py").replace("x - 1", "x - 2"))
    ran = folder.run("--strip", "made.py")
    assert ran.out == MODEL.replace("x - 1", "x - 2")
    assert re.match(r"made\.py:1:1: warning: was edited", ran.told)


def test_check(folder):
    assert "model_traced.py:1:1: missing" in folder.run("--check", "model.py", code=1).told
    folder.run("model.py", "-o", "model_traced.py")
    assert folder.run("--check", "model.py").told == ""
    folder.run("--check", "--forward", "model.py")
    assert "another selection" in folder.run("--check", "--all", "model.py", code=1).told
    folder.write("model.py", MODEL + "#\n")
    assert "out of date" in folder.run("--check", "model.py", code=1).told
    folder.write("model_traced.py", "x = 2\n")
    assert "not instrumented" in folder.run("--check", "model.py", code=1).told


def test_check_of_a_tree(folder):
    folder.write("s/a.py", MODEL)
    folder.write("s/blank.py", BLANK)
    folder.run("-r", "s", "-d", "out")
    folder.run("--check", "-r", "s", "-d", "out")
    folder.run("--check", "s/a.py", "-o", "out/a.py")
    os.unlink(folder.path / "out/blank.py")
    assert folder.run("--check", "-r", "s", "-d", "out", code=1).told.count("\n") == 1


def test_check_fails_for_what_cannot_be_read(folder):
    folder.run("--check", "none.py", "model.py", code=3)


def test_list_for_people(folder):
    lines = folder.run("--list", "model.py").out.splitlines()
    assert any(
        re.match(r"model\.py:6:9 +assign +Attention\.forward +y <- x +model\.py:Att", line)
        for line in lines
    )
    assert len({line.index("Attention.forward") for line in lines}) == 1


def test_list_for_programs(folder):
    folder.write("other.py", MODEL)
    ran = folder.run("--list", "--json", "--all", "model.py", "other.py")
    tables = [json.loads(line) for line in ran.out.splitlines()]
    assert [table["file"] for table in tables] == ["model.py", "other.py"]
    sites = tables[0]["sites"]
    (site,) = [s for s in sites if [w["name"] for w in s["writes"]] == ["w"]]
    assert site["line"] == 15 and site["kind"] == "assign"
    assert tables[0]["functions"][site["function"]]["name"] == "free"
    assert site["key"] == "model.py:free:assign:w:0"
    assert [r["name"] for r in site["reads"]] == ["x"]
    assert len({s["key"] for s in sites}) == len(sites)


def test_list_of_an_instrumented_file(folder):
    wanted = folder.run("--list", "--json", "model.py").out
    folder.run("model.py", "-o", "made.py")
    assert json.loads(folder.run("--list", "--json", "made.py").out)["sites"] == (
        json.loads(wanted)["sites"]
    )


def test_update(folder):
    folder.write("other.py", MODEL)
    folder.run("--function", "free", "model.py", "-o", "model_traced.py")
    assert folder.run("--update", "model.py", "other.py", "model_traced.py").out == ""
    folder.write("model.py", "# more\n" + MODEL)
    ran = folder.run("--update", "model.py", "other.py", "model_traced.py", code=1)
    assert ran.out == "model_traced.py: made again from model.py\n"
    assert folder.read("model_traced.py") == folder.run("--function", "free", "model.py").out
    assert folder.run("--update", "model.py").out == ""
    folder.write("model.py", MODEL)
    folder.run("--update", "model_traced.py", code=1)


def test_update_leaves_other_files_alone(folder):
    folder.write("model_traced.py", "mine = 1\n")
    folder.run("--update", "model.py", "model_traced.py")
    assert folder.read("model_traced.py") == "mine = 1\n"
    folder.run("--update")
    folder.run("--update", "none.py", code=3)


def test_refuse(folder):
    folder.run("model.py", "-o", "made.py")
    folder.write("spied.py", "from m import f\nfrom monitorch.spy import spy_save\nspy_save('a', 1)\n")
    assert folder.run("--refuse", "model.py").told == ""
    ran = folder.run("--refuse", "model.py", "made.py", "spied.py", code=1)
    assert "made.py:" in ran.told and "spied.py:3:1: " in ran.told
    assert "model.py:" not in ran.told
    folder.run("--refuse")


# Telling


def test_version_and_help(folder):
    assert re.fullmatch(r"monitorch-instrument \d+\.\d+\.\d+\n", folder.run("--version").out)
    text = folder.run("--help", "--nonsense").out
    for word in re.findall(r'"([a-z-]+)"', (paths.ROOT / "instrument/command/options.def").read_text()):
        assert f"--{word}" in text
    assert max(map(len, text.splitlines())) <= 88
    assert folder.run("-qh", "-x").out == folder.run("--strip", "-rhz").out == text
    assert folder.run("model.py", "-qV").out == folder.run("--version").out


def test_summary_and_order_of_messages(folder):
    names = [f"m{i:03}.py" for i in range(100)]
    for i, name in enumerate(names):
        folder.write(name, b"x = '\xff'\n" if i % 3 == 0 else MODEL)
    told = [
        folder.run("-j", jobs, *names, "-d", f"out{jobs}", code=3).told for jobs in (1, 2, 7)
    ]
    assert told[0] == told[1] == told[2]
    lines = told[0].splitlines()
    assert [line[:7] for line in lines[:-1]] == names[::3]
    assert lines[-1] == (
        "66 files written, 34 failed; 66 of 198 functions instrumented, 0 skipped (0.000%)"
    )
    assert len([n for n in folder.names() if n.startswith("out1/")]) == 66


def test_listing_keeps_the_order(folder):
    names = [f"m{i:03}.py" for i in range(200)]
    for name in names:
        folder.write(name, MODEL * (1 + hash(name) % 40))
    ran = folder.run("-j3", "--list", "--json", *names)
    assert [json.loads(line)["file"] for line in ran.out.splitlines()] == names


def test_quiet(folder):
    folder.write("bad.py", b"\xff")
    ran = folder.run("-q", "model.py", "bad.py", "-d", "out", code=3)
    assert ran.told.startswith("bad.py:1:1: ") and ran.told.count("\n") == 1


def test_color(folder):
    folder.write("bad.py", b"\xff")
    assert "\033" not in folder.run("bad.py", code=3).told
    assert "\033" in folder.run("--color=always", "bad.py", code=3).told
    assert "\033" in folder.run("--color", "always", "--list", "model.py").out


def run_on_terminal(folder, *words, environment=None):
    """What a terminal on standard error is given."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [paths.COMMAND, *words],
        cwd=folder.path,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", **(environment or {})},
    )
    os.close(theirs)
    told = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # Linux tells so that the other end is closed
            break
        if not part:
            break
        told += part
    os.close(ours)
    process.wait()
    return told.decode()


def test_progress_and_color_on_a_terminal(folder):
    names = [f"m{i}.py" for i in range(30)]
    for name in names:
        folder.write(name, MODEL)
    folder.write("bad.py", b"\xff")
    clean = {key: "" for key in ["NO_COLOR"]}
    told = run_on_terminal(folder, *names, "bad.py", "-d", "out", environment=clean)
    assert "\r\033[K1/31 m0.py" in told
    assert "\033[1mbad.py:1:1:" in told
    assert told.rstrip().endswith("(0.000%)")
    told = run_on_terminal(folder, *names, "-q", "-d", "out", environment=clean)
    assert told == ""
    told = run_on_terminal(folder, "bad.py", environment={"NO_COLOR": "1"})
    assert "\033" not in told


def test_control_characters_are_not_printed(folder):
    name = "a\033[31m\nb.py"
    folder.write(name, b"\xff")
    assert folder.run(name, code=3).told.startswith("a?[31m?b.py:1:1: ")


def test_closed_pipe_ends_quietly(folder):
    for i in range(300):
        folder.write(f"m{i}.py", MODEL * 20)
    process = subprocess.Popen(
        [paths.COMMAND, "--list", "--all", *[f"m{i}.py" for i in range(300)]],
        cwd=folder.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == -signal.SIGPIPE


# Wrong usage


@pytest.mark.parametrize(
    "words, wanted",
    [
        ((), "no file"),
        (("--none", "model.py"), "no option --none"),
        (("--functoin", "f", "model.py"), "no option --functoin; did you mean --function?"),
        (("-x", "model.py"), "no option -x"),
        (("model.py", "-o"), "expected FILE"),
        (("model.py", "other.py"), "several files need -d DIR"),
        (("-r", "."), "several files need -d DIR"),
        (("model.py", "other.py", "-o", "made.py"), "-o is for one file"),
        (("model.py", "-o", "a", "-d", "b"), "exclude each other"),
        (("model.py", "-o", "a", "-o", "b"), "given twice"),
        (("--strip", "--list", "model.py"), "exclude each other"),
        (("--strip", "--all", "model.py"), "--strip excludes --all"),
        (("--update", "--all", "model.py"), "--update excludes --all"),
        (("--list", "-d", "out", "model.py"), "--list excludes -o"),
        (("--check", "--in-place", "model.py"), "--check --in-place"),
        (("--json", "model.py"), "--json needs --list"),
        (("--lines", "4-2", "model.py"), "expected N, N-M"),
        (("--lines", "", "model.py"), "expected N-M, got nothing"),
        (("-d", "", "model.py"), "--directory: expected DIR, got nothing"),
        (("-o", "", "model.py"), "--output: expected FILE, got nothing"),
        (("--function=", "model.py"), "--function: expected GLOB, got nothing"),
        (("", "model.py"), "a file's name is empty"),
        (("--spy", ",", "model.py"), "expected names"),
        (("-j", "x", "model.py"), "expected a number"),
        (("--all=1", "model.py"), "has no argument"),
        (("--color=pink", "model.py"), "expected auto"),
        (("-", "-d", "out"), "standard input has no name"),
        (("-", "model.py", "--list"), "standard input (-) excludes"),
    ],
)
def test_wrong_usage(folder, words, wanted):
    ran = folder.run(*words, code=2)
    assert wanted in ran.told and ran.out == ""
    assert folder.names() == ["model.py"]


def test_words_behind_two_hyphens_are_files(folder):
    folder.write("-o", MODEL)
    folder.run("-d", "out", "--", "-o")
    assert "out/-o" in folder.names()


# Bad input: a message with a position, exit code 3, the other files written, nothing else


def nested(depth):
    return "x = " + "(" * depth + "1" + ")" * depth + "\n"


BAD = {
    "not_utf8": (b"x = 1\ny = '\xe4'\n", r"bad\.py:2:6: byte 0xE4 is not valid UTF-8"),
    "lying_cookie": (b"# coding: ascii\nx = '\xc3\xa4'\n", r"bad\.py:2:6: byte 0xC3"),
    "unknown_cookie": (b"# coding: klingon\n", r"bad\.py:1:11: encoding \"klingon\""),
    "nul": (b"x = 1\n\ny\0\n", r"bad\.py:3:2: NUL"),
    "nesting": (nested(2000).encode(), r"bad\.py:1:\d+: "),
    "nested_blocks": (
        "".join(" " * i + "if x:\n" for i in range(2000)).encode() + b" " * 2000 + b"y\n",
        r"bad\.py:\d+:\d+: ",
    ),
}


@pytest.mark.parametrize("case", sorted(BAD))
def test_bad_text(folder, case):
    text, wanted = BAD[case]
    folder.write("bad.py", text)
    ran = folder.run("--all", "bad.py", "model.py", "-d", "out", code=3)
    assert re.match(wanted, ran.told)
    assert folder.names() == ["bad.py", "model.py", "out/model.py"]


def test_too_large_a_file(folder):
    folder.write("bad.py", b"x = '" + b"a" * (50 << 20) + b"'\n")
    ran = folder.run("bad.py", "model.py", "-d", "out", code=3)
    assert re.match(r"bad\.py:1:1: .*too large", ran.told)
    assert folder.names() == ["bad.py", "model.py", "out/model.py"]


def test_unreadable_file(folder):
    folder.write("bad.py", MODEL)
    os.chmod(folder.path / "bad.py", 0)
    user = {"user": 65534, "group": 65534, "extra_groups": []} if os.getuid() == 0 else {}
    if user and not all(map(reachable_for_others, (folder.path, paths.COMMAND))):
        pytest.skip("other users cannot reach the temporary folder, or the command")
    os.chmod(folder.path, 0o777)
    ran = folder.run("bad.py", "model.py", "-d", "out", code=3, **user)
    assert ran.told.startswith("bad.py:1:1: cannot be read: Permission denied\n")
    assert folder.names() == ["bad.py", "model.py", "out/model.py"]


def reachable_for_others(path):
    """Opens pytest's own folders to other users; those above it have to be open already."""
    for parent in [path, *path.parents]:
        if not os.stat(parent).st_mode & stat.S_IXOTH:
            if "pytest" not in str(parent):
                return False
            os.chmod(parent, 0o755)
    return True


def test_missing_file_and_folder(folder):
    (folder.path / "sub").mkdir()
    ran = folder.run("none.py", "sub", "model.py", "-d", "out", code=3)
    assert ran.told.splitlines()[:2] == [
        "none.py:1:1: cannot be read: No such file or directory",
        "sub:1:1: is a directory, expected a file, or -r",
    ]
    assert folder.names() == ["model.py", "out/model.py"]


def test_instrumented_already(folder):
    folder.run("model.py", "-o", "made.py")
    before = folder.read("made.py")
    ran = folder.run("--in-place", "made.py", code=3)
    assert re.match(r"made\.py:\d+:\d+: ", ran.told)
    assert folder.read("made.py") == before


@pytest.mark.parametrize("way", ["same", "dotted", "symbolic", "hard", "directory"])
def test_output_is_the_input(folder, way):
    words = {
        "same": ["-o", "model.py"],
        "dotted": ["-o", "../" + folder.path.name + "/model.py"],
        "symbolic": ["-o", "link.py"],
        "hard": ["-o", "link.py"],
        "directory": ["-d", "."],
    }[way]
    if way == "symbolic":
        (folder.path / "link.py").symlink_to("model.py")
    if way == "hard":
        os.link(folder.path / "model.py", folder.path / "link.py")
    ran = folder.run("model.py", *words, code=3)
    assert ":1:1: output is the input" in ran.told
    assert folder.read("model.py") == MODEL


def test_output_is_another_input(folder):
    folder.write("out/model.py", BLANK)
    ran = folder.run("model.py", "out/model.py", "-d", "out", code=3)
    assert "out/model.py:1:1: output is an input too" in ran.told
    assert folder.read("out/model.py") == BLANK
    assert "out/out/model.py" in folder.names()


def test_two_inputs_with_one_output(folder):
    folder.write("a/x.py", MODEL)
    folder.write("b/x.py", BLANK)
    ran = folder.run("-r", "a", "b", "-d", "out", code=3)
    assert ran.told.startswith("b/x.py:1:1: would be written to the same output as a/x.py\n")
    assert selected_functions(folder.read("out/x.py")) == {"Attention.forward"}
    folder.run("--in-place", "a/x.py", "a/../a/x.py", code=3)


def test_output_is_a_folder(folder):
    (folder.path / "out").mkdir()
    ran = folder.run("model.py", "-o", "out", code=3)
    assert ran.told.startswith("out:1:1: is a directory")


def test_full_device(folder):
    for words in [("-o", "/dev/full"), ()]:
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [paths.COMMAND, "model.py", *words],
                cwd=folder.path,
                stdout=full,
                stderr=subprocess.PIPE,
            )
        assert done.returncode == 3
        name = b"/dev/full:1:1:" if words else b"standard output"
        assert name + b" cannot be written: No space left on device\n" in done.stderr


def test_disk_that_fills_up(folder):
    folder.write("large.py", MODEL * 3000)
    folder.run("large.py", "-o", "kept.py")
    before = folder.read("kept.py")

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))

    folder.write("large.py", "#\n" + MODEL * 3000)
    ran = folder.run("large.py", "-o", "kept.py", code=3, preexec_fn=limit)
    assert ran.told.startswith("kept.py:1:1: cannot be written: File too large")
    assert folder.read("kept.py") == before
    folder.run("large.py", "model.py", "-d", "out", code=3, preexec_fn=limit)
    assert folder.names() == ["kept.py", "large.py", "model.py", "out/model.py"]


def test_folder_without_write_permission(folder):
    if os.getuid() == 0:
        pytest.skip("root may write everywhere")
    (folder.path / "locked").mkdir(mode=0o555)
    ran = folder.run("model.py", "-o", "locked/made.py", code=3)
    assert "locked/made.py:1:1: cannot be written: Permission denied" in ran.told


# Ending early


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_leaves_nothing_behind(folder, which):
    names = [f"m{i:04}.py" for i in range(1500)]
    for name in names:
        folder.write(name, MODEL * 10)
    process = subprocess.Popen(
        [paths.COMMAND, "-j2", "--all", *names, "-d", "out"],
        cwd=folder.path,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 120
    while not list(folder.path.glob("out/*.py")) and time.monotonic() < deadline:
        time.sleep(0.001)
    process.send_signal(which)
    process.communicate(timeout=300)
    assert process.returncode in (-which, 0)
    made = [p for p in (folder.path / "out").iterdir()]
    assert [p.name for p in made if not re.fullmatch(r"m\d{4}\.py", p.name)] == []
    assert made
    for path in made[-20:]:
        assert folder.run("--strip", path).out == MODEL * 10


def interrupted(folder, does_with_it):
    """A command that was told to end while it waits on a pipe as its source, so that it has written nothing."""
    os.mkfifo(folder.path / "pipe.py")
    process = subprocess.Popen(
        [paths.COMMAND, "pipe.py", "-o", "made.py"],
        cwd=folder.path,
        preexec_fn=lambda: signal.signal(signal.SIGINT, does_with_it),
    )
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    return process


def test_temporary_file_of_a_waiting_writer_is_removed(folder):
    process = interrupted(folder, signal.SIG_DFL)
    assert process.wait(timeout=120) == -signal.SIGINT
    assert [p.name for p in folder.path.iterdir() if p.name != "pipe.py"] == ["model.py"]


def test_ignored_signal_stays_ignored(folder):
    process = interrupted(folder, signal.SIG_IGN)
    time.sleep(0.1)
    (folder.path / "pipe.py").write_text(MODEL)
    assert process.wait(timeout=120) == 0
    assert selected_functions(folder.read("made.py")) == {"Attention.forward"}


def test_names_in_another_encoding_are_stripped_without_a_warning(tmp_path):
    source = "# -*- coding: latin-1 -*-\nclass \xc4:\n          def forward(self, \xf6):\n"
    source += "        \xfc = '\xdf' + \xf6  # \xe9\n        return \xfc + \xf6\n"
    (tmp_path / "m.py").write_bytes(source.encode("latin-1"))
    words = [str(paths.COMMAND), "--all", "m.py", "-o", "traced.py"]
    assert subprocess.run(words, cwd=tmp_path).returncode == 0
    words = [str(paths.COMMAND), "--strip", "traced.py"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True)
    assert (done.stdout, done.stderr) == (source.encode("latin-1"), b"")
