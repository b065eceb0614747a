"""Recordings of some training steps: how steps are counted, and what is recorded outside of them."""

import os
import signal
import subprocess
import sys
import textwrap
import types
import warnings

import pytest

from tests.support import compiler, paths, recording

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.torch,
    pytest.mark.usefixtures("compiler_module"),
    pytest.mark.skipif(
        not list(paths.PACKAGE.glob("_recorder*.so")), reason="the recorder is not built (make)"
    ),
]

LOOP = """
    def train(turns):
        layer = torch.nn.Linear(3, 2)
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
        for turn in range(turns):
            x = torch.full((2, 3), float(turn))
            loss = layer(x).square().mean()
            loss.backward()
            optimizer.step()
"""
PLAIN = """
    def train(turns, *ends):
        for turn in range(turns):
            x = torch.full((2, 3), float(turn))
            for end in ends:
                end()
"""


def load(body, name="loop"):
    """The function `train` of the body, every line instrumented, and its module."""
    text = compiler.instrument(
        b"import torch\n" + textwrap.dedent(body).encode(), f"{name}.py", all=True
    ).text
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(text, f"{name}.py", "exec", dont_inherit=True), vars(module))
    return module.train, module


def turns_of(trace):
    """{training step: the turns whose `x` is recorded in it}"""
    found = {}
    for event in recording.read(trace).events:
        steps = found.setdefault(event.training_step, [])
        if event.name == "x":
            steps.append(int(event.max))
    return {step: turns for step, turns in found.items() if turns}


def record(tmp_path, body, turns, *arguments, **options):
    trace = tmp_path / "run.mtrace"
    train, _ = load(body)
    torch.manual_seed(0)
    with recording.record(trace, **options) as active:
        train(turns, *arguments)
    return trace, active


def test_an_optimizers_step_ends_a_step(tmp_path):
    trace, _ = record(tmp_path, LOOP, 4)
    assert turns_of(trace) == {0: [0], 1: [1], 2: [2], 3: [3]}


def test_the_program_counts_by_itself(tmp_path):
    step = recording.package().step
    trace, _ = record(tmp_path, PLAIN, 4, step)
    assert turns_of(trace) == {0: [0], 1: [1], 2: [2], 3: [3]}


@pytest.mark.parametrize("comes_first", ["optimizer", "call"])
def test_both_count_once(tmp_path, comes_first):
    parameter = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([parameter], lr=0.1)
    step = recording.package().step
    ends = [optimizer.step, step] if comes_first == "optimizer" else [step, optimizer.step]
    trace, _ = record(tmp_path, PLAIN, 4, *ends)
    assert turns_of(trace) == {0: [0], 1: [1], 2: [2], 3: [3]}


def test_the_first_of_two_optimizers_counts(tmp_path):
    first, second = (
        torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.1) for _ in range(2)
    )
    trace, _ = record(tmp_path, PLAIN, 3, first.step, second.step)
    assert turns_of(trace) == {0: [0], 1: [1], 2: [2]}


def test_a_later_training_counts_on(tmp_path):
    trace, counted = tmp_path / "run.mtrace", []
    train, _ = load(LOOP)
    with recording.record(trace):
        train(3)
        train(3)
        counted = turns_of(trace)
    assert counted == {0: [0], 1: [1], 2: [2], 3: [0], 4: [1], 5: [2]}


def test_nothing_is_left_in_torch(tmp_path):
    from torch.optim import optimizer

    before = dict(optimizer._global_optimizer_post_hooks), list(sys.meta_path)
    record(tmp_path, LOOP, 2, steps="1")
    assert (dict(optimizer._global_optimizer_post_hooks), list(sys.meta_path)) == before


def test_step_without_a_recording_does_nothing():
    assert recording.package().step() is None


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (2, [2]), ("2", [2]), ("2-3", [2, 3]), ("0-1:4", [0, 1, 4]), ("3-", [3, 4, 5]),
        ("0", [0]), ("1:3:5-9", [1, 3, 5]),
    ],
)  # fmt: skip
def test_ranges(tmp_path, steps, expected):
    trace, _ = record(tmp_path, LOOP, 6, steps=steps)
    assert turns_of(trace) == {step: [step] for step in expected}


def test_outside_the_range_a_site_is_off(tmp_path):
    train, module = load(PLAIN)
    seen = []
    with recording.record(tmp_path / "run.mtrace", steps="2-3"):
        train(6, lambda: seen.append(module._mt is None), recording.package().step)
    assert seen == [True, True, False, False, True, True]


