"""One function that is tracked: its code that records, and its code that does not."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from monitorch import _function
from monitorch.tracker import _session
from monitorch.tracker._rate import Rate
from monitorch.tracker._wish import Wish


class Tracked:
    """What a wrapper calls. Further decorators add to it, so the wrapper asks anew each time."""

    plain: Callable[..., Any]
    """Runs where a call is not tracked."""
    run: Callable[..., Any]
    """Runs where it is."""
    place: Any
    """Where there is no source: what inputs and outputs are told of; else None."""
    wrapper: Callable[..., Any] | None
    """Around it; a decorator that copies attributes must not be taken for it."""

    def __init__(self, function: Callable[..., Any], wish: Wish, rate: Rate | None) -> None:
        self.plain = self.run = function
        self.place = None
        self.wrapper = None
        self.signature: Any = None
        self._wish = wish
        self._rate = rate
        self._note = ""
        self._code: types.CodeType | None = None
        self._handle: Any = None
        self._compile()

    def add(self, wish: Wish, rate: Rate | None) -> None:
        """Another decorator wants more."""
        needed_every_line = self._wish.needs_every_line
        self._wish.add(wish)
        self._rate = self._rate if rate is None else rate
        self._handle = None
        if self._wish.needs_every_line and not needed_every_line:
            self._compile()

    def _compile(self) -> None:
        function: Any = self.plain
        try:
            made = _function.compile_function(function, self._wish.needs_every_line)
        except _function.CannotCompile as error:
            self._wish.inputs_only = True
            self._note = f"{error}: only what goes in and comes out is told"
            return
        if made is function:  # it records already; calls that are not tracked go on to do that
            made = _copy_code(function)
        self.run = made
        self._code = innermost(made).__code__

    def begin(self) -> Any:
        """A token for the call that is about to be made, or None where it is not tracked."""
        if not _session.is_on or (self._rate is not None and not self._rate.admits()):
            return None
        if not _session.prepare():
            return None
        handle = self._handle
        if handle is None:
            handle = self._register()
        return _session.track_begin(handle)

    def _register(self) -> Any:
        from monitorch import _recorder
        from monitorch.tracker import _place

        if self._code is None and self.place is None:
            self.place, self.signature = _place.make(self.plain)
            _session.tell_note(self._note)
        known = self.place if self._code is None else self._code
        handle = self._handle = _recorder.track_register(known, self._wish.write())
        return handle

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The values of the place's parameters, in order."""
        from monitorch.tracker import _place

        return _place.bind(self.signature, args, kwargs)


def find(function: object) -> Tracked | None:
    """Of a wrapper of ours, or of what stands around one."""
    seen: set[int] = set()
    while function is not None and id(function) not in seen:
        seen.add(id(function))
        tracked = getattr(function, "__monitorch_tracked__", None)
        if isinstance(tracked, Tracked) and tracked.wrapper is function:
            return tracked
        function = getattr(function, "__wrapped__", None)
    return None


def innermost(function: Any) -> Any:
    """What stands below decorators that keep `__wrapped__`."""
    inner = getattr(function, "__wrapped__", None)
    while isinstance(inner, types.FunctionType):
        function, inner = inner, getattr(inner, "__wrapped__", None)
    return function


def _copy_code(function: types.FunctionType) -> types.FunctionType:
    """The same with a code object of its own, which the recorder can tell from the other."""
    inner = getattr(function, "__wrapped__", None)
    if isinstance(inner, types.FunctionType):
        return _function.wrap_again(function, inner, _copy_code(inner))
    return _function.copy(function, function.__code__.replace(), function.__closure__)
