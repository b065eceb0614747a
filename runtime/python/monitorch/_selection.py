"""Numbers and conditions of the selection language, as Python interfaces accept them."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_EVER = (1 << 63) - 1  # the end of an open range


class Numbers:
    """Ranges of numbers from 0: `500`, `500-510`, `500-`, `-10`, several with commas between them.

    Colons separate ranges too, because a comma begins the next option in MONITORCH.
    """

    def __init__(self, expected: str, text: str) -> None:
        """Raises ValueError for any other text; its message begins with `expected`."""
        self._ranges: "list[tuple[int, int]]" = []
        for part in text.replace(":", ",").split(","):
            found = _read_range(part.strip())
            if found is None:
                raise ValueError(f"{expected}, not {text!r}")
            if found[1] < found[0]:
                raise ValueError(f"{expected}, not {text!r}: {found[0]} is after {found[1]}")
            self._ranges.append(found)

    def __contains__(self, number: object) -> bool:
        return any(first <= number <= last for first, last in self._ranges)  # type: ignore[operator]


def _read_range(text: str) -> "tuple[int, int] | None":
    first, dash, last = text.partition("-")
    if not (first or last) or not all(map(_is_number, filter(None, (first, last)))):
        return None
    begin = int(first or 0)
    return begin, int(last) if last else _EVER if dash else begin


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and int(text) < _EVER


def _is_equal(value: "Any", other: float) -> bool:
    return bool(value == other or (value != value and other != other))  # NaN is equal to NaN


_COMPARISONS: "dict[str, Callable[[Any, float], bool]]" = {
    "<=": lambda value, bound: value <= bound,
    ">=": lambda value, bound: value >= bound,
    "<": lambda value, bound: value < bound,
    ">": lambda value, bound: value > bound,
    "==": _is_equal,
    "!=": lambda value, bound: not _is_equal(value, bound),
}


def read_condition(expected: str, text: str) -> "tuple[str, Callable[[Any], bool]]":
    """Reads `NAME > 10`. Returns the name and a function that tests a value.

    Raises ValueError for any other text; its message begins with `expected`.
    """
    import re

    parsed = re.match(r"\s*(\S.*?)(?<![<>=!\s])\s*(>=|<=|==|!=|>|<)\s*([^<>=!\s]+)\s*\Z", text)
    if parsed is None:
        raise ValueError(f"{expected}, not {text!r}")
    name, comparison, number = parsed.groups()
    try:
        bound = float(number)
    except ValueError:
        raise ValueError(f"{expected}, not {text!r}: {number!r} is not a number") from None
    compare = _COMPARISONS[comparison]
    return name, lambda value: bool(compare(value, bound))