@pytest.mark.parametrize("backward", [False, True])
def test_the_program_runs_on_behind_the_last_step(tmp_path, backward):
    """Hooks of optimizers stay while torch calls them: those of gradients follow ours."""
    trace, active = record(tmp_path, LOOP, 6, steps="1-2", backward=backward)
    assert turns_of(trace) == {1: [1], 2: [2]} and active.summary.stopped is None


def test_calls_that_ended_between_two_ranges_are_not_continued(tmp_path):
    train, _ = load(
        """
        def turn_once(turn):
            x = torch.full((2, 3), float(turn))
            return x

        def train(turns, end):
            for turn in range(turns):
                turn_once(turn)
                end()
        """
    )
    trace = tmp_path / "run.mtrace"
    with recording.record(trace, steps="0:3:5"):
        train(7, recording.package().step)
    calls = [e.call for e in recording.read(trace).events if e.name == "x"]
    assert turns_of(trace) == {0: [0], 3: [3], 5: [5]} and len(set(calls)) == 3


@pytest.mark.parametrize("size", [1, 40, 3000])
@pytest.mark.parametrize("wanted", [1, 3])
def test_a_ring_has_the_newest_whole_steps(tmp_path, size, wanted):
    """Steps that share a chunk of the file, and steps of many chunks."""
    train, _ = load(
        """
        def train(turns, end):
            for turn in range(turns):
                for i in range(size):
                    x = torch.full((2, 3), float(turn))
                end()
            x = torch.full((2, 3), -1.0)
        """
    )
    train.__globals__["size"] = size
    trace, turns = tmp_path / "run.mtrace", 30 if size > 40 else 500
    with recording.record(trace, steps=f"last:{wanted}"):
        train(turns, recording.package().step)
    found = turns_of(trace)
    assert list(found) == list(range(turns - wanted, turns + 1))
    assert all(found[step] == [step] * size for step in list(found)[:-1])
    assert found[turns] == [-1]
    assert trace.stat().st_size < 40e6


def test_a_ring_of_more_steps_than_there_were(tmp_path):
    trace, _ = record(tmp_path, LOOP, 3, steps="last:5")
    assert turns_of(trace) == {0: [0], 1: [1], 2: [2]}


