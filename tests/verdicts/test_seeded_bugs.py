"""`monitorch diff` of a good and a bad program names the bad line first (samples/bugs)."""

import json
import re

import pytest

from tests.support import viewer
from tests.verdicts import forked_runs, seeded_bugs
from tests.verdicts.seeded_bugs import BUGS

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]

FIRST_LINE = re.compile(
    r"(?P<file>.+?):(?P<line>\d+): first divergence: (?P<name>[^:]+): (?P<told>.+)"
)
BY_PROGRAM = {bug.program: bug for bug in BUGS}
WITH_LOOPS = [bug for bug in BUGS if bug.longer[0]]
RENAMED = BY_PROGRAM["gru_pooling"]
OLD_NAME, NEW_NAME = "is_word", "inside"
PORTED = BY_PROGRAM["mixer_blocks"]

each_bug = pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.program)
each_loop = pytest.mark.parametrize("bug", WITH_LOOPS, ids=lambda bug: bug.program)

MORE_CODE = '''

def describe(x, scores=None, step=0):
    """Nothing calls this."""
    total = x.sum()
    weights = total / len(x)
    return f"step {step}: {weights}, {scores}"
'''


def with_unrelated_lines(bug):
    """The bad program with remarks, a function that nobody calls, and before the line that is
    wrong an output and a variable of a name that the function uses further down."""
    lines = bug.bad.read_text().splitlines()
    at = bug.line_number("\n".join(lines)) - 1
    margin = re.match(" *", lines[at])[0]
    added = ["", "# A remark about what follows.", bug.added, 'print("on the way")', ""]
    lines[at:at] = [margin + line if line else line for line in added]
    last_import = max(n for n, line in enumerate(lines) if re.match("import |from ", line))
    lines[last_import + 1 : last_import + 1] = MORE_CODE.splitlines()
    return "\n".join(lines) + "\n"


def with_a_longer_loop(bug, text):
    assert text.count(bug.longer[0]) == 1, bug.longer
    return text.replace(*bug.longer)


class Case:
    """A bad program, and the traces of it and of the good one."""

    def __init__(self, bug, script, good, bad):
        self.script, self.good, self.bad = script, good, bad
        text = script.read_text().replace(NEW_NAME, OLD_NAME).replace("moved", "mixed")
        self.line = bug.line_number(text)


def variants_of(bug):
    """File name and text of each bad program that is made of the one in samples."""
    text = bug.bad.read_text()
    if bug is RENAMED:
        assert OLD_NAME in text and NEW_NAME not in text
        yield f"{bug.program}_2.py", text
        yield f"renamed/{bug.program}.py", text.replace(OLD_NAME, NEW_NAME)
    if bug is PORTED:
        yield "my_port.py", text.replace("MixerBlock", "Layer").replace("mixed", "moved")
    if bug.longer[0]:
        added = with_unrelated_lines(bug)
        yield f"added/{bug.program}.py", added
        yield f"longer/{bug.program}.py", with_a_longer_loop(bug, text)
        yield f"both/{bug.program}.py", with_a_longer_loop(bug, added)


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    """A Case for each (program, the bad file's path below a folder of its own)."""
    folder = tmp_path_factory.mktemp("bugs")
    found, programs = {}, []
    for bug in BUGS:
        good = folder / f"{bug.program}.good.mtrace"
        programs.append((bug.good, good))
        scripts = {"": bug.bad}
        for name, text in variants_of(bug):
            scripts[name] = folder / name
            scripts[name].parent.mkdir(exist_ok=True)
            scripts[name].write_text(text)
        for name, script in scripts.items():
            bad = folder / f"{bug.program}.{len(programs)}.mtrace"
            programs.append((script, bad))
            found[bug.program, name] = (bug, script, good, bad)
    forked_runs.record(programs)
    return {key: Case(*parts) for key, parts in found.items()}


