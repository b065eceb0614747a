"""monitorch.run: where each argument comes from, rule by rule."""

import functools
import types
from typing import Annotated, NewType, Optional, Union

import pytest

from tests.support import compiler, paths, recording

torch = pytest.importorskip("torch")

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(
        not list(paths.PACKAGE.glob("_recorder*.so")), reason="the recorder is not built (make)"
    ),
]


@pytest.fixture
def monitorch():
    package = recording.package()
    package.reset()
    yield package
    package.reset()


# What is made up. Of tensors: the function that makes it, and what it is given.

RANDN = ("randn", (8, 8), torch.float32)
LABELS = ("randint", (8,), torch.int64)
Count = NewType("Count", int)

BY_ANNOTATION = [
    (int, 4),
    (float, 0.1),
    (bool, False),
    (str, "size"),  # the parameter's name
    ("int", 4),
    ("float", 0.1),
    ("bool", False),
    ("str", "size"),
    (Optional[int], 4),
    ("Optional[int]", 4),  # Optional is no name of this function's module
    ("typing.Optional[float]", 0.1),
    ("int | None", 4),
    ("None | float", 0.1),
    ("'int'", 4),
    ("Union[bool, int]", (4, 4)),  # nobody knows what is meant: by its name
    (Union[bool, int], False),
    (Optional["float"], 0.1),
    (float | None, 0.1),
    (Annotated[int, "positive"], 4),
    (Count, 4),
    (type(None) | int, 4),
]
BY_OTHER_ANNOTATION = [torch.Tensor, "torch.Tensor", "no.such.name", object, list[int], 3, "(", ""]

BY_NAME = [
    ("shape", (4, 4)),
    ("in_shape", (4, 4)),
    ("size", (4, 4)),
    ("batch_size", (4, 4)),
    ("Size", (4, 4)),
    ("dim_size", (4, 4)),  # size comes before dim
    ("shape_n", (4, 4)),
    ("dim", 4),
    ("hidden_dim", 4),
    ("dims", 4),
    ("n", 4),
    ("n_in", 4),
    ("N", 4),
    ("attention", 4),  # it ends with n
    ("lr_dim", 4),  # dim comes before lr
    ("learn", 4),
    ("lr", 0.01),
    ("base_lr", 0.01),
    ("rate", 0.01),
    ("dropout_rate", 0.01),
    ("label_rate", 0.01),  # rate comes before label
    ("label", LABELS),
    ("labels", LABELS),
    ("target", LABELS),
    ("Targets", LABELS),
    ("x", RANDN),
    ("nx", RANDN),
    ("weight", RANDN),
]


def check(value, expected):
    if not isinstance(expected, tuple) or not isinstance(expected[0], str):
        assert value == expected and type(value) is type(expected)
        return
    maker, shape, dtype = expected
    assert value.shape == shape and value.dtype == dtype and value.device.type == "cpu"
    if maker == "randint":
        assert set(value.tolist()) <= {0, 1}
    else:
        assert 0.3 < value.std() < 3 and not value.requires_grad


def make_function(parameter, annotation=None):
    scope = {}
    exec(f"def made({parameter}):\n    return {parameter.strip('*, /')}\n", scope)
    if annotation is not None:
        scope["made"].__annotations__[parameter] = annotation
    return scope["made"]


@pytest.mark.parametrize("name, expected", BY_NAME)
def test_by_name(monitorch, name, expected):
    check(monitorch.run(make_function(name)), expected)


@pytest.mark.parametrize("annotation, expected", BY_ANNOTATION, ids=str)
def test_by_annotation(monitorch, annotation, expected):
    check(monitorch.run(make_function("size", annotation)), expected)


@pytest.mark.parametrize("annotation", BY_OTHER_ANNOTATION, ids=str)
def test_by_name_where_the_annotation_does_not_help(monitorch, annotation):
    check(monitorch.run(make_function("size", annotation)), (4, 4))
    check(monitorch.run(make_function("x", annotation)), RANDN)


def test_annotations_that_the_compiler_leaves_as_text(monitorch):
    scope = {"__name__": "made", "Optional": Optional}
    source = """
        from __future__ import annotations
        class Number(int): pass
        def made(size: int, dim: float, n: Optional[bool], lr: str | None, x: Later, shape: Number):
            return size, dim, n, lr, x, shape
        class Later: pass
    """
    exec("\n".join(line[8:] for line in source.splitlines()), scope)
    *simple, tensor, shape = monitorch.run(scope["made"])
    assert simple == [4, 0.1, False, "lr"] and shape == (4, 4)
    check(tensor, RANDN)


# Where an argument comes from


hidden = "of the globals"


def take(hidden="by default"):
    return hidden


def test_the_order_in_which_an_argument_is_looked_for(monitorch):
    assert monitorch.run(take) == "of the globals"

    def call():
        hidden = "of the locals"  # noqa: F841
        return monitorch.run(take)

    assert call() == "of the locals"
    monitorch.args(hidden="a hint")
    assert call() == "a hint"
    assert monitorch.run(take, hidden="given") == "given"
    monitorch.args(hidden="another")
    assert call() == "another"
    monitorch.reset()
    assert call() == "of the locals"


def test_the_default_comes_before_a_guess(monitorch):
    assert monitorch.run(lambda size=None: size) is None
    assert monitorch.run(lambda size: size) == (4, 4)


def test_none_is_a_value(monitorch):
    size = None  # noqa: F841
    assert monitorch.run(lambda size: size) is None
    assert monitorch.run(lambda dim: dim, dim=None) is None


