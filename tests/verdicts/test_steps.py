"""Which line, or which call, brought NaN or an infinity into a parameter: `why` on trainings recorded with
--backward."""

import re

import pytest

from tests.verdicts import repro, step_programs
from tests.verdicts.test_backward import why

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]


@pytest.mark.parametrize("name", [*step_programs.BROKEN, *step_programs.HELD])
def test_the_line_that_did_it(tmp_path, name):
    body = {**step_programs.BROKEN, **step_programs.HELD}[name]
    _, marked, code, answer = why(tmp_path, body)
    place = re.match(r"\S+:(\d+): (?!.*or of another)", answer)
    assert code == 1 and place and int(place[1]) in marked, answer
    says = "a call that writes to parameters" if "written by the call" in answer else None
    repro.check(tmp_path, says)


@pytest.mark.parametrize("name", step_programs.BENIGN)
def test_no_alarm(tmp_path, name):
    _, _, code, answer = why(tmp_path, step_programs.BENIGN[name])
    assert code == 0 and answer.startswith("ok: "), answer


def test_the_chain_from_the_gradient_to_the_parameter_is_printed(tmp_path):
    body = step_programs.BROKEN["clip of an infinite norm"]
    _, _, _, answer = why(tmp_path, body)
    assert re.search(
        r"then +program.py:\d+  clip_grad_norm_ \d+ wrote \d NaN to the gradient of `proj.weight`\n"
        r" +program.py:\d+  SGD.step \d+ wrote \d NaN to `proj.weight`",
        answer,
    )


def test_a_step_that_was_too_large_is_shown_with_what_was_before(tmp_path):
    _, _, _, answer = why(tmp_path, step_programs.BROKEN["a step that is too large"])
    head = answer.split("\n", 1)[0]
    assert "SGD.step wrote" in head and "its gradient was finite" in head
    assert "lr is 3e+38" in head and "its largest magnitude was 0." in head


def test_what_the_optimizer_kept_is_named(tmp_path):
    body = step_programs.BROKEN["momentum that carries an old infinity"]
    _, _, _, answer = why(tmp_path, body)
    assert "the optimizer kept 4 NaN in `proj.weight.momentum_buffer`" in answer


def test_a_gradient_that_backward_was_called_with(tmp_path):
    body = """
        x = torch.ones(3, requires_grad=True)
        y = x * 2
        y.backward(torch.tensor([float("nan"), 1.0, 1.0]))
    """
    _, _, code, answer = why(tmp_path, body)
    head = answer.split("\n", 1)[0]
    assert code == 1
    assert head.endswith("backward() was called with a gradient that holds it")
    assert ": NaN entered here: gradient of y: " in head
