"""The instrumented modules that are alive, so that recording can be switched on and off.

Every instrumented file calls `add` with its globals and its site table when it starts, and
keeps what `add` returns under the table's prefix (`_mt` as a rule): the hook that its sites
call, or None while nothing is recorded. `set_hook` changes that for all of them.

Even the modules that Python loads while it starts may be instrumented and reach this one, so
it imports only what is built in.
"""

import builtins
from sys import _getframe
from _weakref import ref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

    # Hooks are functions in C; None leaves a module off.
    Hook = Any
    Factory = Callable[[str, "dict[str, object]"], Hook]

_FORMAT = "monitorch1"

_entries: "dict[int, ref[_Entry]]" = {}  # id of an entry -> weak reference to it
_factory: "Factory | None" = None
_has_started = False


class _Entry:
    """One module; it lives in the module's globals and dies with them.

    A module cannot be known by a weak reference to its globals, and not every dictionary
    that code runs in belongs to a module in sys.modules.
    """

    __slots__ = ("globals", "prefix", "table", "hook", "made", "is_whole", "__weakref__")

    def __init__(self, module_globals: "dict[str, object]", prefix: str) -> None:
        self.globals = module_globals
        self.prefix = prefix
        self.table = ""
        self.hook: Hook = None
        self.made: "dict[Factory, Hook]" = {}  # what each factory made for the table
        # False: a few functions were compiled anew, and the rest of the file runs as it was.
        self.is_whole = True

    def __reduce__(self) -> "tuple[Any, ...]":
        # A copied or pickled namespace holds None here: the copy is no module of ours.
        return type(None), ()


def _read_prefix(table: str, module_globals: "dict[str, object]") -> str:
    words = table.split(" ", 3)
    if len(words) < 4 or words[0] != _FORMAT or not words[2].isidentifier():
        name = module_globals.get("__file__") or module_globals.get("__name__")
        raise ValueError(
            f"{name}: its site table is damaged or of another version of monitorch: "
            "instrument the file again"
        )
    return words[2]


def _find_entry(module_globals: "dict[str, object]", prefix: str) -> _Entry:
    name = prefix + "_entry"
    entry: Any = module_globals.get(name)
    # A dictionary may have been filled from another module's.
    if type(entry) is not _Entry or entry.globals is not module_globals:
        entry = _Entry(module_globals, prefix)
        key = id(entry)
        _entries[key] = ref(entry, lambda _: _entries.pop(key, None))
        module_globals[name] = entry
    return entry  # type: ignore[no-any-return]


def add(module_globals: "dict[str, object]", table: str, is_whole: bool = True) -> "Hook":
    """Registers a module; returns its hook, or None while nothing is recorded.

    May be called again for the same globals: a reload, or code that starts twice. With
    `is_whole` false, only functions whose code names the prefix are instrumented.
    """
    global _has_started
    prefix = _read_prefix(table, module_globals)
    _has_started = True
    if not hasattr(builtins, prefix):
        # For code that is moved to other globals, and for debuggers that clear names.
        setattr(builtins, prefix, None)
    entry = _find_entry(module_globals, prefix)
    entry.is_whole = is_whole
    if is_whole:
        from monitorch import _originals

        _originals.add(_getframe(1).f_code)
    if entry.table != table:
        entry.table = table
        entry.made = {}
        _switch(entry)
    return entry.hook


def _switch(entry: _Entry) -> None:
    """Gives the module the hook of the factory that counts now."""
    while True:
        factory = _factory
        if factory is None:
            entry.hook = None
        else:
            made = entry.made
            if factory not in made:
                made[factory] = factory(entry.table, entry.globals)
            entry.hook = made[factory]
        if factory is _factory:  # another thread may have changed it meanwhile
            return


def set_hook(factory: "Factory | None") -> None:
    """Switches recording on, or off where `factory` is None.

    `factory(table, module_globals)` makes a module's hook: a function that returns None and
    never raises; or None, to leave that module off. It is called for each module that is
    registered now, and for each that starts later; but once for a module, however often the
    same factory is set: torch.compile compiles anew for each new hook that it meets.
    """
    global _factory
    _factory = factory
    for entry in entries():
        _switch(entry)
        entry.globals[entry.prefix] = entry.hook


def find_prefix(module_globals: "dict[str, object]", source: str = "") -> str:
    """A prefix that no code in these globals has taken, nor the source that is to have it.

    For several pieces of code in one namespace, such as a notebook's cells: with a prefix for
    each, the functions of the earlier ones keep their table when a later one starts.
    """
    number = 0
    prefix = "_mt"
    while prefix + "_entry" in module_globals or prefix in source:
        prefix = f"_mt{number}x"
        number += 1
    return prefix


def find_entry(code: "CodeType", module_globals: "dict[str, object]") -> "_Entry | None":
    """The entry that code calls the hook of; None where it records nothing."""
    for entry in entries():
        if entry.globals is module_globals and entry.prefix in code.co_names:
            return entry
    return None


def find_hook(frame: "FrameType") -> "Hook":
    """The hook of the instrumented code that a frame runs; None where there is none, or where
    nothing is recorded."""
    entry = find_entry(frame.f_code, frame.f_globals)
    return None if entry is None else entry.hook


def has_started() -> bool:
    """Whether any instrumented module has started in this process."""
    return _has_started


def entries() -> "list[_Entry]":
    """The registered modules that are alive, in the order in which they started."""
    found = [reference() for reference in list(_entries.values())]
    return [entry for entry in found if entry is not None]
