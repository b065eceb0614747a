"""Which line's backward made a gradient NaN or infinite: `why` on a recording with --backward."""

import pathlib
import re
import textwrap

import pytest

from tests.support import viewer
from tests.verdicts import backward_programs, forked_runs, repro

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]


def why(folder: pathlib.Path, body: str) -> tuple[str, list[int], int, str]:
    """The text of the program, its marked lines, and the answer."""
    source = "import torch\ntorch.manual_seed(0)\n" + textwrap.dedent(body).lstrip("\n")
    (folder / "program.py").write_text(source)
    done = forked_runs.run(folder, ["monitorch", "run", "-q", "--backward", "program.py"])
    assert (folder / "run.mtrace").exists(), done.output
    said = viewer.run("why", folder / "run.mtrace")
    marked = [i for i, line in enumerate(source.splitlines(), 1) if line.endswith("#!")]
    return source, marked, said.returncode, said.stdout + said.stderr


@pytest.mark.parametrize("name", [*backward_programs.BROKEN, *backward_programs.HELD])
def test_the_line_whose_backward_made_it(tmp_path, name):
    body = {**backward_programs.BROKEN, **backward_programs.HELD}[name]
    _, marked, code, answer = why(tmp_path, body)
    place = re.match(r"\S+:(\d+): (?!.*or of another)", answer)
    assert code == 1 and place and int(place[1]) in marked, answer
    repro.check(tmp_path, backward_programs.NO_SCRIPT.get(name))


@pytest.mark.parametrize("name", backward_programs.BENIGN)
def test_no_alarm(tmp_path, name):
    _, _, code, answer = why(tmp_path, backward_programs.BENIGN[name])
    assert code == 0 and answer.startswith("ok: "), answer


def test_the_answer_has_the_gradients_and_the_values(tmp_path):
    _, _, _, answer = why(tmp_path, backward_programs.BROKEN["sqrt at 0"])
    head, rest = answer.split("\n", 1)
    assert re.fullmatch(
        r"\S+:5: Inf made in the backward of this line: gradient of square: "
        r"the derivative of sqrt at 0 is infinite: `square` has 1 zero",
        head,
    )
    assert re.search(r"gave +gradient of square = .*!! 1 \+Inf of 2", rest)
    assert re.search(r"of +gradient of root = .* all 1 ", rest)
    assert re.search(r"from +square = .* zeros 1 ", rest)
    assert re.search(r"called +by backward at program.py:6", rest)


def test_a_hook_that_no_step_explains_is_named_as_possible(tmp_path):
    body = """
        x = torch.ones(3, requires_grad=True)
        h = x * 2
        h.register_hook(lambda gradient: gradient / 0)
        y = h * 3
        z = y.exp()
        z.sum().backward()
    """
    _, _, code, answer = why(tmp_path, body)
    assert code == 1 and "so a hook of the program may have" in answer.split("\n", 1)[0], answer
