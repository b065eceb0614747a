"""An infinity after steps that were too large: `why` names the learning rate and the line that set it."""

import re

import pytest

from tests.support import viewer
from tests.verdicts import forked_runs, step_programs
from tests.verdicts.anomaly_table import write

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]


@pytest.mark.parametrize("option", ["--backward", "--parameters"])
@pytest.mark.parametrize("name", step_programs.GROWN)
def test_the_rate_and_its_line(tmp_path, name, option):
    body, rate = step_programs.GROWN[name]
    marked = write(tmp_path, body)
    forked_runs.run(tmp_path, ["monitorch", "run", "-q", option, "program.py"])
    answer = viewer.run("why", tmp_path / "run.mtrace").stdout
    place = re.match(r"\S+:(\d+): (?:Inf|NaN) made here: (.*)", answer)
    source = (tmp_path / "program.py").read_text().splitlines()
    lines = [i for i, line in enumerate(source, 1) if line.endswith("#RATE")]
    assert place and int(place[1]) in marked, answer
    assert re.search(
        rf"; steps too large: `\d.weight` grew from [\d.]+ to \S+ in \d steps, lr is {rate}, "
        rf"set at program.py:{lines[0]}$",
        place[2],
    ), answer
    assert re.search(r"SGD.step \d+ left `\d.weight` with the largest magnitude ", answer)


def test_parameters_that_steps_left_as_large_as_before_are_not_blamed(tmp_path):
    body = """
        model = torch.nn.Linear(4, 4)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for step in range(4):
            y = model(torch.randn(2, 4))
            loss = (y / (step - 3)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """
    write(tmp_path, body)
    forked_runs.run(tmp_path, ["monitorch", "run", "-q", "--backward", "program.py"])
    answer = viewer.run("why", tmp_path / "run.mtrace").stdout
    assert "division by zero" in answer.split("\n", 1)[0] and "steps too large" not in answer


def test_of_two_optimizers_the_one_whose_step_wrote_is_named(tmp_path):
    body = """
        first, second = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)
        large = torch.optim.SGD(first.parameters(), lr=1e20)
        small = torch.optim.SGD(second.parameters(), lr=0.25)
        for step in range(4):
            y = second(first(torch.randn(4, 4)))
            square = y * y
            loss = square.mean()
            large.zero_grad()
            small.zero_grad()
            loss.backward()
            small.step()
            large.step()
    """
    write(tmp_path, body)
    forked_runs.run(tmp_path, ["monitorch", "run", "-q", "--backward", "program.py"])
    answer = viewer.run("why", tmp_path / "run.mtrace").stdout
    assert "lr is 1e+20, set at program.py:4" in answer and "overflow of float32: the sum of `square`" in answer
