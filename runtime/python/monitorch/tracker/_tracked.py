"""A tracked function: its code that records, and its code that does not."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from monitorch._compile import function as _function
from monitorch.tracker import _place, _session
from monitorch.tracker._rate import Rate
from monitorch.tracker._wish import Wish


class Tracked:
    """The state behind a wrapper, which reads it at each call: decorators may add to it."""

    plain: Callable[..., Any]
    """Runs if a call is not tracked."""
    run: Callable[..., Any]
    """Runs if a call is tracked."""
    place: Any
    """For a function without source: the place of its inputs and outputs; else None."""
    wrapper: Any
    """The wrapper itself: a decorator that copies attributes is not one."""

    def __init__(self, function: Callable[..., Any], wish: Wish, rate: Rate | None) -> None:
        self.plain = self.run = function
        self.place = None
        self.wrapper = None
        self._signature: Any = None
        self._wish = wish
        self._rate = rate
        self._note = ""
        self._code: Any = None
        self._calls: Any = None
        self._holders = 0  # tracers that read the variables of each call, tracked or not
        self._original = function
        self._compile()
        self._check_names(wish)

    def add(self, wish: Wish, rate: Rate | None) -> None:
        """Adds the request of another decorator."""
        needed_every_line = self._needs_every_line()
        self._wish.add(wish)
        self._rate = self._rate if rate is None else rate
        self._calls = None
        if self._needs_every_line() and not needed_every_line:
            self._compile()
        self._check_names(wish)

    def hold_lines(self) -> Any:
        """From now on every call runs the code that records each line, until as many calls of
        `release_lines`. Returns that code; None if the function has none."""
        self._holders += 1
        if self._holders == 1 and not self._wish.needs_every_line:
            self._calls = None
            self._compile()
        self.plain = self.run
        return self._code

    def release_lines(self) -> None:
        self._holders -= 1
        if self._holders == 0:
            self.plain = self._original

    def _needs_every_line(self) -> bool:
        return self._holders > 0 or self._wish.needs_every_line

    def _check_names(self, wish: Wish) -> None:
        if wish.names and self._code is not None:
            from monitorch import _unmatched

            run: Any = self.run
            function = _function.find_innermost(run)
            code = function.__code__
            for text in _unmatched.explain_tracked(function, wish.names):
                warnings.warn_explicit(
                    f"monitorch: {text}", RuntimeWarning, code.co_filename, code.co_firstlineno
                )

    def _compile(self) -> None:
        function: Any = self._original
        try:
            self.run = _function.compile_function(function, self._needs_every_line())
        except _function.CannotCompile as error:
            self._note = f"{error}: only its inputs and outputs are logged"
            return
        self._code = _function.find_innermost(self.run).__code__

    def begin(self) -> Any:
        """Returns a token for the next call, or None if it is not tracked."""
        if not _session.is_on or (self._rate is not None and not self._rate.admits()):
            return None
        calls = self._calls
        if calls is None:
            calls = self._register()
        return _session.begin(calls)

    def _register(self) -> Any:
        _session.set_up()
        if self._code is None:
            self.place, self._signature = _place.make(self.plain)
            self._code = self.wrapper.__code__
            _session.write(f"├─ ⚠ {self._note}\n")
        self._calls = self._wish.register(self._code)
        return self._calls

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The values of the place's parameters, in order."""
        return _place.bind(self._signature, args, kwargs)


def find(function: object) -> Tracked | None:
    """Returns the Tracked of a wrapper of ours, or of a function around one."""
    seen: set[int] = set()
    while function is not None and id(function) not in seen:
        seen.add(id(function))
        tracked = getattr(function, "__monitorch_tracked__", None)
        if isinstance(tracked, Tracked) and tracked.wrapper is function:
            return tracked
        function = getattr(function, "__wrapped__", None)
    return None
