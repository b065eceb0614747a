"""Tensors that are saved without a spy_save: what instrumented code makes under certain names, in
certain modules, on certain lines, at certain calls, or with certain values.

Names and lines are chosen in C, once for each instrumented file; the rest is asked here, at each
visit of a chosen site.
"""

from __future__ import annotations

import logging
import weakref
from typing import TYPE_CHECKING, Any

from monitorch import _recorder
from monitorch._record import hooks as _hooks
from monitorch.spy import _wishes
from monitorch.spy._leaves import find_leaves, is_tensor
from monitorch.spy._names import FullName
from monitorch.spy._watch_paths import Paths

if TYPE_CHECKING:
    from monitorch.spy.saver import DebugContext, TensorSaver

logger = logging.getLogger("monitorch.spy.saver")

_NAME_LIMIT = 10_000  # a program may have a prefix for each of its steps


class Watch:
    """What a TensorSaver saves by itself, in the contexts that it is the saver of."""

    def __init__(
        self,
        saver: TensorSaver,
        names: _wishes.Texts | None = None,
        modules: _wishes.Texts | None = None,
        lines: _wishes.Lines | None = None,
        calls: _wishes.Calls | None = None,
        when: _wishes.When | None = None,
    ) -> None:
        from monitorch.spy.saver import get_debug_context

        self._get_context = get_debug_context
        self._saver = weakref.ref(saver)  # which holds this
        self._watcher = _recorder.make_watcher(
            _wishes.read_names(names), _wishes.read_lines(lines)
        )
        self.paths = Paths(saver, _wishes.read_texts("modules", modules))
        self._calls = _wishes.read_calls(calls)
        self._condition = _wishes.read_when(when)
        self._full_names: dict[tuple[str, str, str], FullName] = {}
        self._warned: set[str] = set()
        self._versions: dict[str, tuple[weakref.ref[Any], int]] = {}

    def begin(self) -> None:
        """A context of the saver is entered."""
        _hooks.learn_layout()
        _hooks.begin_watching(self._watcher, self._visit)

    def end(self) -> None:
        """And left."""
        _hooks.end_watching(self._watcher)

    def _visit(self, name: str, value: Any, may_be_unchanged: bool, module: Any) -> None:
        """Instrumented code has given the name this value, in a method of the module."""
        saver = self._saver()
        context = self._get_context()
        if saver is None or context is None or context.saver is not saver or not saver.enabled:
            return  # another thread's context, or one within the saver's
        path = self.paths.find(module, context.module_path_override)
        if path is None:
            return
        full_name = self._find_full_name(context.prefix, path, name)
        is_changed = self._note_version(full_name, value)
        if is_changed or not may_be_unchanged:
            self._save(context, saver, full_name, value, module)

    def _find_full_name(self, prefix: Any, path: str, name: str) -> FullName:
        prefix = "" if prefix is None else str(prefix)
        key = prefix, path, name
        found = self._full_names.get(key)
        if found is None:
            if len(self._full_names) >= _NAME_LIMIT:
                self._full_names.clear()
                self._versions.clear()
            found = self._full_names[key] = FullName.of(prefix, path, name)
        return found

    def _note_version(self, full_name: str, value: Any) -> bool:
        """Whether the value differs from the last one under this name. A line such as `x.add_(y)`
        visits y too, since it is unknown what add_ does to it.
        """
        try:
            version = value._version
            known = self._versions.get(full_name)
            self._versions[full_name] = weakref.ref(value), version
        except (AttributeError, RuntimeError, TypeError):
            return True  # an array, a container, or a tensor made in inference mode
        return known is None or known[0]() is not value or known[1] != version

    def _save(
        self,
        context: DebugContext,
        saver: TensorSaver,
        full_name: FullName,
        value: Any,
        module: Any,
    ) -> None:
        """Saves the value, or only counts it: a file's number counts all values of its name."""
        leaves = [value] if is_tensor(value) else [leaf for _, leaf in find_leaves(value)]
        if not leaves:
            return
        number = saver.call_counts.get(full_name, 0)
        is_wanted = self._calls is None or number in self._calls
        if is_wanted and self._condition is not None:
            is_wanted = any(self._condition(leaf) for leaf in leaves)
        if not is_wanted:
            saver._count(full_name)
            return
        try:
            context._save(full_name.name, value, module)
        except (NotImplementedError, RuntimeError, TypeError, ValueError) as error:
            # Nobody has asked for this very tensor: the program goes on.
            if full_name not in self._warned:
                self._warned.add(full_name)
                logger.warning("%s was not saved: %s", full_name, error)
