"""What a decorator wants of the calls that it tracks, and the words that tell it to the recorder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Labels = Literal["zh", "en"] | Mapping[str, str]
When = Literal["changed", "nan"]

LABELS = ("function", "called_from", "input", "output", "elapsed", "raised")


class Wish:
    """Several of them add up, where a function has several decorators."""

    def __init__(
        self,
        *,
        names: tuple[str, ...] = (),
        lines: bool = False,
        stack: bool = False,
        depth: int | None = None,
        when: When | None = None,
        labels: Labels | None = None,
    ) -> None:
        self.names = names
        self.lines = lines
        self.stack = stack
        self.depth = None if depth is None else _check_depth(depth)
        self.when = None if when is None else _check_when(when)
        self.label_words = () if labels is None else write_labels(labels)
        self.inputs_only = False

    @property
    def needs_every_line(self) -> bool:
        """Whether lines that bind nothing count too."""
        return self.lines or bool(self.names)

    def add(self, other: Wish) -> None:
        """What `other` says of numbers and labels counts, where it says something."""
        self.names += tuple(name for name in other.names if name not in self.names)
        self.lines = self.lines or other.lines
        self.stack = self.stack or other.stack
        self.depth = self.depth if other.depth is None else other.depth
        self.when = self.when if other.when is None else other.when
        self.label_words = other.label_words or self.label_words

    def write(self) -> str:
        """As words of a command line."""
        words = ["--calls"]
        if self.names:
            words.append("--names=" + quote(",".join(self.names)))
        for name in ("lines", "stack"):
            if getattr(self, name):
                words.append("--" + name)
        if self.depth is not None:
            words.append(f"--depth={self.depth}")
        if self.when is not None:
            words.append(f"--when={self.when}")
        if self.inputs_only:
            words.append("--inputs-only")
        return " ".join([*words, *self.label_words])


def write_labels(labels: Labels) -> tuple[str, ...]:
    if isinstance(labels, str):
        if labels not in ("zh", "en"):
            raise ValueError(f"labels must be 'zh', 'en' or a dict, not {labels!r}")
        return (f"--labels={labels}",)
    if not isinstance(labels, Mapping):
        raise TypeError(f"labels must be 'zh', 'en' or a dict, not {labels!r}")
    words = []
    for key, text in labels.items():
        if key not in LABELS:
            raise ValueError(f"there is no label {key!r}; there are {', '.join(LABELS)}")
        if not isinstance(text, str):
            raise TypeError(f"the label {key!r} must be a text, not {text!r}")
        words.append(f"--label={key}:{quote(text)}")
    return tuple(words)


def quote(text: str) -> str:
    """In quotes where it could be taken for several words."""
    if text and not any(letter.isspace() or letter in "\"'\\" for letter in text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def check_names(names: tuple[object, ...]) -> tuple[str, ...]:
    """Names, attributes and globs of them: `q`, `self.state`, `h*`."""
    if not names:
        raise TypeError("var_tracker() wants the names that are to be tracked: var_tracker('video')")
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"var_tracker() wants names, as texts; {name!r} is none")
        if not name or any(letter.isspace() or letter == "," for letter in name):
            raise ValueError(f"{name!r} is no name: a name, an attribute or a pattern of them")
    return tuple(str(name) for name in names)


def _check_depth(depth: object) -> int:
    if not isinstance(depth, int) or isinstance(depth, bool):
        raise TypeError(f"depth must be a whole number, not {depth!r}")
    if depth < 0:
        raise ValueError(f"depth must be at least 0, not {depth}")
    return depth


def _check_when(when: object) -> When:
    if when == "changed" or when == "nan":
        return when  # type: ignore[return-value]
    raise ValueError(f"when must be 'changed' or 'nan', not {when!r}")
