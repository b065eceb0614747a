"""The tensors in containers, and what they are called."""

from __future__ import annotations

import collections
import dataclasses
import enum
import types

import pytest

pytest.importorskip("monitorch.spy", reason="the package is not built (make)")

from monitorch.spy import DebugContext, TensorSaver, spy_save  # noqa: E402
from monitorch.spy._leaves import find_leaves, is_container  # noqa: E402


class Tensor:
    """What counts as one without torch."""

    __array_interface__ = None

    def __init__(self, number=0):
        self.number = number


class Kind(enum.Enum):
    A = 1


class Key:
    pass


Pair = collections.namedtuple("Pair", "first second")


@dataclasses.dataclass
class Output:
    logits: object
    cache: object = None


@dataclasses.dataclass
class Half:
    there: object
    missing: object = dataclasses.field(init=False)


T = Tensor()


@pytest.mark.parametrize(
    "value, wanted",
    [
        (T, [""]),
        ((T, 1, None, "text", T), ["[0]", "[4]"]),
        ([[T], [], [[T]]], ["[0][0]", "[2][0][0]"]),
        ({"k": T, 3: T, None: T}, ["['k']", "[3]", "[None]"]),
        ({Key(): T, Kind.A: T}, ["[<Key 0>]", "[<Kind 1>]"]),
        ({"it's": T}, ['["it\'s"]']),
        (collections.OrderedDict(a=[T]), ["['a'][0]"]),
        (types.MappingProxyType({"a": T}), ["['a']"]),
        (Pair(T, Pair(1, T)), [".first", ".second.second"]),
        (Output(T, {"k": (T,)}), [".logits", ".cache['k'][0]"]),
        (Half(T), [".there"]),
        ([Output], []),
        (Output, []),
        ("text", []),
        (3, []),
    ],
)
def test_names(value, wanted):
    assert [path for path, _ in find_leaves(value)] == wanted


class Answering:
    """Answers for any attribute, as torch.fx's proxies do; whoever asks it is noted."""

    asked = []

    def __getattribute__(self, name):
        Answering.asked.append(name)
        return Answering()

    def __getattr__(self, name):
        raise AssertionError(name)


class Asked(type):
    def __getattribute__(cls, name):
        if name != "__class__":
            Answering.asked.append(name)
        return super().__getattribute__(name)


class WithMeta(metaclass=Asked):
    pass


class OwnDict(dict):
    def __iter__(self):
        raise AssertionError

    __getitem__ = keys = items = __iter__


class OwnPair(Pair):
    @property
    def first(self):
        raise AssertionError

    def __iter__(self):
        raise AssertionError


@dataclasses.dataclass
class Computed:
    logits: object
    loss: object = None

    def __getattribute__(self, name):
        Answering.asked.append(name)
        return object.__getattribute__(self, name)


@dataclasses.dataclass(slots=True)
class Slots:
    logits: object
    cache: object = 3


@pytest.mark.parametrize(
    "value, wanted",
    [
        (Answering(), []),
        ([Answering(), T, {"k": Answering(), "t": T}], ["[1]", "[2]['t']"]),
        (WithMeta(), []),
        (OwnDict(a=T), ["['a']"]),
        (OwnPair(T, [T]), [".first", ".second[0]"]),
        (Computed(T, {"x": T}), [".logits", ".loss['x']"]),
        (Slots(T, [T]), [".logits", ".cache[0]"]),
    ],
)
def test_no_code_of_the_program_is_run(value, wanted):
    Answering.asked.clear()
    assert [path for path, _ in find_leaves(value)] == wanted
    assert Answering.asked == []


def test_the_tensors_themselves():
    first, second = Tensor(), Tensor()
    assert find_leaves({"a": [first], "b": second}) == [("['a'][0]", first), ("['b']", second)]


def test_one_tensor_twice():
    assert len(find_leaves((T, T, [T]))) == 3


def test_containers_in_themselves():
    value = [T]
    value.append({"again": value, "other": T})
    assert [path for path, _ in find_leaves(value)] == ["[0]", "[1]['other']"]


def test_a_very_deep_one():
    value = T
    for _ in range(2000):
        value = [value]
    ((path, leaf),) = find_leaves(value)
    assert leaf is T and path == "[0]" * 2000


@pytest.mark.parametrize("value", [T, Output, "text", 3, None, {1, 2}, range(3)])
def test_no_containers(value):
    assert not is_container(value)


def test_where_there_is_no_tensor_the_program_goes_on(tmp_path, caplog):
    saver = TensorSaver(tmp_path)
    with DebugContext(saver, "p"):
        for _ in range(3):
            spy_save("mask", None)
            spy_save("sizes", (3, 4))
    assert [record.getMessage() for record in caplog.records] == [
        "No tensor in 'p.manual.mask' (NoneType): nothing was saved",
        "No tensor in 'p.manual.sizes' (tuple): nothing was saved",
    ]
    assert saver.call_counts == {} and list(tmp_path.iterdir()) == []
