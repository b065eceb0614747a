"""Tensors that are saved without a call of spy_save: those that instrumented code assigns to
certain names, in certain modules, on certain lines, at certain calls, or with certain values.

Names and lines are selected in C, once for each instrumented file; the other conditions are checked
here, at each visit of a selected site.
"""

from __future__ import annotations

import logging
import sys
import weakref
from typing import TYPE_CHECKING, Any

from monitorch import _recorder
from monitorch._record import hooks as _hooks
from monitorch._recorder import is_tensor
from monitorch.spy import _wishes
from monitorch.spy._leaves import find_leaves
from monitorch.spy._names import FullName
from monitorch.spy._watch_paths import Paths
from monitorch.spy.base import find_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from monitorch.spy.saver import TensorSaver

logger = logging.getLogger("monitorch.spy.saver")

_NAME_LIMIT = 10_000  # a program may have a new prefix in each of its steps


class Watch:
    """The watch of a TensorSaver: saves selected values in the saver's own contexts."""

    def __init__(
        self,
        saver: TensorSaver,
        names: _wishes.Texts | None = None,
        modules: _wishes.Texts | None = None,
        lines: _wishes.Lines | None = None,
        calls: _wishes.Calls | None = None,
        when: _wishes.When | None = None,
    ) -> None:
        from monitorch.spy.saver import DebugContext, _contexts

        self._contexts = _contexts
        self._plain_save = DebugContext._save
        self._saver = weakref.ref(saver)  # weak, since the saver owns this
        self._names = _wishes.read_texts("names", names)
        self._lines = _wishes.read_lines(lines)
        self._watcher = _recorder.make_watcher(
            tuple(name.encode("utf-8", "replace") for name in self._names),
            tuple((file.encode("utf-8", "surrogateescape"), *at) for file, *at in self._lines),
        )
        self.paths = Paths(saver, _wishes.read_texts("modules", modules))
        self._calls = _wishes.read_calls(calls)
        self._condition = _wishes.read_when(when)
        self._may_leave_out = self._calls is not None or self._condition is not None
        self._warned: set[str] = set()
        self._versions: dict[str, tuple[weakref.ref[Any], int]] = {}
        self._is_checked = False

    def begin(self) -> None:
        """Called when a context of the saver is entered."""
        _hooks.learn_layout()
        _hooks.begin_watching(self._watcher, self._visit)

    def end(self) -> None:
        """Called when a context of the saver ends."""
        _hooks.end_watching(self._watcher)
        if not self._is_checked and sys.exc_info()[0] is None:
            self._is_checked = True  # a name that matches nothing by now is probably misspelled
            for text in self.explain_unmatched():
                logger.warning("%s", text)

    def explain_unmatched(self) -> Iterator[str]:
        """A sentence for each name, line and module that matches nothing in the code that ran."""
        from monitorch import _unmatched

        paths = list(self.paths.wanted)
        globs = self.paths.globs if paths else ()
        return _unmatched.explain_saver(self._names, self._lines, globs, paths)

    def _visit(self, name: str, value: Any, may_be_unchanged: bool, module: Any) -> None:
        """Called when instrumented code has assigned the value to the name, in a method of the
        module."""
        saver = self._saver()
        contexts = self._contexts.get()
        if saver is None or contexts is None:
            return
        context = contexts[0]
        if context.saver is not saver or not saver.enabled:
            return  # the context of another thread, or another saver's inner one
        path: str | None = context.module_path_override
        path = path or ("manual" if module is None else find_path(saver, module))
        is_known = self.paths.wanted.get(path)
        if not is_known:
            path = self.paths.find(module, context.module_path_override)
        if path is None:
            return
        prefix = "" if context.prefix is None else str(context.prefix)
        full_name = FullName.of(prefix, path, name, context)
        # Whether the value differs from the last one under this name. A line such as `x.add_(y)`
        # visits y too, since it is unknown what add_ does to it.
        try:
            version, key = value._version, str(full_name)
            known = self._versions.get(key)
            if known is None and len(self._versions) >= _NAME_LIMIT:
                self._versions.clear()
            self._versions[key] = weakref.ref(value), version
            is_changed = known is None or known[0]() is not value or known[1] != version
        except (AttributeError, RuntimeError, TypeError):
            is_changed = True  # an array, a container, or a tensor made in inference mode
        if may_be_unchanged and not is_changed:
            return
        if self._may_leave_out or not is_tensor(value):
            if not self._is_wanted(saver, full_name, value):
                return
        try:
            if is_known and type(context)._save is self._plain_save:
                saver.save(full_name, value)
            else:
                context._save(name, value, module)
        except (NotImplementedError, RuntimeError, TypeError, ValueError) as error:
            self._warn(str(full_name), error)

    def _warn(self, full_name: str, error: Exception) -> None:
        """Warns, since the program must continue: no request names this tensor itself."""
        if full_name not in self._warned:
            self._warned.add(full_name)
            logger.warning("%s was not saved: %s", full_name, error)

    def _is_wanted(self, saver: TensorSaver, full_name: FullName, value: Any) -> bool:
        """Whether the value holds a tensor to be saved. If not, it is only counted: the numbers of
        files count all values of their names."""
        leaves = [value] if is_tensor(value) else [leaf for _, leaf in find_leaves(value)]
        if not leaves:
            return False
        number = saver.call_counts.get(full_name, 0)
        is_wanted = self._calls is None or number in self._calls
        if is_wanted and self._condition is not None:
            is_wanted = any(self._condition(leaf) for leaf in leaves)
        if not is_wanted:
            saver._count(full_name, -1)
        return is_wanted
