"""Traces as columns: monitorch.load()."""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, SupportsIndex

    Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]
    Patterns = str | Sequence[str] | None


class Events:
    """The events of one trace or several, a column for each of their fields.

    `events["mean"]` is a memoryview of numbers that NumPy takes as it is: numpy.asarray(events["mean"])
    copies nothing. Reals have NaN where there is none, integers -1, `hash` 0. A column of texts is a list
    of str and None; `codes()` and `texts()` give the same as numbers.
    """

    def __init__(
        self,
        paths: "list[str]",
        count: int,
        columns: "dict[str, tuple[str, bytes, bytes | None, list[str]]]",
        states: "list[tuple[bool, list[str]]]",
    ) -> None:
        self._count = count
        self._columns = columns
        self.paths = paths
        #: What is damaged, `FILE: offset N: what is wrong`; empty where all could be read.
        self.damage = [f"{path}: {text}" for path, (_, texts) in zip(paths, states) for text in texts]
        #: Whether each recording was finished: False where its process was killed, or still records.
        self.is_closed = all(is_closed for is_closed, _ in states)

    def __len__(self) -> int:
        """How many events there are."""
        return self._count

    def __bool__(self) -> bool:
        return self._count > 0

    def __repr__(self) -> str:
        return f"<monitorch.Events: {self._count} events of {', '.join(self.paths)}>"

    def _ipython_key_completions_(self) -> "list[str]":
        return list(self._columns)

    @property
    def names(self) -> "tuple[str, ...]":
        """The columns that were loaded."""
        return tuple(self._columns)

    def _find(self, name: str) -> "tuple[str, bytes, bytes | None, list[str]]":
        try:
            return self._columns[name]
        except KeyError:
            there = ", ".join(self._columns)
            raise KeyError(f"{name!r} is not among the columns that were loaded: {there}") from None

    def _view(self, data: bytes, format: str) -> "memoryview[Any]":
        return memoryview(data).cast(format)[: self._count]  # type: ignore[call-overload,no-any-return]

    def __getitem__(self, name: str) -> "memoryview[Any] | list[str | None]":
        """A column: a memoryview of numbers, or a list of texts."""
        format, data, _, texts = self._find(name)
        if format != "i":
            return self._view(data, format)
        found = [*texts, None]  # the code of what is missing is -1
        return [found[code] for code in self._view(data, format)]

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def codes(self, name: str) -> "memoryview[int]":
        """For each event, the place of its text in `texts(name)`; -1: it has none.

        Of the column `value` these are the strings; its numbers are in `events["value"]`.
        """
        format, data, codes, _ = self._find(name)
        if format == "i":
            return self._view(data, format)
        if codes is None:
            raise TypeError(f"the column {name!r} holds numbers, no texts")
        return self._view(codes, "i")

    def texts(self, name: str) -> "list[str]":
        """The distinct texts of a column, in the order in which they first came."""
        format, _, codes, texts = self._find(name)
        if format != "i" and codes is None:
            raise TypeError(f"the column {name!r} holds numbers, no texts")
        return list(texts)

    def columns(self) -> "dict[str, memoryview[Any] | list[str | None]]":
        """All columns by name: pandas.DataFrame(events.columns()) is a frame."""
        return {name: self[name] for name in self._columns}

    def to_numpy(self) -> "dict[str, Any]":
        """All columns by name as NumPy arrays: numbers without a copy, texts as objects."""
        numpy = _import("numpy")
        arrays = {}
        for name, (format, _, _, texts) in self._columns.items():
            if format == "i":
                found = numpy.array([*texts, None], dtype=object)
                arrays[name] = found[numpy.asarray(self.codes(name))]
            else:
                arrays[name] = numpy.asarray(self[name])
        return arrays

    def to_pandas(self) -> "Any":
        """A pandas.DataFrame: texts as categories, integers that may be missing as Int64."""
        numpy = _import("numpy")
        pandas = _import("pandas")
        columns = {}
        for name, (format, _, _, texts) in self._columns.items():
            if format == "i":
                codes = numpy.asarray(self.codes(name))
                columns[name] = pandas.Categorical.from_codes(codes, texts)
                continue
            values = numpy.asarray(self[name])
            is_missing = values == (0 if format == "Q" else -1)
            if format != "d" and is_missing.any():
                columns[name] = pandas.arrays.IntegerArray(values, is_missing)
            else:
                columns[name] = values
        return pandas.DataFrame(columns, copy=False)

    def _records(self, has_sites: bool) -> "Iterable[tuple[str, dict[str, Any]]]":
        import json

        from monitorch import _view

        for path in self.paths:
            for line in _view.records(os.fsencode(path), has_sites).splitlines():
                record = json.loads(line)
                if len(self.paths) > 1:
                    record["trace"] = path
                yield record.pop("record"), record

    @property
    def sites(self) -> "list[dict[str, Any]]":
        """The places that were recorded, as `monitorch show --sites --json` tells them; of all, also
        where columns or events were chosen. They are read when they are asked for."""
        return [record for _, record in self._records(True)]

    @property
    def calls(self) -> "list[dict[str, Any]]":
        """The calls, as `monitorch show --json` tells them, in the order in which they began; with `how`
        and `end_time` where they ended. They are read when they are asked for."""
        calls = {}
        for kind, record in self._records(False):
            key = (record.get("trace"), record["call"])
            if kind == "call":
                calls[key] = record
            elif key in calls:
                calls[key].update(how=record["how"], end_time=record["time"])
        return list(calls.values())


