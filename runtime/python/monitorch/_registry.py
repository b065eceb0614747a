"""The instrumented modules that are alive, so that recording can be switched on and off.

Every instrumented file calls `add` with its globals and its site table when it starts, and
keeps what `add` returns under the table's prefix (`_mt` as a rule): the hook that its sites
call, or None while nothing is recorded. `set_hook` changes that for all of them.

Even the modules that Python loads while it starts may be instrumented and reach this one, so
it imports only what is built in.
"""

import builtins
from _weakref import ref

_FORMAT = "monitorch1"

_entries = {}  # id of an entry -> weak reference to it
_factory = None


class _Entry:
    """One module; it lives in the module's globals and dies with them.

    A module cannot be known by a weak reference to its globals, and not every dictionary
    that code runs in belongs to a module in sys.modules.
    """

    __slots__ = ("globals", "prefix", "table", "hook", "__weakref__")

    def __init__(self, module_globals, prefix):
        self.globals = module_globals
        self.prefix = prefix
        self.table = None
        self.hook = None

    def __reduce__(self):
        # A copied or pickled namespace holds None here: the copy is no module of ours.
        return type(None), ()


def _read_prefix(table, module_globals):
    words = table.split(" ", 3)
    if len(words) < 4 or words[0] != _FORMAT or not words[2].isidentifier():
        name = module_globals.get("__file__") or module_globals.get("__name__")
        raise ValueError(
            f"{name}: its site table is damaged or of another version of monitorch: "
            "instrument the file again"
        )
    return words[2]


def _find_entry(module_globals, prefix):
    name = prefix + "_entry"
    entry = module_globals.get(name)
    # A dictionary may have been filled from another module's.
    if type(entry) is not _Entry or entry.globals is not module_globals:
        entry = _Entry(module_globals, prefix)
        key = id(entry)
        _entries[key] = ref(entry, lambda _: _entries.pop(key, None))
        module_globals[name] = entry
    return entry


def add(module_globals: "dict[str, object]", table: str):
    """Registers a module; returns its hook, or None while nothing is recorded.

    May be called again for the same globals: a reload, or code that starts twice.
    """
    prefix = _read_prefix(table, module_globals)
    if not hasattr(builtins, prefix):
        # For code that is moved to other globals, and for debuggers that clear names.
        setattr(builtins, prefix, None)
    entry = _find_entry(module_globals, prefix)
    if entry.table != table:
        entry.table = table
        entry.hook = _factory(table, module_globals) if _factory else None
    return entry.hook


def set_hook(factory):
    """Switches recording on, or off where `factory` is None.

    `factory(table, module_globals)` makes a module's hook: a function that returns None and
    never raises; or None, to leave that module off. It is called for each module that is
    registered now, and for each that starts later.
    """
    global _factory
    _factory = factory
    for entry in entries():
        entry.hook = factory(entry.table, entry.globals) if factory else None
        entry.globals[entry.prefix] = entry.hook


def entries():
    """The registered modules that are alive, in the order in which they started."""
    found = [reference() for reference in list(_entries.values())]
    return [entry for entry in found if entry is not None]
