"""The tree closes where exceptions pass, and they pass unchanged."""

import numpy as np
from monitorch.tracker import auto_diff, var_tracker


class OwnError(ValueError):
    pass


@auto_diff
def divide(x, by):
    if by == 0:
        raise OwnError("by nothing")
    return x / by


@auto_diff
def between(x, by):
    return divide(x, by) + 1


@var_tracker("x", "caught")
def outer(x):
    x = between(x, 2)
    try:
        x = between(x, 0)
    except OwnError as error:
        caught = type(error).__name__  # noqa: F841
    finally:
        x = x * 10
    with np.errstate(divide="raise"):
        x = x / 0


@auto_diff
def leaves(code):
    try:
        raise SystemExit(code)
    finally:
        divide(np.ones(2), 4)


for function in (outer, leaves):
    try:
        function(np.array([1.0, 2.0]))
    except BaseException as raised:
        print(type(raised).__name__, len(str(raised)) > 0)
outer_again = between(np.ones(1), 1)