def test_a_filter_by_number_in_a_ring(tmp_path):
    """`why '#N'` and `sql` begin in the middle of the stream."""
    trace, _ = record(tmp_path, LOOP, 3000, steps="last:2")
    events = recording.read(trace).events
    assert {e.training_step for e in events} == {2998, 2999, 3000}
    for query in ("seq", "training_step"):
        middle = events[len(events) // 2]
        rows = recording.viewer.run(
            "sql", "--json", trace, f"select training_step from events where {query} = "
            f"{getattr(middle, query)} limit 1",
        ).stdout
        assert str(middle.training_step) in rows


@pytest.mark.parametrize("how", ["kill", "raise", "nan"])
def test_what_is_there_after_a_crash(tmp_path, how):
    program = tmp_path / "train.py"
    ends = {"kill": "os.kill(os.getpid(), 9)", "raise": "raise OSError", "nan": "h = h * float('nan')"}
    program.write_text(textwrap.dedent(f"""
        import os
        import torch

        def train():
            layer = torch.nn.Linear(3, 2)
            optimizer = torch.optim.SGD(layer.parameters(), lr=0.0)
            for turn in range(400):
                x = torch.full((2, 3), float(turn))
                h = layer(x)
                if turn == 300:
                    {ends[how]}
                loss = h.square().mean()
                loss.backward()
                optimizer.step()

        train()
    """))
    trace = tmp_path / "run.mtrace"
    options = "steps=last:3,backward,stop=nan"
    done = subprocess.run(
        [sys.executable, "-m", "monitorch", "run", "-q", "-o", trace, "--record", options, program],
        env=recording.environment("off"), cwd=tmp_path, capture_output=True, text=True,
    )
    assert done.returncode == (-signal.SIGKILL if how == "kill" else 1), done.stderr
    found = recording.read(trace, "--backward")
    assert turns_of(trace) == {step: [step] for step in range(297, 301)}
    assert {g.training_step for g in found.gradients} == {297, 298, 299}


def test_torch_comes_after_the_recording_began(tmp_path):
    program = tmp_path / "train.py"
    program.write_text(
        "import torch\n" + textwrap.dedent(LOOP) + "\ntrain(5)\nprint('torch.optim' in __import__('sys').modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "monitorch", "run", "--steps", "2-3", program],
        env=recording.environment("off"), cwd=tmp_path, capture_output=True, text=True,
    )
    assert done.returncode == 0 and "events in run.mtrace" in done.stderr, done.stderr
    assert turns_of(tmp_path / "run.mtrace") == {2: [2], 3: [3]}


def test_no_step_is_reached(tmp_path):
    program = tmp_path / "train.py"
    program.write_text("import torch\n" + textwrap.dedent(LOOP) + "\ntrain(3)\n")
    environment = recording.environment("off")
    for count, end in ((3, "the program ended in training step 3"), (0, "call monitorch.step()")):
        program.write_text(program.read_text().replace("train(3)\n", f"train({count})\n"))
        done = subprocess.run(
            [sys.executable, "-m", "monitorch", "run", "--steps", "5", program],
            env=environment, cwd=tmp_path, capture_output=True, text=True,
        )
        assert "steps=5 were asked for" in done.stderr and end in done.stderr


def test_it_is_named_in_the_environment(tmp_path):
    program = tmp_path / "train.py"
    source = "import torch\n" + textwrap.dedent(LOOP) + "\ntrain(5)\n"
    program.write_text(compiler.instrument(source.encode(), "train.py", all=True).text.decode())
    trace = tmp_path / "run.mtrace"
    environment = recording.environment("on", trace, steps="1:3-")
    done = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert turns_of(trace) == {1: [1], 3: [3], 4: [4]}


# start_when


def test_a_function_begins_it(tmp_path):
    asked = []
    trace, _ = record(tmp_path, LOOP, 6, start_when=lambda: asked.append(0) or len(asked) == 3)
    assert turns_of(trace) == {3: [3], 4: [4], 5: [5]} and len(asked) == 3


@pytest.mark.parametrize(
    "condition", ["turn >= 2", "turn>=2", "x > 1.5", "loss_holder.value == 2", "turn != 0.0"]
)
def test_a_variable_begins_it(tmp_path, condition):
    body = """
        class loss_holder:
            value = 0

        def train(turns):
            for turn in range(turns):
                x = torch.full((), float(turn), requires_grad=True)
                loss_holder.value = turn
                end()
    """
    train, module = load(body)
    module.end = recording.package().step
    with warnings.catch_warnings(), recording.record(tmp_path / "a.mtrace", start_when=condition):
        warnings.simplefilter("error")
        train(5)
    first = 2 if "!=" in condition else 3
    assert min(turns_of(tmp_path / "a.mtrace")) == first


def test_a_condition_and_a_range(tmp_path):
    trace, _ = record(tmp_path, LOOP, 6, start_when="turn >= 1", steps="1:4-")
    assert turns_of(trace) == {4: [4], 5: [5]}


@pytest.mark.parametrize(
    ("condition", "message"),
    [("los > 1", "no function that runs when a step ends has a variable 'los'"),
     (lambda: 1 / 0, "ZeroDivisionError")],
)  # fmt: skip
def test_a_condition_that_fails_is_no_start(tmp_path, condition, message):
    with pytest.warns(RuntimeWarning) as warned:
        _, active = record(tmp_path, LOOP, 4, start_when=condition)
    texts = [str(w.message) for w in warned]
    assert sum(message in text for text in texts) == 1
    assert any("never held" in text for text in texts) and active.summary.events == 0


# Mistakes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": "5-3"}, "5 is after 3"),
        ({"steps": "last"}, "expected|must be"),
        ({"steps": "last:0"}, "last:1 to last:4096"),
        ({"steps": "last:5000"}, "last:1 to last:4096"),
        ({"steps": "-"}, "steps must be"),
        ({"steps": ""}, "steps must be"),
        ({"steps": -1}, "steps must be"),
        ({"steps": "1,"}, "steps must be"),
        ({"steps": "٣"}, "steps must be"),
        ({"steps": "last:2", "last": 10}, "exclude each other"),
        ({"start_when": "loss"}, "a comparison such as"),
        ({"start_when": "loss > x"}, "a comparison such as"),
        ({"start_when": "f() > 1"}, "a comparison such as"),
    ],
)
def test_refused(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        recording.record(tmp_path / "a.mtrace", **options)


@pytest.mark.parametrize("options", [{"steps": 1.5}, {"steps": True}, {"start_when": 3}])
def test_wrong_types_are_refused(tmp_path, options):
    with pytest.raises(TypeError, match="must be"):
        recording.record(tmp_path / "a.mtrace", **options)


def test_a_compiled_step_counts(tmp_path):
    body = LOOP.replace("optimizer.step()", "step()").replace(
        "for turn", 'step = torch.compile(optimizer.step, backend="eager")\n        for turn'
    )
    trace, _ = record(tmp_path, body, 3)
    assert turns_of(trace) == {0: [0], 1: [1], 2: [2]}
    assert os.path.getsize(trace) > 0
