"""One function compiled again so that it records: for decorators, and for names and paths that are
found while a program runs.

A file is instrumented as a whole, once, for all its functions; the code of each is found by its
position in the code of the original. The new function has the name, signature, source, closure and
defaults of the old one.
"""

import sys
import types
from _weakref import ref

from monitorch import _instrument, _registry
from monitorch._compile import loaded as _loaded
from monitorch._record import source as _source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType, FunctionType
    from typing import Any

# Flags of `from __future__ import …`, which code that is compiled together inherits.
_FUTURE_FLAGS = 0x1FE0000
_FILE_LIMIT = 256  # files whose codes are kept


class CannotCompile(ValueError):
    """The reason why a function cannot be made to record. The caller prefixes the function's
    name."""


class _File:
    """A source with its original and its instrumented code, in one module's globals."""

    def __init__(
        self, source: bytes, original: "CodeType", instrumented: "CodeType", entry: "Any"
    ) -> None:
        self.source = source
        self.original = original
        self.instrumented = instrumented
        self.entry = ref(entry)

    def find_code(
        self, code: "CodeType", module_globals: "dict[str, object]"
    ) -> "CodeType | None":
        """The instrumented counterpart of a code object of the original.

        Two equal code objects are on one line, and do the same.
        """
        for original, instrumented in _pairs(self.original, self.instrumented):
            if original == code:
                return instrumented
        return self._find_alike(code) if self._has_given(code, module_globals) else None

    def _has_given(self, code: "CodeType", module_globals: "dict[str, object]") -> bool:
        """Whether code that differs from this source's was made of it nevertheless: pytest rewrites
        assertions. A file that was written since may hold another function there."""
        if not _loaded.may_have_changed(code.co_filename):
            return True
        return any(
            _loaded.identify(part) == _loaded.identify(code)
            for whole in _loaded.compile_source(self.source, module_globals)
            for part in _loaded.list_codes(whole)
        )

    def _find_alike(self, code: "CodeType") -> "CodeType | None":
        """The code object with the same name and position, if it is the only one."""
        alike = [
            instrumented
            for original, instrumented in _pairs(self.original, self.instrumented)
            if _place_of(original) == _place_of(code)
        ]
        return alike[0] if len(alike) == 1 else None


def _pairs(
    original: "CodeType", instrumented: "CodeType"
) -> "Iterator[tuple[CodeType, CodeType]]":
    """Pairs of code objects at the same position. Inserted code contains no code objects."""
    yield original, instrumented
    inner = (_codes_in(original), _codes_in(instrumented))
    for pair in zip(*inner):
        yield from _pairs(*pair)


def _codes_in(code: "CodeType") -> "list[CodeType]":
    return [value for value in code.co_consts if isinstance(value, types.CodeType)]


def _place_of(code: "CodeType") -> "tuple[object, ...]":
    parameters = code.co_argcount + code.co_kwonlyargcount
    return (
        code.co_name, code.co_firstlineno, code.co_flags & 0xFF, code.co_freevars,
        code.co_varnames[:parameters],
    )  # fmt: skip


_files: "dict[tuple[int, str, bool], _File]" = {}


def compile_function(function: "FunctionType", every_line: bool = False) -> "FunctionType":
    """Compiles a function that does the same and records. Returns the function itself if it records
    already.

    Inside decorators that keep `__wrapped__`, the innermost function is compiled, and the
    decorators stay as they are. Raises CannotCompile.
    """
    if not isinstance(function, types.FunctionType):
        raise CannotCompile(f"{_name_of(function)}: no Python function has been there to compile")
    inner = getattr(function, "__wrapped__", None)
    if isinstance(inner, types.FunctionType) and _cell_of(function, inner) is not None:
        return _wrap_again(function, inner, compile_function(inner, every_line))
    code = function.__code__
    if code.co_name == "<lambda>":
        raise CannotCompile(f"{_name_of(function)}: a lambda has no lines of its own")
    if _registry.find_entry(code, function.__globals__) is not None:
        return function
    file = _find_file(function, every_line)
    found = file.find_code(code, function.__globals__)
    if found is None:
        raise CannotCompile(
            f"{_name_of(function)}: is not in {code.co_filename} as it is now: "
            "the file was changed since it was loaded"
        )
    if found.co_freevars != code.co_freevars:
        raise CannotCompile(f"{_name_of(function)}: its closure is another one than its source's")
    return _copy(function, found, function.__closure__)


