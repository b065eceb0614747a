"""Reading of saved tensors: spy_load()."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from monitorch import _recorder
from monitorch.spy import _values

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: The key of a tensor: its prefix, module path, name and call.
Key = tuple[str, str, str, int]

_LEVELS = ("prefix", "module", "name", "call")


class _Folder:
    """An open folder. One thread reads at a time."""

    def __init__(self, path: str, folder: object) -> None:
        self.path = path
        self._folder = folder
        self._lock = threading.Lock()

    def read(self, index: int, is_packed: bool) -> _values.Raw:
        from monitorch import _view

        with self._lock:
            return _view.saved_read(self._folder, index, is_packed)


@dataclass(frozen=True)
class SavedTensor:
    """A saved tensor without its values; `load()` reads them.

    Attributes:
        prefix, module, name, call: the four parts of its key.
        order (int or None): how many tensors the process had saved before; ``None`` if the file
            does not record it.
        file, function, line: the place in the program that saved it; ``""`` and 0 if unknown.
        dtype (str), shape (tuple of int): for example ``"float32"``, ``(2, 3)``.
        format (str): ``"pt"``, ``"safetensors"`` or ``"mtrace"``.
        file_name (str): the file in the folder that holds it.
    """

    prefix: str
    module: str
    name: str
    call: int
    #: The number of tensors that the process had saved before; None if the file does not record it.
    order: int | None
    #: The place in the program that saved it; "" and 0 if unknown.
    file: str
    function: str
    line: int
    dtype: str
    shape: tuple[int, ...]
    #: "pt", "safetensors" or "mtrace"
    format: str
    #: The file in the folder that holds it.
    file_name: str
    _folder: _Folder = field(repr=False, compare=False)
    _index: int = field(repr=False, compare=False)

    @property
    def key(self) -> Key:
        """The key: (prefix, module, name, call)."""
        return self.prefix, self.module, self.name, self.call

    def load(self) -> Any:
        """Reads the values from the file. Each call reads them again.

        Returns:
            Tensor: or an ndarray if torch is not imported, or a memoryview without NumPy.

        Raises:
            OSError: if the file was removed or changed since it was opened.
        """
        return _values.load(self._folder.read, self._index, self.dtype, self.shape)


class SavedTensors(Mapping[Any, Any]):
    """Saved tensors by prefix, module path, name and call, in the order of saving.

    Opening a folder reads only names and shapes. Values are read when you index down to a
    tensor, and are not kept. If two files hold the same key, indexing returns the tensor that was
    saved last; `entries()` lists both.

    Attributes:
        path (str): the argument of `spy_load`.
        damage (list[str]): files that could not be read, each as ``"file: reason"``.

    Example::

        >>> saved = spy_load("debug_tensors")
        >>> saved["step0"]["encoder.attn"]["q"][0]      # a tensor, read now
        >>> saved["step0", "encoder.attn", "q", 0]      # the same tensor
        >>> saved["step0", None, "q", None]             # SavedTensors: every q of step0
        >>> saved.find(module="encoder.*", name="attn*").tensors()
    """

    def __init__(
        self, path: str, entries: Sequence[SavedTensor], damage: Sequence[str] = (), level: int = 0
    ) -> None:
        #: The argument of spy_load.
        self.path = path
        #: Files that could not be read, as "file: reason".
        self.damage = list(damage)
        self._entries = entries
        self._level = level
        self._groups: dict[Any, list[SavedTensor]] = {}
        for entry in entries:
            self._groups.setdefault(entry.key[level], []).append(entry)

    # Mapping

    def __iter__(self) -> Iterator[Any]:
        return iter(self._groups)

    def __len__(self) -> int:
        return len(self._groups)

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, tuple):
            return _is_hashable(key) and key in self._groups
        return len(key) <= 4 - self._level and bool(self._matching(key))

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, tuple):
            key = (key,)
        if len(key) > 4 - self._level:
            levels = ", ".join(_LEVELS[self._level :])
            raise KeyError(f"{key!r} has more parts than the key ({levels})")
        found = self._matching(key)
        if not found:
            raise KeyError(self._explain(key))
        if None in key:
            return self._part(found, self._level)
        if len(key) == 4 - self._level:
            return found[-1].load()
        return self._part(found, self._level + len(key))

    # Compared by identity: `monitorch diff` compares the contents of two folders.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def _matching(self, key: tuple[Any, ...]) -> list[SavedTensor]:
        """The tensors whose keys begin with `key`; None matches any part."""
        wanted = [(self._level + i, part) for i, part in enumerate(key) if part is not None]
        if key and key[0] is not None and _is_hashable(key[0]):
            candidates: Sequence[SavedTensor] = self._groups.get(key[0], ())
        else:
            candidates = self._entries
        return [e for e in candidates if all(e.key[level] == part for level, part in wanted)]

    def _part(self, entries: Sequence[SavedTensor], level: int) -> SavedTensors:
        return SavedTensors(self.path, entries, self.damage, level)

    def _explain(self, key: tuple[Any, ...]) -> str:
        there = list(self._groups)
        some = ", ".join(map(repr, there[:8])) + (", …" if len(there) > 8 else "")
        wanted = key[0] if len(key) == 1 else key
        return f"no saved tensor matches {wanted!r}; {_LEVELS[self._level]} is one of {some}"

    # Contents

    def find(
        self,
        prefix: str | None = None,
        module: str | None = None,
        name: str | None = None,
        call: str | int | None = None,
    ) -> SavedTensors:
        """Returns the tensors that match all patterns.

        Args:
            prefix, module, name (str, optional): patterns with ``*``, ``?``, ``[abc]`` and
                ``[!abc]``, as in file names. Write ``[[]`` for a literal bracket.
            call (str or int, optional): a pattern or a number.

        Returns:
            SavedTensors: the matching ones, by the same levels.

        Example::

            >>> saved.find(name="attn*", call=0).tensors()
        """
        patterns = (prefix, module, name, call)
        wanted = [(i, str(pattern)) for i, pattern in enumerate(patterns) if pattern is not None]
        found = [
            entry
            for entry in self._entries
            if all(_recorder.match_glob(str(entry.key[i]), pattern) for i, pattern in wanted)
        ]
        return self._part(found, self._level)

    def entries(self) -> list[SavedTensor]:
        """Returns a `SavedTensor` for each tensor: key, shape, dtype and place, without values."""
        return list(self._entries)

    def tensors(self) -> list[Any]:
        """Reads all tensors, in the order of `entries()`."""
        return [entry.load() for entry in self._entries]

    def flat(self) -> dict[Key, Any]:
        """Reads all tensors, as a dict by (prefix, module, name, call)."""
        return {entry.key: entry.load() for entry in self._entries}

    def __repr__(self) -> str:
        count = len(self._entries)
        some = ", ".join(map(repr, list(self._groups)[:4])) + (", …" if len(self) > 4 else "")
        words = "tensor" if count == 1 else "tensors"
        return f"<SavedTensors: {count} {words} of {self.path}; {_LEVELS[self._level]}: {some}>"

    def _ipython_key_completions_(self) -> list[Any]:
        return list(self._groups)


def _is_hashable(key: object) -> bool:
    try:
        hash(key)
    except TypeError:
        return False
    return True


def spy_load(path: str | os.PathLike[str]) -> SavedTensors:
    """Opens the tensors that a `TensorSaver` has saved.

    Reads ``.pt`` files, including those that ``torch.save`` wrote of one plain tensor,
    ``.safetensors`` files, and ``.mtrace`` traces that hold whole values. No pickle is executed.
    Tensors are returned as torch tensors if the program has imported torch, else as NumPy arrays,
    else as memoryviews.

    Args:
        path (str or PathLike): a folder, or one file of it.

    Returns:
        SavedTensors: the tensors, by prefix, module path, name and call.

    Raises:
        FileNotFoundError: if the path does not exist.
        OSError: if `path` is a file that cannot be read. An unreadable file inside a folder
            raises a `RuntimeWarning` instead, and is listed in `.damage`.

    Example::

        >>> saved = spy_load("./debug_tensors")
        >>> saved["step0"]["encoder.attn"]["q"][0].shape
        torch.Size([2, 4, 8])
    """
    from monitorch import _view

    name = os.fsdecode(path)
    os.stat(name)  # raises the same error as open() would
    opened, found, damage = _view.saved_open(name)
    folder = _Folder(name, opened)
    entries = [SavedTensor(*facts, folder, index) for index, facts in enumerate(found)]
    if damage:
        more = f" (and {len(damage) - 1} more, see .damage)" if len(damage) > 1 else ""
        warnings.warn(f"{name}: {damage[0]}{more}", RuntimeWarning, stacklevel=2)
    return SavedTensors(name, entries, damage)
