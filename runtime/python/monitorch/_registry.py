"""The registry of instrumented modules, which switches their recording on and off.

Every instrumented file calls `add` with its globals and its site table when it starts. It keeps the
result under the table's prefix (usually `_mt`): the hook that its sites call, or None while nothing
is recorded. `set_hook` changes it in all modules.

Even the modules that Python loads while it starts may be instrumented and import this one, so it
imports only built-in modules.
"""

import builtins
import sys
from _weakref import ref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

    # Hooks are functions in C; None leaves a module off.
    Hook = Any
    Factory = Callable[[str, "dict[str, object]"], Hook]

_FORMATS = ("monitorch1", "monitorch2")

_entries: "dict[int, ref[_Entry]]" = {}  # id of an entry -> weak reference to it
_factory: "Factory | None" = None
_has_started = False

files: "dict[tuple[str, object], None]" = {}
"""(The source as named in tables, the file that ran) of all modules that have started, including
modules that no longer exist: a trace may still have their events."""


class _Entry:
    """One module. The entry is kept in the module's globals and dies with them.

    It does not refer to these globals, which refer to it: values of a module would then be
    destroyed by the garbage collector, later than in a plain run and in another order. (An open
    file loses unwritten data if the collector destroys its descriptor first.) So the globals are
    found again by way of the module.
    """

    __slots__ = ("key", "module", "prefix", "table", "hook", "made", "is_whole", "__weakref__")

    def __init__(self, module_globals: "dict[str, object]", prefix: str) -> None:
        self.key = id(module_globals)
        self.module = _find_module(module_globals)
        self.prefix = prefix
        self.table = ""
        self.hook: Hook = None
        self.made: "dict[Factory, Hook]" = {}  # the hook that each factory made for the table
        # False if only a few functions were compiled again and the rest of the file is not
        # instrumented.
        self.is_whole = True

    def is_of(self, module_globals: "dict[str, object]") -> bool:
        """Whether the entry belongs to these globals, which may be a copy of other globals."""
        return self.key == id(module_globals) and module_globals.get(self.prefix + "_entry") is self

    def find_globals(self) -> "dict[str, object] | None":
        """The globals; None if their module no longer exists or never was in sys.modules."""
        module = None if self.module is None else self.module()
        found = None if module is None else _read_globals(module)
        return found if found is not None and self.is_of(found) else None

    def __reduce__(self) -> "tuple[Any, ...]":
        # A copied or pickled namespace holds None here: the copy is not a registered module.
        return type(None), ()


_Module = type(sys)
_read_dict: "Callable[[object], dict[str, object]]" = vars(_Module)["__dict__"].__get__


def _read_globals(module: object) -> "dict[str, object] | None":
    """The globals of the module; None for other objects, which sys.modules may hold."""
    return _read_dict(module) if issubclass(type(module), _Module) else None


def _find_module(module_globals: "dict[str, object]") -> "ref[Any] | None":
    name = module_globals.get("__name__")
    module = sys.modules.get(name) if type(name) is str else None
    return ref(module) if _read_globals(module) is module_globals else None


def _read_prefix(table: str, module_globals: "dict[str, object]") -> str:
    words = table.split(" ", 3)
    if len(words) < 4 or words[0] not in _FORMATS or not words[2].isidentifier():
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
    if type(entry) is not _Entry or not entry.is_of(module_globals):
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
        # Code may be moved to other globals, and debuggers may clear names.
        setattr(builtins, prefix, None)
    entry = _find_entry(module_globals, prefix)
    entry.is_whole = is_whole
    if is_whole:
        from monitorch._record import originals as _originals

        _originals.add(sys._getframe(1).f_code)
    if entry.table != table:
        files[table.split(" ", 4)[3], module_globals.get("__file__")] = None
        entry.table = table
        entry.made = {}
        _switch(entry, module_globals)
    return entry.hook


def _switch(entry: _Entry, module_globals: "dict[str, object]") -> None:
    """Gives the module the hook of the current factory."""
    while True:
        factory = _factory
        if factory is None:
            entry.hook = None
        else:
            made = entry.made
            if factory not in made:
                made[factory] = factory(entry.table, module_globals)
            entry.hook = made[factory]
        if factory is _factory:  # another thread may have changed it
            return


def set_hook(factory: "Factory | None") -> None:
    """Switches recording on, or off if `factory` is None.

    `factory(table, module_globals)` returns a module's hook: a function that returns None and never
    raises; or None, which leaves that module out. It is called for each module that is registered
    now and for each that starts later. It is called once for a module, even if the same factory is
    set again: torch.compile compiles again for each new hook that it sees.
    """
    global _factory
    _factory = factory
    for entry, module_globals in _find_namespaces():
        _switch(entry, module_globals)
        module_globals[entry.prefix] = entry.hook


def _find_namespaces() -> "list[tuple[_Entry, dict[str, object]]]":
    """The entries with their globals, in the order in which they started."""
    found = {}
    missing: "dict[int, list[_Entry]]" = {}  # by the id of the globals
    for entry in entries():
        found[entry] = entry.find_globals()
        if found[entry] is None:
            missing.setdefault(entry.key, []).append(entry)
    if missing:
        from gc import get_objects

        # Globals without a module, such as those of runpy.run_path or of the main module in a
        # process of multiprocessing.
        for names in get_objects():
            if id(names) in missing and isinstance(names, dict):
                for entry in missing[id(names)]:
                    if entry.is_of(names):
                        found[entry] = names
    return [(entry, names) for entry, names in found.items() if names is not None]


def find_prefix(module_globals: "dict[str, object]", source: str = "") -> str:
    """A prefix that no code in these globals uses, and the new source neither.

    It serves several pieces of code in one namespace, such as a notebook's cells. Each has its own
    prefix, so that the functions of earlier ones keep their table when a later one starts.
    """
    number = 0
    prefix = "_mt"
    while prefix + "_entry" in module_globals or prefix in source:
        prefix = f"_mt{number}x"
        number += 1
    return prefix


def find_entry(code: "CodeType", module_globals: "dict[str, object]") -> "_Entry | None":
    """The entry whose hook the code calls; None if the code records nothing."""
    for entry in entries():
        if entry.prefix in code.co_names and entry.is_of(module_globals):
            return entry
    return None


def find_hook(frame: "FrameType") -> "Hook":
    """The hook of the instrumented code that a frame runs; None if the code is not instrumented or
    nothing is recorded."""
    entry = find_entry(frame.f_code, frame.f_globals)
    return None if entry is None else entry.hook


def has_started() -> bool:
    """Whether any instrumented module has started in this process."""
    return _has_started


def entries() -> "list[_Entry]":
    """The registered modules that still exist, in the order in which they started."""
    found = [reference() for reference in list(_entries.values())]
    return [entry for entry in found if entry is not None]