def _import(name: str) -> "Any":
    """What only those who ask for it need to have."""
    import importlib

    return importlib.import_module(name)


def _paths_of(traces: "Path | Iterable[Path]") -> "list[str]":
    if isinstance(traces, (str, bytes, os.PathLike)):
        traces = [traces]
    paths = [os.fsdecode(path) for path in traces]
    if not paths:
        raise ValueError("no trace, expected the name of a file, such as run.mtrace")
    for path in paths:
        if "\0" in path:
            raise ValueError("embedded null byte")
    return paths


def _conditions(options: "dict[str, Any]") -> "Iterable[tuple[str, str]]":
    for option, wanted in options.items():
        if wanted is None or wanted is False:
            continue
        if option in ("changed", "nan"):
            yield option, ""
        elif isinstance(wanted, str) or hasattr(wanted, "__index__"):
            yield option, str(wanted)
        else:
            for one in wanted:
                yield option, str(one)


def _choose(columns: "Iterable[str] | None") -> "tuple[str, ...] | None":
    if isinstance(columns, str):
        columns = columns.split(",")
    return None if columns is None else tuple(dict.fromkeys(columns))


def load(
    trace: "Path | Iterable[Path]",
    *,
    columns: "Iterable[str] | None" = None,
    function: "Patterns" = None,
    name: "Patterns" = None,
    file: "Patterns" = None,
    module: "Patterns" = None,
    thread: "Patterns | SupportsIndex" = None,
    line: "Patterns | SupportsIndex" = None,
    kind: "Patterns" = None,
    call: "str | int | None" = None,
    changed: bool = False,
    nan: bool = False,
) -> Events:
    """The events of a trace, or of several, as columns.

    `columns` names those that are wanted, such as ["seq", "file", "line", "mean"]: the others cost nothing.
    Without it there are those of `monitorch export --csv`; `trace`, the file's name, where there are several.
    The rest chooses events, as the options of `monitorch show` do: name="q*", line="10-20",
    function=["A.*", "B.*"], nan=True.

        events = monitorch.load("run.mtrace")
        frame = events.to_pandas()
        mean = numpy.asarray(events["mean"])

    What is no trace is an OSError, a wrong filter or column a ValueError; of a damaged trace there is what
    could be read, and a RuntimeWarning.
    """
    from monitorch import _view

    paths = _paths_of(trace)
    options = dict(
        function=function, name=name, file=file, module=module, thread=thread, line=line, kind=kind,
        call=call, changed=changed, nan=nan,
    )  # fmt: skip
    count, found, states = _view.load(
        tuple(map(os.fsencode, paths)),
        _choose(columns),
        tuple(_conditions(options)),
    )
    events = Events(paths, count, found, states)
    if events.damage:
        _warn(events.damage)
    return events


def _warn(damage: "list[str]") -> None:
    import warnings

    more = f" (and {len(damage) - 1} more places, see .damage)" if len(damage) > 1 else ""
    warnings.warn(f"{damage[0]}{more}; loaded is what could be read", RuntimeWarning, stacklevel=3)
