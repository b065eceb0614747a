"""Traces as columns: monitorch.load()."""

import os
from collections.abc import Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    import datetime
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, Literal, SupportsIndex

    _Name = Literal["sites", "calls", "edges", "steps", "parameters"]

    Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]
    Patterns = str | Sequence[str] | None


class Events:
    """The events of one or several traces, with a column for each of their fields.

    `events["mean"]` is a memoryview of numbers that NumPy reads without a copy:
    numpy.asarray(events["mean"]) copies nothing. A missing value is NaN in a column of reals, -1 in
    one of integers, and 0 in `hash`. A column of texts is a list of str and None; `codes()` and
    `texts()` give the same as numbers.

    Polars, DuckDB, pyarrow and pandas read the object itself, as Arrow: polars.from_arrow(events),
    duckdb.sql("select … from events"), pyarrow.table(events). They read it in batches, from the
    files.

    The traces are opened at once, and read at the first use of a column, the length or the damage.
    """

    def __init__(
        self,
        paths: "list[str]",
        columns: "tuple[str, ...] | None",
        conditions: "tuple[tuple[str, str], ...]",
    ) -> None:
        from monitorch import _view

        self.paths = paths
        self._wanted = columns
        self._conditions = conditions
        self._opened, self._starts = _view.open(self._files(), columns, conditions)
        self._lock: "Any" = _make_lock()

    def _files(self) -> "tuple[bytes, ...]":
        return tuple(map(os.fsencode, self.paths))

    def __getattr__(self, name: str) -> "Any":
        """Reads the traces and sets the attributes. Other threads wait for the one that reads."""
        if name not in ("_count", "_columns", "damage", "is_closed") or "_lock" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        with self._lock:
            if name not in self.__dict__:
                self._read()
        return self.__dict__[name]

    def _read(self) -> None:
        from monitorch import _view

        count, columns, states = _view.load(self._opened)
        #: The damage, as `FILE: offset N: what is wrong`; empty if everything could be read.
        self.damage = [f"{path}: {text}" for path, (_, texts) in zip(self.paths, states) for text in texts]
        #: Whether each recording was finished. False if its process was killed, or still records.
        self.is_closed = all(is_closed for is_closed, _ in states)
        self._count: int = count
        self._columns: "dict[str, tuple[str, bytes, bytes | None, list[str]]]" = columns
        self._opened = None
        if self.damage:
            _warn(self.damage)

    def __getstate__(self) -> "dict[str, Any]":
        self._columns  # the events that were read must be kept
        return {name: value for name, value in self.__dict__.items() if name not in ("_opened", "_lock")}

    def __setstate__(self, state: "dict[str, Any]") -> None:
        self.__dict__.update(state, _opened=None, _lock=_make_lock())

    def __arrow_c_stream__(self, requested_schema: "object | None" = None) -> object:
        """The events as an Arrow stream of record batches, read from the files once more."""
        from monitorch import _view

        return _view.arrow("events", self._files(), self._wanted, self._conditions, False)

    def __arrow_c_schema__(self) -> object:
        from monitorch import _view

        return _view.arrow("events", self._files(), self._wanted, self._conditions, True)

    @property
    def starts(self) -> "dict[str, datetime.datetime]":
        """The time at which each recording began, in UTC, to microseconds: the zero of the column
        `time`."""
        import datetime

        epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        return {
            path: epoch + datetime.timedelta(microseconds=start // 1000)
            for path, start in zip(self.paths, self._starts)
        }

    def __len__(self) -> int:
        """The number of events."""
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
        found = [*texts, None]  # index -1, the code of a missing text, is None
        return [found[code] for code in self._view(data, format)]

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def codes(self, name: str) -> "memoryview[int]":
        """For each event, the index of its text in `texts(name)`; -1 if it has none.

        For the column `value` these are the strings; its numbers are in `events["value"]`.
        """
        format, data, codes, _ = self._find(name)
        if format == "i":
            return self._view(data, format)
        if codes is None:
            raise TypeError(f"the column {name!r} holds numbers, no texts")
        return self._view(codes, "i")

    def texts(self, name: str) -> "list[str]":
        """The distinct texts of a column, in the order of their first use."""
        format, _, codes, texts = self._find(name)
        if format != "i" and codes is None:
            raise TypeError(f"the column {name!r} holds numbers, no texts")
        return list(texts)

    def columns(self) -> "dict[str, memoryview[Any] | list[str | None]]":
        """All columns by name: pandas.DataFrame(events.columns()) makes a frame."""
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

    @property
    def sites(self) -> "Table":
        """The recorded sites, as `monitorch show --sites --json` prints them.

        All of them, even if columns or events were selected. They are read at the first use.
        """
        return Table("sites", self.paths, _read_sites)

    @property
    def calls(self) -> "Table":
        """The calls, as `monitorch show --json` prints them, in the order in which they began.

        Calls that ended have `how` and `end_time` too. They are read at the first use.
        """
        return Table("calls", self.paths, _read_calls)

    @property
    def edges(self) -> "Table":
        """The edges from event to event, one for each value that was used.

        `source` and `target` are numbers of events, `kind` says how the value was used (the table
        `edges` of `monitorch sql`). They are found at the first use.
        """
        return Table("edges", self.paths, _read_edges)

    @property
    def steps(self) -> "Table":
        """Backward passes, optimizers' steps, functions that wrote gradients, and calls that set
        steps (the table `steps` of `monitorch sql`)."""
        return Table("steps", self.paths, _read_steps)

    @property
    def parameters(self) -> "Table":
        """Parameters, their gradients and settings of optimizers, each time they were read or
        written (the table `parameters` of `monitorch sql`)."""
        return Table("parameters", self.paths, _read_parameters)


class Table(Sequence):  # type: ignore[type-arg]
    """The sites, calls, edges, steps or parameters of traces: a sequence of dictionaries, and a
    table for Arrow.

    As Arrow (polars.from_arrow(events.calls)) it has the columns of the table of `monitorch sql`,
    and is read from the files, a trace at a time.
    """

    def __init__(self, name: "_Name", paths: "list[str]", read: "Callable[[list[str]], list[dict[str, Any]]]"):
        self._name = name
        self._paths = paths
        self._read = read
        self._found: "list[dict[str, Any]] | None" = None

    def _rows(self) -> "list[dict[str, Any]]":
        if self._found is None:
            self._found = self._read(self._paths)
        return self._found

    def __len__(self) -> int:
        return len(self._rows())

    def __getitem__(self, index: "Any") -> "Any":
        return self._rows()[index]

    def __iter__(self) -> "Iterator[dict[str, Any]]":
        return iter(self._rows())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Table):
            return self._rows() == other._rows()
        return self._rows() == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<monitorch: {self._name} of {', '.join(self._paths)}>"

    def __arrow_c_stream__(self, requested_schema: "object | None" = None) -> object:
        """The table as an Arrow stream of record batches."""
        from monitorch import _view

        return _view.arrow(self._name, tuple(map(os.fsencode, self._paths)), None, (), False)

    def __arrow_c_schema__(self) -> object:
        from monitorch import _view

        return _view.arrow(self._name, tuple(map(os.fsencode, self._paths)), None, (), True)


