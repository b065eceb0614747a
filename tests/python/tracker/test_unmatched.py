"""var_tracker warns at once of names that no line of the function assigns."""

from __future__ import annotations

import warnings

import pytest

tracker = pytest.importorskip("monitorch.tracker", reason="the package is not built (make)")

from monitorch.tracker import auto_diff, var_tracker  # noqa: E402

pytestmark = pytest.mark.usefixtures("compiler_module")


def warned(decorator, function):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = decorator(function)
    assert all(one.filename == __file__ for one in caught)
    return made, [str(one.message).removeprefix("monitorch: ") for one in caught]


class Model:
    state = 0

    def forward(self, video, *rest, mask=None):
        hidden = video
        parts = {}
        for index, part in enumerate(rest):
            parts[index] = part
        self.state += 1
        _, *others = [hidden]
        if (size := len(others)) > 1:
            return size
        hidden.append(mask)

        def inner():
            deep = 1
            return deep

        return inner()


@pytest.mark.parametrize(
    "name",
    ["video", "rest", "mask", "hidden", "parts", "parts[0]", "index", "self.state", "others", "size",
     "deep", "h*", "self.*", "*"],
)  # fmt: skip
def test_names_that_are_assigned(name):
    assert warned(var_tracker(name), Model.forward)[1] == []


@pytest.mark.parametrize(
    "name, meant",
    [
        ("vidoe", "; did you mean 'video'?"),
        ("self.stat", "; did you mean 'self.state'?"),
        ("weights", "; it assigns 'self', 'video', 'rest' and"),
        ("hiden*", "; did you mean 'hidden'?"),
    ],
)
def test_names_that_are_not(name, meant):
    (text,) = warned(var_tracker(name, "video"), Model.forward)[1]
    assert text.startswith(f"var_tracker({name!r}): no line of Model.forward assigns this name{meant}")


def test_each_decorator_speaks_for_itself():
    made, texts = warned(auto_diff, Model.forward)
    assert texts == []
    made, texts = warned(var_tracker("vidoe"), made)
    assert len(texts) == 1
    assert len(warned(var_tracker("hiden"), made)[1]) == 1


def test_a_function_without_any():
    def nothing():
        pass

    (text,) = warned(var_tracker("x"), nothing)[1]
    assert text.endswith("assigns this name; it assigns none")


def test_where_there_is_no_source_nothing_is_known():
    assert warned(var_tracker("x"), len)[1] == []
