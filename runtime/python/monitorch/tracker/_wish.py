"""What a decorator wants of the calls that it tracks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Union

Labels = Union[Literal["zh", "en"], Mapping[str, str]]
When = Literal["changed", "nan"]


class Wish:
    """Several of them add up, where a function has several decorators."""

    def __init__(
        self,
        *,
        names: tuple[str, ...] = (),
        lines: bool = False,
        stack: bool = False,
        bare: bool = False,
        depth: int | None = None,
        when: When | None = None,
        labels: Labels | None = None,
    ) -> None:
        self.names = names
        self.lines = lines
        self.stack = stack
        self.bare = bare
        self.depth = None if depth is None else _check_depth(depth)
        self.when = None if when is None else _check_when(when)
        self.labels = "" if labels is None else write_labels(labels)

    @property
    def needs_every_line(self) -> bool:
        """Whether lines that bind nothing count too."""
        return self.lines or bool(self.names)

    def copy(self) -> Wish:
        made = Wish()
        made.__dict__.update(self.__dict__)
        return made

    def add(self, other: Wish) -> None:
        """What `other` says of depth, when and labels counts, where it says something."""
        self.names += tuple(name for name in other.names if name not in self.names)
        self.lines = self.lines or other.lines
        self.stack = self.stack or other.stack
        self.bare = self.bare and other.bare
        self.depth = self.depth if other.depth is None else other.depth
        self.when = self.when if other.when is None else other.when
        self.labels = other.labels or self.labels

    def register(self, code: Any) -> Any:
        """What is to be announced of each call that runs the code."""
        from monitorch import _recorder

        return _recorder.track_register(
            code,
            names=",".join(self.names),
            calls=True,
            lines=self.lines,
            stack=self.stack,
            bare=self.bare,
            depth=self.depth or 0,
            when=self.when or "",
            labels=self.labels,
        )


def write_labels(labels: Labels) -> str:
    """As the recorder takes them."""
    if isinstance(labels, str):
        if labels not in ("zh", "en"):
            raise ValueError(f"labels must be 'zh', 'en' or a dict, not {labels!r}")
        return labels
    if not isinstance(labels, Mapping):
        raise TypeError(f"labels must be 'zh', 'en' or a dict, not {labels!r}")
    from monitorch import _recorder

    for key, text in labels.items():
        if not isinstance(key, str) or not isinstance(text, str):
            raise TypeError(f"labels are texts by their names; {key!r}: {text!r} is none")
    return _recorder.track_labels(tuple(labels.items()))


def check_names(names: tuple[object, ...]) -> tuple[str, ...]:
    """Names, attributes and globs of them: `q`, `self.state`, `h*`."""
    if not names or (len(names) == 1 and callable(names[0])):
        raise TypeError(
            "var_tracker() wants the names that are to be tracked: var_tracker('video')"
        )
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"var_tracker() wants names, as texts; {name!r} is none")
        if not name or any(letter.isspace() or letter == "," for letter in name):
            raise ValueError(f"{name!r} is no name: a name, an attribute or a pattern of them")
    return tuple(str(name) for name in names)


def _check_depth(depth: object) -> int:
    if not isinstance(depth, int) or isinstance(depth, bool):
        raise TypeError(f"depth must be a whole number, not {depth!r}")
    if not 0 <= depth <= 65535:
        raise ValueError(f"depth must be at least 0 and at most 65535, not {depth}")
    return depth


def _check_when(when: object) -> When:
    if when == "changed" or when == "nan":
        return when
    raise ValueError(f"when must be 'changed' or 'nan', not {when!r}")
