"""Training steps: how they are counted, and which of them a recording holds.

Step 0 begins with the recording, and each call of an optimizer's `step()` ends a step; calls of
`monitorch.step()` replace this count. At the end of a step the recording is switched on or off.
"""

import sys
from _weakref import ref

from monitorch import _selection
from monitorch._imports import Watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, ModuleType
    from typing import Any

_OPTIMIZER = "torch.optim.optimizer"
_LAST_MAX = 4096  # the most steps that a ring is searched for


class Selection:
    """The steps that `steps=` selects: ranges, or the newest ones."""

    def __init__(self, text: str, numbers: "_selection.Numbers | None", last: int) -> None:
        self.text = text
        self.last = last  # number of newest whole steps to keep; 0: all
        self._numbers = numbers

    def has(self, step: int) -> bool:
        return self._numbers is None or step in self._numbers


ALL = Selection("", None, 0)
_EXPECTED = "steps must be steps such as '500-510', '0-2:500-' or 'last:3'"


def read(steps: object) -> Selection:
    """`500`, "500-510", "0-2:500-", "last:3"; None for all. Raises TypeError or ValueError."""
    if steps is None:
        return ALL
    if isinstance(steps, int) and not isinstance(steps, bool):
        if steps < 0:
            raise ValueError(f"{_EXPECTED}, not {steps}")
        steps = str(steps)
    if not isinstance(steps, str):
        raise TypeError(f"{_EXPECTED}, not {steps!r}")
    kind, colon, number = steps.partition(":")
    if kind != "last" or not colon:
        return Selection(steps, _selection.Numbers(_EXPECTED, steps), 0)
    last = int(number) if number.isascii() and number.isdigit() else -1
    if last < 0:
        raise ValueError(f"{_EXPECTED}, not {steps!r}")
    if not 0 < last <= _LAST_MAX:
        raise ValueError(f"steps={steps!r}: expected last:1 to last:{_LAST_MAX}")
    return Selection(steps, None, last)


class Counter:
    """Counts the steps of one recording; calls `on_step` with the number of each step that
    begins."""

    def __init__(self, on_step: "Callable[[int], None]") -> None:
        self.step = 0
        self._on_step = on_step
        self._is_explicit = False  # the program calls monitorch.step()
        self._optimizer: "Callable[[], object] | None" = None  # whose step() ends a step
        self._others: "set[int]" = set()  # ids of other optimizers that stepped since its last step
        self._handle: "Any" = None
        self._watch = Watch(_OPTIMIZER.__eq__, self._attach)

    def begin(self) -> None:
        module = sys.modules.get(_OPTIMIZER)
        if module is None:
            self._watch.begin()
        else:
            self._attach(module)

    def end(self) -> None:
        self._watch.end()
        handle, self._handle = self._handle, None
        if handle is not None:
            handle.remove()

    def _attach(self, module: "ModuleType") -> None:
        self._watch.end()
        register = getattr(module, "register_optimizer_step_post_hook", None)  # from torch 2.1 on
        if register is not None and self._handle is None:
            self._handle = register(self._on_optimizer)

    def _on_optimizer(self, optimizer: object, args: object, kwargs: object) -> None:
        if not self._is_explicit and self._ends_step(optimizer):
            self._begin_next()

    def _ends_step(self, optimizer: object) -> bool:
        """Whether this optimizer's step() ends a step. The first optimizer counts. Another one
        replaces it if the first no longer exists, or if the other one has stepped twice in
        between."""
        counting = None if self._optimizer is None else self._optimizer()
        if counting is not None and counting is not optimizer:
            if id(optimizer) not in self._others:
                self._others.add(id(optimizer))
                return False
        if counting is not optimizer:
            self._optimizer = ref(optimizer)
        self._others.clear()
        return True

    def end_step(self) -> None:
        """Ends a step, for `monitorch.step()`."""
        has_counted = not self._is_explicit and self.step > 0
        self._is_explicit = True
        if not has_counted:  # an optimizer's step() ended the same step
            self._begin_next()

    def _begin_next(self) -> None:
        self.step += 1
        self._on_step(self.step)


class Condition:
    """The condition of `start_when=`: a function, or a comparison of a variable with a number."""

    def __init__(self, asked: "Callable[[], object] | str") -> None:
        self.text = asked if isinstance(asked, str) else getattr(asked, "__name__", "a function")
        self._function = None if isinstance(asked, str) else asked
        if isinstance(asked, str):
            self._names, self._is_fulfilled = _read_comparison(asked)
        self._has_failed = False

    def holds(self, frame: "FrameType | None") -> bool:
        """Whether the condition is fulfilled, at the end of a step in `frame`. An error is reported
        once, and counts as false."""
        try:
            if self._function is not None:
                return bool(self._function())
            return self._is_fulfilled(_read_variable(frame, self._names))
        except Exception as error:
            if not self._has_failed:
                self._has_failed = True
                _warn(f"start_when={self.text!r}: {type(error).__name__}: {error}")
            return False


def read_condition(asked: object) -> "Condition | None":
    if asked is None:
        return None
    if not isinstance(asked, str) and not callable(asked):
        raise TypeError(f"start_when must be {_CONDITION}, not {asked!r}")
    return Condition(asked)


_CONDITION = "a comparison such as 'loss > 10', or a function that returns a bool"


def _read_comparison(text: str) -> "tuple[list[str], Callable[[Any], bool]]":
    expected = f"start_when must be {_CONDITION}"
    left, is_fulfilled = _selection.read_condition(expected, text)
    names = left.split(".")
    if not all(name.isidentifier() for name in names):
        raise ValueError(f"{expected}, not {text!r}")
    return names, is_fulfilled


def _read_variable(frame: "FrameType | None", names: "list[str]") -> float:
    """The variable's value in the nearest caller that has it, else in the nearest caller's
    module."""
    at = frame
    while at is not None:
        if names[0] in at.f_locals:
            return _follow(at.f_locals[names[0]], names)
        at = at.f_back
    at = frame
    while at is not None:
        if names[0] in at.f_globals:
            return _follow(at.f_globals[names[0]], names)
        at = at.f_back
    raise NameError(f"no function that runs when a step ends has a variable {names[0]!r}")


def _follow(value: object, names: "list[str]") -> float:
    for name in names[1:]:
        value = getattr(value, name)
    detach = getattr(value, "detach", None)  # float() warns if a tensor requires grad
    return float(detach() if callable(detach) else value)  # type: ignore[arg-type]


def _warn(text: str) -> None:
    import warnings

    try:
        warnings.warn(f"monitorch: {text}", RuntimeWarning, stacklevel=2)
    except Warning:
        pass  # warnings may be errors, and a hook must raise none


def find_program_frame() -> "FrameType":
    """The nearest frame below that belongs to neither monitorch nor torch."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        name = frame.f_globals.get("__name__", "")
        if not isinstance(name, str) or name.partition(".")[0] not in ("monitorch", "torch"):
            break
        frame = frame.f_back
    return frame
