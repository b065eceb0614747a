"""Gradients of recorded values: those that plain hooks get, bit for bit, in a program that ends as without."""

import signal
import subprocess
import sys
import textwrap
import threading

import pytest

from tests.python.gradient.programs import PLAIN
from tests.support import compiler, paths, recording

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.torch,
    pytest.mark.usefixtures("compiler_module"),
    pytest.mark.skipif(
        not list(paths.PACKAGE.glob("_recorder*.so")), reason="the recorder is not built (make)"
    ),
]


def load(body, **names):
    """A function that runs the body, instrumented as a whole, and its variables."""
    source = "import torch\n" + textwrap.dedent(body)
    text = compiler.instrument(source.encode(), "program.py", all=True).text
    code = compile(text, "program.py", "exec", dont_inherit=True)
    space = {"__name__": "program", **names}
    return lambda: exec(code, space), space


def measure(tensor):
    recording.package()
    from monitorch import _recorder

    return f"{_recorder.measure(tensor)['hash']:016x}"


def recorded(path):
    return recording.read(path, "--backward")


def run(body, trace=None, **options):
    """What plain hooks, or the trace, had of the values that the program keeps; the leaf's `.grad`."""
    seen, kept = [], []

    def keep(name, tensor):
        kept.append(name)
        if trace is None and tensor.requires_grad:
            tensor.register_hook(lambda gradient: seen.append((name, measure(gradient))))

    main, values = load(body, keep=keep)
    torch.manual_seed(0)
    if trace is None:
        main()
        return sorted(seen), values
    with recording.record(trace, backward=True, **options):
        main()
    # What a function returns has its gradient there, whatever the caller names it.
    found = [g for g in recorded(trace).gradients if g.name in [*kept, "return"]]
    return sorted((g.name, g.hash) for g in found if not g.accumulated), values


@pytest.mark.parametrize("name", PLAIN)
def test_gradients_are_those_of_plain_hooks(tmp_path, name):
    expected, plain = run(PLAIN[name])
    found, values = run(PLAIN[name], tmp_path / "run.mtrace")
    returned = [pair for pair in found if pair[0] == "return"]
    assert sorted(hash for _, hash in found) == sorted(hash for _, hash in expected)
    assert all(pair in expected for pair in found if pair not in returned)
    for leaf, tensor in plain.items():
        if isinstance(tensor, torch.Tensor) and tensor.is_leaf and tensor.grad is not None:
            assert torch.equal(tensor.grad, values[leaf].grad), leaf


def test_a_leaf_has_what_was_accumulated(tmp_path):
    _, values = run(PLAIN["a leaf, accumulated twice"], tmp_path / "run.mtrace")
    leaves = [g for g in recorded(tmp_path / "run.mtrace").gradients if g.accumulated]
    assert [g.name for g in leaves] == ["w", "w"]
    assert leaves[-1].hash == measure(values["w"].grad)
    assert leaves[0].hash != leaves[1].hash


def test_a_gradient_has_the_place_of_its_value(tmp_path):
    trace = recording.trace_of(
        """
        import torch
        def double(x):
            y = x * 2
            return y
        w = torch.ones(3, requires_grad=True)
        for turn in range(2):
            h = double(w)
        h.sum().backward()
        """,
        tmp_path / "run.mtrace",
        backward=True,
    )
    shown = recorded(tmp_path / "run.mtrace")
    gradient = next(g for g in shown.gradients if g.name == "y")
    event = trace.events[gradient.fields["of"]]
    assert (event.name, event.line, event.function) == ("y", 3, "double")
    assert (gradient.line, gradient.function) == (3, "double")
    assert gradient.call == event.call  # the second call: the first had no part in the loss
    assert [(step.file, step.line) for step in shown.steps] == [("program.py", 8)]


def test_hooks_are_gone_when_the_recording_ends(tmp_path):
    main, values = load("w = torch.ones(3, requires_grad=True)\nh = w * 2\n")
    with recording.record(tmp_path / "run.mtrace", backward=True):
        main()
        assert values["w"]._post_accumulate_grad_hooks
    values["h"].sum().backward()
    assert recorded(tmp_path / "run.mtrace").gradients == []
    assert not values["w"]._post_accumulate_grad_hooks


def test_nothing_is_kept_alive(tmp_path):
    import gc
    import weakref

    main, values = load("w = torch.ones(3, requires_grad=True)\nh = w * 2\n")
    with recording.record(tmp_path / "run.mtrace", backward=True):
        main()
        dead = weakref.ref(values["h"])
        del values["h"]
        gc.collect()
        assert dead() is None


def test_without_the_option_there_are_none(tmp_path):
    main, _ = load(PLAIN["a value used several times"], keep=lambda *_: None)
    with recording.record(tmp_path / "run.mtrace"):
        main()
    assert recorded(tmp_path / "run.mtrace").gradients == []


