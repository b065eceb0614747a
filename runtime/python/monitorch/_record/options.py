"""The options of a recording: the arguments of `record`, and the same as text in MONITORCH."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_YES = ("yes", "true", "on", "1", "")
_NO = ("no", "false", "off", "0")
_LARGEST = (1 << 63) - 1
_SAMPLE_MAX = 1024


def check_number(name: str, value: object, least: int, largest: int = _LARGEST) -> int:
    index = getattr(type(value), "__index__", None)
    if index is None or isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number, not {value!r}")
    number = int(index(value))
    if not least <= number <= largest:
        bound = f"at least {least}" if number < least else f"at most {largest}"
        raise ValueError(f"{name} must be {bound}, not {number}")
    return number


def check_sample(name: str, value: object) -> "int | tuple[int, ...]":
    """A number of values, or (vector, matrix, slices)."""
    if not isinstance(value, tuple):
        return check_number(name, value, 0, _SAMPLE_MAX)
    if len(value) != 3:
        raise ValueError(f"{name} must be one number or three, not {value!r}")
    return tuple(check_number(name, number, 1) for number in value)


def check_limit(name: str, value: object) -> int:
    """The limit for the recorder: 0 for none."""
    return 0 if value is None else check_number(name, value, 1)


def check_switch(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, not {value!r}")
    return value


def check_choice(name: str, value: object, choices: "tuple[str, ...]") -> str:
    if not isinstance(value, str) or value not in choices:
        allowed = " or ".join(repr(choice) for choice in choices)
        kind = ValueError if isinstance(value, str) else TypeError
        raise kind(f"{name} must be {allowed}, not {value!r}")
    return value


def check_names(expected: str, value: "Iterable[str]") -> "tuple[str, ...]":
    """Several texts. For other values, raises an error that begins with `expected`."""
    try:
        names = tuple(value)
    except TypeError:
        raise TypeError(f"{expected}, not {value!r}") from None
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{expected}; {name!r} is no name")
    return names


def check_values(value: "str | Iterable[str] | None") -> "tuple[bytes, ...]":
    """Globs of names; empty if no whole values are wanted."""
    if value is None:
        return ()
    if isinstance(value, str):
        value = ["*"] if value == "all" else _split(value)
    names = check_names("values must be None, 'all', or names such as ['q', 'attn*']", value)
    return tuple(name.encode("utf-8", "replace") for name in names)


def _split(text: str) -> "list[str]":
    from monitorch import _recorder

    return _recorder.split_list(text)


def check_globs(name: str, value: object) -> "tuple[str, ...]":
    globs = (value,) if isinstance(value, str) else value
    expected = f"{name} must be names of modules or files, such as 'transformers.models.*'"
    found = check_names(expected, globs)  # type: ignore[arg-type]
    if not all(found):
        raise ValueError(f"{expected}; one is empty")
    return found


def check_size(name: str, value: "int | str | None") -> int:
    """The bytes of a number or a text such as "2G" or "500 MB"; 0 for no limit."""
    if not isinstance(value, str):
        return check_limit(name, value)
    text = value.strip().upper()
    for ending in ("IB", "B"):
        if text.endswith(ending):
            text = text[: -len(ending)]
            break
    unit = text[-1:] if text[-1:] in _UNITS else ""
    try:
        size = float(text[: len(text) - len(unit)])
        number = int(size * _UNITS[unit])
    except (ValueError, OverflowError):
        raise ValueError(f"{name} must be a size such as '2G' or '500M', not {value!r}") from None
    return check_number(name, number, 1)


def _read_number(text: str) -> int:
    return int(text)


def _read_switch(text: str) -> bool:
    word = text.lower()
    if word not in _YES and word not in _NO:
        raise ValueError
    return word in _YES


def _read_noise(text: str) -> "bool | str":
    return _read_switch(text) if text.lower() in _YES + _NO else text


def _read_names(text: str) -> "str | list[str]":
    return text if text == "all" else text.split(":")


def _read_globs(text: str) -> "list[str]":
    return text.split(":")


# Each option as text: the function that reads it, and the message if that fails.
_READERS: "dict[str, tuple[Callable[[str], object], str]]" = {
    "sample": (_read_number, "a whole number"),
    "last": (_read_number, "a whole number"),
    "stats": (_read_switch, "yes or no"),
    "hash": (_read_switch, "yes or no"),
    "values": (_read_names, "all, or names with colons between them"),
    "sources": (_read_switch, "yes or no"),
    "backward": (_read_switch, "yes or no"),
    "parameters": (_read_switch, "yes or no"),
    "imports": (_read_switch, "yes or no"),
    "every": (_read_number, "a whole number"),
    "threads": (str, "all or current"),
    "max_elements": (_read_number, "a whole number"),
    "size_limit": (str, "a size such as 2G"),
    "compile": (str, "break or skip"),
    "stop": (str, "nan, inf or nonfinite"),
    "scalars": (str, "some or all"),
    "include": (_read_globs, "modules or files with colons between them"),
    "steps": (str, "steps such as 500-510, 0-2:500- or last:3"),
    "start_when": (str, "a comparison such as loss>10"),
    "graft": (str, "the trace of a reference"),
    "graft_at": (str, "a line such as model.py:12"),
    "noise": (_read_noise, "yes, or a dtype such as bfloat16"),
    "quiet": (_read_switch, "yes or no"),
}


def _split_path(text: str) -> "tuple[str, str]":
    quote = text[:1]
    if quote in ("'", '"') and quote in text[1:]:
        path, _, rest = text[1:].partition(quote)
        if rest and not rest.startswith(","):
            raise ValueError(f"a comma must follow the path {quote}{path}{quote}")
        return path, rest[1:]
    if quote in ("'", '"'):
        raise ValueError(f"the path begins with {quote} and no other {quote} ends it")
    path, _, rest = text.partition(",")
    return path, rest


def _suggest_option(name: str) -> str:
    from monitorch import _nearest

    found = _nearest.find(name, _READERS)
    return _nearest.ask(found) if found else f"; the options are {', '.join(_READERS)}"


def parse(text: str) -> "tuple[str, dict[str, object]]":
    """Reads the path and the options of `path[,name=value…]`.

    A path with commas must be in quotes. Raises ValueError, which names the wrong part.
    """
    path, rest = _split_path(text)
    if not path:
        raise ValueError("the path of the trace is missing, expected run.mtrace,last=100000")
    options: "dict[str, object]" = {}
    for word in rest.split(",") if rest else ():
        name, _, value = word.strip().partition("=")
        if name not in _READERS:
            raise ValueError(f"no option {name!r}{_suggest_option(name)}")
        read, expected = _READERS[name]
        try:
            if "=" not in word and read not in (_read_switch, _read_noise):
                raise ValueError
            options[name] = read(value)
        except ValueError:
            raise ValueError(f"{name} must be {expected}, not {value!r}") from None
    return path, options
