"""What `why` says of a gradient or a parameter that is NaN or infinite, on recordings with --backward; which line it
names is in test_anomaly_table."""

import re

import pytest

from tests.verdicts import backward_programs, step_programs, training_programs
from tests.verdicts.anomaly_table import why

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]


def head(answer):
    return answer.text.split("\n", 1)[0]


BENIGN = {
    name: body
    for module in (backward_programs, step_programs, training_programs)
    for name, body in module.BENIGN.items()
}


@pytest.mark.parametrize("name", BENIGN)
def test_no_alarm(tmp_path, name):
    answer = why(tmp_path, BENIGN[name])
    assert answer.code == 0 and answer.text.startswith("ok: "), answer.text


def test_the_answer_has_the_gradients_and_the_values(tmp_path):
    head, rest = why(tmp_path, backward_programs.BROKEN["sqrt at 0"]).text.split("\n", 1)
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
    answer = why(tmp_path, body)
    assert answer.code == 1 and "so a hook of the program may have" in head(answer), answer.text


def test_the_chain_from_the_gradient_to_the_parameter_is_printed(tmp_path):
    body = step_programs.BROKEN["clip of an infinite norm"]
    answer = why(tmp_path, body).text
    assert re.search(
        r"then +program.py:\d+  clip_grad_norm_ \d+ wrote \d NaN to the gradient of `proj.weight`\n"
        r" +program.py:\d+  SGD.step \d+ wrote \d NaN to `proj.weight`",
        answer,
    )


def test_a_step_that_was_too_large_is_shown_with_what_was_before(tmp_path):
    answer = why(tmp_path, step_programs.BROKEN["a step that is too large"]).text
    first = answer.split("\n", 1)[0]
    assert "SGD.step wrote" in first and "its gradient was finite" in first
    assert "lr is 3e+38" in first and "its largest magnitude was 0." in first


def test_what_the_optimizer_kept_is_named(tmp_path):
    body = step_programs.BROKEN["momentum that carries an old infinity"]
    answer = why(tmp_path, body).text
    assert "the optimizer kept 4 NaN in `proj.weight.momentum_buffer`" in answer


def test_a_gradient_that_backward_was_called_with(tmp_path):
    body = """
        x = torch.ones(3, requires_grad=True)
        y = x * 2
        y.backward(torch.tensor([float("nan"), 1.0, 1.0]))
    """
    answer = why(tmp_path, body)
    assert answer.code == 1
    assert head(answer).endswith("backward() was called with a gradient that holds it")
    assert ": NaN entered here: gradient of y: " in head(answer)


def test_values_of_one_statement_are_one_line(tmp_path):
    answer = why(tmp_path, training_programs.BROKEN["eigenvectors of equal eigenvalues"])
    assert ": NaN made in the backward of this line: gradient of h: " in head(answer)
    assert "or, and on the way" not in answer.text


def test_a_backward_through_code_that_is_not_recorded_is_not_blamed_on_the_line_that_called_it(tmp_path):
    (tmp_path / "hidden.py").write_text(
        "import torch\n"
        "model = torch.nn.Linear(2, 2, bias=False)\n"
        "model.weight.data.zero_()\n"
        "def train(model, optimizer, x):\n"
        "    for step in range(2):\n"
        "        optimizer.zero_grad()\n"
        "        model(x).pow(2).sum().sqrt().backward()\n"
        "        optimizer.step()\n"
    )
    body = """
        import hidden
        model = hidden.model
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        hidden.train(model, optimizer, torch.ones(1, 2))
    """
    answer = why(tmp_path, body, "--exclude", "hidden.py")
    assert answer.code == 1
    assert ": NaN first seen here: gradient of weight: no recorded line is between backward() and" in head(answer)
    assert "--include" in head(answer) and "made from" not in answer.text


def test_a_module_whose_lines_are_not_recorded_is_named_for_what_its_backward_made(tmp_path):
    (tmp_path / "hidden.py").write_text("def cube(x):\n    return 0 * (x * 1).sqrt()\n")
    body = """
        from hidden import cube
        x = torch.zeros(3, requires_grad=True)
        h = x * 2
        y = cube(h)
        y.sum().backward()
    """
    answer = why(tmp_path, body, "--exclude", "hidden.py")
    assert answer.line == 6
    assert "inside `cube(h)`, whose lines are not recorded" in head(answer)


@pytest.mark.parametrize(
    "body, words",
    [
        (
            "m = torch.nn.Linear(8, 8)\nx = torch.full((2, 8), 1e5)\n"
            "with torch.autocast('cpu', dtype=torch.float16):\n    y = m(x)\n",
            "overflow of float16: Linear sums products with `x`, which reaches 100000; "
            "the greatest number is 65504",
        ),
        (
            "m = torch.nn.LayerNorm(8)\nx = torch.randn(2, 8) * 1e23\ny = m(x)\n",
            "LayerNorm squares its input, and the variance overflows float32: `x` has ",
        ),
        (
            "m = torch.nn.Linear(2, 2)\nx = torch.tensor([[float('inf'), -float('inf')]])\ny = m(x)\n",
            "Linear sums products with Inf: in `x`",
        ),
    ],
    ids=["half", "variance", "Inf"],
)
def test_modules_that_overflow(tmp_path, body, words):
    answer = why(tmp_path, body)
    assert "NaN made here: y: " + words in head(answer)


def test_a_parameter_has_the_value_that_the_step_left(tmp_path):
    answer = why(tmp_path, training_programs.HELD["a temperature that a step makes 0"])
    assert ": Inf made here: return: division by zero: `self.temperature` is 0" in head(answer)
    assert re.search(
        r"from +self.temperature = .* value 1 .*; Parameter .* value 0 since program.py:20", answer.text
    )
