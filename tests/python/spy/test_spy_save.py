"""The builtin spy_save: its arguments, what it calls, and other Pythons."""

from __future__ import annotations

import pickle
import sys

import pytest

pytest.importorskip("monitorch.spy", reason="the package is not built (make)")

from monitorch.spy import DebugContext, spy_save  # noqa: E402

from tests.python.spy.signatures import Keeper  # noqa: E402
from tests.support import paths, recording  # noqa: E402


def saved(*words, **named):
    saver = Keeper()
    with DebugContext(saver, "p"):
        spy_save(*words, **named)
    return saver.saved


@pytest.mark.parametrize(
    "words, named",
    [
        (("x", 1, "m"), {}),
        (("x", 1), {"module": "m"}),
        (("x",), {"module": "m", "tensor": 1}),
        ((), {"module": "m", "tensor": 1, "name": "x"}),
    ],
)
def test_arguments_by_place_and_name(words, named):
    assert saved(*words, **named) == [("p.path.x", 1)]


@pytest.mark.parametrize("words", [("x", 1), ("x", 1, None)])
def test_no_module(words):
    assert saved(*words) == [("p.manual.x", 1)]


@pytest.mark.parametrize(
    "words, named, text",
    [
        ((), {}, "missing required argument 'name'"),
        (("x",), {}, "missing required argument 'tensor'"),
        (("x",), {"module": 1}, "missing required argument 'tensor'"),
        (("x", 1, 2, 3), {}, "from 2 to 3 positional arguments but 4 were given"),
        (("x", 1), {"name": "y"}, "multiple values for argument 'name'"),
        (("x", 1), {"other": 2}, "unexpected keyword argument 'other'"),
    ],
)
@pytest.mark.parametrize("is_open", [False, True])
def test_wrong_arguments_are_refused_everywhere(words, named, text, is_open):
    with pytest.raises(TypeError, match=text):
        if is_open:
            saved(*words, **named)
        else:
            spy_save(*words, **named)


def test_what_the_saver_raises_is_raised():
    class Broken(Keeper):
        def save(self, name, tensor):
            raise OSError(28, "No space left on device", name)

    with DebugContext(Broken()), pytest.raises(OSError, match="manual.x"):
        spy_save("x", 1)


def test_derived_contexts_save_their_way():
    class Louder(DebugContext):
        def _save(self, name, tensor, module=None):
            super()._save(name.upper(), tensor, module)

    saver = Keeper()
    with Louder(saver):
        spy_save("x", 1)
    assert saver.saved == [("manual.X", 1)]


def test_other_savers_are_asked_for_nothing_else():
    """Only what the interface says: a saver of one's own may have any other names."""

    class Busy(Keeper):
        _begin = _end = _watch = enabled = None

        def __getattr__(self, name):
            raise AssertionError(name)

    saver = Busy()
    saver.enabled = True
    with DebugContext(saver):
        spy_save("x", 1, "m")
    assert saver.saved == [("path.x", 1)]


def test_nothing_is_kept_alive():
    """The builtin neither keeps nor loses references, in a context and outside."""

    class Value:
        pass

    value, name = Value(), "a name of its own"
    saver = Keeper()
    spy_save(name, value)
    before = sys.getrefcount(value), sys.getrefcount(name)
    for _ in range(100):
        spy_save(name, value, value)
        with DebugContext(saver):
            spy_save(name, tensor=value, module=value)
        saver.saved.clear()
    assert (sys.getrefcount(value), sys.getrefcount(name)) == before


def test_is_pickled_by_its_name():
    assert pickle.loads(pickle.dumps(spy_save)) is spy_save


PROGRAM = """
import contextvars, sys
from monitorch.spy import DebugContext, TensorSaver, spy_save, get_debug_context

class Saver:
    saved = []
    def get_module_path(self, module): return "path"
    def save(self, name, tensor): self.saved.append((str(name), tensor))

spy_save("before", 1)
with DebugContext(Saver(), "p") as context:
    spy_save("x", 2, module=3)
    assert get_debug_context() is context
spy_save("after", 3)
assert Saver.saved == [("p.path.x", 2)], Saver.saved
TensorSaver("saved")
assert not {"torch", "numpy"} & set(sys.modules)
"""


@pytest.mark.parametrize(
    "python",
    [sys.executable, *(path for _, path in paths.other_pythons())],
)
def test_every_python(python, tmp_path):
    done = recording.run_python("-c", PROGRAM, python=python, folder=tmp_path)
    assert done.returncode == 0, done.stderr
