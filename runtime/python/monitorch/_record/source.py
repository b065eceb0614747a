"""The source that a module's site table describes, found for the trace to hold.

It is read only when recording begins. This module imports only built-in modules.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Literal

_SIZE_LIMIT = 32 << 20  # the compiler refuses larger ones

texts: "dict[str, bytes]" = {}
"""Sources that are in no file, by the file name of their code: `<stdin>`."""


def _read(path: str, loader: "Any") -> "bytes | None":
    try:
        with open(path, "rb") as file:
            source = file.read(_SIZE_LIMIT + 1)
    except (OSError, ValueError):
        # The file may be in a zip archive, for instance.
        try:
            source = loader.get_data(path)
        except Exception:
            return None
    if not isinstance(source, bytes) or len(source) > _SIZE_LIMIT:
        return None
    return source


def read(filename: str, module_globals: "dict[str, object]") -> "bytes | None":
    """The source from which code with this file's name was compiled: a file's bytes; a notebook's
    cell from linecache, where IPython stores it."""
    try:
        with open(filename, "rb") as file:
            source = file.read(_SIZE_LIMIT + 1)
    except (OSError, ValueError):
        return _read_cached(filename, module_globals)
    return source if len(source) <= _SIZE_LIMIT else None


def _read_cached(filename: str, module_globals: "dict[str, object]") -> "bytes | None":
    import linecache

    lines = linecache.getlines(filename, module_globals)
    if lines:
        return "".join(lines).encode("utf-8", "surrogateescape")
    return texts.get(filename)


def decode_path(word: str) -> str:
    """The path in a table, where %XX encodes a byte that is not plain text."""
    first, *others = word.split("%")
    data = first.encode()
    for part in others:
        data += bytes.fromhex(part[:2]) + part[2:].encode()
    return data.decode(sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())


def path_of(table: str) -> str:
    """The path of the source file, as the compiler received it."""
    return decode_path(table.split(" ", 4)[3])


def _cached_lines(path: str) -> "bytes | None":
    """The text of a cell, which a notebook or a debugger has stored in linecache."""
    cache = getattr(sys.modules.get("linecache"), "cache", {})
    entry = cache.get(path)
    # A lazy entry has only a function.
    if entry is None or len(entry) < 3:
        return None
    return "".join(entry[2]).encode("utf-8", "surrogateescape")


def _candidates(
    module_globals: "dict[str, object]", table_path: str
) -> "Iterator[tuple[str, bytes | None]]":
    """Sources that may be the right one, the most likely first."""
    spec = module_globals.get("__spec__")
    loader = getattr(spec, "loader", None)
    running: "list[str]" = []
    for path in (module_globals.get("__file__"), getattr(spec, "origin", None)):
        if isinstance(path, str) and path.endswith(".py") and path not in running:
            running.append(path)
    for path in running:
        yield path, _read(path, loader)
    for path in running:
        # An instrumented file beside its source, or a mirrored tree that was made from here.
        folder = path.rpartition("/")[0]
        yield table_path, _read(f"{folder}/{table_path.rpartition('/')[2]}", None)
    yield table_path, _read(table_path, None)
    yield table_path, _cached_lines(table_path)
    yield table_path, texts.get(table_path)


def find(
    table: str,
    module_globals: "dict[str, object]",
    source_hash: "Callable[[bytes], str]",
) -> "tuple[str, bytes | None, Literal['original', 'instrumented', 'other']]":
    """Returns (the running file, a text or None, "original", "instrumented" or "other").

    `source_hash(bytes)` returns a source's hash in the form of the tables.
    """
    words = table.split(" ", 4)
    table_path = path_of(table)
    running = None
    named = module_globals.get("__file__")
    file = named if isinstance(named, str) else table_path
    for path, source in _candidates(module_globals, table_path):
        if source is None:
            continue
        if source_hash(source) == words[1]:
            return file, source, "original"
        if running is None and path == file:
            running = source
    if running is None:
        return file, None, "other"
    return file, running, "instrumented" if table.encode() in running else "other"