def diff(*words):
    done = viewer.run("diff", *words)
    assert done.stderr == "" or "Traceback" not in done.stderr, done.stderr
    return done


def check_first(case, bug, *options, name=None):
    """The first line of the difference is about the bug's line; returns what is told there."""
    done = diff(*options, case.good, case.bad)
    assert done.returncode == 1, done.stdout + done.stderr
    first = FIRST_LINE.fullmatch(done.stdout.splitlines()[0])
    assert first, done.stdout
    where = (first["file"], int(first["line"]), first["name"])
    assert where == (str(case.script), case.line, name or bug.name), done.stdout
    assert re.search(bug.told, first["told"]), done.stdout
    return done.stdout


@each_bug
def test_the_bug_is_the_first_divergence(cases, bug):
    told = check_first(cases[bug.program, ""], bug)
    assert bug.line in told, "the source of the line is shown"


@each_bug
def test_nothing_differs_from_itself(cases, bug):
    case = cases[bug.program, ""]
    for trace in (case.good, case.bad):
        done = diff(trace, trace)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout


@each_bug
def test_exact_finds_no_later_line(cases, bug):
    check_first(cases[bug.program, ""], bug, "--exact")


@each_loop
def test_unrelated_lines_were_added(cases, bug):
    check_first(cases[bug.program, f"added/{bug.program}.py"], bug)


@each_loop
def test_a_loop_turns_once_more(cases, bug):
    check_first(cases[bug.program, f"longer/{bug.program}.py"], bug)


@each_loop
def test_lines_were_added_and_a_loop_turns_once_more(cases, bug):
    check_first(cases[bug.program, f"both/{bug.program}.py"], bug)


def test_the_file_has_another_name(cases):
    check_first(cases[RENAMED.program, f"{RENAMED.program}_2.py"], RENAMED)


def test_a_variable_has_another_name(cases):
    case = cases[RENAMED.program, f"renamed/{RENAMED.program}.py"]
    check_first(case, RENAMED, name=NEW_NAME)
    check_first(case, RENAMED, "--map", f"{OLD_NAME}={NEW_NAME}", name=NEW_NAME)


def test_a_port_with_other_names(cases):
    case = cases[PORTED.program, "my_port.py"]
    check_first(case, PORTED, "--map", "MixerBlock=Layer")


def test_json_tells_the_same(cases):
    for bug in BUGS:
        case = cases[bug.program, ""]
        done = diff("--json", case.good, case.bad)
        assert done.returncode == 1, done.stderr
        told = [json.loads(line) for line in done.stdout.splitlines()]
        first = [one for one in told if one["record"] == "difference" and one["first"]]
        assert len(first) == 1, bug.program
        assert (first[0]["line"], first[0]["name"]) == (case.line, bug.name)


def test_why_names_the_overflow(cases):
    bug = BY_PROGRAM["two_towers"]
    case = cases[bug.program, ""]
    done = viewer.run("why", case.bad)
    assert done.returncode == 1, done.stderr
    wanted = f"{case.script}:{case.line}: Inf made here: length: overflow of float16: "
    assert done.stdout.startswith(wanted), done.stdout
    fine = viewer.run("why", case.good)
    assert fine.returncode == 0, fine.stdout


def test_all_kinds_are_there():
    assert len(BUGS) == 10 and len(WITH_LOOPS) >= 4
    for folder in (seeded_bugs.GOOD, seeded_bugs.BAD):
        assert {path.stem for path in folder.glob("*.py")} == set(BY_PROGRAM)


@each_bug
def test_the_bug_is_one_line(bug):
    good, bad = (path.read_text().splitlines() for path in (bug.good, bug.bad))
    assert len(good) == len(bad)
    differing = [n for n, (a, b) in enumerate(zip(good, bad), 1) if a != b]
    assert differing == [bug.line_number("\n".join(bad))]
    assert "#" not in bad[differing[0] - 1]
