"""Requests of decorators for the calls that they track."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Union

Labels = Union[Literal["zh", "en"], Mapping[str, str]]
When = Literal["changed", "nan"]


class Wish:
    """The request of one decorator; those of several decorators on one function add up."""

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
        """Whether lines that assign nothing are recorded too."""
        return self.lines or bool(self.names)

    def copy(self) -> Wish:
        made = Wish()
        made.__dict__.update(self.__dict__)
        return made

    def add(self, other: Wish) -> None:
        """Adds another request; its depth, when and labels replace those here, if they are set."""
        self.names += tuple(name for name in other.names if name not in self.names)
        self.lines = self.lines or other.lines
        self.stack = self.stack or other.stack
        self.bare = self.bare and other.bare
        self.depth = self.depth if other.depth is None else other.depth
        self.when = self.when if other.when is None else other.when
        self.labels = other.labels or self.labels

    def register(self, code: Any) -> Any:
        """Registers the request for calls that run the code."""
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
    """The labels in the form that the recorder expects."""
    if isinstance(labels, str):
        if labels not in ("zh", "en"):
            raise ValueError(f"labels must be 'zh', 'en' or a dict, not {labels!r}")
        return labels
    if not isinstance(labels, Mapping):
        raise TypeError(f"labels must be 'zh', 'en' or a dict, not {labels!r}")
    from monitorch import _recorder

    for key, text in labels.items():
        if not isinstance(key, str) or not isinstance(text, str):
            raise TypeError(f"labels must map names to strings; {key!r}: {text!r} does not")
    return _recorder.track_labels(tuple(labels.items()))


def check_names(names: tuple[object, ...]) -> tuple[str, ...]:
    """Names, attributes and globs of them: `q`, `self.state`, `h*`."""
    if not names or (len(names) == 1 and callable(names[0])):
        raise TypeError(
            "var_tracker() expects the names to track: var_tracker('video')"
        )
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"var_tracker() expects names as strings, not {name!r}")
        if not name or any(letter.isspace() or letter == "," for letter in name):
            raise ValueError(f"var_tracker() expects a name, an attribute or a pattern, not {name!r}")
    return tuple(str(name) for name in names)


def _check_depth(depth: object) -> int:
    if not isinstance(depth, int) or isinstance(depth, bool):
        raise TypeError(f"depth must be an integer, not {depth!r}")
    if not 0 <= depth <= 65535:
        raise ValueError(f"depth must be from 0 to 65535, not {depth}")
    return depth


def _check_when(when: object) -> When:
    if when == "changed" or when == "nan":
        return when
    raise ValueError(f"when must be 'changed' or 'nan', not {when!r}")
