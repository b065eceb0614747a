"""How many of a function's calls are tracked."""

from __future__ import annotations

import time

_EXPECTED = "rate must be a share such as 0.1, or a number per second such as '5/s'"


class Rate:
    """Selects calls: `0.01` is one call of a hundred, evenly spread; `"5/s"` at most five a second.

    Threads that ask at the same moment may get the same answer: one call more or less is tracked.
    """

    def __init__(self, rate: float | str) -> None:
        self._share = self._per_second = 0.0
        self._saved = 1.0  # at 1 the next call is tracked
        self._time = time.monotonic()
        if isinstance(rate, str):
            self._per_second = _read_per_second(rate)
            self._limit = max(1.0, self._per_second)
            self._saved = self._limit
        else:
            self._share = _check_share(rate)

    def admits(self) -> bool:
        """Whether the next call is tracked."""
        if self._per_second:
            now = time.monotonic()
            grown = self._saved + (now - self._time) * self._per_second
            self._saved = min(self._limit, grown)
            self._time = now
        is_admitted = self._saved >= 1.0 - 1e-9
        if is_admitted:
            self._saved -= 1.0
        self._saved += self._share
        return is_admitted


def _read_per_second(text: str) -> float:
    number, slash, unit = text.partition("/")
    try:
        value = float(number)
    except ValueError:
        value = 0.0
    if not slash or unit.strip() != "s" or not 0 < value < float("inf"):
        raise ValueError(f"{_EXPECTED}, not {text!r}")
    return value


def _check_share(rate: object) -> float:
    if isinstance(rate, bool) or not isinstance(rate, (int, float)):
        raise TypeError(f"{_EXPECTED}, not {rate!r}")
    if not 0 < rate <= 1:
        raise ValueError(f"rate must be above 0 and at most 1, not {rate!r}")
    return float(rate)