def test_a_backward_in_another_thread(tmp_path):
    main, values = load("w = torch.ones(3, requires_grad=True)\nh = w * 2\nloss = h.sum()\n")
    with recording.record(tmp_path / "run.mtrace", backward=True):
        main()
        thread = threading.Thread(target=values["loss"].backward)
        thread.start()
        thread.join()
    assert "h" in [g.name for g in recorded(tmp_path / "run.mtrace").gradients]


def test_a_killed_backward_leaves_every_gradient_until_then(tmp_path):
    program = """
        import os, signal, torch
        w = torch.ones(3, requires_grad=True)
        a = w * 2
        a.register_hook(lambda gradient: os.kill(os.getpid(), signal.SIGKILL))
        b = a * 3
        c = b.sum()
        c.backward()
        """
    done = recording.run_program(textwrap.dedent(program), tmp_path, backward="yes")
    assert done.returncode == -signal.SIGKILL
    assert [g.name for g in recorded(tmp_path / "run.mtrace").gradients] == ["c", "b"]


def test_stop_raises_in_backward_with_the_line(tmp_path):
    program = """
        import torch
        x = torch.zeros(3, requires_grad=True)
        square = x * x
        root = torch.sqrt(square)
        loss = root.sum()
        loss.backward()
        """
    with pytest.raises(FloatingPointError) as caught:
        recording.trace_of(program, tmp_path / "run.mtrace", backward=True, stop="nonfinite")
    assert caught.value.line == 4
    assert "the gradient of square holds 3 +Inf of 3" in str(caught.value)


def test_stop_at_a_nan_names_the_line_that_made_the_infinity_before_it(tmp_path):
    program = """
        import torch
        x = torch.zeros(3, requires_grad=True)
        h = x * 1
        square = h * h
        root = torch.sqrt(square)
        root.sum().backward()
        """
    with pytest.raises(FloatingPointError) as caught:
        recording.trace_of(program, tmp_path / "run.mtrace", backward=True, stop="nan")
    assert caught.value.line == 5
    assert "the backward of this line made the first infinity: the gradient of h holds 3 NaN of 3" in str(caught.value)


def test_a_ring_shows_gradients_of_events_that_it_has(tmp_path):
    program = """
        import torch
        w = torch.ones(3, requires_grad=True)
        for turn in range(3000):
            h = w * 2
            h.sum().backward()
        """
    trace = recording.trace_of(program, tmp_path / "run.mtrace", backward=True, last=100)
    shown = recorded(tmp_path / "run.mtrace")
    first = trace.events[0].seq
    assert shown.gradients and all(g.fields["of"] >= first for g in shown.gradients)