def find_innermost(function: "FunctionType") -> "FunctionType":
    """The function that compile_function compiles, or has compiled."""
    inner = getattr(function, "__wrapped__", None)
    while isinstance(inner, types.FunctionType) and _cell_of(function, inner) is not None:
        function, inner = inner, getattr(inner, "__wrapped__", None)
    return function


def _name_of(function: object) -> str:
    code = getattr(function, "__code__", None)
    name = getattr(function, "__qualname__", None) or repr(function)
    return name if code is None else f"{code.co_filename}:{code.co_firstlineno}: {name}"


def _cell_of(function: "FunctionType", value: object) -> "int | None":
    for index, cell in enumerate(function.__closure__ or ()):
        try:
            if cell.cell_contents is value:
                return index
        except ValueError:  # the cell is still empty
            continue
    return None


def _wrap_again(
    wrapper: "FunctionType", inner: "FunctionType", compiled: "FunctionType"
) -> "FunctionType":
    """A copy of the wrapper around the compiled function."""
    if compiled is inner:
        return wrapper
    cells = list(wrapper.__closure__ or ())
    cells[_cell_of(wrapper, inner) or 0] = types.CellType(compiled)
    made = _copy(wrapper, wrapper.__code__, tuple(cells))
    made.__wrapped__ = compiled  # type: ignore[attr-defined]
    return made


def _copy(
    function: "FunctionType", code: "CodeType", closure: "tuple[Any, ...] | None"
) -> "FunctionType":
    made = types.FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, closure
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__ = function.__qualname__
    made.__module__ = function.__module__
    made.__doc__ = function.__doc__
    # From Python 3.14 on, annotations are computed at their first use.
    annotate = getattr(function, "__annotate__", None)
    if annotate is not None:
        made.__annotate__ = annotate  # type: ignore[attr-defined]
    else:
        made.__annotations__ = function.__annotations__
    if sys.version_info >= (3, 12):
        made.__type_params__ = function.__type_params__
    made.__dict__.update(function.__dict__)
    return made


def _find_file(function: "FunctionType", every_line: bool) -> _File:
    code, module_globals = function.__code__, function.__globals__
    filename = code.co_filename
    source = _source.read(filename, module_globals)
    if source is None:
        raise CannotCompile(f"{_name_of(function)}: its source is not to be found")
    key = (id(module_globals), filename, every_line)
    file = _files.get(key)
    entry = None if file is None else file.entry()
    if file is None or file.source != source or entry is None or not entry.is_of(module_globals):
        while len(_files) >= _FILE_LIMIT:
            _files.pop(next(iter(_files)), None)
        file = _files[key] = _make_file(function, source, every_line)
    return file


def _make_file(function: "FunctionType", source: bytes, every_line: bool) -> _File:
    code, module_globals = function.__code__, function.__globals__
    flags = code.co_flags & _FUTURE_FLAGS
    given = source
    prefix = _registry.find_prefix(module_globals, source.decode("latin-1"))
    try:
        if _instrument.is_instrumented(source):
            source = _instrument.strip(source)  # the line numbers stay the same
        original = compile(source, code.co_filename, "exec", flags, dont_inherit=True)
        instrumented, result = _instrument.compile_source(
            source, code.co_filename, all=True, every_line=every_line, flags=flags,
            prefix=prefix,
        )  # fmt: skip
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        raise CannotCompile(f"{_name_of(function)}: {error}") from error
    module_globals[prefix] = _registry.add(module_globals, result.table, is_whole=False)
    return _File(given, original, instrumented, module_globals[prefix + "_entry"])