def _records(paths: "list[str]", table: "_Name") -> "Iterator[tuple[str, dict[str, Any]]]":
    import json

    from monitorch import _view

    for path in paths:
        for line in _view.records(os.fsencode(path), table).splitlines():
            record = json.loads(line)
            if len(paths) > 1:
                record["trace"] = path
            yield record.pop("record"), record


def _read_sites(paths: "list[str]") -> "list[dict[str, Any]]":
    return [record for _, record in _records(paths, "sites")]


def _read_edges(paths: "list[str]") -> "list[dict[str, Any]]":
    return [record for _, record in _records(paths, "edges")]


def _read_steps(paths: "list[str]") -> "list[dict[str, Any]]":
    return [record for _, record in _records(paths, "steps")]


def _read_parameters(paths: "list[str]") -> "list[dict[str, Any]]":
    return [record for _, record in _records(paths, "parameters")]


def _read_calls(paths: "list[str]") -> "list[dict[str, Any]]":
    calls: "dict[tuple[Any, Any], dict[str, Any]]" = {}
    for kind, record in _records(paths, "calls"):
        key = (record.get("trace"), record["call"])
        if kind == "call":
            calls[key] = record
        elif key in calls:
            calls[key].update(how=record["how"], end_time=record["time"])
    return list(calls.values())


def _make_lock() -> "Any":
    import _thread

    return _thread.allocate_lock()


def _import(name: str) -> "Any":
    """Imports a package that only callers of this function need."""
    import importlib

    return importlib.import_module(name)


def _paths_of(traces: "Path | Iterable[Path]") -> "list[str]":
    if isinstance(traces, (str, bytes, os.PathLike)):
        traces = [traces]
    words = [os.fsencode(path) for path in traces]
    if not words:
        raise ValueError("no trace, expected the name of a file, such as run.mtrace")
    from monitorch import _view

    return [os.fsdecode(path) for word in words for path in _view.find_traces(word)]


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

    `trace` is a file, a folder of traces, or the common name of ranks' traces: run.mtrace for
    run.rank0.mtrace, run.rank1.mtrace and so on.

    `columns` names the columns to load, such as ["seq", "file", "line", "mean"]; the others cost
    nothing. Without it all columns are loaded; several traces add the column `trace`, the file's
    name. The other arguments select events, as the options of `monitorch show` do: name="q*",
    line="10-20", function=["A.*", "B.*"], nan=True.

        events = monitorch.load("run.mtrace")
        frame = events.to_pandas()
        mean = numpy.asarray(events["mean"])
        frame = polars.from_arrow(events)

    Raises OSError for a file that is no trace, ValueError for a wrong filter or column. Of a damaged
    trace the readable part is loaded, with a RuntimeWarning at the time of reading.
    """
    options = dict(
        function=function, name=name, file=file, module=module, thread=thread, line=line, kind=kind,
        call=call, changed=changed, nan=nan,
    )  # fmt: skip
    return Events(_paths_of(trace), _choose(columns), tuple(_conditions(options)))


def _warn(damage: "list[str]") -> None:
    import sys
    import warnings

    level = 2
    while sys._getframe(level - 1).f_globals is globals():
        level += 1
    more = f" (and {len(damage) - 1} more places, see .damage)" if len(damage) > 1 else ""
    warnings.warn(f"{damage[0]}{more}; loaded is what could be read", RuntimeWarning, stacklevel=level)