def test_locals_of_a_module_and_of_a_class(monitorch):
    scope = {"run": monitorch.run, "take": lambda size: size}
    exec("size = 1\na = run(take)\nclass C:\n    size = 2\n    b = run(take)\n", scope)
    assert scope["a"] == 1 and scope["C"].b == 2


def test_the_callers_scopes_and_not_the_functions(monitorch):
    size = 3

    def inner(size):
        return size

    def call():
        return monitorch.run(inner)  # `size` is free in no function here

    assert call() == (4, 4) and size == 3


# Kinds of parameters, kinds of callables


def test_kinds_of_parameters(monitorch):
    def every(n, /, dim, *rest, size, lr=1, **more):
        return n, dim, rest, size, lr, more

    assert monitorch.run(every) == (4, 4, (), (4, 4), 1, {})
    given = monitorch.run(every, n=1, dim=2, size=3, lr=5, other=6)
    assert given == (1, 2, (), 3, 5, {"other": 6})
    monitorch.args(rest=(1,), more={"a": 1}, unknown=2)
    assert monitorch.run(every) == (4, 4, (), (4, 4), 1, {})


def test_an_override_that_fits_nowhere(monitorch):
    with pytest.raises(TypeError, match=r"take\(\) has no parameter 'hiden'"):
        monitorch.run(take, hiden=1)
    with pytest.raises(TypeError, match="has no parameter 'rest'"):
        monitorch.run(lambda *rest: rest, rest=(1,))


def test_an_argument_named_fn(monitorch):
    assert monitorch.run(lambda fn, self: (fn, self), fn=1, self=2) == (1, 2)


class Box:
    def __init__(self, size, *, dim=2):
        self.size, self.dim = size, dim

    def method(self, n):
        return self, n

    @classmethod
    def of_class(cls, n):
        return cls, n

    @staticmethod
    def static(n):
        return n

    def __call__(self, lr):
        return lr


class Model(torch.nn.Module):
    def forward(self, x, scale: float):
        return x * scale


def test_methods_classes_and_callables(monitorch):
    box = monitorch.run(Box)
    assert (box.size, box.dim) == ((4, 4), 2)
    assert monitorch.run(box.method) == (box, 4)
    assert monitorch.run(Box.of_class) == (Box, 4)
    assert monitorch.run(Box.static) == 4
    assert monitorch.run(box) == 0.01
    assert monitorch.run(functools.partial(box.method)) == (box, 4)
    assert monitorch.run(functools.partial(take, hidden=1)) == "of the globals"
    assert monitorch.run(functools.partial(lambda a, size: (a, size), 1)) == (1, (4, 4))
    assert monitorch.run(Model(), scale=0.0).abs().sum() == 0
    assert monitorch.run(Model().forward).shape == (8, 8)

    @functools.wraps(take)
    def wrapper(*arguments, **keywords):
        return "wrapped", take(*arguments, **keywords)

    assert monitorch.run(wrapper, hidden=1) == ("wrapped", 1)


def test_what_has_no_signature(monitorch):
    with pytest.raises(TypeError, match=r"cannot find the parameters of .*relu\(\): it has no signature"):
        monitorch.run(torch.relu)
    for value in (3, None, "text", torch.ones(2)):
        with pytest.raises(TypeError, match="monitorch.run calls a function, not"):
            monitorch.run(value)


def test_exceptions_are_the_functions_own(monitorch):
    def fail(n):
        raise KeyError(n)

    with pytest.raises(KeyError, match="4"):
        monitorch.run(fail)


# What guesses do to the program


def test_random_numbers_of_the_program_are_left_alone(monitorch):
    torch.manual_seed(7)
    before = torch.get_rng_state()
    first = monitorch.run(lambda x, label: (x, label))
    assert torch.equal(torch.get_rng_state(), before)
    second = monitorch.run(lambda x: x)
    assert not torch.equal(first[0], second)
    monitorch.reset()
    again = monitorch.run(lambda x, label: (x, label))
    assert torch.equal(first[0], again[0]) and torch.equal(first[1], again[1])


def test_torch_is_asked_for_where_a_tensor_is_needed(tmp_path):
    program = """
import sys
sys.modules["torch"] = None
import monitorch
print(monitorch.run(lambda n, size: (n, size)))
try:
    monitorch.run(lambda x: x)
except ModuleNotFoundError as error:
    print(error)
"""
    done = recording.run_python("-c", program, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "(4, (4, 4))",
        "monitorch.run needs torch to make up 'x' for <lambda>(), and torch is not installed: "
        "give it, run(…, x=…)",
    ]


def test_guesses_are_told_in_the_trace(monitorch, tmp_path):
    source = b"""
class Block:
    def forward(self, x, lr, size=3):
        y = x * lr
        return y
    def __call__(self, n):
        return n + 1
    def __init__(self, n=1):
        self.n = n
def outer():
    def inner(dim):
        return dim
    return inner
"""
    code = compile(compiler.instrument(source, "program.py", all=True).text, "program.py", "exec")
    module = types.ModuleType("program")
    path = tmp_path / "run.mtrace"
    with recording.record(path):
        exec(code, module.__dict__)
        monitorch.run(module.Block().forward, lr=2)
        monitorch.run(module.Block())
        monitorch.run(module.outer())
        monitorch.run(module.Block)
    trace = recording.read(path)
    assert [(n.function, n.parameter, n.text) for n in trace.notes] == [
        ("Block.forward", "x", "randn(8, 8)"),
        ("Block.__call__", "n", "4"),
        ("outer.<locals>.inner", "dim", "4"),
    ]
    names = {call.function for call in trace.calls.values()}
    assert {note.function for note in trace.notes} <= names