@pytest.mark.parametrize(
    "mode", [[], ["--record", "backward"], ["--backward"]], ids=lambda words: " ".join(words) or "variable"
)
def test_asked_for_by_the_command_or_the_variable(tmp_path, mode):
    (tmp_path / "train.py").write_text(
        "import torch\nw = torch.ones(3, requires_grad=True)\nh = w * 2\nh.sum().backward()\n"
    )
    variables = {"MONITORCH": "run.mtrace,quiet,backward"} if not mode else {}
    done = subprocess.run(
        [sys.executable, "-m", "monitorch", "run", "-q", *mode, "train.py"],
        cwd=tmp_path, env={**recording.environment("off"), **variables},
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    names = {g.name for g in recorded(tmp_path / "run.mtrace").gradients}
    assert {"w", "h"} <= names


MODULES = [
    ("Linear(4, 3)", (2, 4)), ("Bilinear(4, 4, 3)", (2, 4)), ("Conv1d(4, 2, 3)", (2, 4, 8)),
    ("Conv2d(4, 2, 3)", (2, 4, 6, 6)), ("Conv3d(4, 2, 2)", (1, 4, 3, 3, 3)),
    ("ConvTranspose1d(4, 2, 3)", (2, 4, 8)), ("ConvTranspose2d(4, 2, 3)", (1, 4, 5, 5)),
    ("BatchNorm1d(4)", (6, 4)), ("BatchNorm2d(4)", (3, 4, 5, 5)), ("LayerNorm(4)", (2, 4)),
    ("GroupNorm(2, 4)", (2, 4, 6)), ("InstanceNorm1d(4)", (2, 4, 6)), ("RMSNorm(4)", (2, 4)),
    ("LocalResponseNorm(2)", (2, 4, 6)), ("ReLU()", (2, 4)), ("ReLU(inplace=True)", (2, 4)),
    ("LeakyReLU()", (2, 4)), ("PReLU()", (2, 4)), ("ELU()", (2, 4)), ("GELU()", (2, 4)),
    ("SiLU()", (2, 4)), ("Mish()", (2, 4)), ("Softplus()", (2, 4)), ("Sigmoid()", (2, 4)),
    ("Tanh()", (2, 4)), ("Hardswish()", (2, 4)), ("GLU()", (2, 4)), ("Softmax(-1)", (2, 4)),
    ("LogSoftmax(-1)", (2, 4)), ("MaxPool1d(2)", (2, 4, 6)), ("AvgPool2d(2)", (1, 4, 4, 4)),
    ("AdaptiveAvgPool1d(2)", (2, 4, 6)), ("MaxPool2d(2)", (1, 4, 4, 4)), ("Dropout(0.5)", (2, 4)),
    ("Flatten()", (2, 4, 3)), ("PixelShuffle(2)", (1, 4, 2, 2)), ("Upsample(scale_factor=2)", (1, 4, 3)),
    ("ZeroPad2d(1)", (1, 4, 3, 3)), ("RNN(4, 3)", (5, 2, 4)), ("LSTM(4, 3)", (5, 2, 4)),
    ("GRU(4, 3)", (5, 2, 4)), ("TransformerEncoderLayer(4, 2, 8, batch_first=True)", (2, 3, 4)),
]  # fmt: skip


def module_body(kind):
    second = ", torch.randn(2, 4)" if kind.startswith("Bilinear") else ""
    return f"""
        layer = torch.nn.{kind}
        x = torch.randn(*shape, requires_grad=True)
        scaled = x * 1.5
        keep("scaled", scaled)
        out = layer(scaled{second})
        out = out[0] if isinstance(out, tuple) else out
        keep("out", out)
        loss = (out * torch.linspace(-1, 1, out.numel()).view_as(out)).sum()
        keep("loss", loss)
        loss.backward()
        """


@pytest.mark.parametrize("kind, shape", MODULES, ids=[kind for kind, _ in MODULES])
def test_modules(tmp_path, kind, shape):
    def run_once(trace):
        seen, kept = [], []

        def keep(name, tensor):
            kept.append(name)
            if trace is None:
                tensor.register_hook(lambda gradient: seen.append((name, measure(gradient))))

        main, values = load(module_body(kind), keep=keep, shape=shape)
        torch.manual_seed(0)
        if trace is None:
            main()
            return dict(seen), values
        with recording.record(trace, backward=True):
            main()
        found = recorded(trace).gradients
        return {g.name: g.hash for g in found if g.name in kept}, values

    expected, plain = run_once(None)
    found, values = run_once(tmp_path / "run.mtrace")
    assert found == expected
    assert torch.equal(plain["x"].grad, values["x"].grad)
    for ours, theirs in zip(values["layer"].parameters(), plain["layer"].parameters()):
        assert torch.equal(ours.grad, theirs.grad)


TRAINING = """
    model = torch.nn.Sequential(
        torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Dropout(0.2), torch.nn.Linear(8, 2)
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for step in range(20):
        x = torch.randn(4, 8)
        y = model(x)
        loss = y.pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    state = torch.get_rng_state()
    """


def test_a_training_ends_as_without(tmp_path):
    def train(trace):
        main, values = load(TRAINING)
        torch.manual_seed(0)
        if trace is None:
            main()
        else:
            with recording.record(trace, backward=True):
                main()
        return values

    plain, traced = train(None), train(tmp_path / "run.mtrace")
    for ours, theirs in zip(traced["model"].parameters(), plain["model"].parameters()):
        assert torch.equal(ours, theirs)
    ours, theirs = (v["optimizer"].state_dict()["state"] for v in (traced, plain))
    for key in theirs:
        assert all(torch.equal(ours[key][name], theirs[key][name]) for name in theirs[key])
    assert torch.equal(plain["state"], traced["state"])


FUNCTION = """
    import torch
    class T(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            names.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs or {})
    names = []
    t = torch.ones(3).as_subclass(T).requires_grad_()
    u = t * 2
    u.sum().backward()
    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            names.append(func.__name__)
            return func(*args, **(kwargs or {}))
    with Mode():
        v = torch.ones(3, requires_grad=True)
        w = v * 2
        w.sum().backward()
    print(names, t.grad.tolist(), v.grad.tolist())
"""


def test_a_torch_function_of_the_program_is_not_called_by_the_hooks(tmp_path):
    (tmp_path / "program.py").write_text(textwrap.dedent(FUNCTION).lstrip())
    words = ["-m", "monitorch", "run", "-q", "--backward"]
    printed = [
        subprocess.run(
            [sys.executable, *options, "program.py"],
            cwd=tmp_path,
            env={**recording.environment("off"), "PYTHONPATH": str(paths.PYTHON_PATH)},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout
        for options in ([], words)
    ]
    assert printed[0] and printed[0] == printed[1]
